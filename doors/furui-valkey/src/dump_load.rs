//! The commands `FURUI.DUMP` and `FURUI.LOAD`, which move values out of the server and into it as files, in pieces.

use std::sync::{Mutex, PoisonError};

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
use crate::filter::window::WINDOW;
use crate::io::{Commands, In, Out, PIECE};
use crate::limits::Account;
use crate::rdb::{VERSION, Value, methods};
use crate::refusal::Refusal;
use crate::set::Set;

pub const COMMANDS: [Command; 2] = [
    Command::new(c"furui.dump", c"readonly", 3, entry!(dump))
        .summary(
            c"Returns piece number PIECE, from 1 on, of the files of a value: [PIECE, number of pieces, file name, \
              data].",
        )
        .complexity(c"O(N) with N the size of the value"),
    Command::new(c"furui.load", c"write deny-oom", 5, entry!(load))
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
    /// The number of all pieces of the files.
    pieces: usize,
    files: Files,
    account: Account,
}

/// The maximum number of pieces in which the files of a value may arrive.
pub const MAX_PIECES: usize = 1 << 20;

impl Arriving {
    fn new(pieces: usize) -> Self {
        Self { here: 0, pieces, files: Files::default(), account: Account::default() }
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
        self.account.settle(self.bytes());
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
    let Arriving { files, account, .. } = arriving;
    account.admit(0, files.bytes().saturating_mul(2))?;
    match kind_of(&files)? {
        ValueKind::Set => _ = key.set(Set::open(files)?),
        ValueKind::Filter => _ = key.set(Filter::open(files)?),
        ValueKind::Dict => _ = key.set(Dictionary::open(files)?),
    }
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
    if files.get(WINDOW).or(files.get(SETTINGS)).is_some() {
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

/// The files of a value of which the client has not fetched all pieces. They are kept so that all pieces are of one
/// moment.
struct Leaving {
    database: i32,
    key: Vec<u8>,
    files: Files,
    account: Account,
}

impl Leaving {
    /// Creates the files of the value of the command's key.
    fn of(call: &Call<'_>) -> Result<Self, Refusal> {
        let (database, key) = (call.database(), call.bytes(1)?.to_vec());
        let mut leaving = Self { database, key, files: files_of(call)?, account: Account::default() };
        leaving.account.settle(leaving.files.bytes());
        Ok(leaving)
    }
}

/// The value whose files a client is fetching. There is at most one, because it takes memory.
static LEAVING: Mutex<Option<Leaving>> = Mutex::new(None);

fn dump(call: &Call<'_>) -> Result<(), Refusal> {
    let piece: usize = call.number(2, "piece")?;
    let (database, name) = (call.database(), call.bytes(1)?);
    let mut leaving = LEAVING.lock().unwrap_or_else(PoisonError::into_inner);
    if piece == 1 {
        *leaving = Some(Leaving::of(call)?);
    }
    let Some(found) = leaving.as_ref().filter(|found| found.database == database && found.key == name) else {
        return Err(Refusal::because("another dump has begun since: begin again with piece 1"));
    };
    let pieces = found.files.pieces().count();
    let Some((file, data)) = piece.checked_sub(1).and_then(|index| found.files.pieces().nth(index)) else {
        return Err(Refusal::because(format!(
            "there is no piece {piece}: the pieces have the numbers from 1 to {pieces}"
        )));
    };
    call.array(4);
    call.integer(piece);
    call.integer(pieces);
    call.bulk(file.as_bytes());
    call.bulk(data);
    if piece == pieces {
        *leaving = None;
    }
    Ok(())
}

/// Fetches piece number `piece` of the value of the command's key, from 1 on. Calls `give` with the number of pieces,
/// the name of the file and the bytes of the piece. Returns false if there are fewer pieces. Consecutive pieces are of
/// one moment.
pub fn leave(call: &Call<'_>, piece: usize, give: impl FnOnce(usize, &str, &[u8])) -> Result<bool, Refusal> {
    let (database, name) = (call.database(), call.bytes(1)?);
    let mut leaving = LEAVING.lock().unwrap_or_else(PoisonError::into_inner);
    if piece == 1 || !leaving.as_ref().is_some_and(|found| found.database == database && found.key == name) {
        *leaving = Some(Leaving::of(call)?);
    }
    let pieces = leaving.as_ref().map_or(0, |found| found.files.pieces().count());
    let found = leaving.as_ref().and_then(|found| found.files.pieces().nth(piece.checked_sub(1)?));
    let is_there = found.map(|(file, data)| give(pieces, file, data)).is_some();
    if !is_there {
        *leaving = None;
    }
    Ok(is_there)
}

/// The files of the value of the command's key.
fn files_of(call: &Call<'_>) -> Result<Files, Refusal> {
    let key = call.open(1, READ)?;
    if key.is_empty() {
        return Err(Refusal::because("there is no such key"));
    }
    let files = key.read(copied::<Set>).or_else(|| key.read(copied::<Filter>));
    files.or_else(|| key.read(copied::<Dictionary>)).unwrap_or(Err(Refusal::WrongType))
}

/// The files of a value; an error if the limits do not allow the memory for them.
fn copied<V: Value>(value: &V) -> Result<Files, Refusal> {
    Account::default().admit(value.bytes(), value.bytes())?;
    value.files()
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
        copy.account.settle(copy.bytes());
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
        arriving.account.settle(arriving.bytes());
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
