//! The value of a key of `FURUI.SEEN`: an exact set, of all its members or of the last ones.

use std::collections::VecDeque;
use std::sync::Arc;

use furui::store::Window;
use furui::store::cascade::{KeySet, Run};
use furui::{HashSpec, KeyHash, KeyHasher};

use crate::call::Refusal;
use crate::limits::Account;

/// An exact set of members, each known by its 64-bit hash.
///
/// With a window, members are in slices of a sixteenth of the window, by the time they were last seen at; a slice goes as
/// a whole when it is older than the window.
pub struct Set {
    hasher: KeyHasher,
    window: Option<Window>,
    /// The time, in ticks of the window: milliseconds, or members that were seen.
    time: u64,
    /// The slices, oldest first, with their numbers. There is always one; without a window there is no other.
    slices: VecDeque<(u64, KeySet)>,
    account: Account,
    /// The beginning of a run that comes in pieces.
    pieces: Vec<u8>,
}

impl Set {
    /// An empty set.
    pub fn new(hash: HashSpec, window: Option<Window>) -> Self {
        Self {
            hasher: hash.hasher(),
            window,
            time: 0,
            slices: VecDeque::from([(0, KeySet::new())]),
            account: Account::default(),
            pieces: vec![],
        }
    }

    /// How members are hashed.
    pub fn hash(&self) -> HashSpec {
        self.hasher.spec()
    }

    /// The part of the stream that the set remembers; `None` if it remembers everything.
    pub fn window(&self) -> Option<Window> {
        self.window
    }

    /// The time of the set.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The hash of a member.
    #[inline]
    pub fn key(&self, member: &[u8]) -> KeyHash {
        self.hasher.hash(member)
    }

    /// Moves the set on to a time, in milliseconds, if its window is one of time. Time never goes back.
    pub fn tell_time(&mut self, milliseconds: u64) {
        if matches!(self.window, Some(Window::Milliseconds(_))) {
            self.move_on(milliseconds);
        }
    }

    /// Records a member. True if it is new.
    ///
    /// # Errors
    /// If the hashes of the members crowd at one place.
    pub fn insert(&mut self, key: KeyHash) -> Result<bool, Refusal> {
        let older = self.slices.len() - 1;
        let was_seen = self.slices.iter().take(older).any(|(_, slice)| slice.contains(key));
        let is_new = self.slices[older].1.insert(key)? && !was_seen;
        if matches!(self.window, Some(Window::Keys(_))) {
            self.move_on(self.time + 1);
        }
        Ok(is_new)
    }

    /// True if a member was seen and is not forgotten: with a window of time, by this time in milliseconds.
    pub fn contains_at(&self, key: KeyHash, milliseconds: u64) -> bool {
        let oldest = match self.window {
            Some(window @ Window::Milliseconds(_)) => {
                window.slice_of(milliseconds.max(self.time)).saturating_sub(Window::SLICES)
            }
            _ => 0,
        };
        self.slices.iter().any(|(number, slice)| *number >= oldest && slice.contains(key))
    }

    /// Forgets a member. False if it was not seen.
    pub fn remove(&mut self, key: KeyHash) -> bool {
        self.slices.iter_mut().fold(false, |was_there, (_, slice)| slice.remove(key) || was_there)
    }

    /// The number of members. With a window, a member counts once in each slice in which it was seen.
    pub fn len(&self) -> usize {
        self.slices.iter().map(|(_, slice)| slice.len()).sum()
    }

    /// The memory of the set, in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.slices.iter().map(|(_, slice)| size_of::<(u64, KeySet)>() + slice.bytes()).sum::<usize>()
    }

    /// The number of bytes by which the set grows if so many new members come.
    pub fn growth(&self, members: usize) -> usize {
        self.slices.back().map_or(0, |(_, slice)| slice.growth(members))
    }

    /// Checks that the set may grow by so many members.
    ///
    /// # Errors
    /// If it would exceed a limit of the module.
    pub fn admit(&mut self, members: usize) -> Result<(), Refusal> {
        self.account.admit(self.bytes(), self.growth(members))
    }

    /// Notes how much memory the set takes now.
    pub fn settle(&mut self) {
        self.account.settle(self.bytes());
    }

    /// The slices, oldest first, with their numbers.
    pub fn slices(&self) -> impl ExactSizeIterator<Item = (u64, &KeySet)> {
        self.slices.iter().map(|(number, slice)| (*number, slice))
    }

    /// Adds the members of a run to the slice `number`, which is made if the window has it.
    ///
    /// # Errors
    /// If the run is damaged, or its members were hashed otherwise; if the window has no such slice.
    pub fn restore_slice(&mut self, number: u64, run: &[u8]) -> Result<u64, Refusal> {
        let run = Run::open(Arc::<[u8]>::from(run), "run", self.hash())?;
        self.account.admit(self.bytes(), usize::try_from(run.len()).unwrap_or(usize::MAX).saturating_mul(13))?;
        let newest = self.slices.back().map_or(0, |(newest, _)| *newest);
        if number > newest || newest - number > Window::SLICES || (self.window.is_none() && number != 0) {
            return Err(Refusal::because("the slice is not one of the window"));
        }
        let place = self.slices.partition_point(|(own, _)| *own < number);
        if self.slices[place].0 != number {
            self.slices.insert(place, (number, KeySet::new()));
        }
        Ok(self.slices[place].1.read_run(&run)?)
    }

    /// Takes the piece `place` of `pieces` of the run of a slice. The slice is restored with the last piece.
    ///
    /// # Errors
    /// Those of [`restore_slice`](Self::restore_slice), and if a piece is missing.
    pub fn restore_piece(&mut self, number: u64, (place, pieces): (usize, usize), piece: &[u8]) -> Result<(), Refusal> {
        if place == 1 {
            self.pieces.clear();
        } else if self.pieces.is_empty() {
            return Err(Refusal::because("the first piece of the run is missing"));
        }
        self.account.admit(self.bytes() + self.pieces.len(), piece.len())?;
        self.pieces.extend_from_slice(piece);
        if place == pieces {
            let run = std::mem::take(&mut self.pieces);
            self.restore_slice(number, &run)?;
        }
        Ok(())
    }

    /// A copy of the set.
    ///
    /// # Errors
    /// If the hashes of the members crowd at one place.
    pub fn copy(&self) -> Result<Self, Refusal> {
        let mut copy = Self::new(self.hash(), self.window);
        copy.time = self.time;
        copy.slices.clear();
        for (number, slice) in &self.slices {
            let mut keys = KeySet::new();
            for key in slice.iter() {
                keys.insert(key)?;
            }
            copy.slices.push_back((*number, keys));
        }
        Ok(copy)
    }

    /// Moves the set on to a time of its window.
    pub fn move_on(&mut self, time: u64) {
        let Some(window) = self.window else { return };
        if time <= self.time {
            return;
        }
        self.time = time;
        let (now, newest) = (window.slice_of(time), self.slices.back().map_or(0, |(newest, _)| *newest));
        if now > newest {
            self.slices.push_back((now, KeySet::new()));
            self.forget();
        }
    }

    /// Drops the slices that the window has left.
    fn forget(&mut self) {
        let newest = self.slices.back().map_or(0, |(newest, _)| *newest);
        let oldest = newest.saturating_sub(Window::SLICES);
        while self.slices.len() > 1 && self.slices.front().is_some_and(|(number, _)| *number < oldest) {
            self.slices.pop_front();
        }
    }
}
