//! The code that the commands `BF.*` and `CF.*` share: access to keys, arguments, and the transfer of filters in
//! chunks.

pub mod bf;
mod bf_arguments;
pub mod cf;
mod cf_arguments;

use std::str::FromStr;

use furui::{HashAlgorithm, HashSpec, KeyHash};
use valkey_module::ValkeyString;

use crate::call::{Call, Key, READ, WRITE};
use crate::dump_load::{MAX_PIECES, arrive, leave, place_of};
use crate::filter::Filter;
use crate::filter::settings::Dialect;
use crate::refusal::Refusal;

/// The length in bytes of a chunk without the file's name and the bytes of the piece.
const FRAME: usize = 4 + 1 + 8;

/// The dialects that the arguments of the module switch on.
///
/// # Errors
/// If an argument is not the name of a dialect. The reason is written to the log.
pub fn switched_on(arguments: &[ValkeyString]) -> Result<Vec<Dialect>, String> {
    let mut dialects = vec![];
    for argument in arguments {
        let argument = argument.to_string_lossy();
        let dialect = Dialect::read(&argument).ok_or_else(|| {
            format!("the argument {argument:?} of the module is unknown: BF switches on the commands BF.*, CF the commands CF.*")
        })?;
        if !dialects.contains(&dialect) {
            dialects.push(dialect);
        }
    }
    Ok(dialects)
}

/// The filter of a key; `None` if the key does not exist.
///
/// # Errors
/// [`Refusal::WrongType`] if the value is not a filter of this dialect.
pub fn filter_of(key: &Key, dialect: Dialect) -> Result<Option<&Filter>, Refusal> {
    let filter: Option<&Filter> = key.value()?;
    match filter {
        Some(filter) if filter.dialect() != Some(dialect) => Err(Refusal::WrongType),
        filter => Ok(filter),
    }
}

/// The filter of a key, for changes; `None` if the key does not exist.
///
/// # Errors
/// The errors of [`filter_of`].
pub fn changed(key: &mut Key, dialect: Dialect) -> Result<Option<&mut Filter>, Refusal> {
    filter_of(key, dialect)?;
    key.value_mut()
}

/// The error of a command whose key does not exist.
pub fn missing() -> Refusal {
    Refusal::because("not found")
}

/// Parses an argument as a number in a range.
///
/// # Errors
/// If the argument is not such a number. The message is the given reason.
pub fn number<N: FromStr + PartialOrd>(
    call: &Call<'_>,
    index: usize,
    range: std::ops::RangeInclusive<N>,
    reason: &str,
) -> Result<N, Refusal> {
    let number = std::str::from_utf8(call.bytes(index)?).ok().and_then(|text| text.parse().ok());
    number.filter(|number| range.contains(number)).ok_or_else(|| Refusal::because(reason))
}

/// Creates the filter that `make` returns as the value of the command's key.
pub fn reserve(
    call: &Call<'_>,
    dialect: Dialect,
    make: impl FnOnce() -> Result<Filter, Refusal>,
) -> Result<(), Refusal> {
    let mut key = call.open(1, WRITE)?;
    if filter_of(&key, dialect)?.is_some() {
        return Err(Refusal::because("item exists"));
    }
    key.set(make()?);
    call.replicate();
    call.notify(match dialect {
        Dialect::Bf => c"bloom.reserve",
        Dialect::Cf => c"cf.reserve",
    });
    call.ok();
    Ok(())
}

/// Inserts the items from argument `first` on, with `BF` up to the first one that is refused. If the key does not
/// exist, the filter that `make` returns is created. Returns the answer of `insert` for each item: true if it was
/// inserted as new.
pub fn insert_into(
    call: &Call<'_>,
    dialect: Dialect,
    first: usize,
    make: impl FnOnce() -> Result<Filter, Refusal>,
    insert: impl Fn(&mut Filter, KeyHash) -> Result<bool, Refusal>,
) -> Result<Vec<Result<bool, Refusal>>, Refusal> {
    let mut key = call.open(1, WRITE)?;
    let is_made = filter_of(&key, dialect)?.is_none();
    if is_made {
        key.set(make()?);
    }
    let filter = changed(&mut key, dialect)?.ok_or_else(missing)?;
    let mut answers = vec![];
    for item in call.rest(first) {
        answers.push(insert(filter, filter.key(item)));
        if dialect == Dialect::Bf && matches!(answers.last(), Some(Err(_))) {
            break;
        }
    }
    filter.settle();
    let taken: Vec<&[u8]> =
        call.rest(first).zip(&answers).filter(|(_, answer)| answer.is_ok()).map(|(item, _)| item).collect();
    if taken.is_empty() && !answers.is_empty() {
        // A filter that could take nothing is not made.
        if is_made {
            key.remove();
        }
        return Ok(answers);
    }
    let is_added = answers.iter().any(|answer| matches!(answer, Ok(true)));
    let events = match dialect {
        Dialect::Bf => [is_made.then_some(c"bloom.reserve"), is_added.then_some(c"bloom.add")],
        Dialect::Cf => [None, (is_made || is_added).then_some(c"cf.add")],
    };
    events.into_iter().flatten().for_each(|event| call.notify(event));
    if is_made || is_added {
        // A replica takes all that it is given, so it is given only what was taken here.
        if taken.len() == call.rest(first).len() { call.replicate() } else { call.replicate_taken(first, &taken) }
    }
    Ok(answers)
}

/// `SCANDUMP key iterator`: replies with the iterator by which the chunk is loaded and the next chunk is fetched, and
/// with a chunk of the filter's files. The first chunk is fetched with the iterator 0, and the reply after the last
/// chunk has the iterator 0. A chunk has one piece of one file.
pub fn scan_dump(call: &Call<'_>, dialect: Dialect) -> Result<(), Refusal> {
    let wrong = match dialect {
        Dialect::Bf => "Second argument must be numeric",
        Dialect::Cf => "Invalid position",
    };
    let iterator: u64 = number(call, 2, 0..=1 << 62, wrong)?;
    let key = call.open(1, READ)?;
    let filter = filter_of(&key, dialect)?.ok_or_else(missing)?;
    let is_nothing = dialect == Dialect::Cf && filter.table.keys() == Some(0);
    drop(key);
    let give = |next: u64, pieces: usize, name: &str, data: &[u8]| {
        call.array(2);
        call.integer(next);
        call.bulk(&chunk(place_of(next), pieces, name, data));
    };
    if is_nothing || !leave(call, iterator, give)? {
        call.array(2);
        call.integer(0);
        match dialect {
            Dialect::Bf => call.bulk(b""),
            Dialect::Cf => call.null(),
        }
    }
    Ok(())
}

/// `LOADCHUNK key iterator chunk`: adds a chunk to those that have arrived. Chunks must come in order. The last one
/// creates the filter.
pub fn load_chunk(call: &Call<'_>, dialect: Dialect) -> Result<(), Refusal> {
    let (wrong, bad) = match dialect {
        Dialect::Bf => ("invalid offset - no link found", "received bad data"),
        Dialect::Cf if call.bytes(2)? == b"1" => ("Invalid position", "Couldn't create filter!"),
        Dialect::Cf => ("Invalid position", "Couldn't load chunk!"),
    };
    let place = place_of(number(call, 2, 1..=1 << 62, wrong)?);
    let key = call.open(1, READ)?;
    if let Some(filter) = key.value::<Filter>().ok().flatten() {
        return Err(match filter.dialect() {
            Some(other) if other == dialect && place == 1 => Refusal::because("item exists"),
            Some(other) if other == dialect => Refusal::because(bad),
            _ => Refusal::WrongType,
        });
    }
    drop(key);
    let (pieces, name, data) = read_chunk(place, call.bytes(3)?).ok_or_else(|| Refusal::because(bad))?;
    arrive(call, (place, pieces), name, data)
}

/// Encodes a piece of a file as a chunk, with the number of pieces, the file's name, and a checksum.
fn chunk(place: usize, pieces: usize, name: &str, data: &[u8]) -> Vec<u8> {
    let mut chunk = Vec::with_capacity(FRAME + name.len() + data.len());
    chunk.extend_from_slice(&(pieces as u32).to_le_bytes());
    chunk.push(name.len() as u8);
    chunk.extend_from_slice(name.as_bytes());
    chunk.extend_from_slice(data);
    let sum = sum(place, &chunk);
    chunk.extend_from_slice(&sum);
    chunk
}

/// Decodes what [`chunk`] has encoded for the same `place`: the number of pieces, the name of the file, and the piece.
/// `None` if the chunk is damaged.
fn read_chunk(place: usize, chunk: &[u8]) -> Option<(usize, &str, &[u8])> {
    let (rest, given) = chunk.split_last_chunk()?;
    let (pieces, rest_of_it) = rest.split_first_chunk()?;
    let (&length, rest_of_it) = rest_of_it.split_first()?;
    let (name, data) = rest_of_it.split_at_checked(length.into())?;
    let pieces = u32::from_le_bytes(*pieces) as usize;
    let is_sound = sum(place, rest) == *given && place <= pieces && pieces <= MAX_PIECES;
    Some((pieces, std::str::from_utf8(name).ok()?, data)).filter(|_| is_sound)
}

fn sum(place: usize, bytes: &[u8]) -> [u8; 8] {
    let hash = HashSpec { algorithm: HashAlgorithm::Xxh3, seed: place as u64 };
    hash.hash(bytes).get().to_le_bytes()
}

/// Replies with the answer for the first item of the command, which is the only one.
pub fn tell_first(call: &Call<'_>, answers: Vec<Result<bool, Refusal>>) -> Result<(), Refusal> {
    if let Some(answer) = answers.into_iter().next() {
        call.boolean(answer?);
    }
    Ok(())
}

/// Replies whether an item may be in the filter of the first key.
pub fn exists(call: &Call<'_>, dialect: Dialect) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let (filter, item) = (filter_of(&key, dialect)?, call.bytes(2)?);
    call.boolean(contains(filter, item));
    Ok(())
}

/// Replies for each item whether it may be in the filter of the first key.
pub fn all_exist(call: &Call<'_>, dialect: Dialect) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let (filter, items) = (filter_of(&key, dialect)?, call.rest(2));
    call.array(items.len());
    items.for_each(|item| call.boolean(contains(filter, item)));
    Ok(())
}

fn contains(filter: Option<&Filter>, item: &[u8]) -> bool {
    filter.is_some_and(|filter| filter.table.contains_at(filter.key(item), 0))
}
