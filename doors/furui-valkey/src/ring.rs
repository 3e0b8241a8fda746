//! The slices of a window of a stream.

use std::collections::VecDeque;

use furui::store::Window;

/// The content of a set or a filter with a window, in slices of a sixteenth of the window. A slice is dropped as a
/// whole when all of it is older than the window.
#[derive(Clone)]
pub struct Ring<T> {
    /// The part of the stream that is remembered; `None` for all of it, which is then one slice.
    pub window: Option<Window>,
    /// The current time in ticks of the window, which are milliseconds, or keys that were seen.
    pub time: u64,
    /// The slices of the window with their numbers, oldest first. There is always at least one.
    pub slices: VecDeque<(u64, T)>,
}

impl<T> Ring<T> {
    pub fn new(window: Option<Window>, first: T) -> Self {
        Self { window, time: 0, slices: VecDeque::from([(0, first)]) }
    }

    /// True if the window is a span of time.
    pub fn is_timed(&self) -> bool {
        matches!(self.window, Some(Window::Milliseconds(_)))
    }

    /// The number of the newest slice of the window; 0 if there are no slices.
    pub fn newest(&self) -> u64 {
        self.slices.back().map_or(0, |(number, _)| *number)
    }

    /// The number of slices, if the window is a span of time; else 0.
    pub fn timed_slices(&self) -> usize {
        if self.is_timed() { self.slices.len() } else { 0 }
    }

    /// Sets the time in milliseconds, if the window is one of time. Begins a new slice by `begin` when the last one has
    /// ended. An earlier time than the current one is ignored, unless it is earlier by more than a slice.
    ///
    /// In that case a clock was wrong before. Its step is undone: the slices move back with it, so that what was
    /// recorded by the wrong clock fades as if it had been recorded now.
    pub fn tell_time<E>(&mut self, milliseconds: u64, begin: impl FnOnce() -> Result<T, E>) -> Result<(), E> {
        if !self.is_timed() {
            return Ok(());
        }
        let ahead = self.ahead_of(milliseconds);
        if ahead > 0 {
            self.time = milliseconds;
            // Slices from before the first slice of all are one.
            let mut kept = VecDeque::new();
            for (number, slice) in self.slices.drain(..).rev() {
                match number.checked_sub(ahead) {
                    Some(number) => kept.push_front((number, slice)),
                    None => break,
                }
            }
            self.slices = kept;
        }
        self.move_on(milliseconds, begin)
    }

    /// The number of slices by which the time of a window of time is ahead of this time in milliseconds, if that is by
    /// more than the length of a slice; else 0.
    fn ahead_of(&self, milliseconds: u64) -> u64 {
        match self.window {
            Some(window @ Window::Milliseconds(length))
                if self.time.saturating_sub(milliseconds) > length.get().div_ceil(Window::SLICES) =>
            {
                self.newest().saturating_sub(window.slice_of(milliseconds))
            }
            _ => 0,
        }
    }

    /// True if slices are older than the window, which is one of time, at this time in milliseconds.
    pub fn has_faded(&self, milliseconds: u64) -> bool {
        self.is_timed() && self.slices.iter().any(|(number, _)| *number < self.oldest(milliseconds))
    }

    /// The number of the oldest slice that is in the window at this time in milliseconds.
    fn oldest(&self, milliseconds: u64) -> u64 {
        let now = |window: Window| {
            let now = window.slice_of(milliseconds) + self.ahead_of(milliseconds);
            now.max(self.newest()).saturating_sub(Window::SLICES)
        };
        self.window.filter(|_| self.is_timed()).map_or(0, now)
    }

    /// Counts a key that was seen, if the window is a number of keys.
    pub fn count_key<E>(&mut self, begin: impl FnOnce() -> Result<T, E>) -> Result<(), E> {
        if matches!(self.window, Some(Window::Keys(_))) { self.move_on(self.time + 1, begin) } else { Ok(()) }
    }

    /// Sets the time in ticks of the window. Begins a new slice by `begin` if the last one has ended, and drops the
    /// slices that are older than the window.
    pub fn move_on<E>(&mut self, time: u64, begin: impl FnOnce() -> Result<T, E>) -> Result<(), E> {
        let Some(window) = self.window.filter(|_| time > self.time) else { return Ok(()) };
        let now = window.slice_of(time);
        if now > self.newest() {
            self.slices.push_back((now, begin()?));
            let oldest = now.saturating_sub(Window::SLICES);
            while self.slices.front().is_some_and(|(number, _)| *number < oldest) {
                self.slices.pop_front();
            }
        }
        self.time = time;
        Ok(())
    }

    /// The slices that are in the window at this time in milliseconds.
    pub fn at(&self, milliseconds: u64) -> impl Iterator<Item = &T> {
        let oldest = self.oldest(milliseconds);
        self.slices.iter().filter(move |(number, _)| *number >= oldest).map(|(_, slice)| slice)
    }
}
