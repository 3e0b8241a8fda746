//! The commands `CF.*`, as RedisBloom has them, on quotient filters.

use super::cf_arguments::{USUAL, of_insert, of_reserve};
use super::{all_exist, changed, exists, filter_of, load_chunk, missing, scan_dump, tell_first};
use crate::call::{Call, READ, WRITE};
use crate::command::{Command, entry};
use crate::filter::Filter;
use crate::filter::growing_quotient::{CuckooShape, GrowingQuotient};
use crate::filter::settings::Dialect;
use crate::filter::table::Table;
use crate::limits;
use crate::rdb::Value;
use crate::refusal::Refusal;

pub const COMMANDS: [Command; 13] = [
    Command::add(c"CF.RESERVE", "key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n]", -3, entry!(reserve))
        .summary(c"Creates an empty filter: CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n].")
        .complexity(c"O(N) with N the size of the filter"),
    Command::add(c"CF.ADD", "key item", 3, entry!(|call| add(call, false)))
        .fast()
        .summary(c"Inserts an item once more. Creates the filter if there is none.")
        .complexity(c"O(1)"),
    Command::add(c"CF.ADDNX", "key item", 3, entry!(|call| add(call, true)))
        .fast()
        .summary(
            c"Inserts an item if it is certainly not there (1), or else not (0). Creates the filter if there is none.",
        )
        .complexity(c"O(1)"),
    Command::add(
        c"CF.INSERT",
        "key [CAPACITY n] [NOCREATE] ITEMS item [item ...]",
        -4,
        entry!(|call| insert(call, false)),
    )
    .fast()
    .summary(c"Inserts items once more: CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item ...")
    .complexity(c"O(K) with K items"),
    Command::add(
        c"CF.INSERTNX",
        "key [CAPACITY n] [NOCREATE] ITEMS item [item ...]",
        -4,
        entry!(|call| insert(call, true)),
    )
    .fast()
    .summary(c"Inserts the items that are certainly not there: CF.INSERTNX key [CAPACITY n] [NOCREATE] ITEMS item ...")
    .complexity(c"O(K) with K items"),
    Command::read(c"CF.EXISTS", "key item", 3, entry!(|call| exists(call, Dialect::Cf)))
        .fast()
        .summary(c"Says whether an item may be in the filter (1) or certainly is not (0).")
        .complexity(c"O(1)"),
    Command::read(c"CF.MEXISTS", "key item [item ...]", -3, entry!(|call| all_exist(call, Dialect::Cf)))
        .fast()
        .summary(c"Says for each item whether it may be in the filter (1) or certainly is not (0).")
        .complexity(c"O(K) with K items"),
    Command::remove(c"CF.DEL", "key item", 3, entry!(del))
        .fast()
        .summary(c"Removes an item once, and says whether it may have been there (1) or certainly was not (0).")
        .complexity(c"O(1)"),
    Command::read(c"CF.COUNT", "key item", 3, entry!(count))
        .fast()
        .summary(c"Returns how often an item is in the filter at most.")
        .complexity(c"O(1)"),
    Command::read(c"CF.INFO", "key", 2, entry!(info)).fast().summary(c"Returns names and values.").complexity(c"O(1)"),
    Command::remove(c"CF.COMPACT", "key", 2, entry!(compact))
        .summary(c"Makes a filter from which items were removed as small as its items allow.")
        .complexity(c"O(N) with N the size of the filter"),
    Command::read(c"CF.SCANDUMP", "key iterator", 3, entry!(|call| scan_dump(call, Dialect::Cf)))
        .dangerous()
        .summary(c"Returns a chunk of the filter, and the iterator of the next one: 0 at first and after the last one.")
        .complexity(c"O(N) with N the size of the filter"),
    Command::add(c"CF.LOADCHUNK", "key iterator data", 4, entry!(|call| load_chunk(call, Dialect::Cf)))
        .dangerous()
        .summary(c"Takes a chunk of CF.SCANDUMP with its iterator. The last one makes the filter.")
        .complexity(c"O(N) with N the size of the chunk; of the filter for the last one"),
];

/// Creates an empty filter, after a check that its memory is within the limits.
fn make(shape: CuckooShape) -> Result<Filter, Refusal> {
    limits::admit(shape.bytes())?;
    Ok(Table::Copies(Box::new(GrowingQuotient::new(shape)?)).into())
}

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let shape = of_reserve(call)?;
    super::reserve(call, Dialect::Cf, || make(shape))
}

fn add(call: &Call<'_>, only_new: bool) -> Result<(), Refusal> {
    tell_first(call, insert_into(call, Some(USUAL), 2, only_new)?)
}

fn insert(call: &Call<'_>, only_new: bool) -> Result<(), Refusal> {
    let (shape, creates, first) = of_insert(call)?;
    let answers = insert_into(call, creates.then_some(shape), first, only_new)?;
    call.array(answers.len());
    for answer in answers {
        match answer {
            // Clients of RESP3 expect a boolean from CF.INSERT, and a number from CF.INSERTNX.
            answer if call.is_resp3() && !only_new => call.boolean(answer.unwrap_or(false)),
            Ok(is_inserted) => call.integer(is_inserted),
            Err(_) => call.integer(-1),
        }
    }
    Ok(())
}

/// Inserts the items from argument `first` on, and returns an answer for each. If the key does not exist, a filter of
/// this shape is created.
fn insert_into(
    call: &Call<'_>,
    shape: Option<CuckooShape>,
    first: usize,
    only_new: bool,
) -> Result<Vec<Result<bool, Refusal>>, Refusal> {
    let insert = |filter: &mut Filter, item| match only_new && filter.table.contains_at(item, 0) {
        true => Ok(false),
        false => filter.insert(item).map(|_| true),
    };
    super::insert_into(call, Dialect::Cf, first, || make(shape.ok_or_else(missing)?), insert)
}

fn del(call: &Call<'_>) -> Result<(), Refusal> {
    let mut key = call.open(1, WRITE)?;
    let filter = changed(&mut key, Dialect::Cf)?.ok_or_else(|| Refusal::because("Not found"))?;
    let was_there = filter.table.remove(filter.key(call.bytes(2)?))?;
    if was_there {
        call.replicate();
        call.notify(c"cf.del");
    }
    call.boolean(was_there);
    Ok(())
}

fn count(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let (filter, item) = (filter_of(&key, Dialect::Cf)?, call.bytes(2)?);
    call.integer(filter.map_or(Ok(0), |filter| filter.table.count(filter.key(item)))?);
    Ok(())
}

fn info(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let filter = filter_of(&key, Dialect::Cf)?.ok_or_else(missing)?;
    let Table::Copies(copies) = &filter.table else { return Err(Refusal::WrongType) };
    let shape = copies.shape;
    let fields = [
        (c"Size", filter.bytes() as u64),
        // The number of slots of the table, divided by the bucket size that the client has given.
        (c"Number of buckets", copies.slots().div_ceil(shape.bucket_size.into())),
        (c"Number of filters", 1),
        (c"Number of items inserted", copies.len()),
        (c"Number of items deleted", copies.deleted),
        (c"Bucket size", shape.bucket_size.into()),
        (c"Expansion rate", shape.expansion.into()),
        (c"Max iterations", shape.max_iterations.into()),
    ];
    call.map(fields.len());
    for (name, value) in fields {
        call.word(name);
        call.integer(value);
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
