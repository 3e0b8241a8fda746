use std::io;
use std::thread::{self, JoinHandle};

use furui::dict::{Dict, DictValue, Done};

use crate::error::Error;
use crate::files::Files;

/// The size of the stack of the thread that merges tries of a dictionary, in bytes.
const STACK_BYTES: usize = 2 << 20;

/// The memory, in bytes, that must be free before the thread that merges tries is started: its stack and what it
/// allocates at first.
const THREAD_BYTES: usize = 2 * STACK_BYTES;

/// A thread that builds and merges tries while lines are read.
#[derive(Default)]
pub struct Worker {
    running: Option<JoinHandle<furui::Result<Done>>>,
}

impl Worker {
    /// Prepares the dictionary for the insertion of `keys` keys of `bytes` bytes in all: installs a finished merge, and
    /// starts the next one. Waits for the thread if the insertion would otherwise have to do the merge itself.
    pub fn tend<V: DictValue + ?Sized>(
        &mut self,
        dict: &mut Dict<Files, V>,
        keys: usize,
        bytes: usize,
    ) -> Result<(), Error> {
        let waits = dict.will_freeze(keys, bytes);
        if self.running.as_ref().is_some_and(|thread| waits || thread.is_finished()) {
            self.finish(dict)?;
        }
        if self.running.is_none()
            && let Some(job) = dict.job()?
        {
            // If the system refuses memory for the stack of a thread's signal handlers, the standard library aborts. So
            // the memory is tested before the thread is started, and its lack is an error.
            if Vec::<u8>::new().try_reserve_exact(THREAD_BYTES).is_err() {
                return Err(furui::Error::NoMemory { what: "a thread that merges", bytes: THREAD_BYTES }.into());
            }
            let thread = thread::Builder::new().name("merge".into()).stack_size(STACK_BYTES).spawn(move || job.run());
            self.running = Some(thread.map_err(|error: io::Error| Error::io("cannot start", "a thread", error))?);
        }
        Ok(())
    }

    /// Waits for the merge of tries in progress, if there is one, and installs its result.
    pub fn finish<V: DictValue + ?Sized>(&mut self, dict: &mut Dict<Files, V>) -> Result<(), Error> {
        if let Some(thread) = self.running.take() {
            let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            dict.install(done)?;
        }
        Ok(())
    }
}
