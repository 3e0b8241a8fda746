//! `furui dict build`.

use std::process::ExitCode;

use furui::dict::Dict;
use furui::store::{Directory, Manifest};

use super::values::{Line, Lines, Values, chosen};
use super::worker::Worker;
use super::{SIGNALLED, options, options_to_write};
use crate::cli::{EntryChange, EntryLines, EntryWrite, MakingOptions, ValuesName};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::wait::open_to_write;

/// Runs the command.
pub fn run(EntryWrite { change: EntryChange { lines, wait }, making }: &EntryWrite) -> Result<ExitCode, Error> {
    let storage = open_to_write(&lines.files.dict.store, wait)?;
    match chosen(&lines.form, Manifest::load(&storage)?.map(|manifest| manifest.store)) {
        ValuesName::Numbers => build::<u32>(storage, lines, making),
        ValuesName::Bytes => build::<[u8]>(storage, lines, making),
    }
}

fn build<V: Values + ?Sized>(
    storage: Directory,
    lines: &EntryLines,
    making: &MakingOptions,
) -> Result<ExitCode, Error> {
    let mut dict = V::open(storage, options_to_write(options(making)))?;
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
    let mut worker = Worker::default();
    let read = put_all(&mut dict, lines, &interrupt, &mut worker);
    // The lines before an error are kept.
    let kept = worker.finish(&mut dict).and_then(|()| Ok(dict.sync()?));
    read.and(kept)?;
    Ok(interrupt.signal().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal)))
}

fn put_all<V: Values + ?Sized>(
    dict: &mut Dict<Directory, V>,
    options: &EntryLines,
    interrupt: &Interrupt,
    worker: &mut Worker,
) -> Result<(), Error> {
    let lines = Lines { separator: options.files.input.separator(), escape: options.form.escape };
    let mut blocks = options.files.input.blocks(interrupt);
    let mut progress = Progress::new("building", &options.files.input.files);
    while let Some(block) = blocks.next()? {
        worker.tend(dict, block.len(), block.bytes().len())?;
        for (index, text) in block.lines().enumerate() {
            V::put(dict, Line { text, block, index, lines })?;
        }
        progress.advance(block.bytes().len());
    }
    Ok(())
}
