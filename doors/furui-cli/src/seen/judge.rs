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

/// What decides which lines are new, and records them. Nothing else differs between the kinds of runs.
pub enum Judge {
    /// An exact set, and with the cache lru+stable the lines that are never dropped.
    Set(Box<Seen<Files>>, Option<Regex>),
    /// A filter in a file, which is replaced at the end.
    Filter(Box<Observer>),
    /// A set in a server, which records lines when it is asked.
    Server(Box<Server>),
}

impl Judge {
    /// The set on this machine, if there is one.
    pub fn set(&self) -> Option<&Seen<Files>> {
        match self {
            Self::Set(seen, _) => Some(seen),
            Self::Filter(_) | Self::Server(_) => None,
        }
    }

    /// The set on this machine, if there is one, to be changed.
    pub fn set_mut(&mut self) -> Option<&mut Seen<Files>> {
        match self {
            Self::Set(seen, _) => Some(seen),
            Self::Filter(_) | Self::Server(_) => None,
        }
    }

    /// How keys are hashed. A server gets the keys themselves.
    pub fn hash_spec(&self) -> HashSpec {
        match self {
            Self::Set(seen, _) => seen.hash_spec(),
            Self::Filter(filter) => filter.hash_spec(),
            Self::Server(_) => HashSpec::default(),
        }
    }

    /// An empty list of keys, if a server is asked.
    pub fn remote_keys(&self) -> Option<RemoteKeys> {
        match self {
            Self::Set(..) | Self::Filter(_) => None,
            Self::Server(server) => Some(server.keys()),
        }
    }

    /// The time within which a line is to be recorded after it was printed. `None` if all lines are recorded at the
    /// end.
    pub fn within(&self, options: &SeenOptions) -> Option<Duration> {
        match self {
            Self::Set(..) => Some(options.sync()),
            Self::Filter(_) => None,
            Self::Server(_) => Some(Duration::ZERO),
        }
    }

    /// Tells a set with a window the time.
    pub fn tell_time(&mut self) {
        if let Some(seen) = self.set_mut() {
            window::tell_time(seen);
        }
    }

    /// Decides about the lines of a batch. If that fails, the batch gets the error.
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
                    // The lines before the first one for which there was no room are printed.
                    let lines = batch.keys.with_key()(batch.verdicts.len());
                    batch.cut(lines);
                    batch.failure = Some(error);
                }
            }
            Self::Server(server) => server.observe(batch),
        }
    }

    /// The number of new keys that are recorded only by [`record_first`](Self::record_first). A server has recorded
    /// them before, and forgets them otherwise.
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

    /// Records what was printed, when the run ends. `settled` tells whether all of it has arrived, and `is_well` is
    /// false after an error. The last `unprinted` keys belong to lines that were not printed.
    pub fn end(&mut self, settled: Result<Sink, Error>, is_well: bool, unprinted: usize) -> Result<(), Error> {
        let is_open = matches!(settled, Ok(Sink::Open));
        let ended = match self {
            Self::Set(seen, _) if is_open && is_well => seen.publish().map_err(Error::from),
            // After an error, lines are recorded in the journal, which needs no memory.
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
