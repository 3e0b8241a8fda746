mod cells;
mod file;
mod part;

use std::ops::Deref;

use super::{ConfigError, Filter, FilterMut, Full};
use crate::bits::Buffer;
use crate::hash::{HashSpec, KeyHash};
use crate::window::Window;
use cells::{ALL, SLICES};
use part::Part;

/// The maximum number of tables of a filter.
const MAX_TABLES: usize = 26;

/// A filter of the keys of a [`Window`]: the last keys of a stream, or those of the last hours. It answers "was it here
/// within the window?". "No" is certain for every key of the window, and "yes" is wrong at a rate of your choice, at
/// every moment.
///
/// A key that came within the window is known, and one that came last before 17/16 of the window is forgotten; a repeat
/// counts, so the window of its key begins anew. The filter has no clock: the insertions are the ticks of a window of
/// keys, and the caller [tells the time](Self::tell_time) of a window of time.
///
/// ```text
///   key ──► line in range 1, line in range 2, line in range 3, and two cells in each
///        a cell has a bit for each slice: the one that has begun, and the 16 before it
///           cell     0 1 0 0 0 1 0 0 0 0 1 0 0 0 0 0 0
///           cell     0 1 0 0 0 0 0 0 1 0 0 0 1 0 0 0 0
///           ...      . . .                                 AND, over all cells of the key:
///                    0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0     it may have come in the second slice
/// ```
///
/// So one look-up asks the Bloom filters of all slices at once. A new slice takes the bit of the oldest one.
///
/// **Rate.** All slices together have the required rate when each holds a sixteenth of the keys for which the filter
/// was made. If more come in a slice, they go to a further table, for twice as many keys and with half of the rate that
/// is left, until it is empty again: so the rate holds, and memory grows. Such a filter gives its first table half of
/// the rate. With a window of at most as many keys as it was made for, no more can come, and the table has the whole.
///
/// **Cost.** At 1 % a key of the window takes 20.4 bits, and has six cells in three lines; at 0.1 %, 26.4 bits and four
/// lines. That is about twice a [`Bloom`](super::Bloom) filter of as many keys, which forgets nothing. The first
/// insertion into a new slice reads and writes the whole table once, which is about one line an insertion.
///
/// **Source.** The jumping window of Metwally, Agrawal and El Abbadi, "Duplicate Detection in Click Streams", WWW 2005,
/// whose words hold a bit of each sub-window. **Differs** in the cells, of which a cache line holds 30, packed, so that
/// a key has two in each of few lines; and in that a repeat counts.
///
/// ```
/// use furui::filter::WindowBloom;
/// use furui::store::Window;
///
/// let hour: Window = "1h".parse()?;
/// let mut filter = WindowBloom::with_rate(hour, 1000, 0.01)?;
/// filter.tell_time(0);
/// assert!(filter.insert("a")?);
/// filter.tell_time(3_600_000);
/// assert!(filter.contains("a"));
/// filter.tell_time(3_600_000 / 16 * 17);
/// assert!(!filter.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WindowBloom<M = Buffer> {
    span: Window,
    /// The present time in ticks of the window: how many keys were inserted, or milliseconds.
    now: u64,
    /// The tick at which the next slice begins.
    end: u64,
    /// The bit of the present slice in the cells. Older slices have the bits below it, and then those from the top.
    slice: usize,
    capacity: u64,
    rate: f64,
    /// The tables, at least one. A key goes into the first that has room in the present slice.
    parts: Vec<Part<M>>,
    hash: HashSpec,
}

impl WindowBloom {
    /// An empty filter of the last `keys` keys of a stream, repeats included, with a false-positive rate of at most
    /// `rate`. It is never full.
    ///
    /// ```
    /// use furui::filter::WindowBloom;
    ///
    /// let mut filter = WindowBloom::for_last(10_000, 0.01)?;
    /// filter.insert("seen before")?;
    /// for key in 0..10_000u32 {
    ///     filter.insert(key.to_le_bytes())?;
    /// }
    /// assert!(filter.contains("seen before"));
    /// # Ok::<(), furui::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`with_rate`](Self::with_rate); also if `keys` is 0.
    pub fn for_last(keys: u64, rate: f64) -> Result<Self, ConfigError> {
        let span = std::num::NonZeroU64::new(keys).map(Window::Keys);
        let span = span.ok_or(ConfigError::OutOfRange { what: "keys", given: 0, least: 1, most: u64::MAX })?;
        Self::with_rate(span, keys, rate)
    }

    /// An empty filter of the window `span`, in which about `keys` different keys are expected, with a false-positive
    /// rate of at most `rate`, however many come.
    ///
    /// # Errors
    /// If `rate` is not between 0 and 1, or finer than 64-bit hashes of that many keys allow; if the filter would be
    /// too large, or there is not enough memory.
    pub fn with_rate(span: Window, keys: u64, rate: f64) -> Result<Self, ConfigError> {
        let mut filter = Self::without_parts(span, keys, rate);
        filter.parts.push(Part::with_rate(filter.next_room(), filter.next_rate())?);
        Ok(filter)
    }

    /// The memory in bytes of the empty filter that [`with_rate`](Self::with_rate) makes; 0 if it refuses the rate.
    pub fn bytes_with_rate(span: Window, keys: u64, rate: f64) -> u64 {
        let filter = Self::without_parts(span, keys, rate);
        Part::bytes_with_rate(filter.next_room(), filter.next_rate())
    }

    fn without_parts(span: Window, capacity: u64, rate: f64) -> Self {
        Self { span, now: 0, end: span.end_of(0), slice: 0, capacity, rate, parts: vec![], hash: HashSpec::default() }
    }

    /// This filter, for keys that are hashed by `hash` instead of by [`HashSpec::default`]. Keys that are already in
    /// the filter must have been hashed by `hash` too.
    #[must_use]
    pub fn hashed_by(self, hash: HashSpec) -> Self {
        Self { hash, ..self }
    }

    /// The memory in bytes by which the insertion of `keys` keys makes the filter grow at most; 0 if its tables have
    /// room for them. A caller that limits memory asks before it inserts.
    pub fn growth(&self, keys: u64) -> u64 {
        if self.never_grows() {
            return 0;
        }
        let mut missing = self.parts.iter().fold(keys, |keys, part| keys.saturating_sub(part.room_in(self.slice)));
        let (mut room, mut rate, mut bytes) = (self.next_room(), self.next_rate(), 0u64);
        for _ in self.parts.len()..MAX_TABLES {
            if missing == 0 {
                break;
            }
            bytes = bytes.saturating_add(Part::bytes_with_rate(room, rate));
            missing = missing.saturating_sub(room);
            (room, rate) = (room.saturating_mul(2), rate / 2.0);
        }
        bytes
    }

    /// Inserts a key for which the first table has no room, or which may be in another table.
    #[cold]
    fn put_in_any(&mut self, key: KeyHash) -> Result<bool, Full> {
        let seen = self.parts.iter().fold(0, |seen, part| seen | part.slices_of(key, ALL));
        if seen >> self.slice & 1 == 0 {
            let slice = self.slice;
            let part = match self.parts.iter().position(|part| part.room_in(slice) > 0) {
                Some(part) => part,
                None => self.grow()?,
            };
            self.parts[part].put(key, slice);
        }
        Ok(seen == 0)
    }

    /// Appends a table with room for keys, and returns its index.
    fn grow(&mut self) -> Result<usize, Full> {
        let capacity = self.parts.iter().fold(0u64, |room, part| room.saturating_add(part.room));
        let full = Full::AtCapacity { capacity: capacity.saturating_mul(Window::SLICES) };
        if self.parts.len() == MAX_TABLES {
            return Err(full);
        }
        self.parts.push(Part::with_rate(self.next_room(), self.next_rate()).map_err(|_| full)?);
        Ok(self.parts.len() - 1)
    }

    /// How many of the next `keys` keys the first table takes together, if there is no other one.
    fn at_once(&self, keys: usize) -> usize {
        let [part] = &self.parts[..] else { return 0 };
        let ticks = match self.span {
            Window::Keys(_) => self.ticks_left(),
            Window::Milliseconds(_) => u64::MAX,
        };
        keys.min(usize::try_from(ticks.min(part.room_in(self.slice))).unwrap_or(usize::MAX))
    }
}

impl<M> WindowBloom<M> {
    /// The window whose keys the filter remembers.
    pub fn span(&self) -> Window {
        self.span
    }

    /// The present time in ticks of the window: how many keys were inserted, or the milliseconds that were told last.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The upper bound of the filter's false-positive rate, for any number of keys.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The number of keys in the window for which the filter was made.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The number of keys in the filter. A key counts once in each slice in which it was certainly new.
    pub fn len(&self) -> u64 {
        self.parts.iter().flat_map(|part| part.keys).fold(0, u64::saturating_add)
    }

    /// True if no key is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of tables of the filter: more than one if more keys came than it was made for.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Sets the time in milliseconds, if the window is one of time; does nothing otherwise. An earlier time than the
    /// present one is ignored, unless it is earlier by more than a slice.
    ///
    /// In that case a clock was wrong before. Its step is undone: what was recorded by the wrong clock fades as if it
    /// had been recorded now. Cost: a few instructions; the bits of old slices are cleared by later insertions.
    pub fn tell_time(&mut self, milliseconds: u64) {
        let Window::Milliseconds(length) = self.span else { return };
        if self.now.saturating_sub(milliseconds) > length.get().div_ceil(Window::SLICES) {
            self.set_time(milliseconds);
        } else if milliseconds > self.now {
            self.pass(milliseconds);
        }
    }

    /// True if slices with keys have left the window, which is one of time, by this time in milliseconds.
    pub fn has_faded(&self, milliseconds: u64) -> bool {
        let live = self.live_at(milliseconds);
        self.parts.iter().any(|part| part.keys.iter().enumerate().any(|(i, &keys)| keys > 0 && live >> i & 1 == 0))
    }

    /// The slices, as bits of the cells, that are in the window at this time in milliseconds. A window of keys does not
    /// depend on the time.
    fn live_at(&self, milliseconds: u64) -> u32 {
        let passed = match self.span {
            Window::Milliseconds(_) => self.slices_until(milliseconds),
            Window::Keys(_) => 0,
        };
        // The oldest slices have the bits above the present one, and then those from 0 on.
        (1..=passed.min(SLICES as u64) as usize).fold(ALL, |live, i| live & !(1 << ((self.slice + i) % SLICES)))
    }

    /// How many slices begin until a later time in ticks.
    fn slices_until(&self, time: u64) -> u64 {
        self.span.slice_of(time).saturating_sub(self.span.slice_of(self.now))
    }

    /// The number of ticks until a new slice begins: at least 1.
    fn ticks_left(&self) -> u64 {
        self.end.saturating_sub(self.now).max(1)
    }

    /// Counts keys that were inserted, if they are the ticks of the window.
    #[inline(always)]
    fn count(&mut self, keys: u64) {
        if matches!(self.span, Window::Keys(_)) {
            self.pass(self.now.saturating_add(keys));
        }
    }

    fn set_time(&mut self, time: u64) {
        (self.now, self.end) = (time, self.span.end_of(self.span.slice_of(time)));
    }

    /// Sets the time to a later one, and forgets the slices that are then older than the window.
    fn pass(&mut self, time: u64) {
        if time < self.end {
            self.now = time;
            return;
        }
        let new = self.slices_until(time);
        self.set_time(time);
        for _ in 0..new.min(SLICES as u64) {
            self.slice = (self.slice + 1) % SLICES;
            self.parts.iter_mut().for_each(|part| part.fade(self.slice));
        }
        while new > 0 && self.parts.len() > 1 && self.parts.last().is_some_and(Part::is_empty) {
            self.parts.pop();
        }
    }

    /// True if the first table has room for all keys that the window can have.
    fn never_grows(&self) -> bool {
        matches!(self.span, Window::Keys(keys) if keys.get() <= self.capacity)
    }

    /// The number of keys in a slice for which the next table has room.
    fn next_room(&self) -> u64 {
        let last = self.parts.last().map(|part| part.room.saturating_mul(2));
        last.unwrap_or(self.capacity.div_ceil(Window::SLICES))
    }

    /// The false-positive rate of the next table.
    fn next_rate(&self) -> f64 {
        let halvings = self.parts.len() as i32 + i32::from(!self.never_grows());
        self.rate * 0.5f64.powi(halvings)
    }
}

impl<M: Deref<Target = [u8]>> WindowBloom<M> {
    /// The size of all tables of the filter together, in bits.
    pub fn bits(&self) -> u64 {
        self.parts.iter().map(|part| 8 * part.table.len() as u64).sum()
    }

    /// Works like [`contains_hash`](Filter::contains_hash) at this time in milliseconds, without setting it.
    pub fn contains_hash_at(&self, key: KeyHash, milliseconds: u64) -> bool {
        let live = self.live_at(milliseconds);
        self.parts.iter().any(|part| part.slices_of(key, live) != 0)
    }
}

impl<M: Deref<Target = [u8]>> Filter for WindowBloom<M> {
    fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    #[inline(always)]
    fn contains_hash(&self, key: KeyHash) -> bool {
        match &self.parts[..] {
            // Nearly all filters have one table, for which the compiler then needs no loop.
            [part] => part.slices_of(key, ALL) != 0,
            parts => parts.iter().any(|part| part.slices_of(key, ALL) != 0),
        }
    }

    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        out.clear();
        out.resize(keys.len(), false);
        self.parts.iter().for_each(|part| part.find_all(keys, out));
    }

    fn forgets(&self) -> bool {
        true
    }

    /// The false-positive rate 1 - ∏ (1 - rateᵢ), where rateᵢ is the present rate of slice i of a table. Cost: 17
    /// passes over all bits.
    fn false_positive_rate(&self) -> f64 {
        -self.parts.iter().flat_map(Part::rates).map(|rate| (-rate).ln_1p()).sum::<f64>().exp_m1()
    }
}

impl FilterMut for WindowBloom {
    /// Inserts the key with this hash into the present slice. Returns true if the key certainly was not in the window.
    #[inline(always)]
    fn insert_hash(&mut self, key: KeyHash) -> Result<bool, Full> {
        let slice = self.slice;
        let is_new = match &mut self.parts[..] {
            [part] if part.room_in(slice) > 0 => part.put(key, slice),
            _ => self.put_in_any(key)?,
        };
        self.count(1);
        Ok(is_new)
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        let (mut new, mut left) = (0, keys);
        while let Some((&first, others)) = left.split_first() {
            let now = self.at_once(left.len());
            if now == 0 {
                new += u64::from(self.insert_hash(first)?);
                left = others;
                continue;
            }
            new += self.parts[0].put_all(&left[..now], self.slice);
            self.count(now as u64);
            left = &left[now..];
        }
        Ok(new)
    }
}
