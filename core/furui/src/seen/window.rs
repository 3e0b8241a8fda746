//! A set that remembers only the last part of a stream.

use super::pipeline::{Seen, SeenOptions};
use super::tiers::{Cache, Tiers};
use crate::error::Result;
use crate::filter::ConfigError;
use crate::store::cascade::Cascade;
use crate::store::{Storage, Window};

/// The minimum number of keys in a slice (a sixteenth) of a window for which a cache is used. The cache is emptied at
/// the end of each slice.
const SHORT_SLICE: u64 = 1 << 15;

impl<S: Storage> Seen<S> {
    /// Opens the set that `storage` holds, or an empty one, which answers the question "was this key seen within the
    /// window?" See [`Window`] for the answers near its end.
    ///
    /// A repeat counts as an occurrence: a key is remembered from its latest one. A window of keys counts the keys that
    /// the set observes. A window of milliseconds uses the time of the last [`set_time`](Self::set_time).
    ///
    /// Memory and storage are bounded by the distinct keys of each of 17 slices; a slice is a sixteenth of the window.
    /// While the window fits into memory and nothing asks for a [sync](Self::sync), nothing is written. A
    /// [journal](SeenOptions::journal) has each key once for each slice in which it occurred; when it is much longer
    /// than what the set remembers, the keys become runs, and a new journal begins.
    ///
    /// After a crash, no key that was durable is forgotten early. In a window of keys, the count of the keys since the
    /// last sync, or with a journal since the slice of that sync began, may be lost; then keys are remembered for that
    /// much longer.
    ///
    /// Cost: while all keys are in memory, as without a window, and 2 bytes more a key. If keys are on storage, a new
    /// key is looked up in 17 runs.
    ///
    /// # Errors
    /// Those of [`open_with`](Self::open_with); [`Error::Store`](crate::Error::Store) if the store has another window
    /// or none; [`Error::Config`](crate::Error::Config) with [`Cache::LruStable`], whose filter cannot forget keys by
    /// their time.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    ///
    /// use furui::seen::{Seen, SeenOptions};
    /// use furui::store::{Memory, Window};
    ///
    /// let hour = Window::Milliseconds(NonZeroU64::new(3_600_000).unwrap());
    /// let mut seen = Seen::open_window(Memory::new(), SeenOptions::default(), hour)?;
    /// assert!(seen.insert("a")?);
    /// seen.set_time(3_600_000);
    /// assert!(!seen.insert("a")?);
    /// // The last hour begins at the repeat.
    /// seen.set_time(7_200_000);
    /// assert!(!seen.insert("a")?);
    /// seen.set_time(7_200_000 + 3_600_000 / 16 * 17);
    /// assert!(seen.insert("a")?);
    /// # Ok::<(), furui::Error>(())
    /// ```
    pub fn open_window(storage: S, options: SeenOptions, window: Window) -> Result<Self> {
        if matches!(options.cache, Cache::LruStable { .. }) {
            return Err(ConfigError::WindowOfStable.into());
        }
        Self::open_as(options, |options| Cascade::open_window(storage, options, window))
    }

    /// Sets the time at which the next keys occur, in milliseconds since any fixed moment. A time before the present
    /// one changes nothing, so if a clock goes back, no time passes until it has caught up. A set without a window of
    /// milliseconds ignores the time.
    pub fn set_time(&mut self, milliseconds: u64) {
        if let Some(Window::Milliseconds(_)) = self.set.manifest().window {
            self.time = self.time.max(milliseconds);
        }
    }

    /// Sets the clock of a set with a window of milliseconds back, after the set was given a time in the future by
    /// mistake. All keys that the set remembers count as if they occurred at this time, because their true times are
    /// not known: none is forgotten early, and none is remembered for more than 17/16 of the window from this time on.
    /// A time that is not before the present one changes nothing.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    ///
    /// use furui::seen::{Seen, SeenOptions};
    /// use furui::store::{Memory, Window};
    ///
    /// let second = Window::Milliseconds(NonZeroU64::new(1000).unwrap());
    /// let mut seen = Seen::open_window(Memory::new(), SeenOptions::default(), second)?;
    /// seen.set_time(1_000_000);
    /// seen.insert("a")?;
    /// seen.reset_time(5000)?;
    /// assert!(!seen.contains("b")? && seen.contains("a")?);
    /// seen.set_time(6100);
    /// assert!(seen.insert("a")?);
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`observe_all`](Self::observe_all). Storage is then as it was.
    pub fn reset_time(&mut self, milliseconds: u64) -> Result<()> {
        if let Some(Window::Milliseconds(_)) = self.set.manifest().window
            && milliseconds < self.time
        {
            // Keys that the window has left are removed first, so that they are not remembered again.
            self.move_on()?;
            self.set.reset_to(milliseconds)?;
            self.time = milliseconds;
            self.empty_tiers()?;
        }
        Ok(())
    }

    /// The number of keys, at least 1, that can be observed before the present slice (a sixteenth of the window) ends.
    /// `None` if the set has no window that is counted in keys.
    fn slice_room(&self) -> Option<u64> {
        let window = self.set.manifest().window.filter(|window| matches!(window, Window::Keys(_)))?;
        Some((window.end_of(window.slice_of(self.time)) - self.time).max(1))
    }

    /// The number of keys of the window's earlier slices that occurred again, and whose new occurrence is not durable
    /// yet. These keys are not among the [`unsynced`](Self::unsynced) keys. A [`sync`](Self::sync) makes them durable,
    /// and [`sync_first`](Self::sync_first) those that came before the first key that it leaves out. Without a journal
    /// the number is 0.
    pub fn unsynced_repeats(&self) -> usize {
        self.set.unsynced_repeats()
    }

    /// Advances the set to the present time. Returns the maximum number of keys that may be observed before the next
    /// call.
    ///
    /// # Errors
    /// Those of [`Cascade::advance_to`], which writes runs when a slice ends;
    /// [`Error::NoMemory`](crate::Error::NoMemory).
    pub(super) fn move_on(&mut self) -> Result<usize> {
        if self.set.will_end_slice(self.time) {
            // A slice of the window begins. The cache knows keys that have not occurred in this slice, so an empty
            // cache replaces it.
            self.empty_tiers()?;
        }
        self.set.advance_to(self.time)?;
        Ok(self.slice_room().map_or(usize::MAX, |room| usize::try_from(room).unwrap_or(usize::MAX)))
    }

    /// True if the slices of the window are so short that a cache, which is emptied at the end of each slice, is not
    /// worth its cost.
    pub(super) fn has_short_slices(window: Option<Window>) -> bool {
        matches!(window, Some(Window::Keys(keys)) if keys.get() / Window::SLICES < SHORT_SLICE)
    }

    /// Replaces the cache in front of the set, if there is one, by an empty one.
    ///
    /// # Errors
    /// [`Error::NoMemory`](crate::Error::NoMemory) if there is no memory for a second cache; the first one stays.
    pub(super) fn empty_tiers(&mut self) -> Result<()> {
        if let Tiers::None = self.tiers {
            return Ok(());
        }
        self.tiers = Tiers::new(self.options.cache, &self.options.sizes, self.options.memory)?.0;
        if !self.set.runs().is_empty() {
            self.tiers.enlarge(self.options.memory)?;
        }
        Ok(())
    }

    /// Advances the clock of a window that is counted in keys by the number of keys that were observed.
    pub(super) fn pass(&mut self, keys: usize) {
        if let Some(Window::Keys(_)) = self.set.manifest().window {
            self.time = self.time.saturating_add(keys as u64);
        }
    }
}
