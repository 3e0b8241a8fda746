//! `furui dict build`.

use std::process::ExitCode;

use furui::dict::{Dict, MAX_KEY};
use furui::store::Directory;

use super::worker::Worker;
use super::{SIGNALLED, open_or_create, options};
use crate::blocks::Block;
use crate::cli::{DictChange, DictFiles, DictWrite};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Runs the command.
pub fn run(DictWrite { change: DictChange { lines, wait }, making }: &DictWrite) -> Result<ExitCode, Error> {
    let mut dict = open_or_create(&lines.dict.store, wait, options(making))?;
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
    let mut worker = Worker::default();
    let read = put_all(&mut dict, lines, &interrupt, &mut worker);
    // The lines before an error are kept.
    let kept = worker.finish(&mut dict).and_then(|()| Ok(dict.sync()?));
    read.and(kept)?;
    Ok(interrupt.signal().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal)))
}

fn put_all(
    dict: &mut Dict<Directory>,
    options: &DictFiles,
    interrupt: &Interrupt,
    worker: &mut Worker,
) -> Result<(), Error> {
    let mut blocks = options.input.blocks(interrupt);
    let mut progress = Progress::new("building", &options.input.files);
    while let Some(block) = blocks.next()? {
        worker.tend(dict, block.len(), block.bytes.len())?;
        for (index, line) in block.lines().enumerate() {
            match line.iter().rposition(|&byte| byte == b'\t') {
                None => {
                    check_key(line, &block, index)?;
                    dict.number(line)?;
                }
                Some(tab) => {
                    check_key(&line[..tab], &block, index)?;
                    dict.put(&line[..tab], value(&line[tab + 1..], &block, index)?)?;
                }
            }
        }
        progress.advance(block.bytes.len());
    }
    Ok(())
}

/// Returns an error that names the line if a key is too long.
pub fn check_key(key: &[u8], block: &Block<'_>, index: usize) -> Result<(), Error> {
    if key.len() <= MAX_KEY {
        return Ok(());
    }
    let place = block.place(index);
    Err(Error::Message(format!("{place}: a key of {} bytes: a dictionary takes up to {MAX_KEY}", key.len())))
}

fn value(digits: &[u8], block: &Block<'_>, index: usize) -> Result<u32, Error> {
    let value = str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    value.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
        let shown = digits.escape_ascii();
        Error::Message(format!(
            "{}: \"{shown}\" after the last tab is no number below 2^32; the lines before it are kept",
            block.place(index)
        ))
    })
}
