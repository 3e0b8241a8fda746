//! `furui extract`, which is not for people: prints the documents of a PDF on standard input, each as a line of JSON.
//!
//! The reader of PDFs bounds neither its memory nor its time, so this process does, and `furui publish` starts it for
//! each file. Systems other than Linux may not limit memory; there, the time and the output are still limited.

use std::io::Read;
use std::process::ExitCode;

use furui_pages::{Entry, Pdf};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Error;
use crate::program::Program;

/// The name of the command.
pub(crate) const NAME: &str = "extract";
/// The maximum size of the process's memory in bytes, including the program itself. Chosen: eight times the largest
/// file.
pub(crate) const MEMORY: u64 = 2 << 30;
/// The maximum processor time of the process, in seconds. Chosen: manuals of a thousand pages take a few seconds.
pub(crate) const SECONDS: u64 = 60;
/// The maximum size of a file, in bytes. Chosen: most of such a file is pictures.
const MAX_FILE: u64 = 256 << 20;

/// Runs `furui extract`.
pub(crate) fn run(program: &dyn Program) -> Result<ExitCode, Error> {
    for (resource, most) in [(Resource::As, MEMORY), (Resource::Cpu, SECONDS), (Resource::Core, 0)] {
        let limit = getrlimit(resource);
        let most = limit.maximum.map_or(most, |maximum| maximum.min(most));
        // Some systems refuse a limit of memory.
        let _ = setrlimit(resource, Rlimit { current: Some(most), ..limit });
    }
    let failed = |error| Error::io("cannot read", "standard input", error);
    let input = program.input().map_err(failed)?;
    let size = input.metadata().map_err(failed)?.len().min(MAX_FILE);
    let mut bytes = Vec::with_capacity(size as usize + 1);
    input.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    let whole = |why| vec![Entry::Broken { place: String::new(), why }].into_iter();
    if bytes.len() as u64 > MAX_FILE {
        return print(whole(format!("more than {MAX_FILE} bytes")), program);
    }
    match Pdf::open(&bytes) {
        Ok(pdf) => print(pdf, program),
        Err(why) => print(whole(why), program),
    }
}

fn print(entries: impl Iterator<Item = Entry>, program: &dyn Program) -> Result<ExitCode, Error> {
    for entry in entries {
        let mut line = serde_json::to_vec(&entry).map_err(|error| Error::Message(error.to_string()))?;
        line.push(b'\n');
        if !program.print(&line)? {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}
