use furui::dict::{Dict, DictValue};
use furui::filter::AnyFilter;
use furui::seen::{Cache, Seen, SeenOptions};
use furui::store::cascade::CascadeFilter;
use furui::store::{Purpose, StoreKind};
use furui::{HashSpec, Hashes, KeyForm};

use super::file::{is_furui_file, refuse_cut};
use super::text::{Text, TextLines};
use crate::cli::{HasOptions, LineOptions};
use crate::dict;
use crate::error::Error;
use crate::files::Files;
use crate::filter::{self, cascade, given_seed};
use crate::input::block::Block;
use crate::interrupt::Interrupt;
use crate::keys::{self, Keys};
use crate::memory;
use crate::opening::kind_of;
use crate::remote::{RemoteKeys, RemoteSet};
use crate::schemes::is_url;

/// A set of lines in which other lines are looked up. Nothing is written to it, and its lock is not taken.
pub struct Set {
    source: Source,
    /// The hashes of the keys of the block of lines that is being looked up.
    hashes: Hashes,
}

/// The open set, by the kind of its storage.
enum Source {
    Filter(Box<AnyFilter>),
    Cascade(Box<CascadeFilter<Files>>),
    /// A store of `furui seen`. The keys of its journal that do not fit into memory are in temporary files.
    Store(Box<Seen<Files>>),
    /// The hashes of the lines of a text. Hashes that do not fit into memory are in temporary files.
    Text(Box<Seen<Files>>),
    Numbers(Box<Dict<Files>>),
    Bytes(Box<Dict<Files, [u8]>>),
    /// A set in a server, and the keys of the block of lines that is being looked up.
    Remote(Box<RemoteSet>, RemoteKeys),
}

impl Set {
    /// Opens the set that the options name, and reads it if it is a text. A store, a cascade filter or a text takes
    /// about `memory` bytes of memory, and keeps the rest on storage.
    pub fn open(options: &HasOptions, memory: u64, interrupt: &Interrupt) -> Result<Self, Error> {
        let path = &options.set;
        if options.set_lines && (is_url(path) || path.is_dir()) {
            let path = path.display();
            return Err(Error::Message(format!("{path}: --set-lines is for a SET that is a file of lines or a pipe")));
        }
        let source = if is_url(path) {
            open_remote(options)?
        } else if path.is_dir() {
            open_directory(options, memory)?
        } else if !options.set_lines && is_furui_file(path)? {
            let filter = filter::open(path, given_seed(&options.seed, [path])?)?;
            keys::check(path.display(), filter::form_of(path)?, &options.lines)?;
            Source::Filter(filter.into())
        } else {
            if !options.set_lines {
                refuse_cut(path)?;
            }
            let lines = TextLines {
                lines: &options.lines,
                input: &options.input,
                are_keys: options.set_lines,
                lacking: "not taken into the set",
                hint: "; --set-lines takes each line of SET for a key as it is",
            };
            Source::Text(Text::read(path, lines, exact(memory), mapped(options), interrupt)?.seen.into())
        };
        let is_mapped = matches!(source, Source::Filter(_) | Source::Numbers(_) | Source::Bytes(_));
        let has_seed = options.seed.seed_file.is_some() && !matches!(source, Source::Filter(_));
        for (is_stray, reason) in [
            (has_seed, "--seed-file is for the file of a filter"),
            (options.no_mmap && is_mapped, "--no-mmap is for a store, a cascade filter or lines: this file is mapped"),
            (
                options.lines.as_is && matches!(source, Source::Text(_)),
                "--as-is is for a set that was made with other key options: the keys of a file of lines are made now",
            ),
        ] {
            if is_stray {
                return Err(Error::Message(format!("{}: {reason}", path.display())));
            }
        }
        let spec = match &source {
            Source::Filter(filter) => filter.hash_spec(),
            Source::Cascade(filter) => filter.hash_spec(),
            Source::Store(seen) => seen.hash_spec(),
            Source::Text(seen) => seen.hash_spec(),
            // A dictionary compares whole keys.
            Source::Numbers(_) | Source::Bytes(_) => HashSpec::default(),
            // The server hashes the keys itself.
            Source::Remote(..) => HashSpec::default(),
        };
        Ok(Self { source, hashes: Hashes::new(&spec.hasher()) })
    }

    /// Creates a finder of the keys of lines that are looked up in this set.
    pub fn keys(&self, options: &LineOptions) -> Result<Keys, Error> {
        match &self.source {
            Source::Numbers(_) | Source::Bytes(_) => Keys::with_text(options),
            _ => Keys::new(self.hashes.spec(), options),
        }
    }

    /// True if look-ups read storage, so that a look-up costs less in a larger batch.
    pub fn is_on_storage(&self) -> bool {
        match &self.source {
            Source::Cascade(_) | Source::Store(_) => true,
            Source::Text(seen) => !seen.set().runs().is_empty(),
            Source::Filter(_) | Source::Numbers(_) | Source::Bytes(_) | Source::Remote(..) => false,
        }
    }

    /// Looks up the keys of the lines of a block. `out` gets an answer for each line that has a key, in order: true if
    /// the set contains the key.
    pub fn contains(&mut self, keys: &mut Keys, block: &mut Block, out: &mut Vec<bool>) -> Result<(), Error> {
        let hashes = &mut self.hashes;
        match &mut self.source {
            Source::Remote(set, asked) => {
                asked.clear();
                keys.each(block, |key| asked.push(key));
                return set.has(asked, out).map_err(|failure| set.told(failure));
            }
            Source::Numbers(dict) => return look_up(dict, keys, block, out),
            Source::Bytes(dict) => return look_up(dict, keys, block, out),
            _ => keys.hash_all(block, hashes),
        }
        match &mut self.source {
            Source::Filter(filter) => {
                filter::tell_time(filter);
                filter.contains_hashes(hashes, out)?;
            }
            Source::Cascade(filter) => filter.contains_hashes(hashes, out)?,
            Source::Store(seen) => seen.contains_hashes(hashes, out)?,
            Source::Text(seen) => seen.contains_hashes(hashes, out)?,
            Source::Numbers(_) | Source::Bytes(_) | Source::Remote(..) => {}
        }
        Ok(())
    }
}

fn open_remote(options: &HasOptions) -> Result<Source, Error> {
    let refused = [
        ("--memory", options.memory.is_some()),
        ("--no-mmap", options.no_mmap),
        ("--seed-file", options.seed.seed_file.is_some()),
        ("--as-is", options.lines.as_is),
    ];
    if let Some((name, _)) = refused.into_iter().find(|&(_, is_given)| is_given) {
        return Err(Error::Message(format!("{name} is not for a set in a server, which answers for every line")));
    }
    let set = RemoteSet::open(&options.set, false, None)?;
    let asked = set.no_keys();
    Ok(Source::Remote(set.into(), asked))
}

fn open_directory(options: &HasOptions, memory: u64) -> Result<Source, Error> {
    let path = &options.set;
    let check = |form: KeyForm| keys::check(path.display(), form, &options.lines);
    Ok(match kind_of(path)? {
        StoreKind::Dict(Purpose::Bytes) => {
            let dict: Box<Dict<_, [u8]>> = dict::open_to_read(path, None)?.into();
            check(dict.manifest().form)?;
            Source::Bytes(dict)
        }
        StoreKind::Dict(_) => {
            let dict: Box<Dict<_>> = dict::open_to_read(path, None)?.into();
            check(dict.manifest().form)?;
            Source::Numbers(dict)
        }
        StoreKind::Filter => {
            let filter = cascade::open(path, memory, mapped(options))?;
            check(filter.set().manifest().form)?;
            Source::Cascade(filter.into())
        }
        _ => {
            let seen = Seen::open_with(Files::unchanged(path, mapped(options))?, exact(memory))?;
            check(seen.set().manifest().form)?;
            Source::Store(seen.into())
        }
    })
}

/// The maximum size in bytes of a file that is mapped into memory; 0 with `--no-mmap`.
fn mapped(options: &HasOptions) -> u64 {
    if options.no_mmap { 0 } else { memory::mappable() }
}

/// The settings of an exact set with `memory` bytes of memory and without a cache in front of it. A cache would help
/// only where keys are inserted.
fn exact(memory: u64) -> SeenOptions {
    SeenOptions { cache: Cache::None, memory, ..SeenOptions::default() }
}

/// Looks up the keys of a block of lines in a dictionary. Appends to `out`, for each line that has a key, true if the
/// dictionary has it.
fn look_up<V: DictValue + ?Sized>(
    dict: &Dict<Files, V>,
    keys: &mut Keys,
    block: &mut Block,
    out: &mut Vec<bool>,
) -> Result<(), Error> {
    let (mut bytes, mut ends) = (vec![], vec![]);
    keys.each(block, |key| {
        bytes.extend_from_slice(key);
        ends.push(bytes.len());
    });
    let mut start = 0;
    let asked: Vec<&[u8]> = ends.iter().map(|&end| &bytes[std::mem::replace(&mut start, end)..end]).collect();
    let mut values = vec![];
    dict.get_all(&asked, &mut values)?;
    out.clear();
    out.extend(values.iter().map(Option::is_some));
    Ok(())
}
