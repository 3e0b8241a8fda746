//! Copies a whole set from its servers into temporary files of this machine.

use furui::Result as FuruiResult;
use furui::store::Storage;
use furui::store::cascade::{Cascade, CascadeOptions, Combination};
use redis::Value;

use super::failure::Failure;
use super::flight::Request;
use super::set::RemoteSet;
use crate::error::Error;
use crate::files::Files;
use crate::say::windows::said;

/// A part of a file of the value of a key, of at most 16 MiB.
struct Piece {
    /// The number of the piece among `pieces`, from 1 on.
    number: u64,
    pieces: u64,
    file: String,
    data: Vec<u8>,
    /// The number by which the server knows the copy of the value of which this is a piece.
    dump: u64,
}

/// The maximum number of pieces of the value of one key. The module in the server makes no more, so an answer with a
/// larger number is refused.
const MOST_PIECES: u64 = 1 << 20;

/// The options of the copies, whose hashes are all in runs.
const OPTIONS: CascadeOptions = CascadeOptions { memory: 1 << 20, hash: None, form: None, journal: false };

/// The number of parts of a set that are merged at a time, so that few files are open.
const AT_ONCE: usize = 32;

/// The parts of a set that were copied. A part of a level is merged from [`AT_ONCE`] parts of the level before.
struct Merged {
    levels: Vec<Vec<Cascade<Files>>>,
}

impl Merged {
    fn push(&mut self, mut part: Cascade<Files>) -> Result<(), Error> {
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(vec![]);
            }
            self.levels[level].push(part);
            if self.levels[level].len() < AT_ONCE {
                break;
            }
            part = merge(std::mem::take(&mut self.levels[level]))?;
        }
        Ok(())
    }
}

/// Merges parts of a set, of which there is one at least.
fn merge(parts: Vec<Cascade<Files>>) -> Result<Cascade<Files>, Error> {
    let files = Files::temporary(0);
    parts[0].combine(Combination::Union, &parts[1..].iter().collect::<Vec<_>>(), &files)?;
    Ok(Cascade::open(files, OPTIONS)?)
}

impl RemoteSet {
    /// Copies the hashes of the set, one key of the server after the other. Keys that other processes record meanwhile
    /// may be in the copy or not. The copy is in temporary files, and takes a few MiB of memory.
    pub fn fetch(&mut self) -> Result<Cascade<Files>, Error> {
        let url = self.url();
        if let Some(window) = self.layout().window {
            let remembered = said(Some(window));
            return Err(Error::Message(format!(
                "{url}: the set remembers {remembered}, and a set with a window cannot be copied, combined or exported"
            )));
        }
        let hash = self.layout().hash();
        let nothing = Cascade::open(Files::temporary(0), CascadeOptions { hash: Some(hash), ..OPTIONS })?;
        let mut merged = Merged { levels: vec![vec![nothing]] };
        for shard in 0..self.layout().shards {
            let files = Files::temporary(0);
            if !self.copy(shard, &files)? {
                continue;
            }
            let part = Cascade::open(files, OPTIONS)?;
            let is_here = |hash: u64| self.layout().shard(hash) == shard;
            let mut sorted = part.sorted()?;
            while let keys @ [_, ..] = sorted.next_keys()? {
                if part.hash_spec() != hash || !keys.iter().all(|&key| is_here(key)) {
                    return Err(Error::Message(format!(
                        "{url}: the key with the number {shard} was not made for this set: another program has made it"
                    )));
                }
            }
            drop(sorted);
            merged.push(part)?;
        }
        merge(merged.levels.into_iter().flatten().collect())
    }

    /// The number of keys in the set, of which one with a window may count some several times.
    pub fn count(&mut self) -> Result<u64, Error> {
        let requests: Vec<Request> = self.keys().iter().map(|key| Request::new("SEEN.CARD", key, [])).collect();
        let counts = self.ask(requests).map_err(|failure| self.told(failure))?;
        let count = |value| if let Value::Int(count) = value { u64::try_from(count).ok() } else { None };
        let sum = counts.into_iter().map(count).sum::<Option<u64>>();
        sum.ok_or_else(|| self.told(Failure::nonsense("a count of members")))
    }

    /// Copies the files of one of the server's keys. Returns false if the server does not have the key.
    fn copy(&mut self, shard: u32, files: &Files) -> Result<bool, Error> {
        let mut next = self.piece(shard, None)?;
        if next.is_none() {
            return Ok(false);
        }
        while let Some(first) = next.take() {
            let name = first.file.clone();
            let mut failure = None;
            files.publish(&name, |out| -> FuruiResult<()> {
                let mut piece = first;
                loop {
                    out.write_all(&piece.data).map_err(|error| furui::Error::io("cannot write", &name, error))?;
                    if piece.number == piece.pieces {
                        return Ok(());
                    }
                    match self.piece(shard, Some(&piece)) {
                        Ok(Some(same)) if same.file == name => piece = same,
                        Ok(other) => next = other,
                        Err(error) => failure = Some(error),
                    }
                    if next.is_some() || failure.is_some() {
                        return Ok(());
                    }
                }
            })?;
            if let Some(error) = failure {
                return Err(error);
            }
        }
        Ok(true)
    }

    /// Fetches the first piece of the value of a key, or the one that follows `last`. `None` if there is no such key.
    fn piece(&mut self, shard: u32, last: Option<&Piece>) -> Result<Option<Piece>, Error> {
        let number = last.map_or(1, |last| last.number + 1);
        let mut arguments = vec![number.to_string()];
        arguments.extend(last.map(|last| last.dump.to_string()));
        let arguments = arguments.iter().map(String::as_bytes);
        let request = Request::new("FURUI.DUMP", &self.keys()[shard as usize], arguments);
        let reply = match self.ask(vec![request]) {
            Err(failure) if last.is_none() && failure.reason.contains("no such key") => return Ok(None),
            asked => asked.map_err(|failure| self.told(failure))?.pop(),
        };
        let piece = reply.and_then(Piece::read).filter(|piece| piece.number == number && piece.number <= piece.pieces);
        let fits = |piece: &Piece| last.is_none_or(|last| (piece.pieces, piece.dump) == (last.pieces, last.dump));
        let nonsense = || self.told(Failure::nonsense("a piece of FURUI.DUMP"));
        piece.filter(fits).map(Some).ok_or_else(nonsense)
    }
}

impl Piece {
    /// Reads a reply to `FURUI.DUMP`. `None` if it is not such a reply.
    fn read(reply: Value) -> Option<Self> {
        let Value::Array(fields) = reply else { return None };
        let fields: [Value; 5] = fields.try_into().ok()?;
        let [
            Value::Int(number),
            Value::Int(pieces),
            Value::BulkString(file),
            Value::BulkString(data),
            Value::Int(dump),
        ] = fields
        else {
            return None;
        };
        let pieces = u64::try_from(pieces).ok().filter(|&pieces| pieces <= MOST_PIECES)?;
        let (number, dump) = (u64::try_from(number).ok()?, u64::try_from(dump).ok()?);
        Some(Self { number, pieces, file: String::from_utf8(file).ok()?, data, dump })
    }
}
