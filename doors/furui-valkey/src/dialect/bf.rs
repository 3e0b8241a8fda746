//! The commands `BF.*`, as RedisBloom and valkey-bloom have them.

use std::ffi::CStr;

use super::bf_arguments::BloomShape;
use super::{all_exist, exists, filter_of, load_chunk, missing, scan_dump, tell_first};
use crate::call::{Call, READ};
use crate::command::{Command, entry};
use crate::filter::Filter;
use crate::filter::settings::Dialect;
use crate::filter::table::Table;
use crate::rdb::Value;
use crate::refusal::Refusal;

pub const COMMANDS: [Command; 10] = [
    Command::add(c"BF.RESERVE", "key error capacity [EXPANSION n | NONSCALING]", -4, entry!(reserve))
        .summary(c"Creates an empty Bloom filter: BF.RESERVE key error capacity [EXPANSION n | NONSCALING].")
        .complexity(c"O(N) with N the size of the filter"),
    Command::add(c"BF.ADD", "key item", 3, entry!(add))
        .fast()
        .summary(
            c"Inserts an item, and says whether it is certainly new (1) or not (0). Creates the filter if there is \
              none.",
        )
        .complexity(c"O(N) with N filters in the chain"),
    Command::add(c"BF.MADD", "key item [item ...]", -3, entry!(add_all))
        .fast()
        .summary(c"Inserts items, and says for each whether it is certainly new (1) or not (0).")
        .complexity(c"O(K * N) with K items and N filters in the chain"),
    Command::add(
        c"BF.INSERT",
        "key [CAPACITY n] [ERROR rate] [EXPANSION n] [NOCREATE] [NONSCALING] [ITEMS item ...]",
        -2,
        entry!(insert),
    )
    .fast()
    .summary(
        c"Inserts items: BF.INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item \
              ...",
    )
    .complexity(c"O(K * N) with K items and N filters in the chain"),
    Command::read(c"BF.EXISTS", "key item", 3, entry!(|call| exists(call, Dialect::Bf)))
        .fast()
        .summary(c"Says whether an item may be in the filter (1) or certainly is not (0).")
        .complexity(c"O(N) with N filters in the chain"),
    Command::read(c"BF.MEXISTS", "key item [item ...]", -3, entry!(|call| all_exist(call, Dialect::Bf)))
        .fast()
        .summary(c"Says for each item whether it may be in the filter (1) or certainly is not (0).")
        .complexity(c"O(K * N) with K items and N filters in the chain"),
    Command::read(c"BF.INFO", "key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION | ERROR]", -2, entry!(info))
        .fast()
        .summary(c"Returns names and values: BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION].")
        .complexity(c"O(N) with N filters in the chain"),
    Command::read(c"BF.CARD", "key", 2, entry!(card))
        .fast()
        .summary(c"Returns the number of items that were certainly new, 0 if there is no such key.")
        .complexity(c"O(N) with N filters in the chain"),
    Command::read(c"BF.SCANDUMP", "key iterator", 3, entry!(|call| scan_dump(call, Dialect::Bf)))
        .dangerous()
        .summary(c"Returns a chunk of the filter, and the iterator of the next one: 0 at first and after the last one.")
        .complexity(c"O(N) with N the size of the filter"),
    Command::add(c"BF.LOADCHUNK", "key iterator data", 4, entry!(|call| load_chunk(call, Dialect::Bf)))
        .dangerous()
        .summary(c"Takes a chunk of BF.SCANDUMP with its iterator. The last one makes the filter.")
        .complexity(c"O(N) with N the size of the chunk; of the filter for the last one"),
];

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let shape = BloomShape::of_reserve(call)?;
    super::reserve(call, Dialect::Bf, || shape.make())
}

fn add(call: &Call<'_>) -> Result<(), Refusal> {
    tell_first(call, insert_into(call, Some(&BloomShape::default()), 2)?)
}

fn add_all(call: &Call<'_>) -> Result<(), Refusal> {
    tell(call, insert_into(call, Some(&BloomShape::default()), 2)?);
    Ok(())
}

fn insert(call: &Call<'_>) -> Result<(), Refusal> {
    let (shape, creates, first) = BloomShape::of_insert(call)?;
    tell(call, insert_into(call, creates.then_some(&shape), first)?);
    Ok(())
}

/// Inserts the items from argument `first` on, and returns an answer for each. If the key does not exist, a filter of
/// this shape is created.
fn insert_into(
    call: &Call<'_>,
    shape: Option<&BloomShape>,
    first: usize,
) -> Result<Vec<Result<bool, Refusal>>, Refusal> {
    let make = || shape.ok_or_else(missing)?.make();
    super::insert_into(call, Dialect::Bf, first, make, Filter::insert)
}

/// Replies with an array that has the answer for each item, or the reason why it was refused.
fn tell(call: &Call<'_>, answers: Vec<Result<bool, Refusal>>) {
    call.array(answers.len());
    for answer in answers {
        match answer {
            Ok(is_new) => call.boolean(is_new),
            Err(refusal) => call.refuse(refusal),
        }
    }
}

fn info(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() > 3 {
        return Err(Refusal::Arity);
    }
    let key = call.open(1, READ)?;
    let filter = filter_of(&key, Dialect::Bf)?.ok_or_else(missing)?;
    let Table::Chain(chain) = &filter.table else { return Err(Refusal::WrongType) };
    let fields = [
        (&b"CAPACITY"[..], c"Capacity", Some(chain.capacity())),
        (b"SIZE", c"Size", Some(filter.bytes() as u64)),
        (b"FILTERS", c"Number of filters", Some(chain.parts() as u64)),
        (b"ITEMS", c"Number of items inserted", Some(chain.len())),
        (b"EXPANSION", c"Expansion rate", Some(chain.expansion().into()).filter(|&expansion| expansion > 0)),
    ];
    let tell = |value: Option<u64>| value.map_or_else(|| call.null(), |value| call.integer(value));
    if call.len() == 2 {
        call.map(fields.len());
        for (_, name, value) in fields {
            call.word(name);
            tell(value);
        }
        return Ok(());
    }
    let word = call.bytes(2)?;
    // valkey-bloom has this one besides.
    if word.eq_ignore_ascii_case(b"ERROR") {
        tell_name(call, c"Error rate");
        call.bulk(chain.rate().to_string().as_bytes());
        return Ok(());
    }
    let found = fields.into_iter().find(|(name, ..)| name.eq_ignore_ascii_case(word));
    let (_, name, value) = found.ok_or_else(|| Refusal::because("invalid information value"))?;
    tell_name(call, name);
    tell(value);
    Ok(())
}

/// Begins the reply for a single field. It has a name only for clients of RESP3, whose reply is a map.
fn tell_name(call: &Call<'_>, name: &CStr) {
    if call.is_resp3() {
        call.map(1);
        call.word(name);
    } else {
        call.array(1);
    }
}

fn card(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let filter = filter_of(&key, Dialect::Bf)?;
    call.integer(filter.and_then(|filter| filter.table.keys()).unwrap_or(0));
    Ok(())
}
