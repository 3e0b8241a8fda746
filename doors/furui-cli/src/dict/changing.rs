//! The run of a command that changes a dictionary by the lines of inputs.

use furui::dict::{Dict, DictValue};

use super::records::Records;
use super::worker::Worker;
use crate::cli::{InputOptions, LineOptions};
use crate::error::Error;
use crate::files::Files;
use crate::input::block::Block;
use crate::interrupt::Interrupt;
use crate::say::progress::Progress;

/// The inputs of the command, and what it does with the dictionary besides changing it.
pub struct Changing<'a> {
    pub lines: &'a LineOptions,
    pub input: &'a InputOptions,
    /// The name of the job on its progress bar; `None` if it has none.
    pub job: Option<&'static str>,
    /// True if the changes are made durable at the end; false for a dictionary of this run only.
    pub is_kept: bool,
}

impl Changing<'_> {
    /// Calls `each` with every block of lines, except headers, while a thread merges tries. Changes that were made
    /// before an error, or before the signal that ended the input, are kept, too. Returns the number of that signal.
    pub fn run<V: DictValue + ?Sized>(
        self,
        dict: &mut Dict<Files, V>,
        records: &mut Records,
        each: impl FnMut(&mut Dict<Files, V>, &Block, &mut Records) -> Result<(), Error>,
    ) -> Result<Option<u8>, Error> {
        let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?;
        let mut worker = Worker::default();
        let read = self.read(dict, records, &interrupt, &mut worker, each);
        let mut kept = worker.finish(dict);
        if self.is_kept {
            kept = kept.and_then(|()| Ok(dict.sync()?));
        }
        read.and(kept)?;
        Ok(interrupt.signal())
    }

    fn read<V: DictValue + ?Sized>(
        &self,
        dict: &mut Dict<Files, V>,
        records: &mut Records,
        interrupt: &Interrupt,
        worker: &mut Worker,
        mut each: impl FnMut(&mut Dict<Files, V>, &Block, &mut Records) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut blocks = self.lines.blocks(self.input, interrupt);
        let mut progress = self.job.map(|job| Progress::new(job, &self.input.files));
        while let Some(block) = blocks.next()? {
            if records.header(block)?.is_some() {
                continue;
            }
            worker.tend(dict, block.len(), block.bytes().len())?;
            each(dict, block, records)?;
            progress.iter_mut().for_each(|progress| progress.advance(block.bytes().len()));
        }
        Ok(())
    }
}
