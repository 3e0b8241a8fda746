//! The commands `BF.*`, as RedisBloom and valkey-bloom have them.

use super::bf_arguments::BloomShape;
use super::{changed, filter_of, load_chunk, missing, reply, scan_dump, tell_first};
use crate::call::{Call, Key, READ, WRITE};
use crate::command::{Command, entry};
use crate::filter::Filter;
use crate::filter::settings::Dialect;
use crate::refusal::Refusal;
use crate::value::Value;

pub const COMMANDS: [Command; 10] = [
    Command {
        name: c"BF.RESERVE",
        flags: c"write deny-oom",
        summary: c"Creates an empty Bloom filter: BF.RESERVE key error capacity [EXPANSION n | NONSCALING].",
        complexity: c"O(N) with N the size of the filter",
        arity: -4,
        last_key: 1,
        entry: entry!(reserve),
    },
    Command {
        name: c"BF.ADD",
        flags: c"write deny-oom fast",
        summary: c"Inserts an item, and says whether it is certainly new (1) or not (0). Creates the filter if there is none.",
        complexity: c"O(N) with N filters in the chain",
        arity: 3,
        last_key: 1,
        entry: entry!(add),
    },
    Command {
        name: c"BF.MADD",
        flags: c"write deny-oom fast",
        summary: c"Inserts items, and says for each whether it is certainly new (1) or not (0).",
        complexity: c"O(K * N) with K items and N filters in the chain",
        arity: -3,
        last_key: 1,
        entry: entry!(add_all),
    },
    Command {
        name: c"BF.INSERT",
        flags: c"write deny-oom fast",
        summary: c"Inserts items: BF.INSERT key [CAPACITY n] [ERROR rate] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item ...",
        complexity: c"O(K * N) with K items and N filters in the chain",
        arity: -4,
        last_key: 1,
        entry: entry!(insert),
    },
    Command {
        name: c"BF.EXISTS",
        flags: c"readonly fast",
        summary: c"Says whether an item may be in the filter (1) or certainly is not (0).",
        complexity: c"O(N) with N filters in the chain",
        arity: 3,
        last_key: 1,
        entry: entry!(exists),
    },
    Command {
        name: c"BF.MEXISTS",
        flags: c"readonly fast",
        summary: c"Says for each item whether it may be in the filter (1) or certainly is not (0).",
        complexity: c"O(K * N) with K items and N filters in the chain",
        arity: -3,
        last_key: 1,
        entry: entry!(all_exist),
    },
    Command {
        name: c"BF.INFO",
        flags: c"readonly fast",
        summary: c"Returns names and values: BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION].",
        complexity: c"O(N) with N filters in the chain",
        arity: -2,
        last_key: 1,
        entry: entry!(info),
    },
    Command {
        name: c"BF.CARD",
        flags: c"readonly fast",
        summary: c"Returns the number of items that were certainly new, 0 if there is no such key.",
        complexity: c"O(N) with N filters in the chain",
        arity: 2,
        last_key: 1,
        entry: entry!(card),
    },
    Command {
        name: c"BF.SCANDUMP",
        flags: c"readonly",
        summary: c"Returns a chunk of the filter, and the iterator of the next one: 0 at first and after the last one.",
        complexity: c"O(N) with N the size of the filter",
        arity: 3,
        last_key: 1,
        entry: entry!(scan),
    },
    Command {
        name: c"BF.LOADCHUNK",
        flags: c"write deny-oom",
        summary: c"Takes a chunk of BF.SCANDUMP with its iterator. The last one makes the filter.",
        complexity: c"O(N) with N the size of the chunk; of the filter for the last one",
        arity: 4,
        last_key: 1,
        entry: entry!(load),
    },
];

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let shape = BloomShape::of_reserve(call)?;
    let mut key = call.open(1, WRITE)?;
    if filter_of(&key, Dialect::Bf)?.is_some() {
        return Err(Refusal::because("item exists"));
    }
    key.set(shape.make()?);
    call.replicate();
    call.notify(c"bloom.reserve", 1);
    call.ok();
    Ok(())
}

fn add(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() != 3 {
        return Err(Refusal::Arity);
    }
    tell_first(call, insert_into(call, Some(&BloomShape::default()), 2)?)
}

fn add_all(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() < 3 {
        return Err(Refusal::Arity);
    }
    tell(call, insert_into(call, Some(&BloomShape::default()), 2)?);
    Ok(())
}

fn insert(call: &Call<'_>) -> Result<(), Refusal> {
    let (shape, creates, first) = BloomShape::of_insert(call)?;
    tell(call, insert_into(call, creates.then_some(&shape), first)?);
    Ok(())
}

/// Inserts the items from argument `first` on, up to the first one that is refused. If there is no filter, it is made
/// of this shape. Gives an answer for each item: whether it is certainly new.
fn insert_into(
    call: &Call<'_>,
    shape: Option<&BloomShape>,
    first: usize,
) -> Result<Vec<Result<bool, Refusal>>, Refusal> {
    let mut key = call.open(1, WRITE)?;
    let mut changes = false;
    if filter_of(&key, Dialect::Bf)?.is_none() {
        key.set(shape.ok_or_else(missing)?.make()?);
        call.notify(c"bloom.reserve", 1);
        changes = true;
    }
    let filter = changed(&mut key, Dialect::Bf)?.ok_or_else(missing)?;
    let mut answers = vec![];
    for item in call.rest(first) {
        let answer = filter.insert(filter.key(item));
        let is_refused = answer.is_err();
        answers.push(answer);
        if is_refused {
            break;
        }
    }
    filter.settle();
    if answers.iter().any(|answer| matches!(answer, Ok(true))) {
        call.notify(c"bloom.add", 1);
        changes = true;
    }
    if changes {
        call.replicate();
    }
    Ok(answers)
}

/// Replies with the answers for items.
fn tell(call: &Call<'_>, answers: Vec<Result<bool, Refusal>>) {
    call.array(answers.len());
    for answer in answers {
        match answer {
            Ok(is_new) => call.boolean(is_new),
            Err(refusal) => call.refuse(refusal),
        }
    }
}

fn exists(call: &Call<'_>) -> Result<(), Refusal> {
    super::exists(call, Dialect::Bf)
}

fn all_exist(call: &Call<'_>) -> Result<(), Refusal> {
    super::all_exist(call, Dialect::Bf)
}

fn info(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() > 3 {
        return Err(Refusal::Arity);
    }
    let key = call.open(1, READ)?;
    let filter = filter_of(&key, Dialect::Bf)?.ok_or_else(missing)?;
    let chain = filter.chain().ok_or(Refusal::WrongType)?;
    let fields = [
        (&b"CAPACITY"[..], c"Capacity", Some(chain.capacity())),
        (b"SIZE", c"Size", Some(filter.bytes() as u64)),
        (b"FILTERS", c"Number of filters", Some(chain.parts() as u64)),
        (b"ITEMS", c"Number of items inserted", Some(chain.len())),
        (b"EXPANSION", c"Expansion rate", Some(chain.expansion().into()).filter(|&expansion| expansion > 0)),
    ];
    let tell = |value: Option<u64>| value.map_or_else(|| call.null(), |value| reply(call, value));
    if call.len() == 2 {
        call.map(fields.len());
        for (_, name, value) in fields {
            call.word(name);
            tell(value);
        }
        return Ok(());
    }
    let word = call.bytes(2)?;
    let found = fields.into_iter().find(|(name, ..)| name.eq_ignore_ascii_case(word));
    let (_, name, value) = found.ok_or_else(|| Refusal::because("invalid information value"))?;
    // A single value has a name only where there are maps.
    if call.is_resp3() {
        call.map(1);
        call.word(name);
    } else {
        call.array(1);
    }
    tell(value);
    Ok(())
}

fn card(call: &Call<'_>) -> Result<(), Refusal> {
    let key: Key = call.open(1, READ)?;
    let filter = filter_of(&key, Dialect::Bf)?;
    reply(call, filter.and_then(Filter::keys).unwrap_or(0));
    Ok(())
}

fn scan(call: &Call<'_>) -> Result<(), Refusal> {
    scan_dump(call, Dialect::Bf, "Second argument must be numeric")
}

fn load(call: &Call<'_>) -> Result<(), Refusal> {
    load_chunk(call, Dialect::Bf, "invalid offset - no link found", "received bad data")
}
