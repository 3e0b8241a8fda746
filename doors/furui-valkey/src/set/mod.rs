//! The value of a key of `SEEN.ADD`: an exact set, of all its members or of those in a window.

pub mod seen;

use std::convert::Infallible;
use std::sync::Arc;

use furui::format::Envelope;
use furui::store::cascade::{KeySet, Run};
use furui::store::{MANIFEST, Manifest, RunEntry, StoreKind, Window};
use furui::{HashSpec, KeyForm, KeyHash, KeyHasher};
use valkey_module::digest::Digest;
use valkey_module::native_types::ValkeyType;

use crate::fact::Fact;
use crate::files::Files;
use crate::limits::{Account, Held, Holder};
use crate::rdb::{VERSION, Value, methods};
use crate::refusal::Refusal;
use crate::ring::Ring;
use crate::text::{seed_text, window_text};

/// The server's type for values that are sets.
pub static SETS: ValkeyType = ValkeyType::new("furui-set", VERSION, methods::<Set>());

/// An exact set of members, each known by its 64-bit hash. With a window, a member is in the slice of the time when it
/// was last seen.
pub struct Set {
    hasher: KeyHasher,
    ring: Ring<KeySet>,
    account: Account,
    /// The form in which members were made from records, as the program states that made the files of the set.
    form: KeyForm,
}

impl Set {
    pub fn new(hash: HashSpec, window: Option<Window>) -> Self {
        Self {
            hasher: hash.hasher(),
            ring: Ring::new(window, KeySet::new()),
            account: Account::of(Holder::Set),
            form: KeyForm::default(),
        }
    }

    pub fn hash(&self) -> HashSpec {
        self.hasher.spec()
    }

    /// The part of the stream that the set remembers; `None` if it remembers everything.
    pub fn window(&self) -> Option<Window> {
        self.ring.window
    }

    #[inline]
    pub fn key(&self, member: &[u8]) -> KeyHash {
        self.hasher.hash(member)
    }

    /// Sets the time of a set with a window of time, in milliseconds. An earlier time than the current one is ignored.
    pub fn tell_time(&mut self, milliseconds: u64) {
        let Ok(()) = self.ring.tell_time(milliseconds, empty);
    }

    /// Records a member. Returns true if it is new.
    ///
    /// # Errors
    /// If too many members have similar hashes.
    pub fn insert(&mut self, key: KeyHash) -> Result<bool, Refusal> {
        let older = self.ring.slices.len() - 1;
        let was_seen = self.ring.slices.iter().take(older).any(|(_, slice)| slice.contains(key));
        let is_new = self.ring.slices[older].1.insert(key)? && !was_seen;
        let Ok(()) = self.ring.count_key(empty);
        Ok(is_new)
    }

    /// True if a member was seen and is still remembered. With a window of time, it must be in the window that ends at
    /// this time in milliseconds.
    pub fn contains_at(&self, key: KeyHash, milliseconds: u64) -> bool {
        self.ring.at(milliseconds).any(|slice| slice.contains(key))
    }

    /// Removes a member. Returns false if the set does not have it.
    pub fn remove(&mut self, key: KeyHash) -> bool {
        self.ring.slices.iter_mut().fold(false, |was_there, (_, slice)| slice.remove(key) || was_there)
    }

    /// The number of members. With a window, a member counts once in each slice in which it was seen.
    pub fn len(&self) -> usize {
        self.ring.slices.iter().map(|(_, slice)| slice.len()).sum()
    }

    /// The number of members that are in the window at this time in milliseconds.
    pub fn len_at(&self, milliseconds: u64) -> usize {
        self.ring.at(milliseconds).map(KeySet::len).sum()
    }

    /// True if slices have left the window, which is one of time, by this time in milliseconds.
    pub fn has_faded(&self, milliseconds: u64) -> bool {
        self.ring.has_faded(milliseconds)
    }

    /// The facts that `FURUI.INFO` prints about the set.
    pub fn facts(&self) -> Vec<(&'static str, Fact)> {
        vec![
            ("type", "set".into()),
            ("members", self.len().into()),
            ("window", self.window().map(window_text).into()),
            ("bytes", self.bytes().into()),
            ("hash", self.hash().algorithm.name().into()),
            ("seed", seed_text(self.hash().seed).into()),
        ]
    }

    /// The number of bytes by which the set grows with this number of new members.
    pub fn growth(&self, members: usize) -> usize {
        self.ring.slices.back().map_or(0, |(_, slice)| slice.growth(members))
    }

    /// Checks that the set may grow by this number of members.
    ///
    /// # Errors
    /// If it would exceed a limit of the module.
    pub fn admit(&mut self, members: usize) -> Result<(), Refusal> {
        self.account.admit(self.bytes(), self.growth(members))
    }

    /// Updates the counted memory of the module to the present size of the set.
    pub fn settle(&mut self) {
        let held = Held { bytes: self.bytes(), members: self.len(), slices: self.ring.timed_slices() };
        self.account.settle(held);
    }
}

impl Value for Set {
    const TYPE: &'static ValkeyType = &SETS;

    /// The files of a store of `furui seen`.
    fn files(&self) -> Result<Files, Refusal> {
        let mut manifest = Manifest::new(StoreKind::Seen, self.hash());
        (manifest.window, manifest.tick, manifest.form) = (self.window(), self.ring.time, self.form);
        let mut runs = Files::default();
        for (slice, keys) in self.ring.slices.iter().filter(|(_, keys)| !keys.is_empty()) {
            let (number, mut run) = (manifest.take_number()?, vec![]);
            let name = StoreKind::Seen.file_name(number);
            let seal = keys.write_run(&mut run, &name, self.hash())?;
            manifest.runs.push(RunEntry { number, keys: keys.len() as u64, seal, slice: *slice });
            runs.append(&name, &run)?;
        }
        let mut bytes = vec![];
        manifest.encode(&mut bytes)?;
        runs.append(MANIFEST, &bytes)?;
        Ok(runs)
    }

    fn open(files: Files) -> Result<Self, Refusal> {
        if let Some((name, bytes)) = files.only().filter(|_| !files.is_store()) {
            let hash = Envelope::open(bytes, name)?.hash();
            let mut set = Self::new(hash, None);
            set.read(0, bytes, name)?;
            set.settle();
            return Ok(set);
        }
        let file = |wanted: &str| files.iter().find(|(name, _)| *name == wanted).map(|(_, bytes)| bytes);
        let manifest = file(MANIFEST).ok_or_else(|| Refusal::because("the store has no manifest"))?;
        let manifest = Manifest::decode(manifest, MANIFEST)?;
        if manifest.store != StoreKind::Seen {
            return Err(Refusal::because(format!("this is {}, not {}", manifest.store, StoreKind::Seen)));
        }
        if file(furui::store::JOURNAL).is_some() || manifest.journal_bytes > 0 {
            return Err(Refusal::because("the store has a journal: run `furui compact` on it first"));
        }
        let mut set = Self::new(manifest.hash, manifest.window);
        set.form = manifest.form;
        let Ok(()) = set.ring.move_on(manifest.tick, empty);
        for run in &manifest.runs {
            let name = StoreKind::Seen.file_name(run.number);
            let bytes = file(&name).ok_or_else(|| Refusal::because(format!("the file {name} is missing")))?;
            let keys = set.read(run.slice, bytes, &name)?;
            if keys != run.keys || Envelope::open(bytes, &name)?.seal() != run.seal {
                return Err(Refusal::because(format!("{name} is not the file that the manifest names")));
            }
        }
        set.settle();
        Ok(set)
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.ring.slices.iter().map(|(_, slice)| size_of::<(u64, KeySet)>() + slice.bytes()).sum::<usize>()
    }

    fn digest(&self, digest: &mut Digest) {
        digest.add_long_long(self.hash().seed.cast_signed());
        let hasher = HashSpec::default();
        for (number, keys) in self.ring.slices.iter().filter(|(_, keys)| !keys.is_empty()) {
            // The members are in ascending order, so that the digest does not depend on the order of insertion.
            let sum = keys
                .iter()
                .fold(*number, |sum, key| hasher.hash(&[sum.to_le_bytes(), key.get().to_le_bytes()].concat()).get());
            digest.add_long_long(sum.cast_signed());
        }
    }
}

/// Creates a slice of a set's window without members.
fn empty() -> Result<KeySet, Infallible> {
    Ok(KeySet::new())
}

/// The minimum number of bits of a remainder in a run: with fewer bits, a set would have more than 2^40 members. It
/// bounds the memory that a small file can claim.
const LEAST_REMAINDER: u32 = 24;

impl Set {
    /// Adds the keys of a run to the slice with this number. Returns the number of keys in the run.
    fn read(&mut self, number: u64, run: &[u8], name: &str) -> Result<u64, Refusal> {
        Envelope::open(run, name)?.verify(run)?;
        let run = Run::open(Arc::<[u8]>::from(run), name, self.hash())?;
        if run.remainder_bits().get() < LEAST_REMAINDER {
            return Err(Refusal::because(format!(
                "{name} is damaged: by its density, the set would have more than 2^40 members"
            )));
        }
        let newest = self.ring.newest();
        if number > newest || newest - number > Window::SLICES || (self.window().is_none() && number != 0) {
            return Err(Refusal::because(format!(
                "{name} belongs to a slice that the window of the set does not have"
            )));
        }
        let place = self.ring.slices.partition_point(|(own, _)| *own < number);
        if self.ring.slices[place].0 != number {
            self.ring.slices.insert(place, (number, KeySet::new()));
        }
        self.ring.slices[place].1.read_run(&run)?;
        Ok(run.len())
    }
}
