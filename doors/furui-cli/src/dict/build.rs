//! `furui dict build`: puts the keys of lines, and their values, into a dictionary.

use std::process::ExitCode;

use furui::dict::{DictOptions, Purpose};
use furui::store::{Directory, Manifest};

use super::changing::Changing;
use super::records::Records;
use super::values::{Line, Values};
use super::{SIGNALLED, made};
use crate::cli::{DictFiles, EntryChange, EntryLines, EntryWrite};
use crate::error::Error;
use crate::opening::open_to_write;

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

fn build<V: Values + ?Sized>(storage: Directory, options: &EntryLines, made: DictOptions) -> Result<ExitCode, Error> {
    let mut dict = V::open(storage, made)?;
    let mut records = Records::new(&options.files.input, &options.files.lines, options.form.escape)?;
    if records.are_records && dict.purpose() != Purpose::Numbers {
        let purpose = dict.purpose();
        return Err(Error::Message(format!(
            "the records of --field, --csv, --tsv and --json have no values: only a dictionary of numbers takes them, and this is one of {purpose}"
        )));
    }
    let DictFiles { lines, input, .. } = &options.files;
    let changing = Changing { lines, input, job: Some("building"), is_kept: true };
    let signal = changing.run(&mut dict, &mut records, |dict, block, records| {
        block.lines().enumerate().try_for_each(|(index, text)| V::put(dict, Line { text, block, index }, records))
    })?;
    records.report("not put");
    Ok(signal.map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal)))
}
