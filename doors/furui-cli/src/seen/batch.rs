use furui::Hashes;
use furui::seen::{Recent, Verdict};
use furui::store::cascade::SplitBatch;

use super::printing::Printing;
use super::repeats;
use crate::error::Error;
use crate::input::block::Block;
use crate::keys::{Fate, Keys};
use crate::remote::RemoteKeys;

/// A block of lines on its way from the input to the output, with the results of each step.
pub struct Batch {
    pub block: Block,
    pub keys: Keys,
    pub hashes: Hashes,
    /// The keys themselves, in place of their hashes, if the set is in a server. `None` otherwise, and while the server
    /// decides about the keys.
    pub asked: Option<RemoteKeys>,
    /// The indices, among the hashes of the block, of those that the recent cache of the worker did not know.
    pub misses: Vec<u32>,
    /// The hashes that are not in the recent cache of the worker, one part for each share of the set, if the set is
    /// split.
    pub split: SplitBatch,
    /// True if the block is the first header that this process reads, and false if it is a later header. `None` if it
    /// is not a header.
    pub header: Option<bool>,
    pub verdicts: Vec<Verdict>,
    pub fates: Vec<Fate>,
    /// The number of lines that had a key, from the start of the run to the end of this block.
    pub keys_so_far: u64,
    /// The number of those lines whose key was new.
    pub new_so_far: u64,
    /// The error that ends the command after the lines of the block.
    pub failure: Option<Error>,
    /// True if no lines are to be printed after this block.
    pub is_last: bool,
    /// True if there is nothing to print, because the set has failed, or because there are no lines.
    pub is_void: bool,
    /// True if the writer has begun to print this block.
    pub is_begun: bool,
    /// True if keys of earlier slices of the set's window (`--window`) occurred again, and this is not recorded yet.
    pub has_old_repeats: bool,
    /// The number of bytes of the text to print that have been printed.
    pub printed: usize,
    /// The repeated lines of the block, for the file of `--repeats`. Empty without that option.
    pub repeats: Vec<u8>,
    /// The number of bytes at the beginning of the block that are to be printed. `None` if `marked` is printed instead.
    kept: Option<usize>,
    marked: Vec<u8>,
}

impl Batch {
    /// Creates an empty batch, ready for any block. `shares` is the number of shares of the set, or 0 if it is not
    /// split. Keys are made from a block's lines in the same way as by `keys`. `asked` is an empty list if the set is
    /// in a server.
    pub fn new(keys: &Keys, shares: usize, asked: Option<RemoteKeys>) -> Self {
        Self {
            block: Block::default(),
            hashes: Hashes::new(keys.hasher()),
            asked,
            misses: vec![],
            split: SplitBatch::new(shares),
            keys: keys.others(),
            header: None,
            verdicts: vec![],
            fates: vec![],
            keys_so_far: 0,
            new_so_far: 0,
            failure: None,
            is_last: false,
            is_void: false,
            is_begun: false,
            has_old_repeats: false,
            printed: 0,
            repeats: vec![],
            kept: None,
            marked: vec![],
        }
    }

    /// Clears everything about the last block, and keeps the allocated memory.
    pub fn reset(&mut self) {
        (self.header, self.failure, self.printed) = (None, None, 0);
        (self.is_last, self.is_void, self.is_begun) = (false, false, false);
        self.hashes.clear();
        if let Some(asked) = &mut self.asked {
            asked.clear();
        }
        self.misses.clear();
        self.split.clear();
        self.verdicts.clear();
        self.fates.clear();
        self.repeats.clear();
    }

    /// Ends the input with an error. Nothing of this batch is printed.
    pub fn fail(&mut self, error: Error) {
        (self.failure, self.is_void) = (Some(error), true);
    }

    /// Ends the input with an error of the set. The keys of this batch are not inserted.
    pub fn give_up(&mut self, error: Error) {
        self.split.clear();
        self.fail(error);
    }

    /// Hashes the keys of the lines, and finds those that are not in the cache `recent`. If the set is split, also
    /// finds the share of each key.
    pub fn hash(&mut self, recent: Option<&mut Recent<u64, 1>>) {
        if self.header.is_none() && !self.is_void {
            if let Err(error) = self.reserve() {
                return self.fail(error);
            }
            match &mut self.asked {
                None => self.keys.hash_all(&mut self.block, &mut self.hashes),
                Some(asked) => self.keys.each(&mut self.block, |key| asked.push(key)),
            }
            self.failure = self.keys.failure().err();
            match recent {
                Some(recent) => recent.observe_all(self.hashes.as_slice(), &mut self.misses),
                None => self.misses.extend(0..self.hashes.len() as u32),
            }
            if self.split.shares() > 0
                && let Err(error) = self.split.fill(&self.hashes, &self.misses)
            {
                self.fail(error.into());
            }
        }
    }

    /// Reserves memory for the lists of the block, so that they do not grow later.
    fn reserve(&mut self) -> Result<(), Error> {
        let lines = self.block.len();
        self.hashes
            .reserve(lines)
            .and_then(|()| self.misses.try_reserve(lines))
            .and_then(|()| self.fates.try_reserve(lines))
            .map_err(|_| {
                furui::Error::NoMemory { what: "the lists of a block", bytes: lines * size_of::<u64>() }.into()
            })
    }

    /// Keeps only the first `lines` lines of the block, and their keys. Everything known about the others is discarded.
    pub fn cut(&mut self, lines: usize) {
        self.block.truncate(lines);
        let keys = self.keys.cut(lines);
        self.hashes.truncate(keys);
        self.misses.truncate(self.misses.partition_point(|&index| (index as usize) < keys));
        self.failure = None;
    }

    /// Makes the text to print from the verdicts and, if `wants_repeats`, the text of the repeats.
    pub fn prepare(&mut self, printing: Printing, wants_repeats: bool) {
        if self.is_void {
            self.kept = Some(0);
            return;
        }
        if let Some(is_first) = self.header {
            self.kept = printing.header(&self.block, is_first, &mut self.marked);
            return;
        }
        self.keys.fates(&self.verdicts, &mut self.fates);
        if wants_repeats {
            repeats::append(&self.block, &self.fates, &mut self.repeats);
        }
        self.kept = printing.text(&mut self.block, &self.fates, &mut self.marked);
    }

    /// The part of the text to print that has not been printed yet.
    pub fn left(&self) -> &[u8] {
        let text = self.kept.map_or(&self.marked[..], |kept| &self.block.bytes()[..kept]);
        &text[self.printed..]
    }

    /// The number of lines in the block that are new.
    pub fn new_lines(&self) -> usize {
        self.verdicts.iter().filter(|&&verdict| verdict == Verdict::New).count()
    }
}
