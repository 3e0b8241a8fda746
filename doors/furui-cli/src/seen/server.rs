//! A set that several processes share, in a Valkey or Redis server.
//!
//! The server records a line when it is asked about it, before the line is printed. Lines that are recorded but cannot
//! be printed are removed from the set as far as possible, because otherwise no process would ever print them.

use std::collections::VecDeque;
use std::path::Path;

use furui::Hashes;
use furui::seen::{Cache, Seen, SeenOptions, Verdict};

use super::batch::Batch;
use super::printing::Printing;
use crate::cli;
use crate::complain;
use crate::error::Error;
use crate::files::Files;
use crate::memory;
use crate::remote::{Failure, RemoteKeys, RemoteSet};
use crate::say::number::counted;

/// A set in a server, as `furui seen` uses it.
pub struct Server {
    set: RemoteSet,
    /// The lines of a dry run so far, which the server does not record. `None` if this is no dry run.
    dry: Option<Box<Dry>>,
    /// True if the run prints the new lines that it records. If one of them cannot be printed, its key is then removed
    /// from the server's set again.
    takes_back: bool,
    answers: Vec<bool>,
    /// The keys of the blocks that the server decides about at this moment, with the number of lines of each block, in
    /// the order of the input.
    flight: VecDeque<(RemoteKeys, usize)>,
    /// The number of lists of keys at the front of `flight` that were sent.
    sent: usize,
    /// The new keys whose lines may not have been read yet, in the order of the input, one list for each block.
    unread: VecDeque<RemoteKeys>,
    /// The number of keys in the first list of `unread` whose lines were read.
    read: usize,
    /// The number of new lines that another process may have got as new, too, because a connection was lost.
    uncertain: u64,
}

/// The lines of a dry run so far, which are kept in this process and not in the server.
struct Dry {
    seen: Seen<Files>,
    hashes: Hashes,
    verdicts: Vec<Verdict>,
}

impl Server {
    /// Connects to the server of the set at this URL.
    pub fn open(url: &Path, options: &cli::SeenOptions) -> Result<Self, Error> {
        let set = RemoteSet::open(url, !options.dry_run, options.window)?;
        Ok(Self {
            set,
            dry: options.dry_run.then(Dry::new).transpose()?.map(Box::new),
            takes_back: !options.dry_run && !options.quiet && Printing::of(options).tells_new(),
            answers: vec![],
            flight: VecDeque::new(),
            sent: 0,
            unread: VecDeque::new(),
            read: 0,
            uncertain: 0,
        })
    }

    /// Creates an empty list of keys for requests to this set.
    pub fn keys(&self) -> RemoteKeys {
        self.set.no_keys()
    }

    /// The URL of the set, without a password.
    pub fn url(&self) -> String {
        self.set.url()
    }

    /// Takes the keys of a batch, to send them to the server the next time that it [decides](Self::observe) about a
    /// batch, so that it need not wait for them then. Returns false if it is not known whether later batches will be
    /// decided.
    pub fn lend(&mut self, batch: &mut Batch) -> bool {
        if batch.is_void {
            return false;
        }
        if batch.header.is_none()
            && let Some(keys) = batch.asked.take()
        {
            self.flight.push_back((keys, batch.block.len()));
        }
        batch.failure.is_none()
    }

    /// Asks the server about the keys of the batch that was [lent](Self::lend) first. If that fails, the batch stores
    /// the error.
    pub fn observe(&mut self, batch: &mut Batch) {
        let records = self.dry.is_none();
        for (keys, _) in self.flight.range(self.sent..) {
            self.set.send(keys, records);
        }
        self.sent = self.flight.len();
        let Some((keys, _)) = self.next_in_flight() else { return };
        match self.set.receive(&keys, records, &mut self.answers) {
            Ok(uncertain) => self.uncertain += uncertain,
            Err(failure) => self.fail(batch, &keys, failure),
        }
        if !batch.is_void {
            self.tell(batch, &keys);
        }
        batch.asked = Some(keys);
    }

    /// The keys whose answers come next, and the number of lines of their block.
    fn next_in_flight(&mut self) -> Option<(RemoteKeys, usize)> {
        self.sent = self.sent.saturating_sub(1);
        self.flight.pop_front()
    }

    /// Stores in a batch the failure of the server to decide about it. What the server has recorded of it, or of the
    /// batches after it, is removed from the set again as far as possible.
    fn fail(&mut self, batch: &mut Batch, keys: &RemoteKeys, failure: Failure) {
        let lines = batch.block.len() + self.flight.iter().map(|(_, lines)| lines).sum::<usize>();
        let recorded = keys.only(|index| self.answers[index]);
        let is_clean = self.dry.is_some() || self.take_back(vec![recorded]).is_ok();
        let (url, reason) = (self.set.url(), failure.reason);
        let fate = match failure.may_have_recorded || !is_clean {
            true => "not printed, but the server may have recorded some of them, which a later run then takes for seen",
            false => "neither printed nor recorded",
        };
        let (from, lines) = (batch.block.place(0), counted(lines as u64, "line"));
        batch.fail(Error::Message(format!("{url}: {reason}; from {from} on, {lines}: {fate}")));
    }

    /// Removes recorded keys from the server's set, and those that it records while their batches are in flight.
    fn take_back(&mut self, mut recorded: Vec<RemoteKeys>) -> Result<(), Failure> {
        let mut failed = None;
        while self.set.in_flight() > 0
            && let Some((keys, _)) = self.next_in_flight()
        {
            let received = self.set.receive(&keys, true, &mut self.answers);
            failed = received.err().filter(|failure| failure.may_have_recorded).or(failed);
            recorded.push(keys.only(|index| self.answers[index]));
        }
        self.flight.clear();
        for keys in recorded.iter().filter(|keys| keys.len() > 0) {
            self.set.forget(keys)?;
        }
        failed.map_or(Ok(()), Err)
    }

    /// Stores the answers of the server, which are those for `keys`, in their batch.
    fn tell(&mut self, batch: &mut Batch, keys: &RemoteKeys) {
        if let Some(dry) = &mut self.dry
            && let Err(error) = dry.tell_new(keys, &mut self.answers)
        {
            return batch.fail(error);
        }
        if self.takes_back && self.answers.contains(&true) {
            self.unread.push_back(keys.only(|index| self.answers[index]));
        }
        let verdict = |&is_new: &bool| if is_new { Verdict::New } else { Verdict::Repeat };
        batch.verdicts.extend(self.answers.iter().map(verdict));
    }

    /// The number of new keys whose lines have not been read. At the [end](Self::end) they are removed from the
    /// server's set.
    pub fn unread(&self) -> usize {
        self.unread.iter().map(RemoteKeys::len).sum::<usize>() - self.read
    }

    /// Marks the lines of the first `keys` [unread](Self::unread) keys as read, so that the server keeps these keys.
    pub fn keep_first(&mut self, keys: usize) {
        self.read += keys;
        while let Some(first) = self.unread.front().filter(|first| first.len() <= self.read) {
            self.read -= first.len();
            self.unread.pop_front();
        }
    }

    /// Removes from the server's set the keys whose lines are unread at the end of the run. Reports the number of
    /// uncertain lines.
    pub fn end(&mut self) -> Result<(), Error> {
        if self.uncertain > 0 {
            let lines = counted(self.uncertain, "line");
            complain(&Error::Message(format!(
                "{}: the connection was lost and made again; {lines} on the way then count as new, but may be repeats",
                self.set.url()
            )));
        }
        let read = std::mem::take(&mut self.read);
        let mut unread: Vec<RemoteKeys> = self.unread.drain(..).collect();
        if let Some(first) = unread.first_mut() {
            *first = first.only(|index| index >= read);
        }
        let lines =
            unread.iter().map(RemoteKeys::len).chain(self.flight.iter().map(|(_, lines)| *lines)).sum::<usize>();
        self.take_back(unread).map_err(|failure| {
            let (url, reason, lines) = (self.set.url(), failure.reason, counted(lines as u64, "line"));
            Error::Message(format!(
                "{url}: {reason}; {lines} that nobody has read may stay recorded, and are repeats in the next run"
            ))
        })
    }
}

impl Dry {
    fn new() -> Result<Self, Error> {
        let settings = SeenOptions { cache: Cache::None, memory: memory::quarter(), ..SeenOptions::default() };
        let seen = Seen::open_with(Files::temporary(memory::mappable()), settings)?;
        Ok(Self { hashes: Hashes::new(&seen.hash_spec().hasher()), seen, verdicts: vec![] })
    }

    /// Converts answers in place: from true for a key that the server has, to true for a key that is new to this dry
    /// run.
    fn tell_new(&mut self, keys: &RemoteKeys, answers: &mut [bool]) -> Result<(), Error> {
        self.hashes.clear();
        (0..keys.len()).for_each(|index| self.hashes.push(keys.key(index)));
        self.seen.observe_all(&self.hashes, &mut self.verdicts)?;
        for (answer, &verdict) in answers.iter_mut().zip(&self.verdicts) {
            *answer = !*answer && verdict == Verdict::New;
        }
        Ok(())
    }
}
