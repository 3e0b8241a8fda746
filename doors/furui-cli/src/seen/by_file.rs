//! Counts the new lines, the repeats, and the lines without a key in each input.

use std::path::PathBuf;

use furui::format::Printable;
use furui::seen::Verdict;

use crate::input::block::Block;
use crate::input::source::name_of;
use crate::keys::Fate;
use crate::say::number::{counted, grouped};
use crate::say::report::Report;

/// The counts of the new lines, the repeats and the lines without a key of each input, in the order of the inputs.
pub struct ByFile {
    files: Vec<Counts>,
    /// The index, in the list of inputs, of the file that is being read. `None` before the first file.
    current: Option<usize>,
}

struct Counts {
    name: String,
    path: PathBuf,
    new: u64,
    repeats: u64,
    missing: u64,
}

impl Counts {
    fn lines(&self) -> u64 {
        self.new + self.repeats + self.missing
    }
}

impl ByFile {
    /// Creates empty counts for these files, or for standard input if there are none.
    pub fn new(files: &[PathBuf]) -> Self {
        let input = [PathBuf::from("-")];
        let files = if files.is_empty() { &input } else { files };
        let counts = |path: &PathBuf| {
            let name = name_of(path);
            let path = if path.as_os_str() == "-" { PathBuf::from(&name) } else { path.clone() };
            Counts { name, path, new: 0, repeats: 0, missing: 0 }
        };
        Self { files: files.iter().map(counts).collect(), current: None }
    }

    /// Sets the block whose lines are counted next. If it is the first block of a file, that file becomes the current
    /// one. Files without a line have no block, and are skipped.
    pub fn enter(&mut self, block: &Block) {
        if block.is_first {
            let from = self.current.map_or(0, |current| current + 1);
            let found = (from..self.files.len()).find(|&index| self.files[index].name == block.input());
            self.current = found.or(self.current);
        }
    }

    /// Adds lines of the current file to its counts. `fates` tells for each line if it is new, a repeat, or without a
    /// key.
    pub fn count(&mut self, fates: &[Fate]) {
        let Some(counts) = self.current.and_then(|current| self.files.get_mut(current)) else { return };
        let new = fates.iter().filter(|&&fate| fate == Fate::Observed(Verdict::New)).count() as u64;
        let repeats = fates.iter().filter(|&&fate| fate == Fate::Observed(Verdict::Repeat)).count() as u64;
        counts.new += new;
        counts.repeats += repeats;
        counts.missing += fates.len() as u64 - new - repeats;
    }

    /// Formats the counts as text, in one line for each file.
    pub fn text(&self) -> String {
        let line = |file: &Counts| {
            format!(
                "{}: {}, {} new, {}, {} without a key\n",
                Printable(&file.name),
                counted(file.lines(), "line"),
                grouped(file.new),
                counted(file.repeats, "repeat"),
                grouped(file.missing)
            )
        };
        self.files.iter().map(line).collect()
    }

    /// The figures of each file: how many of its lines were new, repeats or without a key.
    pub fn reports(&self) -> Vec<Report> {
        let report = |file: &Counts| {
            let mut report = Report::default();
            report
                .path("file", "file_bytes", &file.path)
                .number("lines", file.lines())
                .number("new", file.new)
                .number("repeats", file.repeats)
                .number("missing", file.missing);
            report
        };
        self.files.iter().map(report).collect()
    }
}
