//! Chooses the next piece of work in the queue of batches.

use std::time::Instant;

use super::{LARGE_BATCHES, Place, Queue, Step, Task};
use crate::input::block::BLOCK;

/// The minimum number of keys in a share's part of a batch for which another worker is woken. A smaller part is done
/// sooner than the other worker would begin.
const WORTH_WAKING: usize = 256;

impl Queue {
    /// The next piece of work that can be done at this moment; `None` if there is none. Work nearest to the output
    /// comes first, so that no line waits for later ones.
    pub fn choose(&mut self) -> Option<Task> {
        if self.ending.is_some() {
            return None;
        }
        if self.deadline().is_some_and(|due| due <= Instant::now()) {
            // The set decides about no further batch before the printed lines are recorded.
            if self.decider.is_some() {
                return Some(Task::Sync);
            }
            return self.next_share().or_else(|| self.can_read().then_some(Task::Read));
        }
        self.admit_next();
        let is_next =
            |place: Option<&Place>, step| place.is_some_and(|place| place.batch.is_some() && place.next == step);
        if self.writer.is_some() && is_next(self.places.front(), Step::Write) {
            return Some(Task::Write);
        }
        if is_next(self.places.get(self.decided), Step::Decide) && self.can_decide() {
            return Some(Task::Decide);
        }
        if self.needs_room() {
            return Some(Task::MakeRoom);
        }
        self.next_share().or_else(|| self.can_read().then_some(Task::Read))
    }

    /// True if a piece of work is so large, or so much work follows it, that another worker is woken for it.
    pub fn is_worth_waking(&self, task: Task) -> bool {
        match task {
            // On a slow input one worker suffices, and waking another worker would cost more time than it saves.
            Task::Read => self.is_plenty,
            Task::Observe(share) => {
                let index = self.shares.turn(share).saturating_sub(self.left) as usize;
                let batch = self.places.get(index).and_then(|place| place.batch.as_ref());
                batch.is_some_and(|batch| batch.split.count(share) >= WORTH_WAKING)
            }
            _ => true,
        }
    }

    /// Gives batches whose keys have been hashed to the shares of the set, as long as the shares have room for them.
    fn admit_next(&mut self) {
        while self.is_split()
            && let Some(decider) = &mut self.decider
            && let Some(batch) = self.places.get_mut(self.admitted).and_then(|place| place.batch.as_mut())
            && decider.admit(batch)
        {
            self.admitted += 1;
            if batch.failure.is_some() {
                // Lines after the error are not to get into the set.
                self.end_after(self.admitted);
            }
        }
    }

    /// True if the set is split into shares.
    pub fn is_split(&self) -> bool {
        self.split > 0
    }

    /// Chooses the share of the set that can insert its part of the earliest batch.
    fn next_share(&mut self) -> Option<Task> {
        let (left, places) = (self.left, &self.places);
        let waits = |number: u64, share| {
            let batch = places.get((number - left) as usize).and_then(|place| place.batch.as_ref());
            batch.is_some_and(|batch| batch.split.waits_for(share))
        };
        self.shares.next(left, left + self.admitted as u64, waits).map(Task::Observe)
    }

    /// True if the set is to write keys to storage before the next batch is admitted, and can do so:
    /// all earlier batches are decided. If earlier keys become durable by that, their lines must have been printed.
    fn needs_room(&self) -> bool {
        let is_hashed = self.places.get(self.admitted).is_some_and(|place| place.batch.is_some());
        let is_ready = self.is_split() && self.decider.is_some() && is_hashed && self.decided == self.admitted;
        is_ready && self.shares.are_home() && (!self.syncs() || self.decided == 0 && self.writer.is_some())
    }

    /// True if the set is in the queue and can take the next batch. If the set is split, its shares must have inserted
    /// the keys of the batch. Otherwise, if the set would then make earlier keys durable, the lines of these keys must
    /// have been printed.
    fn can_decide(&mut self) -> bool {
        let is_split = self.is_split();
        let Some(decider) = &mut self.decider else { return false };
        if is_split {
            let batch = self.places.get(self.decided).and_then(|place| place.batch.as_ref());
            return self.decided < self.admitted && batch.is_some_and(|batch| batch.split.is_complete());
        }
        decider.judge.tell_time();
        !self.syncs() || self.decided == 0 && self.writer.is_some()
    }

    /// True if the set makes earlier keys durable when it gets the next batch, or when it makes room for it.
    pub fn syncs(&self) -> bool {
        let batch = self.places.get(self.admitted.max(self.decided)).and_then(|place| place.batch.as_ref());
        self.limits.records
            && batch
                .zip(self.decider.as_ref())
                .is_some_and(|(batch, decider)| !batch.is_void && batch.header.is_none() && decider.will_sync(batch))
    }

    fn can_read(&self) -> bool {
        let batches = self.places.len();
        let bytes: usize = self.places.iter().map(|place| place.bytes).sum();
        let is_short = batches < LARGE_BATCHES || bytes + BLOCK <= self.limits.batches * BLOCK;
        let has_room = batches < self.limits.batches && is_short;
        // Only when all earlier lines are decided is it known how many more lines are wanted.
        let is_decided = self.decided == batches && self.decider.is_some();
        self.reads && self.reader.is_some() && has_room && (is_decided || !self.is_limited)
    }
}
