//! A hint for a user who gives `--key` without saying whether the input is CSV, TSV or JSON.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The number of bytes at the beginning of a file by which its format is guessed.
const BEGINNING: u64 = 4096;

/// The hint for an error because an option needs `--csv`, `--tsv` or `--json`: the one of these that the first file
/// that looks like CSV, TSV or JSON needs. `None` for other errors, or if no file looks like one.
pub fn hint(error: &clap::Error) -> Option<String> {
    let missing = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => missing,
        _ => return None,
    };
    missing.iter().find(|missing| missing.contains("--csv"))?;
    let files = std::env::args_os().skip(1).map(PathBuf::from).filter(|path| path.is_file());
    files.into_iter().find_map(|path| Some(format!("{} looks like {}", path.display(), option_for(&path)?)))
}

/// The option `--csv`, `--tsv` or `--json` for a file, by its name or else by its first line; `None` if it looks like
/// none of them.
fn option_for(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let endings = [".gz", ".zst", ".xz", ".bz2", ".lz4"];
    let name = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    match name.rsplit('.').next() {
        Some("csv") => return Some("--csv"),
        Some("tsv" | "tab") => return Some("--tsv"),
        Some("json" | "jsonl" | "ndjson") => return Some("--json"),
        _ => {}
    }
    let mut beginning = vec![];
    File::open(path).ok()?.take(BEGINNING).read_to_end(&mut beginning).ok()?;
    let line = beginning.split(|&byte| byte == b'\n').next()?;
    match line {
        [b'{' | b'[', ..] => Some("--json"),
        _ if line.contains(&b'\t') => Some("--tsv"),
        _ if line.contains(&b',') => Some("--csv"),
        _ => None,
    }
}
