//! A filter of the last keys of a stream.

use std::collections::VecDeque;

use furui::filter::{AnyFilter, Bloom, Filter, FilterMut};
use furui::format::Envelope;
use furui::store::Window;
use furui::{HashSpec, KeyHash};

use crate::files::Files;
use crate::refusal::Refusal;
use crate::text::window_text;

/// A filter that remembers the keys of a window: a ring of Bloom filters, one for each sixteenth of the window, of which
/// the oldest goes as a whole. A repeat counts as an occurrence.
///
/// **Source.** The jumping window of Metwally, Agrawal and El Abbadi, "Duplicate Detection in Click Streams", WWW 2005.
/// **Differs**: if more keys come in a sixteenth of the window than their share of the capacity, further Bloom filters
/// take them, each with twice the room and half the rate of the one before, so that the rate of the whole holds.
#[derive(Clone)]
pub struct WindowFilter {
    window: Window,
    /// The number of keys that are expected in the window.
    capacity: u64,
    rate: f64,
    hash: HashSpec,
    /// The time, in ticks of the window: milliseconds, or keys.
    time: u64,
    /// The filters, oldest first.
    parts: VecDeque<Part>,
}

#[derive(Clone)]
struct Part {
    slice: u64,
    filter: Bloom,
    /// How many keys were inserted.
    keys: u64,
}

/// The name of the file that describes the window.
pub const WINDOW: &str = "WINDOW";

/// The maximum number of filters of one slice. The last one takes any number of keys, at a growing rate.
const MAX_PARTS: u32 = 24;

/// The checksum of the text of the file [`WINDOW`].
fn checksum(text: &str) -> u64 {
    HashSpec::default().hash(text.as_bytes()).get()
}

impl WindowFilter {
    /// An empty filter for about `capacity` keys in the window, which says yes to a key outside it at most at `rate`.
    ///
    /// # Errors
    /// If there is no such filter.
    pub fn new(window: Window, capacity: u64, rate: f64, hash: HashSpec) -> Result<Self, Refusal> {
        let mut filter = Self { window, capacity, rate, hash, time: 0, parts: VecDeque::new() };
        filter.parts.push_back(filter.part(0, 0)?);
        Ok(filter)
    }

    /// An empty filter that is the `nth` of the filters of a slice.
    fn part(&self, slice: u64, nth: u32) -> Result<Part, Refusal> {
        // The window and the slice that has begun: 17 slices. The filters of a slice have a half, a quarter, ... of its rate.
        let rate = self.rate / (Window::SLICES + 1) as f64 / 2f64.powi(nth as i32 + 1);
        let keys = self.capacity.div_ceil(Window::SLICES).max(1).saturating_mul(1 << nth);
        let filter = Bloom::with_rate(keys, rate)?.hashed_by(self.hash);
        Ok(Part { slice, filter, keys: 0 })
    }

    pub fn hash(&self) -> HashSpec {
        self.hash
    }

    pub fn window(&self) -> Window {
        self.window
    }

    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The number of keys, where a key counts once in each slice in which it occurred.
    pub fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.keys).sum()
    }

    /// The memory of the filters, in bytes.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.filter.as_bytes().len() + size_of::<Part>()).sum()
    }

    /// The number of bytes by which the filter may grow with so many keys.
    pub fn growth(&self, keys: usize) -> usize {
        // A further filter of a slice has twice the room, and 1.44 bits a key more.
        let more = self.parts.back().map_or(0, |part| part.filter.as_bytes().len() * 3);
        more.saturating_add(keys.saturating_mul(16))
    }

    /// The rate at which the filter says yes to a key that is not in the window.
    pub fn false_positive_rate(&self) -> f64 {
        1.0 - self.parts.iter().map(|part| 1.0 - part.filter.false_positive_rate()).product::<f64>()
    }

    /// Moves the filter on to a time, in milliseconds, if its window is one of time. Time never goes back.
    pub fn tell_time(&mut self, milliseconds: u64) -> Result<(), Refusal> {
        match self.window {
            Window::Milliseconds(_) => self.move_on(milliseconds),
            Window::Keys(_) => Ok(()),
        }
    }

    fn move_on(&mut self, time: u64) -> Result<(), Refusal> {
        if time <= self.time {
            return Ok(());
        }
        let (now, newest) = (self.window.slice_of(time), self.parts.back().map_or(0, |part| part.slice));
        if now > newest {
            self.parts.push_back(self.part(now, 0)?);
            let oldest = now.saturating_sub(Window::SLICES);
            while self.parts.front().is_some_and(|part| part.slice < oldest) {
                self.parts.pop_front();
            }
        }
        self.time = time;
        Ok(())
    }

    /// Records a key. True if it was certainly not in the window.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn insert(&mut self, key: KeyHash) -> Result<bool, Refusal> {
        let newest = self.parts.back().map_or(0, |part| part.slice);
        let (mut is_new, mut is_here, mut nth) = (true, false, 0);
        for part in &self.parts {
            let contains = part.filter.contains_hash(key);
            is_new &= !contains;
            if part.slice == newest {
                is_here |= contains;
                nth += 1;
            }
        }
        if !is_here {
            let is_full = self.parts.back().is_none_or(|part| part.keys >= part.filter.capacity());
            if is_full && nth < MAX_PARTS {
                self.parts.push_back(self.part(newest, nth)?);
            }
            if let Some(part) = self.parts.back_mut() {
                part.filter.insert_hash(key)?;
                part.keys += 1;
            }
        }
        if matches!(self.window, Window::Keys(_)) {
            self.move_on(self.time + 1)?;
        }
        Ok(is_new)
    }

    /// True if a key may be in the window, which ends at this time in milliseconds if it is one of time.
    pub fn contains_at(&self, key: KeyHash, milliseconds: u64) -> bool {
        let oldest = match self.window {
            Window::Milliseconds(_) => self.window.slice_of(milliseconds.max(self.time)).saturating_sub(Window::SLICES),
            Window::Keys(_) => 0,
        };
        self.parts.iter().any(|part| part.slice >= oldest && part.filter.contains_hash(key))
    }

    /// The files of the filter: the filters of the ring, and a text that describes the window.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn files(&self) -> Result<Files, Refusal> {
        let mut files = Files::new();
        let window = window_text(self.window);
        let mut text = format!("{window} {} {} {}\n", self.capacity, self.rate, self.time);
        for (i, part) in self.parts.iter().enumerate() {
            let mut bytes = vec![];
            let seal = AnyFilter::from(part.filter.clone()).write_to(&mut bytes)?;
            text.push_str(&format!("{} {} {:016x}\n", part.slice, part.keys, seal.checksum));
            files.append(&format!("{i:04}.filter"), &bytes)?;
        }
        text.push_str(&format!("{:016x}\n", checksum(&text)));
        files.append(WINDOW, text.as_bytes())?;
        Ok(files)
    }

    /// The filter of these files.
    ///
    /// # Errors
    /// If one of them is damaged or missing.
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
        let mut parts = VecDeque::new();
        for line in lines {
            let fields: Vec<&str> = line.split(' ').collect();
            let ([slice, keys, seal], Some((name, bytes))) = (&fields[..], filters.next()) else {
                return Err(damaged());
            };
            if *seal != format!("{:016x}", Envelope::open(bytes, name)?.seal().checksum) {
                return Err(Refusal::because(format!("{name} is not the file that WINDOW names")));
            }
            let AnyFilter::Bloom(filter) = AnyFilter::copy_of_bytes(bytes, name)? else { return Err(damaged()) };
            parts.push_back(Part { slice: slice.parse()?, filter, keys: keys.parse()? });
        }
        let hash = parts.back().ok_or_else(damaged)?.filter.hash_spec();
        let filter = Self {
            window: window.parse()?,
            capacity: capacity.parse()?,
            rate: rate.parse()?,
            hash,
            time: time.parse()?,
            parts,
        };
        let newest = filter.window.slice_of(filter.time);
        let is_sound = filters.next().is_none()
            && filter.rate > 0.0
            && filter.rate < 1.0
            && filter.capacity > 0
            && filter.parts.iter().map(|part| part.slice).is_sorted()
            && filter.parts.iter().all(|part| part.slice <= newest && part.filter.hash_spec() == hash);
        if is_sound { Ok(filter) } else { Err(damaged()) }
    }
}
