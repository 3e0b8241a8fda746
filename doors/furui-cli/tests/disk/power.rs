//! The states that a power cut may leave after a run.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::Event;

/// Unsynced data survives in pieces of this size.
const PIECE: usize = 4096;

/// Files and directories: their durable parts, and the changes since.
///
/// Synced data survives a power cut, and so may any part of the rest: any subset of the changes of a directory's
/// entries, applied in their order, and any of the pieces written to a file. Files and entries are independent: the
/// sync of a file does not keep its name, and the sync of a directory keeps no data.
#[derive(Clone, Default)]
pub struct Model {
    files: Vec<File>,
    /// The index in `files` of the file that currently has each inode.
    inodes: HashMap<u64, usize>,
    /// Directories by their paths below the root; the path of the root is "".
    directories: BTreeMap<String, Directory>,
}

#[derive(Clone, Default)]
struct File {
    durable: Content,
    current: Vec<u8>,
    /// The writes since the last sync: the bytes, and the file's length afterwards.
    pending: Vec<(Range<usize>, usize)>,
}

#[derive(Clone, Default)]
struct Directory {
    durable: BTreeMap<String, Node>,
    pending: Vec<Change>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Node {
    File(usize),
    Directory,
}

#[derive(Clone)]
struct Change {
    removed: Option<String>,
    added: Option<(String, Node)>,
}

/// The files after a power cut. A directory has no content.
pub type State = BTreeMap<String, Option<Content>>;

/// The bytes of a file, with their hash, because they are compared often.
#[derive(Clone)]
pub struct Content {
    pub bytes: Arc<Vec<u8>>,
    hash: u64,
}

impl Content {
    fn new(bytes: Vec<u8>) -> Self {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Self { hash: hasher.finish(), bytes: Arc::new(bytes) }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::new(vec![])
    }
}

impl Hash for Content {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.hash.hash(hasher);
    }
}

impl Model {
    /// A model of everything below `root`, all of it durable.
    pub fn new(root: &Path) -> Self {
        let mut model = Self::default();
        model.take_in(root, "");
        model
    }

    fn take_in(&mut self, path: &Path, name: &str) {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap().path();
            let own = entry.file_name().unwrap().to_str().unwrap().to_owned();
            if entry.is_dir() {
                self.take_in(&entry, &join(name, &own));
                entries.insert(own, Node::Directory);
            } else {
                let bytes = fs::read(&entry).unwrap();
                let inode = std::os::unix::fs::MetadataExt::ino(&entry.metadata().unwrap());
                let file = File { durable: Content::new(bytes.clone()), current: bytes, pending: vec![] };
                self.inodes.insert(inode, self.files.len());
                entries.insert(own, Node::File(self.files.len()));
                self.files.push(file);
            }
        }
        self.directories.insert(name.to_owned(), Directory { durable: entries, pending: vec![] });
    }

    /// Applies an operation of a program below `root`.
    pub fn apply(&mut self, event: &Event, root: &str) {
        let below = |path: &str| path.strip_prefix(root).map(|path| path.trim_start_matches('/').to_owned());
        let (path, to) = (below(&event.path), below(&event.to));
        match event.op {
            b'C' => {
                self.inodes.insert(event.inode, self.files.len());
                let node = Node::File(self.files.len());
                self.files.push(File::default());
                self.change(None, path.map(|path| (path, node)));
            }
            b'M' => {
                let path = path.unwrap();
                self.directories.insert(path.clone(), Directory::default());
                self.change(None, Some((path, Node::Directory)));
            }
            b'W' | b'T' => {
                let file = &mut self.files[self.inodes[&event.inode]];
                let start = event.offset as usize;
                let end = start + event.bytes.len();
                if event.op == b'T' || end > file.current.len() {
                    file.current.resize(end, 0);
                }
                file.current[start..end].copy_from_slice(&event.bytes);
                file.pending.push((start..end, file.current.len()));
            }
            b'S' => {
                let file = &mut self.files[self.inodes[&event.inode]];
                file.durable = Content::new(file.current.clone());
                file.pending.clear();
            }
            b'D' => {
                let directory = self.directories.get_mut(&path.unwrap()).unwrap();
                let pending = std::mem::take(&mut directory.pending);
                pending.iter().for_each(|change| change.apply(&mut directory.durable));
            }
            b'R' => {
                let node = self.node(path.as_ref().unwrap()).unwrap();
                self.change(path, to.map(|to| (to, node)));
            }
            b'U' => self.change(path, None),
            b'L' => {
                let node = self.node(&path.unwrap()).unwrap();
                self.change(None, to.map(|to| (to, node)));
            }
            _ => {}
        }
    }

    /// The durable bytes of a file of a directory, if its name is durable.
    pub fn durable(&self, directory: &str, name: &str) -> Option<&[u8]> {
        match self.directories.get(directory)?.durable.get(name)? {
            Node::File(file) => Some(&self.files[*file].durable.bytes),
            Node::Directory => None,
        }
    }

    /// The file or directory at a path, as a running program sees it.
    fn node(&self, path: &str) -> Option<Node> {
        let (directory, name) = split(path);
        let directory = &self.directories[directory];
        let mut entries = directory.durable.clone();
        directory.pending.iter().for_each(|change| change.apply(&mut entries));
        entries.get(name).copied()
    }

    fn change(&mut self, removed: Option<String>, added: Option<(String, Node)>) {
        let paths = [removed.as_deref(), added.as_ref().map(|(path, _)| path.as_str())];
        let place = split(paths.into_iter().flatten().next().unwrap()).0.to_owned();
        assert!(paths.iter().flatten().all(|path| split(path).0 == place), "no file goes to another directory");
        let name = |path: String| split(&path).1.to_owned();
        let change = Change { removed: removed.map(name), added: added.map(|(path, node)| (name(path), node)) };
        self.directories.get_mut(&place).unwrap().pending.push(change);
    }

    /// Returns states that a power cut may leave. There are at most `most` choices of the changes to directories that
    /// survive: all choices, or random ones and the two extremes, no change and every change. Each choice is combined
    /// with some states of the files' data.
    pub fn states(&self, most: usize, random: &mut impl FnMut() -> u64) -> Vec<State> {
        let changes: usize = self.directories.values().map(|directory| directory.pending.len()).sum();
        let (mut states, mut hashes) = (vec![], HashSet::new());
        let mut add = |state: State| {
            let mut hasher = DefaultHasher::new();
            state.hash(&mut hasher);
            if hashes.insert(hasher.finish()) {
                states.push(state);
            }
        };
        let all = 1_u64.checked_shl(changes as u32).filter(|&all| all <= most as u64);
        let masks: Vec<u64> = match all {
            Some(all) => (0..all).collect(),
            None => [0, u64::MAX].into_iter().chain((2..most).map(|_| random())).collect(),
        };
        // There are four states for each choice of changes: in three of them no, all or some unsynced data of every
        // file survives; in the fourth, one of these three outcomes is drawn for each file.
        let data: Vec<[Content; 3]> = self.files.iter().map(|file| file.after_a_cut(random())).collect();
        for mask in masks {
            (0..3).for_each(|which| add(self.state(mask, |file| &data[file][which])));
            let mut seed = random();
            add(self.state(mask, |file| {
                seed = seed.rotate_left(7) ^ file as u64;
                &data[file][(seed % 3) as usize]
            }));
        }
        states
    }

    fn state<'a>(&self, mut mask: u64, mut data: impl FnMut(usize) -> &'a Content) -> State {
        let mut state = State::new();
        let mut entries = BTreeMap::new();
        for (path, directory) in &self.directories {
            let mut here = directory.durable.clone();
            for change in &directory.pending {
                if mask & 1 == 1 {
                    change.apply(&mut here);
                }
                mask = mask.rotate_right(1);
            }
            entries.insert(path.as_str(), here);
        }
        let mut open = vec![String::new()];
        while let Some(path) = open.pop() {
            for (name, node) in &entries[path.as_str()] {
                let path = join(&path, name);
                let bytes = match *node {
                    Node::File(file) => Some(data(file).clone()),
                    Node::Directory => {
                        open.push(path.clone());
                        None
                    }
                };
                state.insert(path, bytes);
            }
        }
        state
    }
}

impl File {
    /// The file without unsynced writes, with all of them, and with some of their pieces.
    fn after_a_cut(&self, seed: u64) -> [Content; 3] {
        if self.pending.is_empty() {
            return std::array::from_fn(|_| self.durable.clone());
        }
        let mut some = self.durable.bytes.to_vec();
        let mut seed = seed | 1;
        let mut is_kept = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 63 == 1
        };
        for (range, length) in &self.pending {
            // A file's length is stored apart from its bytes, so zeros may stand for missing bytes.
            if is_kept() {
                some.resize(*length, 0);
            }
            for start in range.clone().step_by(PIECE) {
                let end = (start + PIECE).min(range.end).min(self.current.len());
                if start < end && is_kept() {
                    some.resize(some.len().max(end), 0);
                    some[start..end].copy_from_slice(&self.current[start..end]);
                }
            }
        }
        [self.durable.clone(), Content::new(self.current.clone()), Content::new(some)]
    }
}

impl Change {
    fn apply(&self, entries: &mut BTreeMap<String, Node>) {
        if let Some(name) = &self.removed {
            entries.remove(name);
        }
        if let Some((name, node)) = &self.added {
            entries.insert(name.clone(), *node);
        }
    }
}

/// Makes the files of a state in an empty directory.
pub fn restore(state: &State, root: &Path) {
    for (path, content) in state {
        match content {
            // The permissions of a directory are set when it is made, so they are never lost; a node's directory is
            // private.
            None => {
                let builder = &mut fs::DirBuilder::new();
                std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
                builder.create(root.join(path)).unwrap();
            }
            Some(content) => {
                let path = root.join(path);
                fs::write(&path, &*content.bytes).unwrap();
                let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
                fs::set_permissions(&path, private).unwrap();
            }
        }
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
