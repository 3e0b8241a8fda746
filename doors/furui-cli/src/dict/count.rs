//! `furui dict count`: counts how often each key occurs.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::process::ExitCode;

use furui::dict::{Dict, DictOptions, Purpose};

use super::changing::Changing;
use super::lines::Lines;
use super::records::Records;
use super::{GATHERED, SIGNALLED, made, options, options_to_write};
use crate::cli::CountOptions;
use crate::error::Error;
use crate::files::Files;
use crate::input::block::Block;
use crate::memory;
use crate::opening::open_to_write;
use crate::output::{Output, Sink};

/// Counts how often each key occurs, in memory or in a dictionary.
pub fn run(options: &CountOptions) -> Result<ExitCode, Error> {
    match &options.store {
        Some(path) => {
            let storage = open_to_write(path, &options.wait)?;
            let made = made(path, &storage, Purpose::Counts, &options.lines, &options.making)?;
            count(Dict::open_with(Files::Store(storage), made)?, options)
        }
        None => count(in_memory(options)?, options),
    }
}

/// Creates a dictionary for this run only, whose values are the counts of the keys. Entries that do not fit into its
/// write buffers are written to temporary files.
fn in_memory(given: &CountOptions) -> Result<Dict<Files>, Error> {
    let refused = [("--wait", given.wait.wait.is_some()), ("--as-is", given.lines.as_is)];
    if let Some((name, _)) = refused.into_iter().find(|&(_, is_given)| is_given) {
        return Err(Error::Message(format!(
            "{name} needs --store: without a dictionary, only the lines of this run are counted"
        )));
    }
    let made = DictOptions { purpose: Some(Purpose::Counts), ..options_to_write(options(&given.making)) };
    Ok(Dict::open_with(Files::temporary(memory::mappable()), made)?)
}

fn count(mut dict: Dict<Files>, options: &CountOptions) -> Result<ExitCode, Error> {
    let CountOptions { input, lines, store, print, top, quiet, .. } = options;
    let mut records = Records::new(input, lines, options.escape)?;
    // A closed standard output is an error, which is reported before anything is counted.
    let output = Output::open(print.output.as_deref(), *quiet, &input.inputs())?;
    let changing = Changing { lines, input, job: Some("counting"), is_kept: store.is_some() };
    if let Some(signal) = changing.run(&mut dict, &mut records, count_block)? {
        return Ok(ExitCode::from(SIGNALLED + signal));
    }
    match top {
        _ if *quiet => {}
        Some(top) => print_top(&dict, *top as usize, output, records.lines)?,
        None => print_all(&dict, output, records.lines)?,
    }
    records.report("not counted");
    Ok(ExitCode::SUCCESS)
}

/// Adds the keys of the lines of a block to the counts, with one update for all equal keys. If a line cannot be a key,
/// the lines before it are counted.
fn count_block(dict: &mut Dict<Files>, block: &Block, records: &mut Records) -> Result<(), Error> {
    let mut arrived: Vec<Cow<'_, [u8]>> = vec![];
    let mut checked = Ok(());
    for (index, line) in block.lines().enumerate() {
        match records.key(line, block, index) {
            Ok(key) => arrived.extend(key.found()),
            Err(error) => {
                checked = Err(error);
                break;
            }
        }
    }
    let mut places = HashMap::new();
    let (mut keys, mut counts): (Vec<&[u8]>, Vec<u32>) = (vec![], vec![]);
    for key in &arrived {
        let place = *places.entry(&**key).or_insert(keys.len());
        if place == keys.len() {
            keys.push(key);
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

fn print_all(dict: &Dict<Files>, mut output: Output, lines: Lines) -> Result<(), Error> {
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

/// Prints the entries with the `top` largest counts. Needs memory for these entries only.
fn print_top(dict: &Dict<Files>, top: usize, mut output: Output, lines: Lines) -> Result<(), Error> {
    // The smallest count is on top of the heap, and of equal counts the largest key.
    let mut heap = BinaryHeap::new();
    let mut entries = dict.iter();
    while let Some((key, count)) = entries.next_entry()? {
        if heap.len() == top {
            // Entries come in ascending order of keys, so of equal counts the earlier one is kept.
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
