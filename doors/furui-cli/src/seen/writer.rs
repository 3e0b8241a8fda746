use super::batch::Batch;
use super::byproducts::Byproducts;
use super::ending::Ending;
use super::recorder::Recorder;
use crate::output::Sink;

/// Writes all output of the command `furui seen`.
pub struct Writer {
    pub recorder: Recorder,
    pub byproducts: Byproducts,
}

/// The result of writing a batch to the output.
pub enum Written {
    Whole,
    /// The reader of the pipe is not reading at present, and it is time to record the lines that it has read before.
    Part,
    /// No more output is written, because the run ends for this reason.
    Ended(Ending),
}

impl Writer {
    /// Writes a batch of lines, or the rest of it, but stops when it is time to record lines. `unsynced` is the number
    /// of keys of the set that are not durable yet.
    pub fn write(&mut self, batch: &mut Batch, unsynced: usize) -> Written {
        if !batch.is_void {
            if !batch.is_begun {
                if let Err(error) = self.recorder.begin(batch) {
                    return Written::Ended(Ending::Failed(error));
                }
                batch.is_begun = true;
                self.byproducts.note(batch);
            }
            let mut left = batch.left();
            let before = left.len();
            let until = self.recorder.deadline(unsynced);
            let printed = self.recorder.print(&mut left, until);
            let count = before - left.len();
            batch.printed += count;
            match printed {
                Ok(Sink::Open) => {}
                Ok(Sink::Busy) => return Written::Part,
                Ok(Sink::Closed) => return Written::Ended(Ending::Closed),
                Err(error) => return Written::Ended(Ending::Broken(error)),
            }
            if let Err(error) = self.byproducts.write(batch) {
                return Written::Ended(Ending::Failed(error));
            }
        }
        match batch.failure.take() {
            Some(error) => Written::Ended(Ending::Failed(error)),
            None => Written::Whole,
        }
    }
}
