//! The commands `FURUI.DUMP` and `FURUI.LOAD`, which move values out of the server and into it as files, in pieces.

use std::sync::{Mutex, PoisonError};

use furui::HashSpec;
use furui::format::{Envelope, Kind};
use furui::store::{MANIFEST, Manifest, StoreKind};
use valkey_module::digest::Digest;
use valkey_module::native_types::ValkeyType;

use crate::call::{Call, Key, READ, WRITE};
use crate::command::{Command, entry};
use crate::dict::Dictionary;
use crate::files::Files;
use crate::filter::Filter;
use crate::filter::settings::SETTINGS;
use crate::io::{Commands, In, Out, PIECE};
use crate::limits::{self, Account, Held, Holder};
use crate::rdb::{VERSION, Value, methods};
use crate::refusal::Refusal;
use crate::set::Set;

pub const COMMANDS: [Command; 2] = [
    Command::read(c"furui.dump", "key piece [dump]", -3, entry!(dump))
        .dangerous()
        .summary(
            c"Returns a piece of the files of a value, which are kept as they are when piece 1 is fetched: [piece, \
              pieces, file name, data, dump]. Give the number of the dump with all pieces but the first.",
        )
        .complexity(c"O(N) with N the size of the value"),
    Command::add(c"furui.load", "key place file data", 5, entry!(load))
        .dangerous()
        .summary(
            c"Takes a piece of the files of a value: FURUI.LOAD key piece/pieces file data. The last one makes the \
              value.",
        )
        .complexity(c"O(N) with N the size of the piece; O(value) for the last one"),
];

/// The server's type for values of which not all pieces of files have arrived.
pub static ARRIVING: ValkeyType = ValkeyType::new("furui-arr", VERSION, methods::<Arriving>());

/// The files of a value of which not all pieces have arrived from the client.
pub struct Arriving {
    /// The number of pieces of the files that have arrived.
    here: usize,
    /// The number of pieces in all, which the client has stated.
    pieces: usize,
    files: Files,
    account: Account,
}

/// The maximum number of pieces in which the files of a value may arrive.
pub const MAX_PIECES: usize = 1 << 20;

impl Arriving {
    fn new(pieces: usize) -> Self {
        Self { here: 0, pieces, files: Files::default(), account: Account::of(Holder::Arriving) }
    }

    fn settle(&mut self) {
        self.account.settle(Held { bytes: self.bytes(), ..Held::default() });
    }

    /// Adds the next piece of a file.
    ///
    /// # Errors
    /// If the piece is not the next one, or the files would take too much memory.
    fn take(&mut self, (place, pieces): (usize, usize), name: &str, piece: &[u8]) -> Result<(), Refusal> {
        if (place, pieces) != (self.here + 1, self.pieces) {
            let (here, all) = (self.here, self.pieces);
            return Err(Refusal::because(format!(
                "{here} of {all} pieces have arrived, so piece {place}/{pieces} is not the next one: delete the key to \
                 begin again"
            )));
        }
        if piece.len() > PIECE {
            return Err(Refusal::because(format!("a piece has at most {PIECE} bytes")));
        }
        self.account.admit(self.bytes(), piece.len())?;
        self.files.append(name, piece)?;
        self.here = place;
        self.settle();
        Ok(())
    }
}

fn load(call: &Call<'_>) -> Result<(), Refusal> {
    let place = call.text(2)?;
    let read = |text: &str| text.parse::<usize>().ok().filter(|number| (1..=MAX_PIECES).contains(number));
    let place = place.split_once('/').and_then(|(place, pieces)| Some((read(place)?, read(pieces)?)));
    let place = place.filter(|(place, pieces)| place <= pieces);
    let place = place.ok_or_else(|| {
        Refusal::because("the place of the piece must be its number and the number of all pieces, as in 1/3")
    })?;
    arrive(call, place, call.text(3)?, call.bytes(4)?)
}

/// Adds a piece to the value of the command's key. `place` is the number of the piece and the number of all pieces;
/// `name` is the name of the file. The last piece creates the value.
pub fn arrive(call: &Call<'_>, place: (usize, usize), name: &str, piece: &[u8]) -> Result<(), Refusal> {
    let mut key = call.open(1, WRITE)?;
    let mut arriving = if key.is_empty() {
        Arriving::new(place.1)
    } else {
        match key.value_mut::<Arriving>() {
            Ok(Some(arriving)) => std::mem::replace(arriving, Arriving::new(place.1)),
            Ok(None) | Err(_) => return Err(Refusal::because("the key exists already: delete it first")),
        }
    };
    let taken = arriving.take(place, name, piece);
    if taken.is_err() || arriving.here < arriving.pieces {
        // The pieces that have arrived are kept, even if this piece is refused.
        if arriving.here > 0 {
            key.set(arriving);
        }
        taken?;
    } else {
        key.remove();
        if let Err(refusal) = finish(&mut key, arriving) {
            call.replicate_as(c"DEL", &[]);
            return Err(refusal);
        }
        call.notify(c"furui.load");
    }
    call.replicate();
    call.ok();
    Ok(())
}

/// Replaces the pieces in a key by the value that they make, after all have arrived.
fn finish(key: &mut Key, arriving: Arriving) -> Result<(), Refusal> {
    let files = arriving.files;
    match kind_of(&files)? {
        ValueKind::Set => place(key, Set::open(files)?),
        ValueKind::Filter => place(key, Filter::open(files)?),
        ValueKind::Dict => place(key, Dictionary::open(files)?),
    }
}

/// Puts a value into a key if the limits allow its size.
fn place<V: Value>(key: &mut Key, value: V) -> Result<(), Refusal> {
    // The value is in the sums already.
    limits::admit_made(value.bytes())?;
    key.set(value);
    Ok(())
}

/// The types of values that can be loaded from files.
enum ValueKind {
    Set,
    Filter,
    Dict,
}

/// The type of the value to which these files belong.
fn kind_of(files: &Files) -> Result<ValueKind, Refusal> {
    if let Some((_, manifest)) = files.iter().find(|(name, _)| *name == MANIFEST) {
        return match Manifest::decode(manifest, MANIFEST)?.store {
            StoreKind::Seen => Ok(ValueKind::Set),
            StoreKind::Dict(_) => Ok(ValueKind::Dict),
            other => Err(Refusal::because(format!("{other} cannot be loaded"))),
        };
    }
    if files.get(SETTINGS).is_some() {
        return Ok(ValueKind::Filter);
    }
    let Some((name, bytes)) = files.only() else {
        return Err(Refusal::because("a value of several files needs a file MANIFEST"));
    };
    match Envelope::open(bytes, name)?.kind() {
        Kind::Run => Ok(ValueKind::Set),
        // A file that is not a filter is refused when it is opened as a filter.
        _ => Ok(ValueKind::Filter),
    }
}

/// The files of a value of which a client has not fetched all pieces. They are kept so that all pieces are of one
/// moment.
struct Leaving {
    /// The number of this dump, which a client names when it fetches the next piece.
    dump: u64,
    files: Files,
    /// The time in milliseconds at which the client has fetched the last piece.
    last: u64,
    _account: Account,
}

/// The values whose files clients are fetching.
static LEAVING: Mutex<Vec<Leaving>> = Mutex::new(vec![]);

/// The maximum number of dumps at a time, because each takes the memory of its files. One more ends the one that has
/// waited longest.
const MAX_DUMPS: usize = 8;
/// The time in milliseconds after which a dump ends whose client does not fetch the next piece.
const PATIENCE: u64 = 60_000;
/// The numbers of dumps are below this one, so that [`leave`] can tell a place and a number in one.
const DUMPS: u64 = 1 << 31;

/// Begins the dump of the value of the command's key, and returns its number.
fn begin(call: &Call<'_>, leaving: &mut Vec<Leaving>) -> Result<u64, Refusal> {
    let files = files_of(call)?;
    if leaving.len() >= MAX_DUMPS {
        leaving.sort_unstable_by_key(|dump| dump.last);
        leaving.remove(0);
    }
    // A random number, so that a dump that has ended is not taken for one of a server that was started again.
    let dump = 1 + HashSpec::random().seed % (DUMPS - 1);
    let mut account = Account::of(Holder::Dump);
    account.settle(Held { bytes: files.bytes(), ..Held::default() });
    leaving.push(Leaving { dump, files, last: call.now(), _account: account });
    Ok(dump)
}

/// Ends the dumps whose clients have gone.
pub fn forget_abandoned(now: u64) {
    let mut leaving = LEAVING.lock().unwrap_or_else(PoisonError::into_inner);
    leaving.retain(|dump| now.saturating_sub(dump.last) < PATIENCE);
}

/// Calls `give` with the number of the dump, the number of pieces, the name of the file and the bytes of piece number
/// `piece`, from 1 on. Without a dump, one begins. Returns false if there are fewer pieces. A dump ends with its last
/// piece.
fn fetch(
    call: &Call<'_>,
    piece: usize,
    dump: Option<u64>,
    give: impl FnOnce(u64, usize, &str, &[u8]),
) -> Result<bool, Refusal> {
    let mut leaving = LEAVING.lock().unwrap_or_else(PoisonError::into_inner);
    let dump = match dump {
        Some(dump) => dump,
        None => begin(call, &mut leaving)?,
    };
    let Some(at) = leaving.iter().position(|found| found.dump == dump) else {
        return Err(Refusal::because(format!(
            "there is no dump {dump} any more: begin again with piece 1, and fetch the next piece within a minute"
        )));
    };
    let found = &mut leaving[at];
    found.last = call.now();
    let pieces = found.files.pieces().count();
    let data = piece.checked_sub(1).and_then(|index| found.files.pieces().nth(index));
    let is_there = data.map(|(file, data)| give(dump, pieces, file, data)).is_some();
    if !is_there || piece == pieces {
        leaving.remove(at);
    }
    Ok(is_there)
}

fn dump(call: &Call<'_>) -> Result<(), Refusal> {
    let piece: usize = call.number(2, "piece")?;
    let dump = if call.len() > 3 { Some(call.number(3, "dump")?) } else { None };
    if call.len() > 4 || (piece == 1) == dump.is_some() {
        return Err(Refusal::because("piece 1 begins a dump, and its reply has the number to give with the others"));
    }
    let give = |dump, pieces: usize, file: &str, data: &[u8]| {
        call.array(5);
        call.integer(piece);
        call.integer(pieces);
        call.bulk(file.as_bytes());
        call.bulk(data);
        call.integer(dump);
    };
    match fetch(call, piece, dump, give)? {
        true => Ok(()),
        false => Err(Refusal::because(format!("there is no piece {piece}: the pieces have the numbers from 1 on"))),
    }
}

/// Fetches a piece of the value of the command's key. `iterator` has the number of the last piece and of the dump: 0
/// for the first piece. Calls `give` with the iterator after this piece, the number of pieces, the name of the file and
/// the bytes. Returns false if there are no more pieces.
pub fn leave(call: &Call<'_>, iterator: u64, give: impl FnOnce(u64, usize, &str, &[u8])) -> Result<bool, Refusal> {
    let (dump, place) = (iterator / PLACES, place_of(iterator) + 1);
    if iterator > 0 && dump == 0 {
        // After the last piece.
        return Ok(false);
    }
    fetch(call, place, (iterator > 0).then_some(dump), |dump, pieces, file, data| {
        let next = if place == pieces { 0 } else { dump };
        give(next * PLACES + place as u64, pieces, file, data);
    })
}

/// The place of the piece with which [`leave`] has given this iterator.
pub const fn place_of(iterator: u64) -> usize {
    (iterator % PLACES) as usize
}

/// More than the number of pieces of a value.
const PLACES: u64 = 2 * MAX_PIECES as u64;

/// The files of the value of the command's key.
fn files_of(call: &Call<'_>) -> Result<Files, Refusal> {
    let key = call.open(1, READ)?;
    if key.is_empty() {
        return Err(Refusal::because("there is no such key"));
    }
    let files = key.read(Set::files).or_else(|| key.read(Filter::files));
    files.or_else(|| key.read(Dictionary::files)).unwrap_or(Err(Refusal::WrongType))
}

impl Value for Arriving {
    const TYPE: &'static ValkeyType = &ARRIVING;

    fn files(&self) -> Result<Files, Refusal> {
        Ok(self.files.clone())
    }

    fn open(_files: Files) -> Result<Self, Refusal> {
        Err(Refusal::because("the value has not arrived as a whole: load all of its pieces"))
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.files.bytes()
    }

    fn digest(&self, digest: &mut Digest) {
        digest.add_long_long(self.here as i64);
        for (name, bytes) in self.files.iter() {
            digest.add_string_buffer(name.as_bytes());
            digest.add_string_buffer(bytes);
        }
    }

    fn copy(&self) -> Result<Self, Refusal> {
        let mut copy = Self { here: self.here, files: self.files.clone(), ..Self::new(self.pieces) };
        copy.settle();
        Ok(copy)
    }

    fn save(&self, out: &mut Out) -> Result<(), Refusal> {
        out.number(self.here as u64);
        out.number(self.pieces as u64);
        self.files.save(out);
        Ok(())
    }

    fn load(from: &mut In) -> Result<Self, Refusal> {
        let (here, pieces) = (usize::try_from(from.number()?)?, usize::try_from(from.number()?)?);
        if !(1..pieces).contains(&here) || pieces > MAX_PIECES {
            return Err(Refusal::because("the value is damaged: its numbers of pieces are impossible"));
        }
        let mut arriving = Self { here, files: Files::load(from)?, ..Self::new(pieces) };
        arriving.settle();
        Ok(arriving)
    }

    fn rewrite(&self, out: &mut Commands) -> Result<(), Refusal> {
        // The pieces may have been shorter when they arrived. Then there are fewer of them here, and the last ones are
        // empty.
        let pieces: Vec<_> = self.files.pieces().collect();
        let last = pieces.last().map_or("", |(name, _)| *name);
        for place in 1..=self.here {
            let (name, piece) = pieces.get(place - 1).copied().unwrap_or((last, &[]));
            out.command(c"FURUI.LOAD", &[format!("{place}/{}", self.pieces).as_bytes(), name.as_bytes(), piece]);
        }
        Ok(())
    }
}
