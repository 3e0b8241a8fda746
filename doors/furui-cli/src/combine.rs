//! `furui union`, `subtract` and `intersect`: they combine stores, or filters, into a new one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use furui::store::Directory;
use furui::store::cascade::{Cascade, Combination};

use crate::cli::CombineOptions;
use crate::error::Error;
use crate::files::Files;
use crate::filter;
use crate::keys;
use crate::memory;
use crate::opening::open_to_read;
use crate::schemes::is_url;

/// Runs `furui union`, `subtract` or `intersect`, as `how` says.
pub fn run(options: &CombineOptions, how: Combination) -> Result<ExitCode, Error> {
    let is_store = |path: &&PathBuf| path.is_dir() || is_url(path);
    match (options.sets.iter().find(is_store), options.sets.iter().find(|path| !is_store(path))) {
        (None, _) => filter::combine(options, how),
        (Some(_), None) => stores(options, how),
        (Some(store), Some(file)) => {
            // If the file does not exist, the error says only that.
            file.metadata().map_err(|error| Error::io("cannot open", file.display().to_string(), error))?;
            Err(Error::Message(format!(
                "{} is a store, and {} is a file: name only stores, or only files of filters",
                named(store),
                file.display()
            )))
        }
    }
}

fn stores(options: &CombineOptions, how: Combination) -> Result<ExitCode, Error> {
    if options.output.as_os_str() == "-" {
        return Err(Error::Message("-o -: a store is a directory; name a new or an empty one".into()));
    }
    filter::given_seed(&options.seed, &options.sets)?;
    let memory = memory::quarter() / options.sets.len() as u64;
    let sets = options.sets.iter().map(|path| open_to_read(path, memory)).collect::<Result<Vec<_>, _>>()?;
    let Some((first, others)) = sets.split_first() else {
        return Err(Error::Message("there is no store to combine: name at least one".into()));
    };
    for (path, other) in options.sets.iter().zip(&sets).skip(1) {
        check(&options.sets[0], first, path, other)?;
    }
    first.combine(how, &others.iter().collect::<Vec<_>>(), &Files::Store(Directory::open(&options.output)?))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns an error that names both stores if they cannot be combined.
fn check(first: &Path, a: &Cascade<Files>, path: &Path, b: &Cascade<Files>) -> Result<(), Error> {
    let (a_form, b_form) = (a.manifest().form, b.manifest().form);
    let reason = if a.hash_spec() != b.hash_spec() {
        format!("keys are hashed by {} and by {}", a.hash_spec(), b.hash_spec())
    } else if a_form != b_form {
        format!("keys were made from {} and from {}", keys::said(a_form), keys::said(b_form))
    } else {
        return Ok(());
    };
    Err(Error::Message(format!(
        "{} and {}: {reason}, so that they do not fit together; `furui seen --like` makes stores that do",
        named(first),
        named(path)
    )))
}

/// A store in a message. The URL of a set in a server may have a password, so only its last part is given.
fn named(path: &Path) -> String {
    match is_url(path) {
        true => format!("the server's set {}", path.file_name().unwrap_or_default().display()),
        false => path.display().to_string(),
    }
}
