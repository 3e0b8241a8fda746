//! `furui export` and `import`: the hashes of a store as numbers in a file.

use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

use furui::format::{Access, publish};
use furui::store::Directory;
use furui::store::cascade::{Cascade, CascadeOptions, ExpectedNote};

use crate::cli::{ExportOptions, ImportOptions};
use crate::error::Error;
use crate::files::Files;
use crate::memory;
use crate::opening::{kind_of, open_to_read, open_to_write};
use crate::output::{Output, Sink};
use crate::streams::standard_input;

/// Writes the hashes of a store to a file in ascending order, each as 8 bytes, little-endian.
pub fn export(options: &ExportOptions) -> Result<ExitCode, Error> {
    let set = open_to_read(&options.store, memory::quarter())?;
    let mut keys = set.sorted()?;
    let mut next = || Ok::<Vec<u8>, Error>(keys.next_keys()?.iter().flat_map(|key| key.to_le_bytes()).collect());
    match &options.output {
        Some(path) if path.as_os_str() != "-" => {
            let failed = |error| Error::io("cannot write", path.display().to_string(), error);
            publish(path, Access::Default, |out: &mut dyn Write| {
                loop {
                    let some = next()?;
                    if some.is_empty() {
                        return Ok::<(), Error>(());
                    }
                    out.write_all(&some).map_err(failed)?;
                }
            })?;
        }
        _ => {
            let mut output = Output::new(false)?;
            loop {
                let some = next()?;
                if some.is_empty() || output.print(&some)? == Sink::Closed {
                    break;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `furui import`: inserts the hashes in a file into a store.
pub fn import(options: &ImportOptions) -> Result<ExitCode, Error> {
    // A directory that is no store is refused before anything is written to it.
    kind_of(&options.store)?;
    let name = options.file.display().to_string();
    let file = if name == "-" { standard_input() } else { File::open(&options.file) };
    let file = file.map_err(|error| Error::io("cannot open", &name, error))?;
    let settings = CascadeOptions { memory: memory::quarter(), hash: None, form: None, journal: false };
    let base = Files::Store(Directory::open_read_only(&options.store)?.mapped(false));
    let mut run = Cascade::open_over(&base, Files::temporary(0), settings)?;
    run.insert_from(file, &name)?;
    let mut set = Cascade::open(Files::Store(open_to_write(&options.store, &options.wait)?.mapped(false)), settings)?;
    set.commit(run.new_keys()?, None, ExpectedNote::Any)?;
    Ok(ExitCode::SUCCESS)
}
