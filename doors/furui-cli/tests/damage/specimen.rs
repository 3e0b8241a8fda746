//! The files to damage.

mod byte_dictionary;
mod cascade;
mod dictionary;
mod filters;
mod killed;
mod set;

use std::fs;
use std::path::{Path, PathBuf};

use crate::damage::random::Random;
use crate::damage::script::Step;
use crate::support::TempDir;

/// A directory with files that belong together, and the commands that run on it.
pub struct Specimen {
    pub name: String,
    /// The directory. Copies of it are damaged.
    directory: PathBuf,
    /// The files to damage, by their paths in the directory.
    pub files: Vec<String>,
    /// The chapters: sequences of commands, each of which runs on its own copy of the directory.
    pub chapters: Vec<Vec<Step>>,
}

impl Specimen {
    /// Makes all specimens. The files that commands read are in a directory beside them.
    pub fn all(scratch: &TempDir) -> Vec<Self> {
        let mut all = filters::all(scratch);
        all.extend([set::specimen(scratch), cascade::specimen(scratch), byte_dictionary::specimen(scratch)]);
        all.extend(dictionary::specimens(scratch));
        all.extend([killed::specimen(scratch), killed::window(scratch)]);
        all
    }

    /// Makes a specimen of a directory. The files to damage are `files`; a name of a subdirectory stands for all its
    /// files.
    fn new(directory: &Path, name: &str, files: &[&str], chapters: Vec<Vec<Step>>) -> Self {
        let mut all = vec![];
        for &file in files {
            match fs::read_dir(directory.join(file)) {
                Ok(entries) => all.extend(entries.map(|entry| {
                    let name = entry.unwrap().file_name();
                    format!("{file}/{}", name.to_str().unwrap())
                })),
                Err(_) => all.push(file.to_owned()),
            }
        }
        all.retain(|file| !file.ends_with("/LOCK"));
        all.sort();
        Self { name: name.to_owned(), directory: directory.to_owned(), files: all, chapters }
    }

    pub fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.directory.join(file)).unwrap()
    }

    /// Makes a copy of the specimen.
    pub fn copy(&self, to: &Path) {
        copy(&self.directory, to);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else if path.extension().is_some_and(|end| end == "run" || end == "trie" || end == "pairs") {
            // These files are never changed in place.
            fs::hard_link(path, to).unwrap();
        } else {
            fs::copy(path, to).unwrap();
        }
    }
}

/// Writes lines into a file for commands to read.
fn input(inputs: &Path, name: &str, lines: &[String]) {
    fs::create_dir_all(inputs).unwrap();
    fs::write(inputs.join(name), text(lines)).unwrap();
}

fn text(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// Different lines that begin with `head`. They are similar, as lines of one host are, and a few are long.
fn lines(head: &str, count: usize) -> Vec<String> {
    const WORDS: [&str; 16] = [
        "seen", "before", "archive", "index", "a", "item", "news", "page", "de", "view", "tag", "2024", "user", "img",
        "x", "list",
    ];
    let line = |i: usize| {
        let mut random = Random::new(1, i);
        let mut line = format!("{head}/{}", WORDS[i % 7]);
        for _ in 0..random.below(5) {
            line.push('/');
            line.push_str(WORDS[random.below(WORDS.len())]);
        }
        line.push_str(&format!("/{i:x}"));
        if i % 500 == 499 {
            line.push_str(&"0123456789abcdef".repeat(1 + random.below(200)));
        }
        line
    };
    (0..count).map(line).collect()
}
