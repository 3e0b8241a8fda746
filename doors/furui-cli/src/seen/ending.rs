use crate::error::Error;
use crate::output::Sink;

/// The reason why a run of `furui seen` ends.
pub enum Ending {
    /// All input was read and written, or the user interrupted.
    Done,
    /// The input, the set or a file of the output failed. The lines that were printed before are recorded.
    Failed(Error),
    /// The reader of the output has closed it. It is unknown which of the last lines were read. The next run prints
    /// again the lines that are not durable.
    Closed,
    /// Writing the output, or recording the printed lines, has failed. Nothing more is recorded.
    Broken(Error),
}

impl Ending {
    /// Returns an error with the ending of the run, [`Closed`](Self::Closed) or [`Broken`](Self::Broken), if the output
    /// was closed or has failed.
    pub fn of(result: Result<Sink, Error>) -> Result<(), Self> {
        match result {
            Ok(Sink::Open | Sink::Busy) => Ok(()),
            Ok(Sink::Closed) => Err(Self::Closed),
            Err(error) => Err(Self::Broken(error)),
        }
    }
}
