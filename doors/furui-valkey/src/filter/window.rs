//! A filter of the last keys of a stream.

use std::collections::VecDeque;

use furui::filter::{AnyFilter, Filter, FilterMut, GrowingBloom};
use furui::format::Envelope;
use furui::store::Window;
use furui::{HashSpec, KeyHash};

use crate::files::Files;
use crate::refusal::Refusal;
use crate::ring::Ring;
use crate::text::window_text;

/// A filter that remembers the keys of a window: a ring of filters, one for each sixteenth of the window, the oldest of
/// which is dropped as a whole. A repeat counts as an occurrence.
///
/// **Source.** The jumping window of Metwally, Agrawal and El Abbadi, "Duplicate Detection in Click Streams", WWW 2005.
/// **Differs**: a filter grows if more keys come in its sixteenth of the window than its share of the capacity, so that
/// the false-positive rate of the whole holds.
#[derive(Clone)]
pub struct WindowFilter {
    /// The number of keys that are expected in the window.
    pub capacity: u64,
    pub rate: f64,
    pub hash: HashSpec,
    ring: Ring<GrowingBloom>,
}

/// The name of the file that describes the window.
pub const WINDOW: &str = "WINDOW";

/// The checksum of the text of the file [`WINDOW`].
fn checksum(text: &str) -> u64 {
    HashSpec::default().hash(text.as_bytes()).get()
}

/// Creates an empty filter for a slice of the window. The slices of the window, and the one that has begun, share the
/// rate.
fn slice(capacity: u64, rate: f64, hash: HashSpec) -> Result<GrowingBloom, Refusal> {
    let rate = rate / (Window::SLICES + 1) as f64;
    Ok(GrowingBloom::with_expansion(capacity.div_ceil(Window::SLICES), rate, 2)?.hashed_by(hash))
}

impl WindowFilter {
    /// Creates an empty filter for about `capacity` keys in the window, with a false-positive rate of at most `rate`.
    ///
    /// # Errors
    /// If a filter with these parameters is impossible.
    pub fn new(window: Window, capacity: u64, rate: f64, hash: HashSpec) -> Result<Self, Refusal> {
        let ring = Ring::new(Some(window), slice(capacity, rate, hash)?);
        Ok(Self { capacity, rate, hash, ring })
    }

    pub fn window(&self) -> Option<Window> {
        self.ring.window
    }

    /// The number of keys in the filter. A key counts once in each slice in which it occurred.
    pub fn len(&self) -> u64 {
        self.ring.slices.iter().map(|(_, filter)| filter.len()).sum()
    }

    /// The memory that the filters of all slices take, in bytes.
    pub fn bytes(&self) -> usize {
        let bytes = self.ring.slices.iter().map(|(_, filter)| filter.bits().div_ceil(8)).sum::<u64>();
        usize::try_from(bytes).unwrap_or(usize::MAX) + self.ring.slices.len() * size_of::<(u64, GrowingBloom)>()
    }

    /// The maximum number of bytes by which the insertion of this number of keys lets the filter grow.
    pub fn growth(&self, keys: usize) -> usize {
        // A new part of a slice has twice the capacity of the last one, and 1.44 bits more for each key.
        let bits = self.ring.slices.back().map_or(0, |(_, filter)| filter.bits());
        usize::try_from(bits / 8 * 3).unwrap_or(usize::MAX).saturating_add(keys.saturating_mul(16))
    }

    /// The probability that the filter says yes to a key that is not in the window.
    pub fn false_positive_rate(&self) -> f64 {
        1.0 - self.ring.slices.iter().map(|(_, filter)| 1.0 - filter.false_positive_rate()).product::<f64>()
    }

    /// Sets the time in milliseconds, if the window is one of time. An earlier time than the current one is ignored.
    pub fn tell_time(&mut self, milliseconds: u64) -> Result<(), Refusal> {
        let (capacity, rate, hash) = (self.capacity, self.rate, self.hash);
        self.ring.tell_time(milliseconds, || slice(capacity, rate, hash))
    }

    /// True if slices have left the window, which is one of time, by this time in milliseconds.
    pub fn has_faded(&self, milliseconds: u64) -> bool {
        self.ring.has_faded(milliseconds)
    }

    /// The number of slices, if the window is a span of time; else 0.
    pub fn timed_slices(&self) -> usize {
        self.ring.timed_slices()
    }

    /// True if the window is a span of time, false if it is a number of keys.
    pub fn is_timed(&self) -> bool {
        self.ring.is_timed()
    }

    /// Inserts a key. Returns true if the key certainly was not in the window.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn insert(&mut self, key: KeyHash) -> Result<bool, Refusal> {
        let was_seen = self.ring.slices.iter().rev().skip(1).any(|(_, filter)| filter.contains_hash(key));
        let (_, newest) = self.ring.slices.back_mut().ok_or_else(|| Refusal::because("the filter has no slice"))?;
        let is_new = newest.insert_hash(key)? && !was_seen;
        let (capacity, rate, hash) = (self.capacity, self.rate, self.hash);
        self.ring.count_key(|| slice(capacity, rate, hash))?;
        Ok(is_new)
    }

    /// True if a key may be in the window. A window of time ends at this time in milliseconds.
    pub fn contains_at(&self, key: KeyHash, milliseconds: u64) -> bool {
        self.ring.at(milliseconds).any(|filter| filter.contains_hash(key))
    }

    /// The files of the filter: the filters of the ring, and a text that describes the window.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn files(&self) -> Result<Files, Refusal> {
        let mut files = Files::default();
        let window = self.window().map(window_text).unwrap_or_default();
        let mut text = format!("{window} {} {} {}\n", self.capacity, self.rate, self.ring.time);
        for (i, (number, filter)) in self.ring.slices.iter().enumerate() {
            let mut bytes = vec![];
            let seal = AnyFilter::from(filter.clone()).write_to(&mut bytes)?;
            text.push_str(&format!("{number} {:016x}\n", seal.checksum));
            files.append(&format!("{i:04}.filter"), &bytes)?;
        }
        text.push_str(&format!("{:016x}\n", checksum(&text)));
        files.append(WINDOW, text.as_bytes())?;
        Ok(files)
    }

    /// Reads a filter from its files.
    ///
    /// # Errors
    /// If a file is damaged or missing.
    pub fn open(files: &Files) -> Result<Self, Refusal> {
        let damaged = || Refusal::because("the file WINDOW is damaged");
        let (_, text) = files.iter().find(|(name, _)| *name == WINDOW).ok_or_else(damaged)?;
        let text = std::str::from_utf8(text)?;
        let (text, sum) = text.split_at_checked(text.len().saturating_sub(17)).ok_or_else(damaged)?;
        if sum != format!("{:016x}\n", checksum(text)) {
            return Err(damaged());
        }
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
        let [window, capacity, rate, time] = head[..] else { return Err(damaged()) };
        let mut filters = files.iter().filter(|(name, _)| *name != WINDOW);
        let mut slices = VecDeque::new();
        for line in lines {
            let (Some((number, seal)), Some((name, bytes))) = (line.split_once(' '), filters.next()) else {
                return Err(damaged());
            };
            if seal != format!("{:016x}", Envelope::open(bytes, name)?.seal().checksum) {
                return Err(Refusal::because(format!("{name} is not the file that WINDOW names")));
            }
            let AnyFilter::Growing(filter) = AnyFilter::copy_of_bytes(bytes, name)? else { return Err(damaged()) };
            slices.push_back((number.parse()?, filter));
        }
        let hash = slices.back().ok_or_else(damaged)?.1.hash_spec();
        let (window, time): (Window, u64) = (window.parse()?, time.parse()?);
        let ring = Ring { window: Some(window), time, slices };
        let filter = Self { capacity: capacity.parse()?, rate: rate.parse()?, hash, ring };
        let newest = window.slice_of(time);
        let is_sound = filters.next().is_none()
            && filter.rate > 0.0
            && filter.rate < 1.0
            && filter.capacity > 0
            && filter.ring.slices.iter().is_sorted_by_key(|(number, _)| *number)
            && filter.ring.slices.iter().all(|(number, slice)| *number <= newest && slice.hash_spec() == hash);
        if is_sound { Ok(filter) } else { Err(damaged()) }
    }
}
