use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use furui_net::watched::Watched;
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind};

use crate::gitignore;

/// The maximum number of paths that wait to be compared. If there are more, everything is compared. The value is a
/// choice, not a measurement.
const MAX_PATHS: usize = 4096;
/// Changes are read when there was none for this time. Chosen: most programs have then written a file.
const QUIET: Duration = Duration::from_millis(300);
/// Changes are read after this time even if there are always new ones. The value is a choice, not a measurement.
const LONGEST: Duration = Duration::from_secs(3);

/// What happened in the watched directories since it was last asked for. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Events(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    paths: BTreeSet<PathBuf>,
    all: bool,
    stopped: bool,
}

/// What is to be compared.
pub(super) enum Changes {
    /// All files and directories.
    All,
    /// The files, and the directories with everything below them, at these paths, in the order of the paths.
    Paths(BTreeSet<PathBuf>),
    /// Nothing, because the time is over.
    None,
}

impl Events {
    /// Notes an event of the operating system.
    pub(super) fn take(&self, event: notify::Result<Event>, watched: &Watched) {
        let mut state = self.lock();
        match event {
            Ok(event) if event.need_rescan() => state.all = true,
            Ok(Event { kind: EventKind::Access(kind), .. }) if kind != AccessKind::Close(AccessMode::Write) => return,
            Ok(event) => {
                // Rules count for their directory and what is below it.
                let place = |path: PathBuf| match path.parent() {
                    Some(directory) if path.ends_with(gitignore::NAME) => directory.to_owned(),
                    _ => path,
                };
                let is_watched = |path: &PathBuf| watched.root_of(path).is_some();
                state.paths.extend(event.paths.into_iter().map(place).filter(is_watched));
                state.all |= state.paths.len() > MAX_PATHS;
            }
            Err(_) => state.all = true,
        }
        if state.all {
            state.paths.clear();
        }
        self.0.1.notify_all();
    }

    /// Requests that everything is compared.
    pub(super) fn compare_all(&self) {
        self.lock().all = true;
    }

    /// Ends the wait of [`next`](Self::next) now and for ever.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.0.1.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// Waits for changes, at most for the time `most`, and then until there are no new ones. `None` if it was stopped.
    pub(super) fn next(&self, most: Duration) -> Option<Changes> {
        let is_any = |state: &State| state.all || !state.paths.is_empty();
        let mut state = self.wait(self.lock(), most, is_any);
        let began = Instant::now();
        while is_any(&state) && !state.stopped && began.elapsed() < LONGEST {
            let before = state.paths.len();
            state = self.wait(state, QUIET, |_| false);
            if state.paths.len() == before {
                break;
            }
        }
        let State { paths, all, stopped } = &mut *state;
        let (paths, all) = (std::mem::take(paths), std::mem::take(all));
        match (*stopped, all, paths.is_empty()) {
            (true, ..) => None,
            (_, true, _) => Some(Changes::All),
            (.., true) => Some(Changes::None),
            _ => Some(Changes::Paths(paths)),
        }
    }

    /// Waits for a time, or until it was stopped.
    pub(super) fn pause(&self, time: Duration) {
        drop(self.wait(self.lock(), time, |_| false));
    }

    /// Waits for a time, until it was stopped, or until `is_over`.
    fn wait<'s>(
        &'s self,
        state: MutexGuard<'s, State>,
        time: Duration,
        is_over: fn(&State) -> bool,
    ) -> MutexGuard<'s, State> {
        let waited = self.0.1.wait_timeout_while(state, time, |state| !state.stopped && !is_over(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of another thread leaves the set of paths usable.
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, Flag};

    use super::*;

    fn directory(name: &str) -> (PathBuf, Watched) {
        let directory = std::env::temp_dir().join(format!("furui-events-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let watched = Watched::open(&directory, vec!["/r".into()], vec!["/r/node".into()]).unwrap();
        (directory, watched)
    }

    fn created(path: &str) -> notify::Result<Event> {
        Ok(Event::new(EventKind::Create(CreateKind::File)).add_path(path.into()))
    }

    #[test]
    fn paths_are_gathered_and_a_flood_or_a_loss_compares_all() {
        let (directory, watched) = directory("flood");
        let events = Events::default();
        let next = || events.next(Duration::ZERO).expect("it was not stopped");
        assert!(matches!(next(), Changes::None));
        for path in ["/r/b", "/r/a", "/r/b", "/r/.hidden/a", "/r/node/shelf.redb", "/elsewhere"] {
            events.take(created(path), &watched);
        }
        let read = Event::new(EventKind::Access(AccessKind::Open(AccessMode::Read))).add_path("/r/read".into());
        events.take(Ok(read), &watched);
        let Changes::Paths(paths) = next() else { panic!("there are paths") };
        assert_eq!(paths.into_iter().collect::<Vec<_>>(), [PathBuf::from("/r/a"), "/r/b".into()]);
        for number in 0..=MAX_PATHS {
            events.take(created(&format!("/r/{number}")), &watched);
        }
        assert!(matches!(next(), Changes::All) && matches!(next(), Changes::None));
        events.take(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)), &watched);
        assert!(matches!(next(), Changes::All));
        events.take(Err(notify::Error::generic("the queue has overflowed")), &watched);
        assert!(matches!(next(), Changes::All));
        events.stop();
        assert!(events.next(Duration::from_secs(60)).is_none());
        std::fs::remove_dir_all(directory).unwrap();
    }
}
