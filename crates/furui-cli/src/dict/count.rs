//! `furui dict count`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::process::ExitCode;

use furui::dict::Dict;
use furui::store::Directory;

use super::values::{Lines, check_key};
use super::worker::Worker;
use super::{GATHERED, SIGNALLED, options, options_to_write};
use crate::block::Block;
use crate::cli::{CountOptions, DictChange, InputOptions};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::output::{Output, Sink};
use crate::progress::Progress;
use crate::wait::open_to_write;

/// Runs the command.
pub fn run(CountOptions { change, print, top, quiet, making }: &CountOptions) -> Result<ExitCode, Error> {
    let DictChange { lines, wait } = change;
    let mut dict = Dict::open_with(open_to_write(&lines.dict.store, wait)?, options_to_write(options(making)))?;
    if dict.next_id() > 0 {
        let store = lines.dict.store.display();
        return Err(Error::Message(format!(
            "{store}: has the numbers that `dict number` or `dict build` gave to lines: counts need a dictionary of their own"
        )));
    }
    // If standard output is closed, that is an error before anything is counted.
    let output = Output::open(print, *quiet, &lines.input.inputs())?;
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
    let mut worker = Worker::default();
    let read = count_all(&mut dict, &lines.input, &interrupt, &mut worker);
    // The lines before an error are counted.
    let kept = worker.finish(&mut dict).and_then(|()| Ok(dict.sync()?));
    read.and(kept)?;
    if let Some(signal) = interrupt.signal() {
        return Ok(ExitCode::from(SIGNALLED + signal));
    }
    let lines = Lines { separator: lines.input.separator(), escape: false };
    match top {
        _ if *quiet => {}
        Some(top) => print_top(&dict, *top as usize, output, lines)?,
        None => print_all(&dict, output, lines)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn count_all(
    dict: &mut Dict<Directory>,
    input: &InputOptions,
    interrupt: &Interrupt,
    worker: &mut Worker,
) -> Result<(), Error> {
    let mut blocks = input.blocks(interrupt);
    let mut progress = Progress::new("counting", &input.files);
    while let Some(block) = blocks.next()? {
        worker.tend(dict, block.len(), block.bytes().len())?;
        count(dict, block)?;
        progress.advance(block.bytes().len());
    }
    Ok(())
}

/// Adds the lines of a block to the counts, equal lines together. If a line cannot be a key, the lines before it are
/// counted.
fn count(dict: &mut Dict<Directory>, block: &Block) -> Result<(), Error> {
    let mut places = HashMap::new();
    let (mut keys, mut counts): (Vec<&[u8]>, Vec<u32>) = (vec![], vec![]);
    let mut checked = Ok(());
    for (index, line) in block.lines().enumerate() {
        checked = check_key(line, block, index);
        if checked.is_err() {
            break;
        }
        let place = *places.entry(line).or_insert(keys.len());
        if place == keys.len() {
            keys.push(line);
            counts.push(0);
        }
        counts[place] += 1;
    }
    let mut before = vec![];
    dict.get_all(&keys, &mut before)?;
    for ((key, count), before) in keys.into_iter().zip(counts).zip(before) {
        let sum = before.unwrap_or(0).checked_add(count).ok_or_else(|| {
            let key = key.escape_ascii();
            Error::Message(format!(
                "{}: \"{key}\" has come 2^32 times, which is more than a count can be",
                block.input()
            ))
        })?;
        dict.put(key, sum)?;
    }
    checked
}

fn print_all(dict: &Dict<Directory>, mut output: Output, lines: Lines) -> Result<(), Error> {
    let mut out = vec![];
    let mut entries = dict.iter();
    while let Some((key, count)) = entries.next_entry()? {
        lines.push_after(&mut out, count, key)?;
        if out.len() >= GATHERED {
            if output.print(&out)? == Sink::Closed {
                return Ok(());
            }
            out.clear();
        }
    }
    output.print(&out).map(drop)
}

/// Prints the entries with the `top` largest counts. Takes the memory of these entries.
fn print_top(dict: &Dict<Directory>, top: usize, mut output: Output, lines: Lines) -> Result<(), Error> {
    // The smallest count is on top of the heap, and of equal counts the largest key.
    let mut heap = BinaryHeap::new();
    let mut entries = dict.iter();
    while let Some((key, count)) = entries.next_entry()? {
        if heap.len() == top {
            // Keys ascend, so of equal counts the earlier one stays.
            let Some(&Reverse((least, _))) = heap.peek() else { break };
            if count <= least {
                continue;
            }
            heap.pop();
        }
        heap.push(Reverse((count, Reverse(key.to_vec()))));
    }
    let mut out = vec![];
    for Reverse((count, Reverse(key))) in heap.into_sorted_vec() {
        lines.push_after(&mut out, count, &key)?;
    }
    output.print(&out).map(drop)
}
