use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use furui::store::{Bytes, Log, Memory, ReadAt, Storage};
use furui::{Error, Result};

/// The effect of the fault at the chosen operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The operation fails without effect; a write has written half of its bytes. Later operations succeed.
    Fail,
    /// The operation reports an error although it took effect, as when a directory cannot be synced after a rename.
    FailAfter,
    /// The process dies before the operation: it and all later operations fail.
    Die,
    /// The process dies after the operation took effect, without learning of it.
    DieAfter,
}

impl Fault {
    pub(crate) const ALL: [Self; 4] = [Self::Fail, Self::FailAfter, Self::Die, Self::DieAfter];
}

/// Storage in memory that counts its operations and, at one of them, fails or dies.
///
/// Operations are: open, each read of a file, the start of a publish, each write into it, its end (when the file gets
/// its name), each append to a log (of which a half may be left), remove, list. To try a program against every crash,
/// run it with the operation 0, 1, 2 … until the fault no longer [`struck`](Self::struck), and check the files that are
/// left with [`after_crash`](Self::after_crash).
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    files: Memory,
    plan: Arc<Plan>,
    /// Removals that no publish has made durable yet, so that a crash may undo them.
    removed: Arc<Mutex<BTreeMap<String, Bytes>>>,
}

#[derive(Debug)]
struct Plan {
    at: u64,
    fault: Fault,
    operations: AtomicU64,
}

impl Failing {
    /// Storage with a copy of the files of `start`, and with a fault at the operation with number `at`.
    pub(crate) fn new(start: &Memory, at: u64, fault: Fault) -> Self {
        let plan = Plan { at, fault, operations: AtomicU64::new(0) };
        Self { files: copy(start), plan: Arc::new(plan), removed: Arc::default() }
    }

    /// True if the fault has happened.
    pub(crate) fn struck(&self) -> bool {
        self.plan.operations.load(Ordering::Relaxed) > self.plan.at
    }

    /// The files that a new process finds, with or without the files whose removal was not durable yet.
    pub(crate) fn after_crash(&self, removed_come_back: bool) -> Memory {
        let files = copy(&self.files);
        if removed_come_back {
            for (name, bytes) in self.removed.lock().unwrap().iter() {
                put(&files, name, bytes);
            }
        }
        files
    }

    fn step<T>(&self, action: &'static str, name: &str, effect: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.plan.step() {
            None => return effect(),
            Some(Fault::FailAfter | Fault::DieAfter) => drop(effect()),
            Some(Fault::Fail | Fault::Die) => {}
        }
        Err(Error::io(action, self.path(name), injected()))
    }
}

impl Plan {
    /// Counts an operation, and decides its effect.
    fn step(&self) -> Option<Fault> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            fault if number == self.at => Some(fault),
            Fault::Die | Fault::DieAfter if number > self.at => Some(Fault::Die),
            _ => None,
        }
    }
}

impl Storage for Failing {
    type File = FailingFile;

    fn open(&self, name: &str) -> Result<FailingFile> {
        self.step("cannot open", name, || {
            Ok(FailingFile { file: self.files.open(name)?, plan: Arc::clone(&self.plan) })
        })
    }

    fn publish<T>(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        self.step("cannot create", name, || Ok(()))?;
        let mut out = FailingWriter { bytes: Vec::new(), plan: Arc::clone(&self.plan) };
        let written = write(&mut out)?;
        self.step("cannot rename to", name, || {
            put(&self.files, name, &out.bytes);
            self.removed.lock().unwrap().clear();
            Ok(written)
        })
    }

    fn log(&self, name: &str, head: &[u8]) -> Result<Box<dyn Log>> {
        self.publish(name, |out| out.write_all(head).map_err(|e| Error::io("cannot write", name, e)))?;
        Ok(Box::new(FailingLog { storage: self.clone(), name: name.to_owned() }))
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.step("cannot remove", name, || {
            let bytes = self.files.open(name)?;
            self.files.remove(name)?;
            self.removed.lock().unwrap().insert(name.to_owned(), bytes);
            Ok(())
        })
    }

    fn list(&self) -> Result<Vec<String>> {
        self.step("cannot list", "", || self.files.list())
    }

    fn path(&self, name: &str) -> String {
        format!("failing:{name}")
    }
}

/// A file that can be read only by calls, which may fail.
#[derive(Debug)]
pub(crate) struct FailingFile {
    file: Bytes,
    plan: Arc<Plan>,
}

impl ReadAt for FailingFile {
    fn len(&self) -> u64 {
        self.file.as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        match self.plan.step() {
            None => self.file.read_at(offset, buf),
            Some(_) => Err(injected()),
        }
    }
}

struct FailingLog {
    storage: Failing,
    name: String,
}

impl Log for FailingLog {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let fault = self.storage.plan.step();
        let left = match fault {
            // Nothing is written any more after the process has died.
            Some(Fault::Die) if self.storage.plan.operations.load(Ordering::Relaxed) > self.storage.plan.at + 1 => 0,
            Some(Fault::Fail | Fault::Die) => bytes.len() / 2,
            None | Some(Fault::FailAfter | Fault::DieAfter) => bytes.len(),
        };
        let file = self.storage.files.open(&self.name)?;
        put(&self.storage.files, &self.name, &[&file, &bytes[..left]].concat());
        match fault {
            None => Ok(()),
            Some(_) => Err(Error::io("cannot append to", self.storage.path(&self.name), injected())),
        }
    }
}

struct FailingWriter {
    bytes: Vec<u8>,
    plan: Arc<Plan>,
}

impl Write for FailingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.plan.step() {
            None => self.bytes.write(bytes),
            Some(_) => {
                self.bytes.extend_from_slice(&bytes[..bytes.len() / 2]);
                Err(injected())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn injected() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "injected")
}

fn copy(files: &Memory) -> Memory {
    let copy = Memory::new();
    for name in files.list().unwrap() {
        put(&copy, &name, &files.open(&name).unwrap());
    }
    copy
}

fn put(files: &Memory, name: &str, bytes: &[u8]) {
    files.publish(name, |out| out.write_all(bytes).map_err(|e| Error::io("cannot write", name, e))).unwrap();
}
