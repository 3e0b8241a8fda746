//! Input in blocks of whole lines.

use std::path::PathBuf;
use std::time::Instant;

use furui::Error;

use crate::input::{Fill, Input};
use crate::interrupt::Interrupt;
use crate::pipes;

/// Bytes asked for at a time: a block stays in the second-level cache from the read to the write.
const BLOCK: usize = 512 << 10;
/// The most where each block costs a pass over storage, which more keys share.
const LARGE_BLOCK: usize = 8 << 20;
/// The most lines in a block, so that what is kept for each takes little memory however short they are.
const MAX_LINES: usize = 128 << 10;
/// The most that the longest line can be set to: places in a block are numbers of 32 bits.
pub const MOST_MAX_LINE: u64 = (1 << 32) - 2;

/// Some whole lines, each with its separator.
pub struct Block<'a> {
    pub bytes: &'a mut [u8],
    /// Where the separators are, ascending, counted from `start` bytes before the block; the last one ends the block.
    ends: &'a [u32],
    start: u32,
    /// Which input they come from, and how many lines of it came before.
    input: &'a str,
    before: u64,
}

impl Block<'_> {
    /// Where the line with this index is to be found, for messages.
    pub fn place(&self, index: usize) -> String {
        format!("{}: line {}", self.input, self.before + index as u64 + 1)
    }

    /// The line with this index, without its separator.
    pub fn line(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.next_line(index - 1) };
        &self.bytes[start..self.next_line(index) - 1]
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where in the block the line after the one with this index begins.
    pub fn next_line(&self, index: usize) -> usize {
        (self.ends[index] - self.start) as usize + 1
    }

    /// The lines, without their separators.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let end = (end - self.start) as usize;
            let line = &self.bytes[start..end];
            start = end + 1;
            line
        })
    }
}

/// What comes next.
pub enum Next<'a> {
    Block(Block<'a>),
    /// Nothing has come for so long.
    Pause,
    /// All input is read, or the user interrupted.
    End,
}

/// Reads files one after the other and hands out what has arrived, in whole lines.
///
/// A block is what one read brought, and what more could be had without waiting, up to a limit: so a line on a slow
/// pipe is seen at once, and a file is read in large pieces. A last line without separator gets one; lines do not run
/// on from one file into the next.
pub struct Blocks<'a> {
    files: std::vec::IntoIter<PathBuf>,
    current: Option<Input>,
    separator: u8,
    interrupt: &'a Interrupt,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were read.
    filled: usize,
    /// Bytes of it that were handed out already, and the lines among them.
    done: usize,
    lines_done: usize,
    /// The ends of the lines in the buffer.
    ends: Vec<u32>,
    /// The input that they come from, and how many lines and bytes of it were handed out.
    input: String,
    input_lines: u64,
    input_bytes: u64,
    /// Blocks are large, and gathered with patience.
    large: bool,
    /// The longest line, without its separator, that is not an error, or is not cut.
    max_line: usize,
    /// Longer lines are cut short.
    cuts: bool,
    /// The error that comes after the lines in the buffer.
    failure: Option<Error>,
    /// What is told a file that cannot be opened, before the next one is read.
    skip: Option<fn(&Error)>,
    skipped: bool,
}

impl<'a> Blocks<'a> {
    /// Reads `files`, or standard input if there are none. "-" is standard input. A line of more than `max_line` bytes is
    /// an error, after the lines before it.
    pub fn new(files: &[PathBuf], separator: u8, max_line: usize, interrupt: &'a Interrupt) -> Self {
        let files = if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() };
        Self {
            files: files.into_iter(),
            current: None,
            separator,
            interrupt,
            buffer: vec![0; BLOCK],
            filled: 0,
            done: 0,
            lines_done: 0,
            ends: Vec::new(),
            input: String::new(),
            input_lines: 0,
            input_bytes: 0,
            large: false,
            max_line,
            cuts: false,
            failure: None,
            skip: None,
            skipped: false,
        }
    }

    /// Goes on with the next file where one cannot be opened, and tells `skip` why.
    pub fn skipping(self, skip: fn(&Error)) -> Self {
        Self { skip: Some(skip), ..self }
    }

    /// Whether there was such a file.
    pub fn skipped(&self) -> bool {
        self.skipped
    }

    /// Makes a line that is too long no error: it comes with a few bytes too many, so that it can be told, and without
    /// the rest.
    #[cfg(feature = "node")]
    pub fn cutting(self) -> Self {
        Self { cuts: true, ..self }
    }

    /// From now on reads blocks of up to [`MAX_LINES`] lines, as long as those of the last block, if so much has
    /// arrived.
    pub fn enlarge(&mut self) {
        self.large = true;
        if let Some(&last) = self.ends.last() {
            let wanted = (last as usize / self.ends.len() + 1) * MAX_LINES;
            if self.buffer.len() < wanted.min(LARGE_BLOCK) {
                self.buffer.resize(wanted.min(LARGE_BLOCK), 0);
            }
        }
    }

    /// The next block; `None` when all input is read, or the user interrupted.
    pub fn next(&mut self) -> Result<Option<Block<'_>>, Error> {
        match self.next_until(None)? {
            Next::Block(block) => Ok(Some(block)),
            Next::Pause | Next::End => Ok(None),
        }
    }

    /// The next block, if one has come until then. Files never pause.
    pub fn next_until(&mut self, until: Option<Instant>) -> Result<Next<'_>, Error> {
        if self.lines_done == self.ends.len() {
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            match self.read(until)? {
                Fill::Some => {}
                Fill::Nothing => return Ok(Next::Pause),
                Fill::End | Fill::Interrupted => return Ok(Next::End),
            }
        }
        let first = self.lines_done;
        self.lines_done = (first + MAX_LINES).min(self.ends.len());
        let start = std::mem::replace(&mut self.done, self.ends[self.lines_done - 1] as usize + 1);
        let before = self.input_lines;
        self.input_lines += (self.lines_done - first) as u64;
        self.input_bytes += (self.done - start) as u64;
        Ok(Next::Block(Block {
            bytes: &mut self.buffer[start..self.done],
            ends: &self.ends[first..self.lines_done],
            start: start as u32,
            input: &self.input,
            before,
        }))
    }

    /// Whether the next block is still to come: whoever holds something back for more should not wait for that.
    pub fn would_wait(&self) -> bool {
        let waits = |input: &Input| input.would_wait(self.interrupt);
        self.lines_done == self.ends.len() && self.failure.is_none() && self.current.as_ref().is_some_and(waits)
    }

    /// Replaces the lines in the buffer by new ones, at least one, if one has come until then.
    fn read(&mut self, until: Option<Instant>) -> Result<Fill, Error> {
        self.buffer.copy_within(self.done..self.filled, 0);
        self.filled -= self.done;
        self.done = 0;
        self.lines_done = 0;
        self.ends.clear();
        let mut scanned = 0;
        if self.buffer.len() > LARGE_BLOCK && self.filled < LARGE_BLOCK {
            // A long line has passed.
            self.buffer.truncate(LARGE_BLOCK);
            self.buffer.shrink_to_fit();
        }
        loop {
            if self.current.is_none() {
                if let (Some(until), Some(path)) = (until, self.files.as_slice().first())
                    && pipes::is_pipe_at(path)
                {
                    // Opening it waits until somebody writes to it, however long that takes.
                    std::thread::sleep(until.saturating_duration_since(Instant::now()));
                    return Ok(Fill::Nothing);
                }
                match self.files.next() {
                    Some(path) => {
                        let input = match (Input::open(&path), self.skip) {
                            (Err(error), Some(skip)) => {
                                skip(&error);
                                self.skipped = true;
                                continue;
                            }
                            (input, _) => input?,
                        };
                        self.input.clone_from(&input.name);
                        (self.input_lines, self.input_bytes) = (0, 0);
                        self.current = Some(input);
                    }
                    None => return Ok(Fill::End),
                }
            }
            let Some(input) = &mut self.current else { continue };
            let state = input.fill(&mut self.buffer, &mut self.filled, self.interrupt, self.large, until)?;
            if state == Fill::Interrupted {
                return Ok(state);
            }
            if state == Fill::End {
                self.current = None;
                if self.filled > 0 && self.buffer[self.filled - 1] != self.separator {
                    if self.filled == self.buffer.len() {
                        self.grow(self.filled + 1)?;
                    }
                    self.buffer[self.filled] = self.separator;
                    self.filled += 1;
                }
            }
            // What was scanned before holds no separator, or it would have been handed out.
            furui::bits::byte_positions(&self.buffer[scanned..self.filled], self.separator, &mut self.ends);
            if scanned > 0 {
                self.ends.iter_mut().for_each(|end| *end += scanned as u32);
            }
            scanned = self.filled;
            self.stop_at_long_line();
            if !self.ends.is_empty() {
                return Ok(Fill::Some);
            }
            if self.current.is_some() && until.is_some_and(|until| until <= Instant::now()) {
                return Ok(Fill::Nothing);
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.current.is_some() && self.filled == self.buffer.len() {
                if self.filled > self.max_line {
                    // Of a line that is cut, only the end is wanted yet.
                    self.filled = self.max_line + 1;
                    scanned = self.filled;
                } else {
                    self.grow((self.filled * 2).min(self.max_line + if self.cuts { BLOCK } else { 1 }))?;
                }
            }
        }
    }

    /// Of the lines in the buffer leaves those before the first that is too long, and notes the error that comes then.
    fn stop_at_long_line(&mut self) {
        if self.cuts || self.filled <= self.max_line {
            return;
        }
        let mut start = 0;
        let too_long = |&end: &u32| {
            let length = end as usize - start;
            start = end as usize + 1;
            length > self.max_line
        };
        match self.ends.iter().position(too_long) {
            Some(line) => self.ends.truncate(line),
            // The last one, whose end has not come yet.
            None if self.filled - start > self.max_line => {}
            None => return,
        }
        let before = self.ends.last().map_or(0, |&end| u64::from(end) + 1);
        self.failure = Some(Error::Config(format!(
            "{}: line {}, from byte {} on: longer than {} bytes; a larger --max-line takes it, in as much memory",
            self.input,
            self.input_lines + self.ends.len() as u64 + 1,
            self.input_bytes + before,
            self.max_line
        )));
    }

    /// Makes the buffer longer. Memory that there is not is an error as any other.
    fn grow(&mut self, length: usize) -> Result<(), Error> {
        self.buffer.try_reserve_exact(length - self.buffer.len()).map_err(|_| {
            let line = self.input_lines + 1;
            Error::Config(format!("{}: line {line}: no memory for a line of {} bytes", self.input, self.buffer.len()))
        })?;
        self.buffer.resize(length, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn of_lines_that_are_cut_no_more_is_held_than_is_needed_to_tell_them_apart() {
        const MOST: usize = 1 << 20;
        let path = std::env::temp_dir().join(format!("furui-blocks-{}", std::process::id()));
        let line = |length: usize| [vec![b'x'; length], b"\n".to_vec()].concat();
        let lengths = [1, MOST, 7 * MOST + 5, 0, MOST + 1, 3, 4 * MOST];
        fs::write(&path, lengths.map(line).concat().trim_ascii_end()).expect("a file for the test");
        let interrupt = Interrupt::ignore();
        let mut blocks = Blocks::new(std::slice::from_ref(&path), b'\n', MOST, &interrupt).cutting();
        let mut found = Vec::new();
        while let Some(block) = blocks.next().expect("it can be read") {
            found.extend(block.lines().map(<[u8]>::len));
            assert_eq!(block.place(0), format!("{}: line {}", path.display(), found.len() - block.len() + 1));
            assert!(blocks.buffer.len() <= MOST + BLOCK);
        }
        fs::remove_file(&path).expect("it is there");
        assert_eq!(found.len(), lengths.len());
        for (length, found) in lengths.into_iter().zip(found) {
            assert!(if length > MOST { found > MOST } else { found == length }, "{length} bytes: {found}");
        }
    }
}
