//! `furui dict build`: puts the keys of lines, and their values, into a dictionary.

use std::process::ExitCode;

use furui::dict::{Dict, DictOptions, Purpose};
use furui::store::{Directory, Manifest};

use super::records::Records;
use super::values::{Line, Values};
use super::worker::Worker;
use super::{SIGNALLED, made};
use crate::cli::{EntryChange, EntryLines, EntryWrite};
use crate::error::Error;
use crate::files::Files;
use crate::interrupt::Interrupt;
use crate::opening::open_to_write;
use crate::say::progress::Progress;

/// Puts the keys of the inputs, and their values, into a dictionary.
pub fn run(EntryWrite { change: EntryChange { lines, wait }, making }: &EntryWrite) -> Result<ExitCode, Error> {
    let path = &lines.files.dict.store;
    let storage = open_to_write(path, wait)?;
    let found = Manifest::load(&storage)?.and_then(|manifest| manifest.store.purpose());
    let purpose = match lines.form.values {
        Some(values) => values.into(),
        None if found == Some(Purpose::Counts) => {
            return Err(Error::Message(format!(
                "{}: this is a dictionary of counts, to which `dict count` adds; to set counts, give --values counts",
                path.display()
            )));
        }
        None => found.unwrap_or(Purpose::Numbers),
    };
    let options = made(path, &storage, purpose, &lines.files.lines, making)?;
    match purpose {
        Purpose::Bytes => build::<[u8]>(storage, lines, options),
        Purpose::Numbers | Purpose::Values | Purpose::Counts => build::<u32>(storage, lines, options),
    }
}

fn build<V: Values + ?Sized>(storage: Directory, lines: &EntryLines, made: DictOptions) -> Result<ExitCode, Error> {
    let mut dict = V::open(storage, made)?;
    let mut records = Records::new(&lines.files.input, &lines.files.lines, lines.form.escape)?;
    if records.are_records && dict.purpose() != Purpose::Numbers {
        let purpose = dict.purpose();
        return Err(Error::Message(format!(
            "the records of --field, --csv, --tsv and --json have no values: only a dictionary of numbers takes them, and this is one of {purpose}"
        )));
    }
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
    let mut worker = Worker::default();
    let read = put_all(&mut dict, lines, &mut records, &interrupt, &mut worker);
    // The entries of the lines before an error are kept.
    let kept = worker.finish(&mut dict).and_then(|()| Ok(dict.sync()?));
    read.and(kept)?;
    records.report("not put");
    Ok(interrupt.signal().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal)))
}

fn put_all<V: Values + ?Sized>(
    dict: &mut Dict<Files, V>,
    options: &EntryLines,
    records: &mut Records,
    interrupt: &Interrupt,
    worker: &mut Worker,
) -> Result<(), Error> {
    let mut blocks = options.files.lines.blocks(&options.files.input, interrupt);
    let mut progress = Progress::new("building", &options.files.input.files);
    while let Some(block) = blocks.next()? {
        if records.header(block)?.is_some() {
            continue;
        }
        worker.tend(dict, block.len(), block.bytes().len())?;
        for (index, text) in block.lines().enumerate() {
            V::put(dict, Line { text, block, index }, records)?;
        }
        progress.advance(block.bytes().len());
    }
    Ok(())
}
