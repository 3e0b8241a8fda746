//! `furui node --watch`: publishes the files in directories, what changes in them, and withdraws what goes.
//!
//! ```text
//!   start, overflow ──▶ walk all ─┐             ┌─ new or changed ─▶ Publisher ─▶ node
//!   inotify ─ quiet? ─▶ walk some ┴─▶ Watched ──┤
//!                                  (stamps,     └─ gone ──────────────────────▶ /unpublish
//!                                   documents)
//! ```

mod comparison;
mod events;

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use furui_net::watched::Watched;
use notify::{Config, ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};
use rustix::io::Errno;

use crate::Error;
use crate::client::Client;
use crate::logging::Logging;
use crate::program::Program;
use comparison::Comparison;
use events::{Changes, Events};

/// The time between two looks whether the watched directories are still the same. The value is a choice, not a
/// measurement.
const TICK: Duration = Duration::from_secs(10);
/// The time between two looks whether a directory that has gone is there again. Chosen: a user waits for it.
const SOON: Duration = Duration::from_secs(1);
/// The pause after the node, or the storage, has failed. Chosen: a user waits for it.
const AGAIN: Duration = Duration::from_secs(5);
/// The time between two comparisons of everything if the system cannot watch all directories. The value is a choice,
/// not a measurement.
const POLL: Duration = Duration::from_secs(60);

/// The thread that watches directories.
pub(crate) struct Watch {
    events: Events,
    thread: JoinHandle<()>,
}

/// The watched directories, as the operating system watches them.
struct Roots {
    /// The channel of the operating system's events; `None` if it gives none.
    watcher: Option<RecommendedWatcher>,
    /// Each directory with its device and inode; `None` if there is no directory at the path.
    watched: Vec<(PathBuf, Option<(u64, u64)>)>,
    /// True if the system does not watch all directories.
    is_partial: bool,
}

/// The watched directories without symbolic links, and without those inside of others.
///
/// # Errors
/// If one of them is no directory, or cannot be read.
pub(crate) fn roots(directories: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut roots = Vec::new();
    for directory in directories {
        let failed = |source| Error::io("cannot watch", directory.display().to_string(), source);
        let root = directory.canonicalize().map_err(failed)?;
        std::fs::read_dir(&root).map_err(failed)?;
        roots.push(root);
    }
    roots.sort();
    roots.dedup_by(|root, before| root.starts_with(before));
    Ok(roots)
}

impl Watch {
    /// Starts the thread, which publishes through the node that `client` reaches.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub(crate) fn start(watched: Watched, client: Client, program: &'static dyn Program) -> Result<Self, Error> {
        let events = Events::default();
        let handler = {
            let (events, watched) = (events.clone(), watched.clone());
            move |event| events.take(event, &watched)
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(handler, config);
        let directories = watched.roots().iter().map(|root| (root.clone(), None)).collect();
        let mut roots = Roots { watcher: None, watched: directories, is_partial: false };
        let program = Logging(program);
        match watcher {
            Ok(watcher) => roots.watcher = Some(watcher),
            Err(error) if !roots.watched.is_empty() => roots.miss("any directory", &error, &program),
            Err(_) => {}
        }
        let thread = {
            let events = events.clone();
            let run = move || run(&events, roots, &watched, client, &program);
            let thread = thread::Builder::new().name("watch".into()).spawn(run);
            thread.map_err(|source| Error::io("cannot start", "watching", source))?
        };
        Ok(Self { events, thread })
    }

    /// Ends the thread after the request to the node that is in progress.
    pub(crate) fn stop(self) {
        self.events.stop();
        // Joining fails if the thread has panicked, which was printed.
        let _ = self.thread.join();
    }
}

fn run(events: &Events, mut roots: Roots, watched: &Watched, client: Client, program: &dyn Program) {
    tracing::info!(directories = roots.watched.len(), "watching");
    events.compare_all();
    let (mut is_first, mut compared) = (true, Instant::now());
    let mut changes = Changes::All;
    loop {
        if roots.renew(program) || roots.is_partial && compared.elapsed() >= POLL {
            changes = Changes::All;
        }
        let comparison = Comparison::new(watched, client.clone(), program, events);
        let done = match changes {
            Changes::All => {
                compared = Instant::now();
                comparison.all(is_first)
            }
            Changes::Paths(paths) => comparison.some(paths),
            Changes::None => Ok(()),
        };
        match done {
            Ok(()) => is_first = false,
            Err(_) if events.is_stopped() => return,
            Err(why) => {
                program.complain(&format!("cannot publish what is watched: {why}; the node tries again"));
                events.compare_all();
                events.pause(AGAIN);
            }
        }
        let is_any_gone = roots.watched.iter().any(|(_, known)| known.is_none());
        match events.next(if is_any_gone { SOON } else { TICK }) {
            Some(next) => changes = next,
            None => return,
        }
    }
}

impl Roots {
    /// Watches the directories that are new at their paths. Returns true if there are such, or if one has gone.
    fn renew(&mut self, program: &dyn Program) -> bool {
        let (mut is_new, mut unwatched) = (false, Vec::new());
        for (root, known) in &mut self.watched {
            let now = std::fs::symlink_metadata(&*root).ok().filter(Metadata::is_dir).map(|it| identity(&it));
            if now == *known {
                continue;
            }
            is_new = true;
            if let (Some(watcher), Some(_)) = (&mut self.watcher, &known) {
                // This fails if the watch has gone with the directory.
                let _ = watcher.unwatch(root);
            }
            *known = now;
            if now.is_none() {
                program.complain(&format!("{}: there is no directory any more; the node looks for it", root.display()));
            } else if let Some(watcher) = &mut self.watcher
                && let Err(error) = watcher.watch(root, RecursiveMode::Recursive)
            {
                unwatched.push((root.clone(), error));
            }
        }
        for (root, error) in unwatched {
            self.miss(&format!("all of {}", root.display()), &error, program);
        }
        is_new
    }

    /// Notes that the system does not watch everything, and says so.
    fn miss(&mut self, what: &str, error: &notify::Error, program: &dyn Program) {
        self.is_partial = true;
        let advice = match &error.kind {
            ErrorKind::MaxFilesWatch => "; to watch more on Linux, raise fs.inotify.max_user_watches and start again",
            ErrorKind::Io(source) if source.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => {
                "; to watch more on Linux, raise fs.inotify.max_user_instances and start again"
            }
            _ => "",
        };
        let seconds = POLL.as_secs();
        program.complain(&format!(
            "cannot watch {what}: {error}; all is compared every {seconds} seconds instead{advice}"
        ));
    }
}

/// The device and the inode of a directory.
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// True if an error says that there is no regular file for this user, in contrast to a disk or a network that fails.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind;
    let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    let gone = [
        ErrorKind::NotFound,
        ErrorKind::NotADirectory,
        ErrorKind::PermissionDenied,
        ErrorKind::InvalidInput,
        ErrorKind::InvalidFilename,
    ];
    is_link || gone.contains(&error.kind())
}

/// True if a path is that of a directory, and not of a symbolic link to one.
fn is_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}
