//! The commands of filters: `SIEVE.RESERVE`, `.ADD`, `.HAS`, `.DEL`, `.COUNT`, `.INFO` and `.MERGE`.

use furui::{HashAlgorithm, HashSpec, text};

use super::Filter;
use super::kind::Kind;
use super::plan::Plan;
use crate::call::{Call, Key, READ, WRITE};
use crate::command::{Command, entry};
use crate::fact::tell;
use crate::rdb::Value;
use crate::refusal::Refusal;

pub const COMMANDS: [Command; 8] = [
    Command::add(c"sieve.reserve", "key kind error capacity [WINDOW window] [SEED number]", -5, entry!(reserve))
        .summary(c"Creates an empty filter. The kind window may have a WINDOW of time (12h).")
        .complexity(c"O(N) with N the size of the filter"),
    Command::add(c"sieve.add", "key item [item ...]", -3, entry!(add))
        .fast()
        .summary(c"Inserts keys, and says for each whether it is certainly new (1) or not (0).")
        .complexity(c"O(N) with N keys"),
    Command::add(c"sieve.at", "key time [item ...]", -3, entry!(add_at))
        .fast()
        .dangerous()
        .summary(
            c"Works like SIEVE.ADD at a time in milliseconds since 1970. Only a master sends it, to replicate windows.",
        )
        .complexity(c"O(N) with N keys"),
    Command::read(c"sieve.has", "key item [item ...]", -3, entry!(has))
        .fast()
        .summary(c"Says for each key whether it may be in the filter (1) or certainly is not (0).")
        .complexity(c"O(N) with N keys"),
    Command::remove(c"sieve.del", "key item [item ...]", -3, entry!(del))
        .fast()
        .summary(c"Removes keys once, and says for each whether it may have been there (1) or certainly was not (0).")
        .complexity(c"O(N) with N keys"),
    Command::read(c"sieve.count", "key item [item ...]", -3, entry!(count))
        .fast()
        .summary(c"Says for each key how often it is in the filter at most.")
        .complexity(c"O(N) with N keys"),
    Command::read(c"sieve.info", "key", 2, entry!(info))
        .summary(c"Returns names and values: kind, capacity, keys, error, error-now, bytes, hash, seed.")
        .complexity(c"O(N) with N the size of the filter"),
    Command::add(c"sieve.merge", "destination source [source ...]", -3, entry!(merge))
        .summary(c"Adds the keys of filters with equal parameters to a filter, which is made if there is none.")
        .complexity(c"O(N) with N the size of all filters"),
];

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let (kind, rate) = (Kind::read(call.text(2)?)?, call.number(3, "ERROR")?);
    let (capacity, mut window, mut seed) = (call.number(4, "CAPACITY")?, None, 0);
    for option in call.options(5) {
        let (name, value) = option?;
        match name.as_str() {
            "WINDOW" if kind == Kind::Window => window = Some(call.text(value)?.parse()?),
            "WINDOW" => return Err(Refusal::because(format!("WINDOW is for the kind window, not for {kind}"))),
            "SEED" => seed = text::seed(call.text(value)?)?,
            other => return Err(Refusal::because(format!("{other:?} is unknown: there are WINDOW and SEED"))),
        }
    }
    let mut key = call.open(1, WRITE)?;
    key.check_vacant::<Filter>()?;
    let hash = HashSpec { algorithm: HashAlgorithm::Xxh3, seed };
    key.set(Filter::from(Plan { kind, rate, capacity, window, hash }.table()?));
    call.replicate();
    call.notify(c"sieve.reserve");
    call.ok();
    Ok(())
}

/// The filter of a key. A key that does not exist is an error.
fn filter_of(key: &Key) -> Result<&Filter, Refusal> {
    key.value()?.ok_or_else(missing)
}

/// The filter of a key, for changes. A key that does not exist is an error.
fn changed(key: &mut Key) -> Result<&mut Filter, Refusal> {
    key.value_mut()?.ok_or_else(missing)
}

fn missing() -> Refusal {
    Refusal::because("there is no such key: SIEVE.RESERVE it first")
}

fn add(call: &Call<'_>) -> Result<(), Refusal> {
    let mut key = call.open(1, WRITE)?;
    let filter = changed(&mut key)?;
    let now = call.now();
    filter.tell_time(now);
    let has_new = insert(call, filter, 2)?;
    if filter.table.is_timed() {
        call.replicate_at(c"SIEVE.AT", now);
    } else if has_new || filter.table.counts_repeats() {
        call.replicate();
    }
    Ok(())
}

fn add_at(call: &Call<'_>) -> Result<(), Refusal> {
    call.check_repeated()?;
    let time = call.number(2, "time")?;
    let mut key = call.open(1, WRITE)?;
    let filter = changed(&mut key)?;
    filter.tell_time(time);
    insert(call, filter, 3)?;
    call.replicate();
    Ok(())
}

/// Inserts the keys from argument `first` on, and replies for each: 1 if it is new, 0 if not, or an error if it has no
/// room. Returns true if at least one is new.
fn insert(call: &Call<'_>, filter: &mut Filter, first: usize) -> Result<bool, Refusal> {
    filter.admit(call.rest(first).len())?;
    let has_new = call.insert_each(first, |key| filter.insert(filter.key(key)));
    filter.settle();
    if has_new || filter.table.counts_repeats() {
        call.notify(c"sieve.add");
    }
    Ok(has_new)
}

fn has(call: &Call<'_>) -> Result<(), Refusal> {
    let (now, key) = (call.now(), call.open(1, READ)?);
    let filter: Option<&Filter> = key.value()?;
    call.integers(call.rest(2).map(|key| filter.is_some_and(|filter| filter.table.contains_at(filter.key(key), now))));
    Ok(())
}

fn del(call: &Call<'_>) -> Result<(), Refusal> {
    let mut key = call.open(1, WRITE)?;
    let filter = changed(&mut key)?;
    let removed =
        call.rest(2).map(|key| filter.table.remove(filter.key(key))).collect::<Result<Vec<bool>, Refusal>>()?;
    call.integers(removed.iter().copied());
    if removed.contains(&true) {
        call.replicate();
        call.notify(c"sieve.del");
    }
    Ok(())
}

fn count(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let filter = filter_of(&key)?;
    let counts = call.rest(2).map(|key| filter.table.count(filter.key(key))).collect::<Result<Vec<u64>, Refusal>>()?;
    call.integers(counts.into_iter());
    Ok(())
}

fn info(call: &Call<'_>) -> Result<(), Refusal> {
    tell(call, &filter_of(&call.open(1, READ)?)?.facts());
    Ok(())
}

fn merge(call: &Call<'_>) -> Result<(), Refusal> {
    let keys = (2..call.len()).map(|index| call.open(index, READ)).collect::<Result<Vec<Key>, Refusal>>()?;
    let sources = keys.iter().map(filter_of).collect::<Result<Vec<&Filter>, Refusal>>()?;
    let [first, others @ ..] = &sources[..] else { return Err(Refusal::Arity) };
    let destination = call.open(1, READ)?;
    let (base, others) = match destination.value::<Filter>()? {
        Some(filter) => (filter, &sources[..]),
        None => (*first, others),
    };
    let mut united = base.copy()?;
    united.unite(others)?;
    drop((keys, destination));
    call.open(1, WRITE)?.set(united);
    call.replicate();
    call.notify(c"sieve.merge");
    call.ok();
    Ok(())
}
