use std::time::Duration;

use furui::HashSpec;
use furui::seen::Seen;
use regex_lite::Regex;

use super::batch::Batch;
use super::server::Server;
use super::window;
use crate::cli::SeenOptions;
use crate::error::Error;
use crate::files::Files;
use crate::filter::Observer;
use crate::output::Sink;
use crate::remote::RemoteKeys;

/// The set, filter or server that decides which lines are new, and records them. All other code is shared by these
/// three kinds of runs.
pub enum Judge {
    /// An exact set. With the cache lru+stable, the pattern of `--protect` matches the lines that the cache never
    /// drops.
    Set(Box<Seen<Files>>, Option<Regex>),
    /// A filter in a file, which is replaced at the end of the run.
    Filter(Box<Observer>),
    /// A set in a server, which records a line when it is asked about it.
    Server(Box<Server>),
}

impl Judge {
    /// The exact set that is in this process; `None` for a filter or a server.
    pub fn set(&self) -> Option<&Seen<Files>> {
        match self {
            Self::Set(seen, _) => Some(seen),
            Self::Filter(_) | Self::Server(_) => None,
        }
    }

    /// The exact set that is in this process, for changes; `None` for a filter or a server.
    pub fn set_mut(&mut self) -> Option<&mut Seen<Files>> {
        match self {
            Self::Set(seen, _) => Some(seen),
            Self::Filter(_) | Self::Server(_) => None,
        }
    }

    /// The hash function and seed of the keys; the default for a server, which gets the keys themselves.
    pub fn hash_spec(&self) -> HashSpec {
        match self {
            Self::Set(seen, _) => seen.hash_spec(),
            Self::Filter(filter) => filter.hash_spec(),
            Self::Server(_) => HashSpec::default(),
        }
    }

    /// An empty list of keys for requests to a server; `None` for a set or a filter in this process.
    pub fn remote_keys(&self) -> Option<RemoteKeys> {
        match self {
            Self::Set(..) | Self::Filter(_) => None,
            Self::Server(server) => Some(server.keys()),
        }
    }

    /// The maximum time between the printing and the recording of a line. `None` if all lines are recorded at the end.
    pub fn within(&self, options: &SeenOptions) -> Option<Duration> {
        match self {
            Self::Set(..) => Some(options.sync()),
            Self::Filter(_) => None,
            Self::Server(_) => Some(Duration::ZERO),
        }
    }

    /// Sets the time of a set with a window to the time of the system's clock.
    pub fn tell_time(&mut self) {
        if let Some(seen) = self.set_mut() {
            window::tell_time(seen);
        }
    }

    /// Takes the keys of a batch that is to be [decided](Self::observe) after all that were lent before it, so that a
    /// server can begin with it. Returns false if no batch after it can be lent now.
    pub fn lend(&mut self, batch: &mut Batch) -> bool {
        match self {
            Self::Set(..) | Self::Filter(_) => false,
            Self::Server(server) => server.lend(batch),
        }
    }

    /// Decides which lines of a batch are new. If that fails, the batch stores the error.
    pub fn observe(&mut self, batch: &mut Batch) {
        match self {
            Self::Set(seen, protect) => {
                let (block, verdicts) = (&batch.block, &mut batch.verdicts);
                let observed = match protect {
                    None if batch.split.shares() > 0 => seen.finish(&batch.hashes, &batch.split, verdicts),
                    None => seen.observe_missed(&batch.hashes, &batch.misses, verdicts),
                    Some(regex) => {
                        let line = batch.keys.with_key();
                        let is_protected = |i| regex.is_match(&String::from_utf8_lossy(block.line(line(i))));
                        seen.observe_protected(&batch.hashes, is_protected, verdicts)
                    }
                };
                batch.has_old_repeats = seen.unsynced_repeats() > 0;
                if let Err(error) = observed {
                    batch.fail(error.into());
                }
            }
            Self::Filter(filter) => {
                if let Err(error) = filter.observe(batch.hashes.as_slice(), &mut batch.verdicts) {
                    // The lines before the first one for which the filter has no room are printed.
                    let lines = batch.keys.with_key()(batch.verdicts.len());
                    batch.cut(lines);
                    batch.failure = Some(error);
                }
            }
            Self::Server(server) => server.observe(batch),
        }
    }

    /// The number of new keys that [`record_first`](Self::record_first) has not recorded yet. A server has recorded
    /// them already, and forgets those that are still unrecorded at the end.
    pub fn unsynced(&self) -> usize {
        match self {
            Self::Set(seen, _) => seen.unsynced(),
            Self::Filter(_) => 0,
            Self::Server(server) => server.unread(),
        }
    }

    /// Records the first `keys` of the [unsynced](Self::unsynced) keys, whose lines have arrived.
    pub fn record_first(&mut self, keys: usize) -> Result<(), Error> {
        match self {
            Self::Set(seen, _) => seen.sync_first(keys)?,
            Self::Filter(_) => {}
            Self::Server(server) => server.keep_first(keys),
        }
        Ok(())
    }

    /// Records the printed lines at the end of the run. `settled` tells whether the reader has received all of them;
    /// `is_well` is false after an error. The last `unprinted` keys belong to lines that were not printed.
    pub fn end(&mut self, settled: Result<Sink, Error>, is_well: bool, unprinted: usize) -> Result<(), Error> {
        let is_open = matches!(settled, Ok(Sink::Open));
        let ended = match self {
            Self::Set(seen, _) if is_open && is_well => seen.publish().map_err(Error::from),
            // After an error, lines are recorded in the journal, which needs no further memory.
            Self::Set(seen, _) if is_open => Ok(seen.sync_first(seen.unsynced().saturating_sub(unprinted))?),
            Self::Filter(filter) if is_open && unprinted == 0 => filter.save(),
            Self::Server(server) => {
                if is_open {
                    server.keep_first(server.unread().saturating_sub(unprinted));
                }
                server.end()
            }
            Self::Set(..) | Self::Filter(_) => Ok(()),
        };
        settled.and(ended)
    }
}
