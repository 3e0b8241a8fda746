use std::fs::{File, symlink_metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore as Rules, GitignoreBuilder};

/// The name of the files with the rules.
pub(crate) const NAME: &str = ".gitignore";
/// The maximum size in bytes of the `.gitignore` files of a directory and those above it, together. Chosen: a hundred
/// times what repositories have.
const MAX_GITIGNORE: usize = 256 << 10;

/// The rules of the `.gitignore` files in a tree that is walked: those of the directory at which the walk is, and of
/// those above it up to the root of the tree. Files outside the tree, and git's own settings, have no effect.
#[derive(Default)]
pub(crate) struct Gitignore {
    /// The directories from the root to the present one.
    levels: Vec<Level>,
}

struct Level {
    directory: PathBuf,
    /// The rules; `None` if they cannot be read, so that everything is excluded.
    rules: Option<Rules>,
    /// The size of the file.
    bytes: usize,
}

impl Gitignore {
    /// Goes to a directory of the tree, and reads its rules. Unless it is the root, the directory above it was entered
    /// before.
    ///
    /// # Errors
    /// If the file cannot be read or is too large. It is then unknown what in the directory is not for others, so all
    /// of it is excluded.
    pub(crate) fn enter(&mut self, directory: &Path) -> Result<(), String> {
        while self.levels.last().is_some_and(|level| !directory.starts_with(&level.directory)) {
            self.levels.pop();
        }
        if self.levels.last().is_some_and(|level| level.directory == directory) {
            return Ok(());
        }
        let above: usize = self.levels.iter().map(|level| level.bytes).sum();
        let read = rules(directory, MAX_GITIGNORE.saturating_sub(above));
        let (rules, bytes, done) = match read {
            Ok((rules, bytes)) => (Some(rules), bytes, Ok(())),
            Err(why) => (None, 0, Err(why)),
        };
        self.levels.push(Level { directory: directory.to_owned(), rules, bytes });
        done
    }

    /// True if a file or directory is excluded by the rules of the directories above it, which were entered before.
    pub(crate) fn excludes(&self, path: &Path, is_directory: bool) -> bool {
        let is_above = |level: &&Level| path != level.directory && path.starts_with(&level.directory);
        let levels = self.levels.iter().rev().filter(is_above);
        let mut decisions = levels.filter_map(|level| match &level.rules {
            None => Some(true),
            Some(rules) => match rules.matched(path, is_directory) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            },
        });
        decisions.next().unwrap_or(false)
    }

    /// True if a file in the tree with this root, or a directory above it, is excluded.
    ///
    /// # Errors
    /// If the rules of a directory above the file cannot be read, with the path of their file. It is said once, until
    /// the directory is left; everything in it is excluded.
    pub(crate) fn excludes_in(
        &mut self,
        root: &Path,
        path: &Path,
        is_directory: bool,
    ) -> Result<bool, (PathBuf, String)> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).take_while(|above| above.starts_with(root)).collect();
        while let Some(directory) = above.pop() {
            if self.excludes(directory, true) {
                return Ok(true);
            }
            self.enter(directory).map_err(|why| (directory.join(NAME), why))?;
        }
        Ok(self.excludes(path, is_directory))
    }
}

/// The rules of a directory, and the size of their file, which has at most `most` bytes.
fn rules(directory: &Path, most: usize) -> Result<(Rules, usize), String> {
    let text = read(&directory.join(NAME), most)?;
    let mut rules = GitignoreBuilder::new(directory);
    for line in text.lines() {
        // As in git, a line that is no pattern has no effect.
        let _ = rules.add_line(None, line);
    }
    Ok((rules.build().map_err(|error| error.to_string())?, text.len()))
}

/// The text of a file of at most `most` bytes; empty if there is none. As in git, a symbolic link is not followed.
fn read(path: &Path, most: usize) -> Result<String, String> {
    match symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(error.to_string());
        }
        _ => return Ok(String::new()),
    }
    let mut text = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(most as u64 + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() > most {
        return Err(format!("with those above it, more than {MAX_GITIGNORE} bytes of rules"));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
