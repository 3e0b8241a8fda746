//! The value of a key of `FURUI.FILTER`: a filter of any kind.

use std::fmt;

use furui::filter::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, Filter as _, FilterMut, Full, GrowingBloom, QuotientFilter,
    StableBloomLight,
};
use furui::format::{Envelope, EnvelopeWriter};
use furui::store::Window;
use furui::{HashSpec, KeyForm, KeyHash, KeyHasher};
use valkey_module::digest::Digest;
use valkey_module::native_types::ValkeyType;

use crate::call::Refusal;
use crate::files::Files;
use crate::info::Fact;
use crate::limits::Account;
use crate::text::window_text;
use crate::value::{VERSION, Value, methods};
use crate::window_filter::{WINDOW, WindowFilter};

/// The type of filters.
pub static FILTERS: ValkeyType = ValkeyType::new("furui-flt", VERSION, methods::<Filter>());

/// The kinds of filters that can be reserved. Filters of any other kind can be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bloom,
    Scalable,
    Blocked,
    Quotient,
    Counting,
    StableLight,
    Window,
}

/// A filter.
pub struct Filter {
    hasher: KeyHasher,
    table: Table,
    /// How keys were made from records, according to the program that made the file of the filter.
    form: KeyForm,
    account: Account,
}

#[derive(Clone)]
enum Table {
    Whole(AnyFilter),
    Window(WindowFilter),
}

/// What a filter is made from.
pub struct Plan {
    pub kind: Kind,
    pub rate: f64,
    pub capacity: u64,
    pub window: Option<Window>,
    pub hash: HashSpec,
}

/// The number of keys of the small filter by which the size of a large one is told.
const SAMPLE: u64 = 1 << 16;

/// The name of the file of a filter.
const NAME: &str = "filter";

impl Kind {
    const ALL: [Self; 7] =
        [Self::Bloom, Self::Scalable, Self::Blocked, Self::Quotient, Self::Counting, Self::StableLight, Self::Window];

    /// The name as users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::Scalable => "scalable",
            Self::Blocked => "blocked",
            Self::Quotient => "quotient",
            Self::Counting => "counting",
            Self::StableLight => "stable-light",
            Self::Window => "window",
        }
    }

    /// The kind of this name, in upper or lower case.
    ///
    /// # Errors
    /// If there is none. The reason lists the names.
    pub fn read(name: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            Refusal::because(format!("the kind {name:?} is unknown: there are {}", names.join(", ")))
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Plan {
    fn make(&self, capacity: u64) -> Result<Table, Refusal> {
        let (rate, hash) = (self.rate, self.hash);
        Ok(Table::Whole(match self.kind {
            Kind::Bloom => Bloom::with_rate(capacity, rate)?.hashed_by(hash).into(),
            Kind::Scalable => GrowingBloom::for_keys(capacity, rate)?.hashed_by(hash).into(),
            Kind::Blocked => BlockedBloom::with_rate(capacity, rate)?.hashed_by(hash).into(),
            // Keys are removed from filters of this kind, so there is a copy for each time that a key is inserted.
            Kind::Quotient => QuotientFilter::with_rate(capacity, rate)?.counting().hashed_by(hash).into(),
            Kind::Counting => CountingBloom::with_rate(capacity, rate)?.hashed_by(hash).into(),
            Kind::StableLight => StableBloomLight::for_last(capacity, rate)?.hashed_by(hash).into(),
            Kind::Window => {
                let last = std::num::NonZeroU64::new(self.capacity).map(Window::Keys);
                let window = self.window.or(last).ok_or_else(|| Refusal::because("CAPACITY is at least 1"))?;
                return Ok(Table::Window(WindowFilter::new(window, capacity, rate, hash)?));
            }
        }))
    }

    /// The memory that the filter will take, in bytes, told from a smaller one: sizes are proportional to capacities.
    fn bytes(&self) -> Result<usize, Refusal> {
        let sample = self.capacity.min(SAMPLE);
        let bytes = self.make(sample)?.bytes() as f64 * (self.capacity as f64 / sample as f64);
        let slices = if self.kind == Kind::Window { (Window::SLICES + 1) as f64 } else { 1.0 };
        // A filter for more keys has longer fingerprints or more probes, by a few bits.
        Ok((bytes * slices * 1.1) as usize)
    }
}

impl Table {
    fn bytes(&self) -> usize {
        let bits = match self {
            Self::Window(filter) => return filter.bytes(),
            Self::Whole(AnyFilter::Bloom(filter)) => filter.bits(),
            Self::Whole(AnyFilter::Blocked(filter)) => filter.bits(),
            Self::Whole(AnyFilter::Growing(filter)) => filter.bits(),
            Self::Whole(AnyFilter::Quotient(filter)) => filter.bits(),
            Self::Whole(AnyFilter::Ringed(filter)) => filter.bits(),
            Self::Whole(AnyFilter::SplitBlock(filter)) => filter.blocks() * 256,
            Self::Whole(AnyFilter::StableLight(filter)) => filter.counters() as u64 * 2,
            Self::Whole(AnyFilter::Counting(filter)) => filter.counters() as u64 * 4,
            Self::Whole(AnyFilter::Stable(filter)) => filter.counters() as u64 * 8,
        };
        usize::try_from(bits / 8).unwrap_or(usize::MAX)
    }
}

impl Filter {
    /// An empty filter.
    ///
    /// # Errors
    /// If there is no such filter, or it would exceed a limit of the module.
    pub fn new(plan: &Plan) -> Result<Self, Refusal> {
        if plan.capacity == 0 {
            return Err(Refusal::because("CAPACITY is at least 1"));
        }
        // This is false for NaN.
        if !(plan.rate > 0.0 && plan.rate < 1.0) {
            return Err(Refusal::because(format!("ERROR {} is not between 0 and 1", plan.rate)));
        }
        Account::default().admit(0, plan.bytes()?)?;
        Ok(Self::of(plan.make(plan.capacity)?, KeyForm::default()))
    }

    fn of(table: Table, form: KeyForm) -> Self {
        let hash = match &table {
            Table::Whole(filter) => filter.hash_spec(),
            Table::Window(filter) => filter.hash(),
        };
        let mut filter = Self { hasher: hash.hasher(), table, form, account: Account::default() };
        filter.settle();
        filter
    }

    /// The name of the filter's kind.
    pub fn kind(&self) -> &'static str {
        match &self.table {
            Table::Whole(AnyFilter::Growing(_)) => Kind::Scalable.name(),
            Table::Whole(filter) => filter.kind().name(),
            Table::Window(_) => Kind::Window.name(),
        }
    }

    /// The filter of a window, if it is one.
    fn windowed(&self) -> Option<&WindowFilter> {
        match &self.table {
            Table::Window(filter) => Some(filter),
            Table::Whole(_) => None,
        }
    }

    /// How keys are hashed.
    pub fn hash(&self) -> HashSpec {
        self.hasher.spec()
    }

    #[inline]
    pub fn key(&self, key: &[u8]) -> KeyHash {
        self.hasher.hash(key)
    }

    /// True if the filter forgets by time.
    pub fn is_timed(&self) -> bool {
        self.windowed().is_some_and(|filter| matches!(filter.window(), Window::Milliseconds(_)))
    }

    /// Moves a filter with a window on to a time, in milliseconds. Time never goes back.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn tell_time(&mut self, milliseconds: u64) -> Result<(), Refusal> {
        match &mut self.table {
            Table::Window(filter) => filter.tell_time(milliseconds),
            Table::Whole(_) => Ok(()),
        }
    }

    /// Checks that the filter may take so many keys.
    ///
    /// # Errors
    /// If it would exceed a limit of the module.
    pub fn admit(&self, keys: usize) -> Result<(), Refusal> {
        let growth = match &self.table {
            Table::Window(filter) => filter.growth(keys),
            Table::Whole(AnyFilter::Growing(filter)) if filter.len() + keys as u64 > filter.capacity() => {
                // Each part has twice the room of the one before, at a lower rate.
                let parts = if filter.parts() == 1 { 5 } else { 3 };
                (self.table.bytes() / 2 * parts).max(keys * 16)
            }
            Table::Whole(_) => 0,
        };
        self.account.admit(self.bytes(), growth)
    }

    /// Records a key. True if it is certainly new.
    ///
    /// # Errors
    /// If the filter is full.
    pub fn insert(&mut self, key: KeyHash) -> Result<bool, Refusal> {
        match &mut self.table {
            Table::Window(filter) => filter.insert(key),
            Table::Whole(filter) => filter.insert_hash(key).map_err(|full| match full {
                Full::AtCapacity { capacity } => Refusal::because(format!(
                    "the filter is full at {capacity} keys: FURUI.FILTER.RESERVE a larger one, and FURUI.FILTER.MERGE \
                     this one into it"
                )),
                crowded @ Full::Crowded { .. } => Refusal::because(crowded.to_string()),
            }),
        }
    }

    /// True if a key may be in the filter, at this time in milliseconds.
    pub fn contains_at(&self, key: KeyHash, milliseconds: u64) -> bool {
        match &self.table {
            Table::Window(filter) => filter.contains_at(key, milliseconds),
            Table::Whole(filter) => filter.contains_hash(key),
        }
    }

    /// Removes a key once. False if it is certainly not in the filter.
    ///
    /// # Errors
    /// If keys cannot be removed from filters of this kind.
    pub fn remove(&mut self, key: KeyHash) -> Result<bool, Refusal> {
        match &mut self.table {
            Table::Whole(AnyFilter::Counting(filter)) => Ok(filter.remove_hash(key)),
            Table::Whole(AnyFilter::Quotient(filter)) => Ok(filter.remove_hash(key)?),
            _ => Err(Refusal::because(format!(
                "keys cannot be removed from a filter of the kind {}: the kinds quotient and counting can",
                self.kind()
            ))),
        }
    }

    /// How often a key is in the filter, or more often than it is.
    ///
    /// # Errors
    /// If filters of this kind do not count.
    pub fn count(&self, key: KeyHash) -> Result<u64, Refusal> {
        match &self.table {
            Table::Whole(AnyFilter::Counting(filter)) => Ok(filter.count_hash(key)),
            Table::Whole(AnyFilter::Quotient(filter)) => Ok(filter.count_hash(key)),
            _ => Err(Refusal::because(format!(
                "a filter of the kind {} does not count: the kinds quotient and counting do",
                self.kind()
            ))),
        }
    }

    /// Adds the keys of other filters: all of them, or none if there is an error.
    ///
    /// # Errors
    /// If the filters were made with other parameters, or there is no room.
    pub fn unite(&mut self, others: &[&Self]) -> Result<(), Refusal> {
        self.account.admit(self.bytes(), self.bytes())?;
        let mut table = self.table.clone();
        for other in others {
            match (&mut table, &other.table) {
                (Table::Whole(table), Table::Whole(other)) => table.union_with(other)?,
                _ => return Err(Refusal::because("filters of windows cannot be merged")),
            }
        }
        self.table = table;
        self.settle();
        Ok(())
    }

    /// What the filter tells of itself: the number of different keys may be an estimate.
    pub fn facts(&self) -> Vec<(&'static str, Fact)> {
        let (capacity, keys, error, error_now) = match &self.table {
            Table::Window(filter) => {
                (filter.capacity(), Some(filter.len()), Some(filter.rate()), filter.false_positive_rate())
            }
            Table::Whole(filter) => {
                let (capacity, keys) = match filter {
                    AnyFilter::Growing(filter) => (filter.capacity(), Some(filter.len())),
                    AnyFilter::Quotient(filter) => (filter.capacity(), Some(filter.len())),
                    _ => (filter.capacity(), filter.cardinality().map(|estimate| estimate.value as u64)),
                };
                (capacity, keys, filter.intended_rate(), filter.false_positive_rate())
            }
        };
        vec![
            ("type", "filter".into()),
            ("kind", self.kind().into()),
            ("capacity", capacity.into()),
            ("keys", keys.into()),
            ("error", error.map(|rate| rate.to_string()).into()),
            ("error-now", error_now.to_string().into()),
            ("window", self.windowed().map(|filter| window_text(filter.window())).into()),
            ("bytes", self.bytes().into()),
            ("hash", self.hash().algorithm.name().into()),
            ("seed", format!("{:016x}", self.hash().seed).into()),
        ]
    }

    /// Notes how much memory the filter takes now.
    pub fn settle(&mut self) {
        self.account.settle(self.bytes());
    }
}

impl Value for Filter {
    const TYPE: &'static ValkeyType = &FILTERS;

    fn files(&self) -> Result<Files, Refusal> {
        match &self.table {
            Table::Window(filter) => filter.files(),
            Table::Whole(filter) => {
                let mut bytes = vec![];
                let out: &mut dyn std::io::Write = &mut bytes;
                filter.write_into(EnvelopeWriter::new(out, filter.kind(), filter.hash_spec())?, &self.form)?;
                Ok(Files::of(NAME, bytes))
            }
        }
    }

    fn open(files: Files) -> Result<Self, Refusal> {
        if files.iter().any(|(name, _)| name == WINDOW) {
            return Ok(Self::of(Table::Window(WindowFilter::open(&files)?), KeyForm::default()));
        }
        let (name, bytes) = files.only().ok_or_else(|| Refusal::because("a filter is one file"))?;
        let form = Envelope::open(bytes, name)?.key_form(bytes)?;
        Ok(Self::of(Table::Whole(AnyFilter::copy_of_bytes(bytes, name)?), form))
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.table.bytes()
    }

    fn digest(&self, digest: &mut Digest) {
        // The bytes of a filter's file follow from its content.
        if let Ok(files) = self.files() {
            for (name, bytes) in files.iter() {
                digest.add_string_buffer(name.as_bytes());
                digest.add_string_buffer(bytes);
            }
        }
    }

    fn copy(&self) -> Result<Self, Refusal> {
        self.account.admit(0, self.bytes())?;
        Ok(Self::of(self.table.clone(), self.form))
    }
}
