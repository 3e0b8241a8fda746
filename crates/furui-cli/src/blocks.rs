//! Input in blocks of whole records, which usually are lines.

use std::path::PathBuf;
use std::time::Instant;

use crate::error::Error;
use crate::input::{Fill, Input};
use crate::interrupt::Interrupt;
use crate::pipes;
use crate::split::{BOM, Split, Splitter};

/// How many bytes are read at a time. A block of this size stays in the second-level cache from the read to the write.
const BLOCK: usize = 512 << 10;
/// The maximum number of lines in a block. It bounds the memory that is kept for each line, however short the lines are.
const MAX_LINES: usize = 128 << 10;
/// The maximum value of `--max-line`. Positions in a block are 32-bit numbers.
pub const MOST_MAX_LINE: u64 = (1 << 32) - 2;

/// Whole records of one input, each with its separator. Records are called lines here, although a record of a CSV file
/// may extend over several lines of text.
pub struct Block<'a> {
    pub bytes: &'a mut [u8],
    /// The positions of the separators, ascending, counted from `start` bytes before the block. The last one ends the block.
    ends: &'a [u32],
    start: u32,
    /// The name of the input.
    input: &'a str,
    /// The number of lines of the input that came in earlier blocks. Lines of text within quotes count, too.
    before: u64,
    split: Split,
    /// True if the block is the first line of an input, which is its header.
    pub is_header: bool,
    /// True if the block begins an input.
    pub is_first: bool,
}

impl Block<'_> {
    /// The file and number of the line with this index, for messages.
    pub fn place(&self, index: usize) -> String {
        let earlier = match self.split {
            Split::Lines(_) => index as u64,
            Split::Csv(_) if index == 0 => 0,
            Split::Csv(_) => newlines(&self.bytes[..self.next_line(index - 1)]),
        };
        format!("{}: line {}", self.input, self.before + earlier + 1)
    }

    /// A byte order mark at the beginning of the input.
    pub fn mark(&self) -> &'static [u8] {
        if self.is_first && self.bytes.starts_with(BOM) { BOM } else { b"" }
    }

    /// The name of the input.
    pub fn input(&self) -> &str {
        self.input
    }

    /// The line with this index, without its separator.
    pub fn line(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.next_line(index - 1) };
        &self.bytes[start..self.next_line(index) - 1]
    }

    /// Leaves only the first lines.
    pub fn truncate(&mut self, lines: usize) {
        self.ends = &self.ends[..lines];
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The position in the block at which the line after the one with this index begins.
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

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// The maximum size of the blocks after [`Blocks::enlarge`]. With a set on storage, the keys of a block share one pass over
/// storage: four times as many keys halve the cost of a look-up in a large run.
#[derive(Clone, Copy)]
pub struct LargeBlocks {
    lines: usize,
}

impl LargeBlocks {
    /// The maximum number of lines, for a set with much memory.
    const MOST_LINES: usize = 512 << 10;
    /// A block has more than [`MAX_LINES`] lines only if the set has at least this many bytes of memory for each line.
    /// So large blocks take at most a third of the memory.
    const MEMORY_A_LINE: u64 = 256;
    /// The bytes that a line takes: 70 in the lists of hashes and verdicts, and its share of the text.
    const LINE: usize = 70 + Self::TEXT;
    /// The text of a block has this many bytes for each line, but at least [`LEAST_TEXT`](Self::LEAST_TEXT).
    const TEXT: usize = 32;
    const LEAST_TEXT: usize = 8 << 20;

    /// The sizes for a set with this much memory, in bytes.
    pub fn of(memory: u64) -> Self {
        let lines = memory / Self::MEMORY_A_LINE;
        Self { lines: lines.clamp(MAX_LINES as u64, Self::MOST_LINES as u64) as usize }
    }

    /// The bytes that large blocks take beyond those of blocks of [`MAX_LINES`] lines. The caller leaves this much less
    /// memory to the set.
    pub fn bytes(self) -> u64 {
        ((self.lines - MAX_LINES) * Self::LINE) as u64
    }

    fn text(self) -> usize {
        (self.lines * Self::TEXT).max(Self::LEAST_TEXT)
    }
}

/// The result of waiting for a block.
pub enum Next<'a> {
    Block(Block<'a>),
    /// Nothing arrived before the deadline.
    Pause,
    /// All input is read, or the user interrupted.
    End,
}

/// Reads files one after the other and hands out what has arrived, in whole lines.
///
/// A block holds what one read brought, and what else can be read without waiting, up to a limit. So a line on a slow pipe is
/// handed out at once, and a file is read in large pieces. A last line without a separator gets one; no line continues from one
/// file into the next.
pub struct Blocks<'a> {
    files: std::vec::IntoIter<PathBuf>,
    current: Option<Input>,
    splitter: Splitter,
    /// The byte that ends a line.
    separator: u8,
    options: Reading,
    interrupt: &'a Interrupt,
    buffer: Vec<u8>,
    /// How many bytes of the buffer are filled.
    filled: usize,
    /// How many bytes of the buffer were handed out.
    done: usize,
    /// How many lines of the buffer were handed out.
    lines_done: usize,
    /// The ends of the lines in the buffer.
    ends: Vec<u32>,
    /// The name of the input.
    input: String,
    /// How many lines of the input were handed out.
    input_lines: u64,
    /// How many bytes of the input were handed out.
    input_bytes: u64,
    /// The sizes of blocks after [`enlarge`](Self::enlarge): a read then waits a moment for more input.
    large: Option<LargeBlocks>,
    /// The maximum number of lines of the next block, if it is less than usual.
    most: Option<usize>,
    /// True if a line that is too long is cut instead of being an error.
    cuts: bool,
    /// The error that comes after the lines in the buffer.
    failure: Option<Error>,
    /// The function to call with the error if a file cannot be opened; the next file is read then. `None` if such an
    /// error ends the input.
    skip: Option<fn(&Error)>,
    skipped: bool,
}

/// How inputs are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub split: Split,
    /// True if the first line of each input is its header, and a block by itself.
    pub header: bool,
    /// The maximum length of a line without its separator. A longer line is an error, or is cut.
    pub max_line: usize,
    /// True if compressed inputs are decoded.
    pub decodes: bool,
}

impl Reading {
    /// Reads plain lines.
    #[cfg(any(test, feature = "node"))]
    pub fn lines(max_line: usize) -> Self {
        Self { split: Split::Lines(b'\n'), header: false, max_line, decodes: false }
    }
}

impl<'a> Blocks<'a> {
    /// Reads `files`, or standard input if there are none. "-" is standard input. A line that is too long is an error, which is
    /// returned after the lines before it.
    pub fn new(files: &[PathBuf], options: Reading, interrupt: &'a Interrupt) -> Self {
        let files = if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() };
        Self {
            files: files.into_iter(),
            current: None,
            splitter: Splitter::new(options.split),
            separator: options.split.separator(),
            options,
            interrupt,
            buffer: vec![],
            filled: 0,
            done: 0,
            lines_done: 0,
            ends: Vec::new(),
            input: String::new(),
            input_lines: 0,
            input_bytes: 0,
            large: None,
            most: None,
            cuts: false,
            failure: None,
            skip: None,
            skipped: false,
        }
    }

    /// Calls `skip` for a file that cannot be opened, and continues with the next one.
    pub fn skipping(self, skip: fn(&Error)) -> Self {
        Self { skip: Some(skip), ..self }
    }

    /// True if a file was skipped.
    pub fn skipped(&self) -> bool {
        self.skipped
    }

    /// Cuts a line that is too long, instead of returning an error. What is left of the line is longer than `max_line`,
    /// so that the caller can notice the cut.
    #[cfg(any(test, feature = "node"))]
    pub fn cutting(self) -> Self {
        Self { cuts: true, ..self }
    }

    /// Lets later blocks grow to the maximum of `large`, if so much input has arrived. The buffer is sized for lines as
    /// long as those in the last block.
    pub fn enlarge(&mut self, large: LargeBlocks) {
        self.large = Some(large);
        if let Some(&last) = self.ends.last() {
            let wanted = ((last as usize / self.ends.len() + 1) * large.lines).min(large.text());
            if self.buffer.len() < wanted {
                self.buffer.resize(wanted, 0);
            }
        }
    }

    /// Gives later blocks at most `lines` lines; with `None`, as many as usual.
    pub fn at_most(&mut self, lines: Option<u64>) {
        self.most = lines.map(|lines| usize::try_from(lines).unwrap_or(usize::MAX));
    }

    /// Waits for the next block. Returns `None` when all input is read, or when the user interrupted.
    pub fn next(&mut self) -> Result<Option<Block<'_>>, Error> {
        match self.next_until(None)? {
            Next::Block(block) => Ok(Some(block)),
            Next::Pause | Next::End => Ok(None),
        }
    }

    /// Waits for the next block until `until`. A regular file never pauses.
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
        let is_first = self.input_lines == 0;
        let is_header = is_first && self.options.header;
        let most = if is_header { 1 } else { self.large.map_or(MAX_LINES, |large| large.lines) };
        let most = self.most.map_or(most, |less| most.min(less));
        self.lines_done = (first + most).min(self.ends.len());
        let start = std::mem::replace(&mut self.done, self.ends[self.lines_done - 1] as usize + 1);
        let before = self.input_lines;
        self.input_lines += match self.options.split {
            Split::Lines(_) => (self.lines_done - first) as u64,
            Split::Csv(_) => newlines(&self.buffer[start..self.done]),
        };
        self.input_bytes += (self.done - start) as u64;
        Ok(Next::Block(Block {
            bytes: &mut self.buffer[start..self.done],
            ends: &self.ends[first..self.lines_done],
            start: start as u32,
            input: &self.input,
            before,
            split: self.options.split,
            is_header,
            is_first,
        }))
    }

    /// True if a read would wait now. A caller that holds output back in order to write more at once should write it then.
    pub fn would_wait(&self) -> bool {
        let waits = |input: &Input| input.would_wait(self.interrupt);
        self.lines_done == self.ends.len() && self.failure.is_none() && self.current.as_ref().is_some_and(waits)
    }

    /// Replaces the lines in the buffer by at least one new line, if one arrives before `until`.
    fn read(&mut self, until: Option<Instant>) -> Result<Fill, Error> {
        self.buffer.copy_within(self.done..self.filled, 0);
        self.filled -= self.done;
        self.done = 0;
        self.lines_done = 0;
        self.ends.clear();
        self.splitter.reset();
        if self.buffer.is_empty() {
            self.grow(BLOCK)?;
        }
        let most = self.large.map_or(LargeBlocks::LEAST_TEXT, LargeBlocks::text);
        if self.buffer.len() > most && self.filled < most {
            // The buffer was grown for a long line, which has been handed out.
            self.buffer.truncate(most);
            self.buffer.shrink_to_fit();
        }
        loop {
            if self.current.is_none() {
                if let (Some(until), Some(path)) = (until, self.files.as_slice().first())
                    && pipes::is_pipe_at(path)
                {
                    // Opening a named pipe waits until another process opens it for writing.
                    std::thread::sleep(until.saturating_duration_since(Instant::now()));
                    return Ok(Fill::Nothing);
                }
                match self.files.next() {
                    Some(path) => {
                        let input = match (Input::open(&path, self.options.decodes), self.skip) {
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
            let state = input.fill(&mut self.buffer, &mut self.filled, self.interrupt, self.large.is_some(), until)?;
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
            self.splitter.find(&self.buffer[..self.filled], &mut self.ends);
            if state == Fill::End && self.splitter.is_open() && self.filled > 0 {
                // A quote that is not closed takes the rest of the input.
                self.ends.push(self.filled as u32 - 1);
            }
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
                if self.filled > self.options.max_line {
                    // The rest of a line that is cut is read only to find its end.
                    self.filled = self.options.max_line + 1;
                    self.splitter.cut(self.filled);
                } else {
                    self.grow((self.filled * 2).min(self.options.max_line + if self.cuts { BLOCK } else { 1 }))?;
                }
            }
        }
    }

    /// Keeps the lines in the buffer that precede the first one that is too long, and stores the error to return after them.
    fn stop_at_long_line(&mut self) {
        if self.cuts || self.filled <= self.options.max_line {
            return;
        }
        let mut start = 0;
        let too_long = |&end: &u32| {
            let length = end as usize - start;
            start = end as usize + 1;
            length > self.options.max_line
        };
        match self.ends.iter().position(too_long) {
            Some(line) => self.ends.truncate(line),
            // The last line, whose separator has not arrived.
            None if self.filled - start > self.options.max_line => {}
            None => return,
        }
        let before = self.ends.last().map_or(0, |&end| u64::from(end) + 1);
        self.failure = Some(Error::Message(format!(
            "{}: line {}, from byte {} on: longer than {} bytes; a larger --max-line takes it, in as much memory",
            self.input,
            self.input_lines + self.ends.len() as u64 + 1,
            self.input_bytes + before,
            self.options.max_line
        )));
    }

    /// Makes the buffer longer. A lack of memory is an error.
    fn grow(&mut self, length: usize) -> Result<(), Error> {
        self.buffer.try_reserve_exact(length - self.buffer.len()).map_err(|_| {
            let line = self.input_lines + 1;
            Error::Message(format!("{}: line {line}: no memory for a line of {} bytes", self.input, self.buffer.len()))
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
        let mut blocks = Blocks::new(std::slice::from_ref(&path), Reading::lines(MOST), &interrupt).cutting();
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
