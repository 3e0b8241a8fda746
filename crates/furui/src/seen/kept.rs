//! The file `TIERS` of a store: the paper's tiers as the last run left them. docs/format.md describes its bytes, and
//! says why restored tiers never make a set drop a larger share of the new keys than the rate of the stable filter.

use std::io::{self, Write};

use super::index::MAX_CAPACITY;
use super::observed::Observed;
use super::tiers::Stable;
use crate::error::{Error, Result};
use crate::filter::FilterMut;
use crate::format::field::{u32_at, u64_at};
use crate::format::{Align, Envelope, EnvelopeWriter, Kind, Problem, ReadAt, ReadError, Tag};
use crate::hash::KeyHash;
use crate::store::{Manifest, Storage, TIERS};

/// How the tiers of a set began.
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
    /// Empty: the store kept no tiers, or the cache is not [`Cache::LruStable`](super::Cache::LruStable), whose tiers
    /// alone are kept.
    Empty,
    /// Empty: the tiers that the store kept belong to another state of the set, because a run was killed, or the set was
    /// changed without them.
    Outdated,
    /// With the keys of the exact cache. The filter is empty, because that of the store has another number of counters,
    /// probes or decrements.
    Keys,
    /// As the last run left them.
    Whole,
}

/// The sections before those of the filter.
const HEAD: Tag = Tag::new(*b"HEAD");
const HEAD_LEN: usize = 24;
const KEYS: Tag = Tag::new(*b"KEYS");
const FILTER: [Tag; 2] = [Tag::new(*b"META"), Tag::new(*b"BITS")];
const KEY_LEN: u64 = 8;
/// The bytes of keys that are read or written at a time.
const CHUNK: usize = 64 << 10;

/// Writes the tiers of a set whose keys are all in the runs of `manifest`, in place of those before.
pub(super) fn save(tiers: &Stable, manifest: &Manifest, storage: &impl Storage) -> Result<()> {
    let path = storage.path(TIERS);
    storage.publish(TIERS, |out| {
        let written = EnvelopeWriter::new(out, Kind::Tiers, manifest.hash).and_then(|mut out| {
            out.section(HEAD, Align::Line)?;
            out.write_all(&manifest.generation().to_le_bytes())?;
            out.write_all(&manifest.journal.to_le_bytes())?;
            out.write_all(&[0; 4])?;
            out.write_all(&(tiers.front.len() as u64).to_le_bytes())?;
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

/// Fills empty tiers with those that `storage` keeps, if they belong to `manifest`.
pub(super) fn restore(tiers: &mut Stable, manifest: &Manifest, storage: &impl Storage) -> Result<Start> {
    let file = match storage.open(TIERS) {
        Err(missing) if missing.is_not_found() => return Ok(Start::Empty),
        opened => opened?,
    };
    let envelope = Envelope::open(&file, &storage.path(TIERS))?;
    envelope.expect_kind(Kind::Tiers)?;
    let tags = [HEAD, KEYS].into_iter().chain(FILTER);
    if !envelope.sections().iter().map(|section| section.tag).eq(tags) {
        return Err(envelope.error(0, Problem::Invalid("its sections are not those of its kind")).into());
    }
    let invalid =
        |tag, what| envelope.section(tag).map(|section| envelope.error(section.offset, Problem::Invalid(what)));
    let head = envelope.read_section(&file, HEAD, HEAD_LEN)?;
    if head.len() != HEAD_LEN || u32_at(&head, 12) != 0 {
        return Err(invalid(HEAD, "the section HEAD")?.into());
    }
    let of = (u64_at(&head, 0), u32_at(&head, 8), envelope.hash());
    if of != (manifest.generation(), manifest.journal, manifest.hash) {
        return Ok(Start::Outdated);
    }
    let (keys, place) = (u64_at(&head, 16), envelope.section(KEYS)?);
    if keys > MAX_CAPACITY as u64 || place.length != keys * KEY_LEN {
        return Err(invalid(HEAD, "the number of keys does not fit their section")?.into());
    }
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
            // If there is less room than there was, the oldest keys go into the filter, as in a run.
            if let Observed::Miss { evicted: Some(evicted) } = tiers.front.observe(KeyHash::new(u64_at(key, 0))) {
                tiers.filter.insert_hash(evicted).expect("a stable filter is never full");
            }
        }
        offset += count as u64;
    }
    Ok(if whole { Start::Whole } else { Start::Keys })
}
