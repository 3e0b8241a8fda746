//! Everything that a run produces besides its standard output: the file of the repeats, the counts of each file, the
//! progress bar, and figures on request.

use std::io::IsTerminal;

use super::batch::Batch;
use super::by_file::ByFile;
use super::figures::Figures;
use super::repeats::Repeats;
use crate::cli::SeenOptions;
use crate::error::Error;
use crate::pipes;
use crate::say::progress::Progress;
use crate::streams::standard_output;

/// Everything that a run produces besides its standard output.
pub struct Byproducts {
    repeats: Option<Repeats>,
    by_file: Option<ByFile>,
    progress: Option<Progress>,
    figures: Figures,
}

impl Byproducts {
    /// The byproducts that the options request. From this call on, SIGUSR1 prints figures.
    pub fn new(options: &SeenOptions) -> Result<Self, Error> {
        let files = &options.input.files;
        let repeats = options.outputs.repeats.as_deref();
        let inputs = options.input.inputs();
        Ok(Self {
            repeats: repeats.map(|path| Repeats::open(path, options.input.separator(), &inputs)).transpose()?,
            by_file: options.outputs.count.then(|| ByFile::new(files)),
            progress: (options.quiet || options.print.output.is_some() || leaves_terminal_alone())
                .then(|| Progress::new("reading", files)),
            figures: Figures::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?,
        })
    }

    /// True if the repeats are written to a file.
    pub fn wants_repeats(&self) -> bool {
        self.repeats.is_some()
    }

    /// Prepares the byproducts of the lines or the header of a batch, which will be printed next.
    pub fn note(&mut self, batch: &Batch) {
        if let Some(repeats) = &mut self.repeats {
            match batch.header {
                Some(_) => repeats.header(batch.block.bytes()),
                None => repeats.note(&batch.repeats),
            }
        }
        if let Some(by_file) = &mut self.by_file {
            by_file.enter(&batch.block);
            by_file.count(&batch.fates);
        }
    }

    /// Writes what [`note`](Self::note) has prepared for a batch. Its lines must have been printed.
    pub fn write(&mut self, batch: &Batch) -> Result<(), Error> {
        self.figures.set(batch);
        if let Some(progress) = &mut self.progress {
            progress.advance(batch.block.bytes().len());
        }
        self.repeats.as_mut().map_or(Ok(()), Repeats::write)
    }

    /// Ends the progress bar, and writes what was prepared and is not written yet.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.progress = None;
        self.repeats.as_mut().map_or(Ok(()), Repeats::finish)
    }

    /// The counts of each file, if the options request them.
    pub fn by_file(&self) -> Option<&ByFile> {
        self.by_file.as_ref()
    }
}

/// True if standard output is neither a terminal nor a pipe. (The reader of a pipe may print to the terminal, where its
/// lines would be mixed with the progress bar.)
fn leaves_terminal_alone() -> bool {
    standard_output().is_ok_and(|output| !output.is_terminal() && !pipes::is_pipe(&output))
}
