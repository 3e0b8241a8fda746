//! The value of a key of `SIEVE`, and of `BF` and `CF`: a filter of any kind.

pub mod commands;
pub mod growing_quotient;
mod kind;
mod plan;
pub mod settings;
pub mod table;

use furui::{HashSpec, KeyForm, KeyHash, KeyHasher};
use valkey_module::digest::Digest;
use valkey_module::native_types::ValkeyType;

use self::settings::Dialect;
use self::table::Table;
use crate::fact::Fact;
use crate::files::Files;
use crate::limits::{Account, Held, Holder};
use crate::rdb::{VERSION, Value, methods};
use crate::refusal::Refusal;
use crate::text::{seed_text, window_text};

/// The server's type for values that are filters.
pub static FILTERS: ValkeyType = ValkeyType::new("furui-flt", VERSION, methods::<Filter>());

pub struct Filter {
    hasher: KeyHasher,
    pub table: Table,
    /// The form in which keys were made from records, as the program states that made the file of the filter.
    form: KeyForm,
    account: Account,
}

impl From<Table> for Filter {
    fn from(table: Table) -> Self {
        Self::of(table, KeyForm::default())
    }
}

impl Filter {
    fn of(table: Table, form: KeyForm) -> Self {
        let mut filter = Self { hasher: table.hash().hasher(), table, form, account: Account::of(Holder::Filter) };
        filter.settle();
        filter
    }

    /// The set of commands to which the filter belongs; `None` for `SIEVE`.
    pub fn dialect(&self) -> Option<Dialect> {
        match &self.table {
            Table::Chain(_) => Some(Dialect::Bf),
            Table::Copies(_) => Some(Dialect::Cf),
            Table::Whole(_) => None,
        }
    }

    /// Shrinks a filter of the commands `CF.*` to the size that its keys need. Does nothing to other filters.
    ///
    /// # Errors
    /// If there is not enough memory for the smaller table, which exists beside the larger one for a while.
    pub fn compact(&mut self) -> Result<(), Refusal> {
        if let Table::Copies(copies) = &mut self.table {
            copies.compact(|bytes, more| self.account.admit(bytes, more))?;
        }
        self.settle();
        Ok(())
    }

    pub fn hash(&self) -> HashSpec {
        self.hasher.spec()
    }

    #[inline]
    pub fn key(&self, key: &[u8]) -> KeyHash {
        self.hasher.hash(key)
    }

    /// Sets the time of a filter with a window of time, in milliseconds. An earlier time than the current one is
    /// ignored.
    pub fn tell_time(&mut self, milliseconds: u64) {
        if let Some(filter) = self.table.window_mut() {
            filter.tell_time(milliseconds);
        }
    }

    /// True if slices have left the window, which is one of time, by this time in milliseconds.
    pub fn has_faded(&self, milliseconds: u64) -> bool {
        self.table.window().is_some_and(|filter| filter.has_faded(milliseconds))
    }

    /// Checks that the filter may grow by this number of keys.
    ///
    /// # Errors
    /// If it would exceed a limit of the module.
    pub fn admit(&self, keys: usize) -> Result<(), Refusal> {
        self.account.admit(self.bytes(), self.table.growth(keys))
    }

    /// Inserts a key. Returns true if the key is certainly new.
    ///
    /// # Errors
    /// If the filter is full.
    pub fn insert(&mut self, key: KeyHash) -> Result<bool, Refusal> {
        self.table.insert(key, |bytes, more| self.account.admit(bytes, more))
    }

    /// Adds all keys of other filters, or none if there is an error.
    ///
    /// # Errors
    /// If the filters were made with other parameters, or there is no room.
    pub fn unite(&mut self, others: &[&Self]) -> Result<(), Refusal> {
        self.account.admit(self.bytes(), self.bytes())?;
        let mut table = self.table.clone();
        for other in others {
            table.union_with(&other.table)?;
        }
        self.table = table;
        self.settle();
        Ok(())
    }

    /// The facts that `FURUI.INFO` and `SIEVE.INFO` print about the filter. The number of different keys may be
    /// an estimate.
    pub fn facts(&self) -> Vec<(&'static str, Fact)> {
        let (capacity, intended_rate, rate, window) = self.table.figures();
        vec![
            ("type", "filter".into()),
            ("kind", self.table.kind().into()),
            ("capacity", capacity.into()),
            ("keys", self.table.keys().into()),
            ("error", intended_rate.map(|rate| rate.to_string()).into()),
            ("error-now", rate.to_string().into()),
            ("window", window.map(window_text).into()),
            ("bytes", self.bytes().into()),
            ("hash", self.hash().algorithm.name().into()),
            ("seed", seed_text(self.hash().seed).into()),
        ]
    }

    /// Updates the counted memory of the module to the present size of the filter.
    pub fn settle(&mut self) {
        let members = self.table.window().map_or(0, |filter| filter.len() as usize);
        let slices = usize::from(self.table.is_timed() && members > 0);
        self.account.settle(Held { bytes: self.bytes(), members, slices });
    }
}

impl Value for Filter {
    const TYPE: &'static ValkeyType = &FILTERS;

    fn files(&self) -> Result<Files, Refusal> {
        self.table.files(&self.form)
    }

    fn open(files: Files) -> Result<Self, Refusal> {
        let (table, form) = Table::open(&files)?;
        Ok(Self::of(table, form))
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.table.bytes()
    }

    fn digest(&self, digest: &mut Digest) {
        // The bytes of a filter's files depend only on its content.
        if let Ok(files) = self.files() {
            for (name, bytes) in files.iter() {
                digest.add_string_buffer(name.as_bytes());
                digest.add_string_buffer(bytes);
            }
        }
    }

    fn copy(&self) -> Result<Self, Refusal> {
        Ok(Self::of(self.table.clone(), self.form))
    }
}
