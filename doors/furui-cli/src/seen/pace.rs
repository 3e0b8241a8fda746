//! Decides when printed lines are recorded.

use std::time::{Duration, Instant};

/// The input has paused if nothing arrives for this long. Then one or two syncs follow, within 0.1 s after the last
/// line.
const PAUSE: Duration = Duration::from_millis(40);
/// An input that continues within this time after a pause has not really paused.
const SOON: Duration = Duration::from_secs(1);
/// The time for which pauses of the input are ignored after the input has continued within [`SOON`]. It doubles each
/// time that this happens again.
const HOLD: Duration = Duration::from_secs(60);
/// The maximum time for which pauses of the input are ignored.
const LONGEST_HOLD: Duration = Duration::from_secs(3600);
/// If at least this number of keys are unrecorded, a sync is always worth its cost, because they fill a good part of
/// the page of storage that a sync writes.
const MANY: usize = 64;

/// Decides when to sync: some time after a line was printed, or as soon as the input pauses.
///
/// Each sync writes a page of storage, however few keys there are. An input of ten lines a second seems to pause after
/// each line, but is recorded only once in each interval.
pub struct Pace {
    interval: Duration,
    /// The time at which the oldest unrecorded key arrived.
    waiting: Option<Instant>,
    /// The time at which the input counts as paused if nothing else arrives.
    pause: Option<Instant>,
    /// The time at which a few keys were recorded because the input had paused; `None` if input has arrived since.
    paused: Option<Instant>,
    hold: Duration,
    held_until: Option<Instant>,
}

impl Pace {
    /// Creates a pace that records lines within `interval`.
    pub fn new(interval: Duration) -> Self {
        Self { interval, waiting: None, pause: None, paused: None, hold: Duration::ZERO, held_until: None }
    }

    /// Records that new keys have arrived at the time `now`.
    pub fn came(&mut self, now: Instant) {
        self.waiting.get_or_insert(now);
        self.pause = Some(now + PAUSE);
        if let Some(paused) = self.paused.take() {
            self.hold = if now < paused + SOON { (self.hold * 2).clamp(HOLD, LONGEST_HOLD) } else { Duration::ZERO };
            self.held_until = Some(now + self.hold);
        }
    }

    /// The time at which to record the `keys` keys that are not recorded yet; `None` if there is nothing to record.
    pub fn deadline(&self, keys: usize) -> Option<Instant> {
        let latest = self.waiting? + self.interval;
        let pause = self
            .pause
            .map(|pause| if keys < MANY { self.held_until.map_or(pause, |held| held.max(pause)) } else { pause });
        Some(pause.map_or(latest, |pause| pause.min(latest)))
    }

    /// Records that all but `left` of `keys` keys were recorded at the time `now`.
    pub fn synced(&mut self, now: Instant, keys: usize, left: usize) {
        let early = self.waiting.is_some_and(|since| now < since + self.interval);
        self.paused = (early && keys < MANY).then_some(now);
        self.pause = None;
        // The other keys wait until the reader of the pipe has read their lines, so they are not tried again at once.
        self.waiting = (left > 0).then(|| now + PAUSE.saturating_sub(self.interval));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `lines` lines a second for `seconds` seconds. Returns the number of syncs, and the longest time that a
    /// line waited.
    fn feed(pace: &mut Pace, from: Instant, lines: u32, seconds: u32) -> (usize, Duration) {
        let (mut syncs, mut longest) = (0, Duration::ZERO);
        let mut waiting: Vec<Instant> = vec![];
        for line in 0..=lines * seconds {
            let now = from + Duration::from_secs(1) * line / lines;
            // Nothing follows the last line.
            let end = if line == lines * seconds { now + Duration::from_secs(60) } else { now };
            while let Some(due) = pace.deadline(waiting.len()).filter(|&due| due <= end) {
                longest = waiting.iter().map(|&line| due - line).max().unwrap_or_default().max(longest);
                pace.synced(due, waiting.len(), 0);
                waiting.clear();
                syncs += 1;
            }
            if line < lines * seconds {
                waiting.push(now);
                pace.came(now);
            }
        }
        assert!(waiting.is_empty() && pace.deadline(0).is_none());
        (syncs, longest)
    }

    #[test]
    fn a_steady_feed_is_recorded_once_in_the_interval() {
        for lines in [2, 5, 10, 100, 10_000] {
            let (syncs, longest) = feed(&mut Pace::new(Duration::from_secs(1)), Instant::now(), lines, 100);
            assert!(syncs <= 105, "{lines} lines a second: {syncs} syncs in 100 seconds");
            assert!(longest <= Duration::from_secs(1), "{lines} lines a second: {longest:?}");
        }
        let (syncs, longest) = feed(&mut Pace::new(Duration::from_secs(10)), Instant::now(), 10, 100);
        // Each sync records more than a few lines.
        assert!(syncs <= 20 && longest <= Duration::from_secs(10), "{syncs} {longest:?}");
    }

    #[test]
    fn bursts_are_recorded_when_they_end() {
        let mut pace = Pace::new(Duration::from_secs(1));
        let mut now = Instant::now();
        // Bursts of a few lines, some seconds apart, and of many lines, a third of a second apart.
        for (lines, apart) in [(3, 2000), (1, 5000), (1000, 333), (500, 333), (1000, 333)] {
            for _ in 0..10 {
                pace.came(now);
                let due = pace.deadline(lines).expect("keys wait");
                assert_eq!(due, now + PAUSE, "{lines} lines each {apart} ms");
                pace.synced(due, lines, 0);
                now += Duration::from_millis(apart);
            }
        }
        // A long burst with syncs in between.
        for _ in 0..250 {
            pace.came(now);
            if pace.deadline(1000).is_some_and(|due| due <= now) {
                pace.synced(now, 1000, 0);
            }
            now += Duration::from_millis(10);
        }
        pace.came(now);
        assert_eq!(pace.deadline(5).map(|due| due.saturating_duration_since(now)), Some(PAUSE));
    }

    #[test]
    fn what_nobody_has_taken_yet_is_tried_again_after_the_interval() {
        let (mut pace, now) = (Pace::new(Duration::from_secs(1)), Instant::now());
        pace.came(now);
        pace.synced(now + PAUSE, 10, 4);
        assert_eq!(pace.deadline(4), Some(now + PAUSE + Duration::from_secs(1)));
    }
}
