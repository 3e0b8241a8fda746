//! The part of a filter that holds its keys, for filters of any kind.

use furui::filter::{AnyFilter, Filter as _, FilterMut, Full, GrowingBloom, WindowBloom};
use furui::format::{Envelope, EnvelopeWriter};
use furui::store::Window;
use furui::{HashSpec, KeyForm, KeyHash};

use super::growing_quotient::GrowingQuotient;
use super::kind::Kind;
use super::settings::{Dialect, SETTINGS, Settings, damaged};
use crate::files::Files;
use crate::refusal::Refusal;

#[derive(Clone)]
pub enum Table {
    /// A filter of `SIEVE`.
    Whole(Box<AnyFilter>),
    /// A filter of the commands `BF.*`.
    Chain(Box<GrowingBloom>),
    /// A filter of the commands `CF.*`.
    Copies(Box<GrowingQuotient>),
}

/// The name of the file that has the table of a filter.
const NAME: &str = "filter";

/// The memory in bytes of a filter whose tables have this size in bytes.
fn memory(tables: u64) -> usize {
    usize::try_from(tables).unwrap_or(usize::MAX).saturating_add(size_of::<AnyFilter>())
}

impl Table {
    /// The memory that the table takes, in bytes.
    pub fn bytes(&self) -> usize {
        let bytes = match self {
            Self::Copies(filter) => return filter.bytes(),
            Self::Chain(filter) => filter.bits().div_ceil(8),
            Self::Whole(filter) => filter.bytes(),
        };
        memory(bytes)
    }

    /// The maximum number of bytes by which the insertion of this number of keys lets the table grow. Tables of `BF.*`
    /// and `CF.*` check their limits themselves when they grow.
    pub fn growth(&self, keys: usize) -> usize {
        match self {
            Self::Whole(filter) => match &**filter {
                AnyFilter::Growing(filter) if filter.len() + keys as u64 > filter.capacity() => {
                    // A new part of the chain has `expansion` times the capacity of the last one, at half of its
                    // false-positive rate.
                    let part = self.bytes().saturating_mul(filter.expansion() as usize);
                    part.saturating_add(part / 2).max(keys.saturating_mul(16))
                }
                AnyFilter::Window(filter) => usize::try_from(filter.growth(keys as u64)).unwrap_or(usize::MAX),
                _ => 0,
            },
            Self::Chain(_) | Self::Copies(_) => 0,
        }
    }

    /// The name of the kind of the filter in `SIEVE.INFO` and `FURUI.INFO`: that of a [`Kind`] or of a [`Dialect`].
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Whole(filter) if matches!(**filter, AnyFilter::Growing(_)) => Kind::Scalable.name(),
            Self::Whole(filter) => filter.kind().name(),
            Self::Chain(_) => Dialect::Bf.name(),
            Self::Copies(_) => Dialect::Cf.name(),
        }
    }

    pub fn hash(&self) -> HashSpec {
        match self {
            Self::Whole(filter) => filter.hash_spec(),
            Self::Chain(filter) => filter.hash_spec(),
            Self::Copies(filter) => filter.hash(),
        }
    }

    /// Inserts a key. Returns true if the key is certainly new. If the table must grow, `admit` is called first with
    /// the size of the table in bytes and the number of bytes by which it would grow.
    ///
    /// # Errors
    /// If the filter is full.
    pub fn insert(
        &mut self,
        key: KeyHash,
        admit: impl FnOnce(usize, usize) -> Result<(), Refusal>,
    ) -> Result<bool, Refusal> {
        match self {
            Self::Chain(filter) => {
                let more = filter.growth();
                if more > 0 && !filter.contains_hash(key) {
                    admit(memory(filter.bits().div_ceil(8)), memory(more))?;
                }
                let full = if filter.expansion() == 0 {
                    "non scaling filter is full"
                } else {
                    "max number of scaling filters reached"
                };
                filter.insert_hash(key).map_err(|_| Refusal::because(full))
            }
            Self::Copies(filter) => filter.insert(key, admit),
            Self::Whole(filter) => filter.insert_hash(key).map_err(|full| match full {
                Full::AtCapacity { capacity } => Refusal::because(format!(
                    "the filter is full at {capacity} keys: SIEVE.RESERVE a larger one, and SIEVE.MERGE \
                     this one into it"
                )),
                full @ (Full::Crowded { .. } | Full::Fixed) => Refusal::because(full.to_string()),
            }),
        }
    }

    /// True if a key may be in the filter, at this time in milliseconds. Only a window of time depends on the time.
    pub fn contains_at(&self, key: KeyHash, milliseconds: u64) -> bool {
        match self {
            Self::Whole(filter) => match &**filter {
                AnyFilter::Window(filter) => filter.contains_hash_at(key, milliseconds),
                filter => filter.contains_hash(key),
            },
            Self::Chain(filter) => filter.contains_hash(key),
            Self::Copies(filter) => filter.contains(key),
        }
    }

    /// Removes a key once. Returns false if the key certainly is not in the filter.
    ///
    /// # Errors
    /// If keys cannot be removed from filters of this kind.
    pub fn remove(&mut self, key: KeyHash) -> Result<bool, Refusal> {
        match self {
            Self::Copies(filter) => return filter.remove(key),
            Self::Whole(filter) => match &mut **filter {
                AnyFilter::Counting(filter) => return Ok(filter.remove_hash(key)),
                AnyFilter::Quotient(filter) => return Ok(filter.remove_hash(key)?),
                _ => {}
            },
            _ => {}
        }
        Err(Refusal::because(format!(
            "keys cannot be removed from a filter of the kind {}: the kinds quotient and counting can",
            self.kind()
        )))
    }

    /// The number of times that a key is in the filter. It may be too large, but never too small.
    ///
    /// # Errors
    /// If filters of this kind do not count.
    pub fn count(&self, key: KeyHash) -> Result<u64, Refusal> {
        match self {
            Self::Copies(filter) => return Ok(filter.count(key)),
            Self::Whole(filter) => match &**filter {
                AnyFilter::Counting(filter) => return Ok(filter.count_hash(key)),
                AnyFilter::Quotient(filter) => return Ok(filter.count_hash(key)),
                _ => {}
            },
            _ => {}
        }
        Err(Refusal::because(format!(
            "a filter of the kind {} does not count: the kinds quotient and counting do",
            self.kind()
        )))
    }

    /// Adds the keys of another table.
    ///
    /// # Errors
    /// If the tables were made with other parameters, or there is no room.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Refusal> {
        match (self, other) {
            (Self::Whole(table), Self::Whole(other)) => Ok(table.union_with(other)?),
            _ => Err(Refusal::because("filters of BF.* and CF.* cannot be merged")),
        }
    }

    /// The number of different keys, exact or estimated. `None` if filters of this kind cannot estimate it.
    pub fn keys(&self) -> Option<u64> {
        match self {
            Self::Whole(filter) => match &**filter {
                AnyFilter::Growing(filter) => Some(filter.len()),
                AnyFilter::Quotient(filter) => Some(filter.len()),
                AnyFilter::Window(filter) => Some(filter.len()),
                filter => Some(filter.cardinality()?.value as u64),
            },
            Self::Chain(filter) => Some(filter.len()),
            Self::Copies(filter) => Some(filter.len()),
        }
    }

    /// The figures of the filter: its capacity in keys, the false-positive rate that was asked for, the false-positive
    /// rate with its present keys, and its window.
    pub fn figures(&self) -> (u64, Option<f64>, f64, Option<Window>) {
        match self {
            Self::Whole(filter) => {
                let capacity = match &**filter {
                    AnyFilter::Growing(filter) => filter.capacity(),
                    filter => filter.capacity(),
                };
                let window = self.window().map(WindowBloom::span);
                (capacity, filter.intended_rate(), filter.false_positive_rate(), window)
            }
            Self::Chain(filter) => (filter.capacity(), Some(filter.rate()), filter.false_positive_rate(), None),
            Self::Copies(filter) => (filter.capacity(), None, filter.false_positive_rate(), None),
        }
    }

    /// True if a repeated key changes the filter: because it counts, or because it forgets.
    pub fn counts_repeats(&self) -> bool {
        match self {
            Self::Whole(filter) => !matches!(
                **filter,
                AnyFilter::Bloom(_) | AnyFilter::Blocked(_) | AnyFilter::SplitBlock(_) | AnyFilter::Growing(_)
            ),
            Self::Chain(_) => false,
            Self::Copies(_) => true,
        }
    }

    /// True if the filter has a window of time.
    pub fn is_timed(&self) -> bool {
        self.window().is_some_and(|filter| matches!(filter.span(), Window::Milliseconds(_)))
    }

    /// The filter, if it is one with a window.
    pub fn window(&self) -> Option<&WindowBloom> {
        match self {
            Self::Whole(filter) => match &**filter {
                AnyFilter::Window(filter) => Some(filter),
                _ => None,
            },
            _ => None,
        }
    }

    /// The filter, if it is one with a window.
    pub fn window_mut(&mut self) -> Option<&mut WindowBloom> {
        match self {
            Self::Whole(filter) => match &mut **filter {
                AnyFilter::Window(filter) => Some(filter),
                _ => None,
            },
            _ => None,
        }
    }

    /// The files of a filter with this table. `form` says how its keys were made.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn files(&self, form: &KeyForm) -> Result<Files, Refusal> {
        match self {
            Self::Copies(filter) => filter.files(),
            Self::Chain(filter) => {
                let mut files = Files::of(SETTINGS, Settings::new(Dialect::Bf).text().into_bytes());
                let mut bytes = vec![];
                AnyFilter::from((**filter).clone()).write_to(&mut bytes)?;
                files.append(NAME, &bytes)?;
                Ok(files)
            }
            Self::Whole(filter) => {
                let mut bytes = vec![];
                let out: &mut dyn std::io::Write = &mut bytes;
                filter.write_into(EnvelopeWriter::new(out, filter.kind(), filter.hash_spec())?, form)?;
                Ok(Files::of(NAME, bytes))
            }
        }
    }

    /// Reads a table from its files. Also returns the form in which its keys were made.
    ///
    /// # Errors
    /// If a file is damaged or missing.
    pub fn open(files: &Files) -> Result<(Self, KeyForm), Refusal> {
        if let Some(text) = files.get(SETTINGS) {
            let settings = Settings::read(text)?;
            let table = match settings.dialect {
                Dialect::Bf => {
                    let bytes = files.get(NAME).filter(|_| files.iter().len() == 2).ok_or_else(damaged)?;
                    let AnyFilter::Growing(filter) = AnyFilter::copy_of_bytes(bytes, NAME)? else {
                        return Err(damaged());
                    };
                    Self::Chain(Box::new(filter))
                }
                Dialect::Cf => Self::Copies(Box::new(GrowingQuotient::open(files, &settings)?)),
            };
            return Ok((table, KeyForm::default()));
        }
        let (name, bytes) = files.only().ok_or_else(|| Refusal::because("a filter is one file"))?;
        let form = Envelope::open(bytes, name)?.key_form(bytes)?;
        Ok((Self::Whole(Box::new(AnyFilter::copy_of_bytes(bytes, name)?)), form))
    }
}
