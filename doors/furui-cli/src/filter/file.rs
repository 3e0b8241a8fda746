//! Opens, saves and locks filters in files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use furui::KeyForm;
use furui::filter::AnyFilter;
use furui::format::{Access, DiskFile, Envelope, EnvelopeWriter, Seal, is_still, publish};
use furui::store::{Directory, MANIFEST, StoreKind};

use crate::complain;
use crate::error::Error;
use crate::interrupt::{Interrupt, Wait};
use crate::keys;
use crate::streams::standard_output;

/// The number of bytes that are written between two checks for an interruption by the user.
const WRITE: usize = 1 << 20;

/// The maximum number of symbolic links that are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// True if there is a cascade filter at `path`. Returns an error if a store at `path` is damaged.
pub fn is_cascade(path: &Path) -> Result<bool, Error> {
    if !path.is_dir() {
        return Ok(false);
    }
    match Directory::open_read_only(path).and_then(|directory| directory.manifest()) {
        Ok(manifest) => Ok(manifest.store == StoreKind::Filter),
        Err(furui::Error::Store(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Opens a filter for reading. `seed` is the seed of its hash, if the seed is in a file of its own.
pub fn open(path: &Path, seed: Option<u64>) -> Result<AnyFilter, Error> {
    refuse_pipe(path)?;
    if path.is_dir() {
        let what = match path.join(MANIFEST).exists() {
            true if is_cascade(path)? => {
                "a cascade filter, with which `furui has`, `furui filter insert`, `furui info`, `verify` and `compact` work, but \
                 not this command"
            }
            true => {
                "a store or a dictionary, not a filter: use `furui seen --store`, `furui has` or `furui dict` instead"
            }
            false => "a directory, not a filter",
        };
        return Err(Error::Message(format!("{}: {what}", path.display())));
    }
    Ok(match seed {
        Some(seed) => AnyFilter::open_with_seed(path, seed)?,
        None => AnyFilter::open(path)?,
    })
}

/// Returns an error if `path` is a pipe. A pipe has no length, so it would be taken for a file that was cut off, or
/// opening it would wait.
pub fn refuse_pipe(path: &Path) -> Result<(), Error> {
    if path.metadata().is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        let reason = "not a regular file, as a filter must be: write its contents to a file first";
        return Err(Error::Message(format!("{}: {reason}", path.display())));
    }
    Ok(())
}

/// Returns an error if no filter can be [`save`]d at `path`, because `path` is a directory, or is in a directory that
/// does not exist. It is called before the input is read, because reading may take hours.
pub fn refuse_unwritable(path: &Path) -> Result<(), Error> {
    let failed = |action, path: &Path, error| Err(Error::io(action, path.display().to_string(), error));
    match path.metadata() {
        Ok(data) if data.is_dir() => return failed("cannot write", path, io::ErrorKind::IsADirectory.into()),
        Ok(_) => return Ok(()),
        Err(_) => {}
    }
    let place = linked(path).unwrap_or_else(|_| path.to_path_buf());
    match place.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        Some(directory) => {
            directory.metadata().map(drop).or_else(|error| failed("cannot write into", directory, error))
        }
        None => Ok(()),
    }
}

/// The place where the seed of a filter's hash is stored.
#[derive(Clone, Copy)]
pub enum SeedPlace {
    /// The seed is in the filter's file.
    Filter,
    /// The seed is in a separate file.
    Elsewhere,
}

/// The properties of a filter in a file beside its table: the place of its seed, and the way in which its keys are
/// made.
#[derive(Clone, Copy)]
pub struct Label {
    pub seed: SeedPlace,
    /// The form (the options) in which the filter's keys are made from lines.
    pub form: KeyForm,
}

impl Label {
    /// The label of a filter. `seed` is the filter's seed if the seed was read from a file of its own.
    pub fn new(seed: Option<u64>, form: KeyForm) -> Self {
        Self { seed: if seed.is_some() { SeedPlace::Elsewhere } else { SeedPlace::Filter }, form }
    }

    fn write(self, filter: &AnyFilter, out: &mut dyn Write) -> io::Result<Seal> {
        let (kind, hash) = (filter.kind(), filter.hash_spec());
        let begun = match self.seed {
            SeedPlace::Filter => EnvelopeWriter::new(out, kind, hash),
            SeedPlace::Elsewhere => EnvelopeWriter::without_seed(out, kind, hash),
        };
        filter.write_into(begun?, &self.form)
    }
}

/// Reads from a filter's file the form in which its keys are made from lines. The caller has already opened the file as
/// a filter.
pub fn form_of(path: &Path) -> Result<KeyForm, Error> {
    let name = path.display().to_string();
    let file = DiskFile::open(path).map_err(|error| Error::io("cannot open", &name, error))?;
    Ok(Envelope::open(&file, &name)?.key_form(&file)?)
}

/// The way in which the keys of all these filters are made from lines; an error if two filters differ in it.
pub fn common_form<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<KeyForm, Error> {
    let mut first: Option<(&Path, KeyForm)> = None;
    for path in paths {
        let form = form_of(path)?;
        match first {
            Some((other, known)) if known != form => {
                return Err(Error::Message(format!(
                    "{} and {}: keys were made from {} and from {}, so that they do not fit together",
                    other.display(),
                    path.display(),
                    keys::said(known),
                    keys::said(form)
                )));
            }
            _ => first = Some((path, form)),
        }
    }
    Ok(first.map_or_else(KeyForm::default, |(_, form)| form))
}

/// True if one of these filters does not hold the seed of its hash.
pub fn lack_seed<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<bool, Error> {
    for path in paths.into_iter().filter(|path| path.is_file()) {
        let name = path.display().to_string();
        let file = DiskFile::open(path).map_err(|error| Error::io("cannot open", &name, error))?;
        if Envelope::open(&file, &name)?.seed_is_elsewhere() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if this is a directory, or a file that holds the seed of its hash. Also false if the file cannot be opened as a
/// furui file; the error is then reported when the filter is opened.
pub fn holds_seed(path: &Path) -> bool {
    let envelope = || Envelope::open(&DiskFile::open(path).ok()?, "").ok();
    path.is_dir() || path.is_file() && envelope().is_some_and(|envelope| !envelope.seed_is_elsewhere())
}

/// Writes a filter to a file, whole or not at all. "-" is standard output. Anything but a regular file, such as a pipe,
/// is written to directly. If `path` is a symbolic link, the file that it points to is replaced.
pub fn save(filter: &AnyFilter, path: &Path, label: Label) -> Result<(), Error> {
    write(path, |out| label.write(filter, out))
}

/// Writes to a file what `filter` writes, in the same way as [`save`].
fn write(path: &Path, filter: impl Fn(&mut dyn Write) -> io::Result<Seal>) -> Result<(), Error> {
    if path.as_os_str() == "-" || path == Path::new("/dev/stdout") {
        let written = standard_output().and_then(|out| {
            let mut out = BufWriter::with_capacity(WRITE, out);
            filter(&mut out)?;
            out.flush()
        });
        return match written {
            // The reader has closed the pipe, which is not an error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|error| Error::io("cannot write to", "standard output", error)),
        };
    }
    let name = path.display().to_string();
    let failed = |error| Error::io("cannot write", &name, error);
    if path.metadata().is_ok_and(|data| !data.is_file()) {
        let mut file = File::options().write(true).open(path).map_err(failed)?;
        return filter(&mut file).map(drop).map_err(failed);
    }
    let path = linked(path).map_err(failed)?;
    let interrupt = Interrupt::listen().map_err(|error| Error::io("cannot catch", "signals", error))?;
    let saved = publish(&path, Access::Default, |out| {
        filter(&mut Until { interrupt: &interrupt, out }).map(drop).map_err(failed)
    });
    if saved.is_err() {
        // The unfinished file is removed. The user, who interrupted, needs no message.
        interrupt.end();
    }
    saved
}

/// [`save`]s a filter that does not depend on the contents of the file that it replaces. If another process is changing
/// that file, waits until that process ends; otherwise its change would overwrite the new filter.
pub fn replace(filter: &AnyFilter, path: &Path, label: Label) -> Result<(), Error> {
    replace_by(path, |out| label.write(filter, out))
}

/// Replaces a file by what `filter` writes, in the same way as [`replace`].
pub fn replace_by(path: &Path, filter: impl Fn(&mut dyn Write) -> io::Result<Seal>) -> Result<(), Error> {
    let is_there = path.metadata().is_ok_and(|data| data.is_file());
    // On file systems without locks, the user must ensure that a file has only one writer.
    let _lock = if is_there { lock(path, Others::AreAwaited).ok() } else { None };
    write(path, filter)
}

/// A writer that returns an error as soon as the user interrupts.
struct Until<'a> {
    interrupt: &'a Interrupt,
    out: &'a mut dyn Write,
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A filter is written by one call with all bytes. Here the bytes are written in pieces, with a check for an
        // interruption before each piece.
        let some = &bytes[..bytes.len().min(WRITE)];
        match self.interrupt.check() {
            Wait::Interrupted => Err(io::Error::other("interrupted")),
            _ => self.out.write(some),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Follows symbolic links to the last path, which need not exist.
fn linked(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// A filter that is going to be replaced, with a lock that keeps other processes from replacing it.
pub struct Held {
    pub filter: AnyFilter,
    /// The label with which the filter is saved.
    pub label: Label,
    /// The locked file. Closing it releases the lock.
    _lock: File,
}

impl Held {
    /// Opens a filter in order to replace it, and locks its file.
    pub fn open(path: &Path, seed: Option<u64>) -> Result<Self, Error> {
        refuse_pipe(path)?;
        let lock = lock(path, Others::AreRefused)?;
        let filter = open(path, seed)?;
        Ok(Self { filter, label: Label::new(seed, form_of(path)?), _lock: lock })
    }
}

/// The choice between waiting and an error if another process holds the lock of a file.
#[derive(Clone, Copy)]
enum Others {
    AreAwaited,
    AreRefused,
}

/// Locks a file. Only the process that holds the lock may replace the file.
fn lock(path: &Path, others: Others) -> Result<File, Error> {
    let name = path.display().to_string();
    loop {
        let lock = File::open(path).map_err(|error| Error::io("cannot open", &name, error))?;
        let locked = match others {
            Others::AreAwaited => wait_to_lock(&lock, &name),
            Others::AreRefused => lock.try_lock(),
        };
        match locked {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(Error::Message(format!("{name}: another process is changing it; wait for it to end")));
            }
            Err(fs::TryLockError::Error(error)) => return Err(Error::io("cannot lock", name, error)),
        }
        // Another process may have replaced the file between the opening and the lock.
        if is_still(&lock, path) {
            return Ok(lock);
        }
    }
}

/// Locks a file. If another process holds the lock, prints a message, and waits until that process releases it.
fn wait_to_lock(lock: &File, name: &str) -> Result<(), fs::TryLockError> {
    match lock.try_lock() {
        Err(fs::TryLockError::WouldBlock) => {
            complain(&Error::Message(format!("{name}: waiting for another process that is changing it")));
            lock.lock().map_err(fs::TryLockError::Error)
        }
        locked => locked,
    }
}
