//! A hint for a user who gives `--key` without saying whether the input is CSV, TSV or JSON.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The longest beginning of a file that is looked at.
const BEGINNING: u64 = 4096;

/// If an option needs `--csv`, `--tsv` or `--json`, and none was given, says which of them the first file that looks
/// like one needs.
pub fn hint(error: &clap::Error) -> Option<String> {
    let missing = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => missing,
        _ => return None,
    };
    missing.iter().find(|missing| missing.contains("--csv"))?;
    let files = std::env::args_os().skip(1).map(PathBuf::from).filter(|path| path.is_file());
    files.into_iter().find_map(|path| Some(format!("{} looks like {}", path.display(), option_for(&path)?)))
}

/// The option for a file, by its name or else by its first line.
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
