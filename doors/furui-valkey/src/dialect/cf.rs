//! The commands `CF.*`, as RedisBloom has them, on quotient filters.

use super::cf_arguments::{USUAL, of_insert, of_reserve};
use super::{changed, filter_of, load_chunk, missing, reply, scan_dump, tell_first};
use crate::call::{Call, READ, WRITE};
use crate::command::{Command, entry};
use crate::filter::Filter;
use crate::filter::growing_quotient::{CuckooShape, GrowingQuotient};
use crate::filter::settings::Dialect;
use crate::filter::table::Table;
use crate::limits::Account;
use crate::refusal::Refusal;
use crate::value::Value;

pub const COMMANDS: [Command; 13] = [
    Command {
        name: c"CF.RESERVE",
        flags: c"write deny-oom",
        summary: c"Creates an empty filter: CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n].",
        complexity: c"O(N) with N the size of the filter",
        arity: -3,
        last_key: 1,
        entry: entry!(reserve),
    },
    Command {
        name: c"CF.ADD",
        flags: c"write deny-oom fast",
        summary: c"Inserts an item once more. Creates the filter if there is none.",
        complexity: c"O(1)",
        arity: 3,
        last_key: 1,
        entry: entry!(add),
    },
    Command {
        name: c"CF.ADDNX",
        flags: c"write deny-oom fast",
        summary:
            c"Inserts an item if it is certainly not there (1), or else not (0). Creates the filter if there is none.",
        complexity: c"O(1)",
        arity: 3,
        last_key: 1,
        entry: entry!(add_new),
    },
    Command {
        name: c"CF.INSERT",
        flags: c"write deny-oom fast",
        summary: c"Inserts items once more: CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item ...",
        complexity: c"O(K) with K items",
        arity: -4,
        last_key: 1,
        entry: entry!(insert),
    },
    Command {
        name: c"CF.INSERTNX",
        flags: c"write deny-oom fast",
        summary:
            c"Inserts the items that are certainly not there: CF.INSERTNX key [CAPACITY n] [NOCREATE] ITEMS item ...",
        complexity: c"O(K) with K items",
        arity: -4,
        last_key: 1,
        entry: entry!(insert_new),
    },
    Command {
        name: c"CF.EXISTS",
        flags: c"readonly fast",
        summary: c"Says whether an item may be in the filter (1) or certainly is not (0).",
        complexity: c"O(1)",
        arity: 3,
        last_key: 1,
        entry: entry!(exists),
    },
    Command {
        name: c"CF.MEXISTS",
        flags: c"readonly fast",
        summary: c"Says for each item whether it may be in the filter (1) or certainly is not (0).",
        complexity: c"O(K) with K items",
        arity: -3,
        last_key: 1,
        entry: entry!(all_exist),
    },
    Command {
        name: c"CF.DEL",
        flags: c"write fast",
        summary: c"Removes an item once, and says whether it may have been there (1) or certainly was not (0).",
        complexity: c"O(1)",
        arity: 3,
        last_key: 1,
        entry: entry!(del),
    },
    Command {
        name: c"CF.COUNT",
        flags: c"readonly fast",
        summary: c"Returns how often an item is in the filter at most.",
        complexity: c"O(1)",
        arity: 3,
        last_key: 1,
        entry: entry!(count),
    },
    Command {
        name: c"CF.INFO",
        flags: c"readonly fast",
        summary: c"Returns names and values.",
        complexity: c"O(1)",
        arity: 2,
        last_key: 1,
        entry: entry!(info),
    },
    Command {
        name: c"CF.COMPACT",
        flags: c"write",
        summary: c"Makes a filter from which items were removed as small as its items allow.",
        complexity: c"O(N) with N the size of the filter",
        arity: 2,
        last_key: 1,
        entry: entry!(compact),
    },
    Command {
        name: c"CF.SCANDUMP",
        flags: c"readonly",
        summary: c"Returns a chunk of the filter, and the iterator of the next one: 0 at first and after the last one.",
        complexity: c"O(N) with N the size of the filter",
        arity: 3,
        last_key: 1,
        entry: entry!(scan),
    },
    Command {
        name: c"CF.LOADCHUNK",
        flags: c"write deny-oom",
        summary: c"Takes a chunk of CF.SCANDUMP with its iterator. The last one makes the filter.",
        complexity: c"O(N) with N the size of the chunk; of the filter for the last one",
        arity: 4,
        last_key: 1,
        entry: entry!(load),
    },
];

/// The empty filter, whose memory is counted before it is taken.
fn make(shape: CuckooShape) -> Result<Filter, Refusal> {
    Account::default().admit(0, shape.bytes())?;
    Ok(Table::Copies(Box::new(GrowingQuotient::new(shape)?)).into())
}

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let shape = of_reserve(call)?;
    let mut key = call.open(1, WRITE)?;
    if filter_of(&key, Dialect::Cf)?.is_some() {
        return Err(Refusal::because("item exists"));
    }
    key.set(make(shape)?);
    call.replicate();
    call.notify(c"cf.reserve", 1);
    call.ok();
    Ok(())
}

fn add(call: &Call<'_>) -> Result<(), Refusal> {
    add_one(call, false)
}

fn add_new(call: &Call<'_>) -> Result<(), Refusal> {
    add_one(call, true)
}

fn add_one(call: &Call<'_>, only_new: bool) -> Result<(), Refusal> {
    if call.len() != 3 {
        return Err(Refusal::Arity);
    }
    tell_first(call, insert_into(call, Some(USUAL), 2, only_new)?)
}

fn insert(call: &Call<'_>) -> Result<(), Refusal> {
    insert_all(call, false)
}

fn insert_new(call: &Call<'_>) -> Result<(), Refusal> {
    insert_all(call, true)
}

fn insert_all(call: &Call<'_>, only_new: bool) -> Result<(), Refusal> {
    let (shape, creates, first) = of_insert(call)?;
    let answers = insert_into(call, creates.then_some(shape), first, only_new)?;
    call.array(answers.len());
    for answer in answers {
        match answer {
            // Clients of RESP3 expect yes or no from CF.INSERT, and a number from CF.INSERTNX.
            answer if call.is_resp3() && !only_new => call.boolean(answer.unwrap_or(false)),
            Ok(is_inserted) => call.integer(is_inserted.into()),
            Err(_) => call.integer(-1),
        }
    }
    Ok(())
}

/// Inserts the items from argument `first` on. If there is no filter, it is made of this shape. Gives an answer for
/// each item: whether it was inserted.
fn insert_into(
    call: &Call<'_>,
    shape: Option<CuckooShape>,
    first: usize,
    only_new: bool,
) -> Result<Vec<Result<bool, Refusal>>, Refusal> {
    let mut key = call.open(1, WRITE)?;
    let mut changes = false;
    if filter_of(&key, Dialect::Cf)?.is_none() {
        key.set(make(shape.ok_or_else(missing)?)?);
        changes = true;
    }
    let filter = changed(&mut key, Dialect::Cf)?.ok_or_else(missing)?;
    let mut answers = vec![];
    for item in call.rest(first) {
        let item = filter.key(item);
        let answer =
            if only_new && filter.contains_at(item, 0) { Ok(false) } else { filter.insert(item).map(|_| true) };
        changes |= matches!(answer, Ok(true));
        answers.push(answer);
    }
    filter.settle();
    if changes {
        call.replicate();
        call.notify(c"cf.add", 1);
    }
    Ok(answers)
}

fn exists(call: &Call<'_>) -> Result<(), Refusal> {
    super::exists(call, Dialect::Cf)
}

fn all_exist(call: &Call<'_>) -> Result<(), Refusal> {
    super::all_exist(call, Dialect::Cf)
}

fn del(call: &Call<'_>) -> Result<(), Refusal> {
    let mut key = call.open(1, WRITE)?;
    let filter = changed(&mut key, Dialect::Cf)?.ok_or_else(|| Refusal::because("Not found"))?;
    let was_there = filter.remove(filter.key(call.bytes(2)?))?;
    if was_there {
        call.replicate();
        call.notify(c"cf.del", 1);
    }
    call.boolean(was_there);
    Ok(())
}

fn count(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let (filter, item) = (filter_of(&key, Dialect::Cf)?, call.bytes(2)?);
    reply(call, filter.map_or(Ok(0), |filter| filter.count(filter.key(item)))?);
    Ok(())
}

fn info(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let filter = filter_of(&key, Dialect::Cf)?.ok_or_else(missing)?;
    let copies = filter.copies().ok_or(Refusal::WrongType)?;
    let shape = copies.shape();
    let fields = [
        (c"Size", filter.bytes() as u64),
        // The slots of the table, in buckets of the size that the client has given.
        (c"Number of buckets", copies.slots().div_ceil(shape.bucket_size.into())),
        (c"Number of filters", 1),
        (c"Number of items inserted", copies.len()),
        (c"Number of items deleted", copies.deleted()),
        (c"Bucket size", shape.bucket_size.into()),
        (c"Expansion rate", shape.expansion.into()),
        (c"Max iterations", shape.max_iterations.into()),
    ];
    call.map(fields.len());
    for (name, value) in fields {
        call.word(name);
        reply(call, value);
    }
    Ok(())
}

fn compact(call: &Call<'_>) -> Result<(), Refusal> {
    let mut key = call.open(1, WRITE)?;
    let filter = changed(&mut key, Dialect::Cf)?;
    filter.ok_or_else(|| Refusal::because("Cuckoo filter was not found"))?.compact()?;
    call.replicate();
    call.ok();
    Ok(())
}

fn scan(call: &Call<'_>) -> Result<(), Refusal> {
    scan_dump(call, Dialect::Cf, "Invalid position")
}

fn load(call: &Call<'_>) -> Result<(), Refusal> {
    let is_first = call.bytes(2)? == b"1";
    load_chunk(
        call,
        Dialect::Cf,
        "Invalid position",
        if is_first { "Couldn't create filter!" } else { "Couldn't load chunk!" },
    )
}
