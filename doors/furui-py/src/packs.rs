//! The bytes of sets in buckets: manifests, packs and their tables. `python/furui/_bucket.py` sends and fetches them.

use std::path::PathBuf;

use furui::format::{DiskFile, Seal};
use furui::store::cascade::{Cascade, CascadeOptions, NewKeys, Run};
use furui::store::shared::{Id, PackEntry, PackRun, PackTable, SharedManifest, WrittenPack, shard_of as shard};
use furui::{Error, HashSpec, Hashes};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::batch::{Column, hash_batch};
use crate::errors::{OrRaise, config};
use crate::files::Files;
use crate::options::{hash_text, parse_form};
use crate::seen::Seen;

/// The memory for the hashes of the names of sources, in bytes. Chosen.
const MEMORY: u64 = 1 << 20;

/// An object of a set in a bucket: id, length, keys, and offset, length and checksum of its table.
type Entry = (Id, u64, u64, u64, u64, u64);

/// A run of a pack: shard, offset, length, keys, checksum.
pub type RunEntry = (u32, u64, u64, u64, u64);

/// A manifest: hash, form, id of the set, generation, epoch, shards, objects, dropped objects with their times, note,
/// ids of the last commits.
type Manifest = (String, String, Id, u64, u64, u32, Vec<Entry>, Vec<(Id, u64)>, Option<String>, Vec<Id>);

fn entry(&(id, length, keys, table, table_length, table_checksum): &Entry) -> PackEntry {
    PackEntry { id, length, keys, table, table_length, table_checksum }
}

fn tuple(pack: &PackEntry) -> Entry {
    (pack.id, pack.length, pack.keys, pack.table, pack.table_length, pack.table_checksum)
}

fn run(&(shard, offset, length, keys, checksum): &RunEntry) -> PackRun {
    PackRun { shard, offset, keys, seal: Seal { length, checksum } }
}

fn hash_spec(py: Python<'_>, text: &str) -> PyResult<HashSpec> {
    text.parse().map_err(|error: furui::text::InvalidText| config(py, error.to_string()))
}

/// Decodes the manifest of a set in a bucket, which is called `name` in errors.
#[pyfunction(name = "_decode_manifest")]
pub fn decode_manifest(py: Python<'_>, bytes: &[u8], name: &str) -> PyResult<Manifest> {
    let shared = SharedManifest::decode(bytes, name).map_err(Error::from).or_raise(py)?;
    let packs = shared.packs.iter().map(tuple).collect();
    let (hash, form) = (hash_text(shared.hash), shared.form.to_string());
    let SharedManifest { store, generation, epoch, shards, dropped, note, commits, .. } = shared;
    Ok((hash, form, store, generation, epoch, shards, packs, dropped, note, commits))
}

/// Encodes the manifest of a set in a bucket.
#[pyfunction(name = "_encode_manifest")]
pub fn encode_manifest<'py>(py: Python<'py>, manifest: Manifest) -> PyResult<Bound<'py, PyBytes>> {
    let (hash, form, store, generation, epoch, shards, packs, dropped, note, commits) = manifest;
    let (hash, form) = (hash_spec(py, &hash)?, parse_form(&form)?);
    let packs = packs.iter().map(entry).collect();
    let shared = SharedManifest { hash, form, store, generation, epoch, shards, packs, dropped, commits, note };
    let mut bytes = vec![];
    shared.encode(&mut bytes).map_err(|error| config(py, error.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Reads the table of a pack, which is called `name` in errors, from the bytes of its range.
#[pyfunction(name = "_read_table")]
pub fn read_table(py: Python<'_>, bytes: &[u8], pack: Entry, name: &str) -> PyResult<Vec<RunEntry>> {
    let table = PackTable::read(bytes, &entry(&pack), name).or_raise(py)?;
    let runs = table.runs().iter();
    Ok(runs.map(|run| (run.shard, run.offset, run.seal.length, run.keys, run.seal.checksum)).collect())
}

/// A temporary set with the hashes of these names of sources, from which a pack takes them in order.
fn named(names: &[String], hash: HashSpec) -> furui::Result<Cascade<Files>> {
    let options = CascadeOptions { memory: MEMORY, hash: Some(hash), form: None, journal: false };
    let mut set = Cascade::open(Files::temporary(), options)?;
    let keys: Hashes = hash.hasher().hash_all(names);
    set.insert_all(keys.as_slice(), &mut vec![])?;
    Ok(set)
}

fn pack(shards: u32, keys: NewKeys<'_>, sources: NewKeys<'_>, id: Id) -> furui::Result<(Vec<u8>, Entry)> {
    let mut bytes = vec![];
    let sources = Some(sources).filter(|sources| !sources.is_empty());
    let written = WrittenPack::write(&mut bytes, "a pack", shards, keys, sources)?;
    Ok((bytes, tuple(&written.entry(id))))
}

/// Makes a pack of the keys that were added to a set that was opened over a bucket, and of the names of sources that
/// were read. Returns its bytes and its object.
#[pyfunction(name = "_pack")]
pub fn pack_new<'py>(
    py: Python<'py>,
    seen: &Bound<'py, Seen>,
    shards: u32,
    sources: Vec<String>,
    id: Id,
) -> PyResult<(Bound<'py, PyBytes>, Entry)> {
    let (bytes, entry) = seen.get().opened().detached(py, |opened| {
        let set = opened.set().set();
        pack(shards, set.new_keys()?, named(&sources, set.hash_spec())?.new_keys()?, id)
    })?;
    Ok((PyBytes::new(py, &bytes), entry))
}

/// Makes a pack of the keys of runs of other packs, each in a file.
#[pyfunction(name = "_pack_runs")]
pub fn pack_runs<'py>(
    py: Python<'py>,
    hash: &str,
    shards: u32,
    files: Vec<Fetched>,
    id: Id,
) -> PyResult<(Bound<'py, PyBytes>, Entry)> {
    let hash = hash_spec(py, hash)?;
    let packed = py.detach(|| {
        let mut runs = [vec![], vec![]];
        for (path, entry) in &files {
            let run = open(path, entry, hash)?;
            runs[usize::from(entry.0 == shards)].push(run);
        }
        let [keys, sources] = runs.each_ref().map(|runs| NewKeys::of_runs(hash, runs));
        pack(shards, keys, sources, id)
    });
    let (bytes, entry) = packed.or_raise(py)?;
    Ok((PyBytes::new(py, &bytes), entry))
}

/// Opens a run that was fetched from a pack into the file at `path`, and checks it against its entry in the pack.
/// `hash` is the hash of the shared set.
fn open(path: &PathBuf, entry: &RunEntry, hash: HashSpec) -> furui::Result<Run<DiskFile>> {
    let name = path.display().to_string();
    let file = DiskFile::open(path).map_err(|source| Error::io("cannot open", name.as_str(), source))?;
    run(entry).open(file, &name, hash)
}

/// The file of a run that was fetched from a pack, and the run's entry in the table of the pack.
pub type Fetched = (PathBuf, RunEntry);

/// Opens a set over the runs of packs. It may take further keys, which `_pack` makes a pack of.
#[pyfunction(name = "_open_over")]
pub fn open_over(
    py: Python<'_>,
    manifest: &[u8],
    name: PathBuf,
    files: Vec<Fetched>,
    memory: u64,
    read_only: bool,
) -> PyResult<Seen> {
    let shared = SharedManifest::decode(manifest, &name.display().to_string()).map_err(Error::from).or_raise(py)?;
    let opened = py.detach(|| {
        let file = |(path, entry): Fetched| {
            let name = path.display().to_string();
            let file = DiskFile::open(&path).map_err(|source| Error::io("cannot open", name.as_str(), source))?;
            Ok((name, file.into(), run(&entry)))
        };
        let files = files.into_iter().map(file).collect::<furui::Result<Vec<_>>>()?;
        Seen::over(&shared, files, memory)
    });
    Seen::of_packs(opened.or_raise(py)?, name, shared.form, read_only)
}

/// Return the shard of each key of a batch, among `shards` shards, a power of two: a pure function of the key, the hash
/// and the number of shards. Rows that are distributed by it ask each for the keys of few shards.
///
/// hash: the hash of the set, as in "xxh3:0x7": its hash.
#[pyfunction]
pub fn shard_of<'py>(batch: &Bound<'py, PyAny>, shards: u32, hash: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = batch.py();
    if !shards.is_power_of_two() || shards > SharedManifest::MAX_SHARDS {
        return Err(config(py, "shards must be a power of two up to 65,536"));
    }
    let keys = hash_batch(batch, &hash_spec(py, hash)?.hasher(), false)?;
    Column::Numbers(keys.as_slice().iter().map(|key| shard(key.get(), shards)).collect()).into_kind_of(batch)
}

/// Return the 64-bit hash of each key of a batch, as an unsigned number. The arguments are those of shard_of().
#[pyfunction]
pub fn hash_many<'py>(batch: &Bound<'py, PyAny>, hash: &str) -> PyResult<Bound<'py, PyAny>> {
    let keys = hash_batch(batch, &hash_spec(batch.py(), hash)?.hasher(), false)?;
    Column::Hashes(keys.as_slice().iter().map(|key| key.get()).collect()).into_kind_of(batch)
}

/// Draws the hash of a new set: XXH3 with a random seed.
#[pyfunction(name = "_random_hash")]
pub fn random_hash() -> String {
    hash_text(HashSpec::random())
}
