//! Experiments on the dictionary and its tries.

mod list;
mod merge;
mod trie;

use std::collections::HashSet;

use crate::keys::{mix, scale};
use crate::report::Result;

/// Runs the experiment that the arguments of `dict` on the command line name.
pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<()> {
    let run: fn(&str, Option<&str>) -> Result<()> = match args.next().as_deref() {
        Some("list") => list::run,
        Some("merge") => merge::run,
        Some("trie") => trie::run,
        _ => return Err("which experiment? list, merge or trie".into()),
    };
    run(&args.next().ok_or("which FILE?")?, args.next().as_deref())
}

/// The distinct lines of `text`, shuffled by a fixed seed.
fn shuffled(text: &[u8]) -> Vec<&[u8]> {
    let mut seen = HashSet::new();
    let mut lines: Vec<&[u8]> =
        text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty() && seen.insert(*line)).collect();
    for i in (1..lines.len()).rev() {
        lines.swap(i, scale(mix(i as u64 ^ (0x5EED << 32)), i as u64 + 1) as usize);
    }
    lines
}

/// Copies of the keys to look up, one after the other in `room`, as if they came from a file or a peer. With keys in
/// the shuffled text, lookups would wait until the keys are loaded, which is not part of a lookup; and the contestant
/// that runs first would wait most.
fn copied<'r>(keys: &[&[u8]], room: &'r mut Vec<u8>) -> Vec<&'r [u8]> {
    *room = keys.concat();
    let mut rest = room.as_slice();
    keys.iter().map(|key| rest.split_off(..key.len()).expect("all were copied")).collect()
}
