//! `furui export` and `import`: the hashes of a store as numbers in a file.

use std::fs::File;
use std::io::{Read, Write};
use std::process::ExitCode;

use furui::KeyHash;
use furui::format::{Access, publish};
use furui::store::cascade::{Cascade, CascadeOptions};

use crate::cli::{ExportOptions, ImportOptions};
use crate::combine;
use crate::error::Error;
use crate::files::Files;
use crate::memory;
use crate::opening::kind_of;
use crate::opening::open_to_write;
use crate::output::{Output, Sink};
use crate::streams::standard_input;

/// The size of a hash in bytes.
const HASH: usize = 8;

/// The number of bytes of hashes that one read requests.
const READ: usize = 1 << 20;

/// Runs `furui export`: writes the hashes of a store to a file in ascending order, each as 8 bytes, little-endian.
pub fn export(options: &ExportOptions) -> Result<ExitCode, Error> {
    let set = combine::open(&options.store, memory::quarter())?;
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
    let mut file = file.map_err(|error| Error::io("cannot open", &name, error))?;
    let settings = CascadeOptions { memory: memory::quarter(), hash: None, form: None, journal: false };
    let mut set = Cascade::open(Files::Store(open_to_write(&options.store, &options.wait)?.mapped(false)), settings)?;
    let (mut bytes, mut keys, mut new) = (vec![], vec![], vec![]);
    loop {
        bytes.clear();
        let read = Read::by_ref(&mut file).take(READ as u64).read_to_end(&mut bytes);
        let count = read.map_err(|error| Error::io("cannot read", &name, error))?;
        let (hashes, rest) = bytes.as_chunks::<HASH>();
        if !rest.is_empty() {
            let reason = "ends within a hash: a hash takes 8 bytes; nothing of its last mebibyte was inserted";
            return Err(Error::Message(format!("{name}: {reason}")));
        }
        if count == 0 {
            break;
        }
        keys.clear();
        keys.extend(hashes.iter().map(|&hash| KeyHash::new(u64::from_le_bytes(hash))));
        new.clear();
        set.insert_all(&keys, &mut new)?;
    }
    set.publish()?;
    Ok(ExitCode::SUCCESS)
}
