//! Reads inputs in blocks of whole records.

use std::path::PathBuf;
use std::time::Instant;

use crate::error::Error;
use crate::input::block::{BLOCK, Block, MAX_LINES};
use crate::input::large_blocks::LargeBlocks;
use crate::input::reading::Reading;
use crate::input::source::{Fill, Input};
use crate::input::split::Splitter;
use crate::input::unread;
use crate::interrupt::Interrupt;
use crate::pipes;

/// Memory for the positions of line ends is reserved as if each line had this many bytes.
const SHORT_LINE: usize = 8;

/// The result of waiting for a block of lines.
pub enum Next {
    Block,
    /// Nothing arrived before the deadline of the call.
    Pause,
    /// All input is read, or the user interrupted.
    End,
}

/// Reads files one after the other, and hands out what has arrived in blocks of whole lines.
///
/// A block holds what one read returned, and what can be read after it without waiting, up to a limit. So a line on a
/// slow pipe is handed out at once, and a file is read in large pieces. A last line without a separator gets one; no
/// line continues from one file into the next.
pub struct Blocks<'a> {
    files: std::vec::IntoIter<PathBuf>,
    current: Option<Input>,
    splitter: Splitter,
    options: Reading,
    interrupt: &'a Interrupt,
    /// The number of bytes that one read requests.
    size: usize,
    /// The beginning of a line whose end has not been read.
    carried: Vec<u8>,
    /// Lines that were read, but did not fit into the last block.
    pending: Block,
    /// The number of lines of `pending` that were handed out.
    given: usize,
    /// The block of lines that [`next`](Self::next) returns.
    block: Block,
    /// The name of the current input, for messages.
    input: String,
    /// The number of lines of the current input that were handed out.
    input_lines: u64,
    /// The number of bytes of the current input that were handed out.
    input_bytes: u64,
    /// True if a CR that no LF follows has been read from the current input.
    lone_cr: bool,
    /// The sizes of blocks, once [`enlarge`](Self::enlarge) was called. A read then waits a moment for more input.
    large: Option<LargeBlocks>,
    /// The maximum number of lines of the next block, if it is less than usual; otherwise `None`.
    most: Option<usize>,
    /// True if a line that is too long is cut instead of being an error.
    cuts: bool,
    /// The error to return after the lines that were read before it occurred.
    failure: Option<Error>,
}

impl<'a> Blocks<'a> {
    /// Reads `files`, or standard input if there are none. "-" is standard input. A line that is too long is an error,
    /// which is returned after the lines before it.
    pub fn new(files: &[PathBuf], options: Reading, interrupt: &'a Interrupt) -> Self {
        let files = if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() };
        Self {
            files: files.into_iter(),
            current: None,
            splitter: Splitter::new(options.split),
            options,
            interrupt,
            size: BLOCK,
            carried: vec![],
            pending: Block::default(),
            given: 0,
            block: Block::default(),
            input: String::new(),
            input_lines: 0,
            input_bytes: 0,
            lone_cr: false,
            large: None,
            most: None,
            cuts: false,
            failure: None,
        }
    }

    /// Makes the reader continue with the next file if one cannot be opened or read.
    pub fn keeping_going(mut self) -> Self {
        self.options.keeps_going = true;
        self
    }

    /// Sets the number of bytes that one read requests.
    pub fn of_size(self, size: usize) -> Self {
        Self { size, ..self }
    }

    /// Makes the reader cut a line that is too long, instead of returning an error. What is left of the line is longer
    /// than `max_line`, so that the caller can notice the cut.
    #[cfg(any(test, feature = "node"))]
    pub fn cutting(self) -> Self {
        Self { cuts: true, ..self }
    }

    /// Makes later blocks as large as the maximum of `large`, if enough input has arrived. `line` is the mean length of
    /// the lines so far.
    pub fn enlarge(&mut self, large: LargeBlocks, line: usize) {
        self.large = Some(large);
        self.size = self.size.max((line * large.lines()).min(large.text()));
    }

    /// Limits later blocks to `lines` lines each. `None` restores the usual maximum.
    pub fn at_most(&mut self, lines: Option<u64>) {
        self.most = lines.map(|lines| usize::try_from(lines).unwrap_or(usize::MAX));
    }

    /// Waits for the next block. Returns `None` when all input is read, or when the user interrupted.
    pub fn next(&mut self) -> Result<Option<&mut Block>, Error> {
        let mut block = std::mem::take(&mut self.block);
        let next = self.read(&mut block, None);
        self.block = block;
        Ok(matches!(next?, Next::Block).then_some(&mut self.block))
    }

    /// Waits for the next block until `until`, and puts it into `block`. A regular file never pauses.
    pub fn read(&mut self, block: &mut Block, until: Option<Instant>) -> Result<Next, Error> {
        if self.given == self.pending.len() {
            if let Some(error) = self.failure.take() {
                self.give_up(error)?;
                self.carried.clear();
            }
            match self.fill(block, until)? {
                Fill::Some => {}
                Fill::Nothing => return Ok(Next::Pause),
                Fill::End | Fill::Interrupted => return Ok(Next::End),
            }
            std::mem::swap(block, &mut self.pending);
            self.given = 0;
        }
        let is_first = self.input_lines == 0;
        let is_header = is_first && self.options.header;
        let most = if is_header { 1 } else { self.large.map_or(MAX_LINES, LargeBlocks::lines) };
        let most = self.most.map_or(most, |less| most.min(less));
        let left = self.pending.len() - self.given;
        if self.given == 0 && left <= most {
            std::mem::swap(block, &mut self.pending);
            self.pending.ends.clear();
        } else {
            let copied = block.copy(&self.pending, self.given, left.min(most));
            copied.map_err(|_| self.no_memory(self.pending.length))?;
            self.given += left.min(most);
        }
        block.input.clone_from(&self.input);
        (block.split, block.before, block.lone_cr) = (self.options.split, self.input_lines, self.lone_cr);
        (block.is_header, block.is_first) = (is_header, is_first);
        self.input_lines += block.input_lines();
        self.input_bytes += block.length as u64;
        Ok(Next::Block)
    }

    /// True if the current input is compressed, so that a thread decodes it.
    pub fn is_decoded(&self) -> bool {
        self.current.as_ref().is_some_and(Input::is_decoded)
    }

    /// True if a read would have to wait for input at this moment. A caller that holds output back in order to write
    /// more at once should write it then.
    pub fn would_wait(&self) -> bool {
        let waits = |input: &Input| input.would_wait(self.interrupt);
        self.given == self.pending.len() && self.failure.is_none() && self.current.as_ref().is_some_and(waits)
    }

    /// Fills a block with at least one line, if one arrives before `until`, and keeps the bytes after the last line.
    fn fill(&mut self, block: &mut Block, until: Option<Instant>) -> Result<Fill, Error> {
        let most = self.large.map_or(LargeBlocks::MOST_KEPT, LargeBlocks::text);
        // The buffer may have been grown for a long line.
        self.size = self.size.min(most).max(self.carried.len());
        block.ends.clear();
        self.resize(block, self.size)?;
        if block.buffer.capacity() > most.max(2 * self.size) {
            block.buffer.shrink_to_fit();
        }
        let mut filled = self.carried.len();
        block.buffer[..filled].copy_from_slice(&self.carried);
        self.carried.clear();
        self.splitter.reset();
        let result = self.fill_from(block, &mut filled, until);
        block.length = block.ends.last().map_or(0, |&end| end as usize + 1);
        let rest = &block.buffer[block.length..filled];
        if self.carried.try_reserve(rest.len()).is_err() {
            return Err(self.no_memory(rest.len()));
        }
        self.carried.extend_from_slice(rest);
        result
    }

    fn fill_from(&mut self, block: &mut Block, filled: &mut usize, until: Option<Instant>) -> Result<Fill, Error> {
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
                        (self.input_lines, self.input_bytes, self.lone_cr) = (0, 0, false);
                        match Input::open(&path, self.options.looks) {
                            Ok(input) => {
                                self.input.clone_from(&input.name);
                                self.current = Some(input);
                            }
                            Err(error) => self.give_up(error)?,
                        }
                    }
                    None => return Ok(Fill::End),
                }
            }
            let Some(input) = &mut self.current else { continue };
            let (separator, patient) = (self.options.split.separator(), self.large.is_some());
            let state = match input.fill(&mut block.buffer, filled, separator, self.interrupt, patient, until) {
                Ok(state) => state,
                Err(error) => {
                    self.give_up(error)?;
                    // The buffer holds only the beginning of the line in which the error occurred, which is dropped.
                    *filled = 0;
                    self.splitter.reset();
                    continue;
                }
            };
            if state == Fill::Interrupted {
                return Ok(state);
            }
            if state == Fill::End {
                self.current = None;
                let split = self.options.split;
                if *filled > 0 && !split.ends_with(block.buffer[*filled - 1]) {
                    if *filled == block.buffer.len() {
                        self.resize(block, *filled + 1)?;
                    }
                    block.buffer[*filled] = split.separator();
                    *filled += 1;
                }
            }
            // This memory suffices for the positions of line ends, unless most lines are very short.
            if block.ends.try_reserve(*filled / SHORT_LINE).is_err() {
                return Err(self.no_memory(*filled));
            }
            self.splitter.find(&block.buffer[..*filled], state == Fill::End, &mut block.ends);
            self.lone_cr |= self.splitter.has_lone_cr();
            if state == Fill::End && self.splitter.is_open() && *filled > 0 {
                // A record with a quote that is not closed extends to the end of the input.
                block.ends.push(*filled as u32 - 1);
            }
            self.stop_at_long_line(block, *filled);
            if !block.ends.is_empty() {
                return Ok(Fill::Some);
            }
            if self.current.is_some() && until.is_some_and(|until| until <= Instant::now()) {
                return Ok(Fill::Nothing);
            }
            if let Some(error) = self.failure.take() {
                self.give_up(error)?;
                *filled = 0;
                self.splitter.reset();
                continue;
            }
            if self.current.is_some() && *filled == block.buffer.len() {
                if *filled > self.options.max_line {
                    // The rest of a line that is cut is read only to find its end.
                    *filled = self.options.max_line + 1;
                    self.splitter.cut(*filled);
                } else {
                    let most = self.options.max_line + if self.cuts { BLOCK } else { 1 };
                    self.size = (*filled * 2).min(most);
                    self.resize(block, self.size)?;
                }
            }
        }
    }

    /// Continues with the next file after an error of the current one if the options say so, and otherwise returns the
    /// error.
    fn give_up(&mut self, error: Error) -> Result<(), Error> {
        if !self.options.keeps_going {
            return Err(error);
        }
        unread::note(&error);
        self.current = None;
        Ok(())
    }

    /// Keeps the lines of a block that precede the first one that is too long, and stores the error to return after
    /// them.
    fn stop_at_long_line(&mut self, block: &mut Block, filled: usize) {
        if self.cuts || filled <= self.options.max_line {
            return;
        }
        let mut start = 0;
        let too_long = |&end: &u32| {
            let length = end as usize - start;
            start = end as usize + 1;
            length > self.options.max_line
        };
        match block.ends.iter().position(too_long) {
            Some(line) => block.ends.truncate(line),
            // This is the last line, whose separator has not arrived.
            None if filled - start > self.options.max_line => {}
            None => return,
        }
        let before = block.ends.last().map_or(0, |&end| u64::from(end) + 1);
        self.failure = Some(Error::Message(format!(
            "{}: line {}, from byte {} on: longer than {} bytes; raise --max-line, which takes as much memory",
            self.input,
            self.input_lines + block.ends.len() as u64 + 1,
            self.input_bytes + before,
            self.options.max_line
        )));
    }

    /// Resizes the buffer of a block to this length. A lack of memory is an error.
    fn resize(&self, block: &mut Block, length: usize) -> Result<(), Error> {
        let more = length.saturating_sub(block.buffer.len());
        block.buffer.try_reserve_exact(more).map_err(|_| self.no_memory(block.buffer.len()))?;
        block.buffer.resize(length, 0);
        Ok(())
    }

    fn no_memory(&self, length: usize) -> Error {
        let line = self.input_lines + 1;
        Error::Message(format!("{}: line {line}: no memory for lines of {length} bytes", self.input))
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
            assert!(block.buffer.len() <= MOST + BLOCK);
        }
        fs::remove_file(&path).expect("it is there");
        assert_eq!(found.len(), lengths.len());
        for (length, found) in lengths.into_iter().zip(found) {
            assert!(if length > MOST { found > MOST } else { found == length }, "{length} bytes: {found}");
        }
    }
}
