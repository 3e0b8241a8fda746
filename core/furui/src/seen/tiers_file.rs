//! The file `TIERS` of a store: the tiers of Kubota, Ueda and Yamana (an exact cache and a stable filter) as the last
//! process left them. docs/format.md describes the bytes of the file, and says why restored tiers never make a set drop
//! a larger share of the new keys than the rate of the stable filter.

use std::io::{self, Write};

use super::index::MAX_CAPACITY;
use super::observed::Observed;
use super::replacement::Replacement;
use super::tiers::Stable;
use crate::error::{Error, Result};
use crate::filter::FilterMut;
use crate::format::field::{u32_at, u64_at};
use crate::format::{Align, Envelope, EnvelopeWriter, Kind, Problem, ReadAt, ReadError, Tag};
use crate::hash::KeyHash;
use crate::store::{Manifest, Storage, TIERS};

/// The state of a set's tiers (exact cache and stable filter) when the set was opened.
///
/// ```
/// use furui::seen::{Cache, Seen, SeenOptions, Start};
/// use furui::store::Memory;
///
/// let storage = Memory::new();
/// let options =
///     SeenOptions { cache: Cache::LruStable { rate: 1e-5 }, memory: 1 << 20, ..SeenOptions::default() };
/// let mut seen = Seen::open_with(storage.clone(), options)?;
/// assert_eq!(seen.start(), Start::Empty);
/// seen.insert("a")?;
/// seen.publish()?;
/// assert_eq!(Seen::open_with(storage, options)?.start(), Start::Whole);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The tiers began empty: the store kept no tiers, or the cache is not
    /// [`Cache::LruStable`](super::Cache::LruStable), the only cache whose tiers are kept.
    Empty,
    /// The tiers began empty: those that the store kept belong to another state of the set, because a process was
    /// killed, or the set was changed without its tiers.
    Outdated,
    /// The exact cache began with the kept keys. The stable filter began empty, because the kept filter has another
    /// number of counters, probes or decrements.
    Keys,
    /// The tiers began with all keys and counters that the last process kept.
    Whole,
}

/// The tag of the section that names the state of the set, and describes the exact cache.
const HEAD: Tag = Tag::new(*b"HEAD");
const HEAD_LEN: usize = 32;
/// The tag of the section with the keys in the exact cache.
const KEYS: Tag = Tag::new(*b"KEYS");
/// The tags of all sections; the last two are those of the stable filter.
const SECTIONS: [Tag; 4] = [HEAD, KEYS, Tag::new(*b"META"), Tag::new(*b"BITS")];
const KEY_LEN: u64 = 8;
/// The number of bytes of keys, in the file of tiers, that are read or written at a time.
const CHUNK: usize = 64 << 10;

/// The content of the section `HEAD`, which describes the other sections of the file.
pub(super) struct KeptHead {
    pub(super) generation: u64,
    pub(super) mark: u32,
    pub(super) replacement: Replacement,
    /// The number of keys of the exact cache that are in the file.
    pub(super) keys: u64,
    /// The number of keys that the exact cache had room for.
    pub(super) capacity: u64,
}

impl KeptHead {
    fn encode(&self) -> [u8; HEAD_LEN] {
        let mut head = [0; HEAD_LEN];
        head[..8].copy_from_slice(&self.generation.to_le_bytes());
        head[8..12].copy_from_slice(&self.mark.to_le_bytes());
        head[12] = u8::from(self.replacement == Replacement::Clock);
        head[16..24].copy_from_slice(&self.keys.to_le_bytes());
        head[24..].copy_from_slice(&self.capacity.to_le_bytes());
        head
    }

    /// Decodes the section `HEAD`; `None` if a field is invalid.
    fn decode(head: &[u8]) -> Option<Self> {
        let head: &[u8; HEAD_LEN] = head.try_into().ok()?;
        let replacement = match head[12..16] {
            [0, 0, 0, 0] => Replacement::Lru,
            [1, 0, 0, 0] => Replacement::Clock,
            _ => return None,
        };
        let (keys, capacity) = (u64_at(head, 16), u64_at(head, 24));
        let fits = keys <= capacity && capacity <= MAX_CAPACITY as u64;
        fits.then(|| Self { generation: u64_at(head, 0), mark: u32_at(head, 8), replacement, keys, capacity })
    }

    /// True if the set with this manifest has all keys that the tiers know: the keys that the set had when the tiers
    /// were written, and perhaps more. A merge alone does not change the manifest's mark, and adds no keys.
    pub(super) fn belongs_to(&self, manifest: &Manifest) -> bool {
        self.mark == manifest.journal && self.generation <= manifest.generation()
    }
}

/// A file of saved tiers (exact cache and stable filter) of which only the head was read.
pub(super) struct Kept<F> {
    pub(super) file: F,
    pub(super) envelope: Envelope,
    pub(super) head: KeptHead,
}

/// Opens the file of saved tiers (exact cache and stable filter) in `storage`; `None` if there is none.
///
/// # Errors
/// [`Error::Format`] if the file is damaged or of another kind; [`Error::Io`]. The keys and counters are not checked
/// yet.
pub(super) fn open<S: Storage>(storage: &S) -> Result<Option<Kept<S::File>>> {
    let file = match storage.open(TIERS) {
        Err(missing) if missing.is_not_found() => return Ok(None),
        opened => opened?,
    };
    let envelope = Envelope::open(&file, &storage.path(TIERS))?;
    envelope.expect_kind(Kind::Tiers)?;
    envelope.expect_sections(&SECTIONS, &[])?;
    let at = envelope.section(HEAD)?.offset;
    let invalid = |what| envelope.error(at, Problem::Invalid(what));
    let head = KeptHead::decode(&envelope.read_section(&file, HEAD, HEAD_LEN)?);
    let head = head.ok_or_else(|| invalid("the section HEAD is invalid"))?;
    if envelope.section(KEYS)?.length != head.keys * KEY_LEN {
        return Err(invalid("the number of keys does not fit their section").into());
    }
    Ok(Some(Kept { file, envelope, head }))
}

/// Writes the tiers (exact cache and stable filter) of a set to its storage, in place of those that the storage has.
/// The runs of `manifest` must have all keys of the set.
///
/// # Errors
/// [`Error::Io`] of the storage; the file is then the one before.
pub(super) fn save(tiers: &Stable, manifest: &Manifest, storage: &impl Storage) -> Result<()> {
    let path = storage.path(TIERS);
    let head = KeptHead {
        generation: manifest.generation(),
        mark: manifest.journal,
        replacement: tiers.front.replacement(),
        keys: tiers.front.len() as u64,
        capacity: tiers.front.capacity() as u64,
    };
    storage.publish(TIERS, |out| {
        let written = EnvelopeWriter::new(out, Kind::Tiers, manifest.hash).and_then(|mut out| {
            out.section(HEAD, Align::Line)?;
            out.write_all(&head.encode())?;
            out.section(KEYS, Align::Line)?;
            let mut bytes = Vec::with_capacity(CHUNK);
            tiers.front.for_each(|key| -> io::Result<()> {
                bytes.extend(key.get().to_le_bytes());
                if bytes.len() == CHUNK {
                    out.write_all(&bytes)?;
                    bytes.clear();
                }
                Ok(())
            })?;
            out.write_all(&bytes)?;
            tiers.filter.write_sections(&mut out)?;
            out.finish()
        });
        written.map(drop).map_err(|source| Error::io("cannot write", path, source))
    })
}

/// Fills empty tiers (exact cache and stable filter) with those that `storage` keeps, if they belong to `manifest`.
/// Returns the state of the tiers.
///
/// # Errors
/// [`Error::Format`] if the file is damaged, and [`Error::Io`]. A file that belongs to another state of the set is no
/// error.
pub(super) fn restore(tiers: &mut Stable, manifest: &Manifest, storage: &impl Storage) -> Result<Start> {
    let Some(Kept { file, envelope, head }) = open(storage)? else { return Ok(Start::Empty) };
    if !head.belongs_to(manifest) || envelope.hash() != manifest.hash {
        return Ok(Start::Outdated);
    }
    let place = envelope.section(KEYS)?;
    envelope.verify(&file)?;
    let whole = tiers.filter.restore(&file, &envelope)?;
    let mut bytes = vec![0; CHUNK.min(place.length as usize)];
    let mut offset = 0;
    while offset < place.length {
        let count = ((place.length - offset) as usize).min(CHUNK);
        let bytes = &mut bytes[..count];
        file.read_at(place.offset + offset, bytes)
            .map_err(|source| ReadError::Io { file: envelope.name().to_owned(), source })?;
        for key in bytes.chunks_exact(KEY_LEN as usize) {
            // If the cache has less room than the saved one had, the oldest keys are evicted into the stable filter.
            if let Observed::Miss { evicted: Some(evicted) } = tiers.front.observe(KeyHash::new(u64_at(key, 0))) {
                tiers.filter.insert_hash(evicted).expect("a stable filter is never full");
            }
        }
        offset += count as u64;
    }
    Ok(if whole { Start::Whole } else { Start::Keys })
}
