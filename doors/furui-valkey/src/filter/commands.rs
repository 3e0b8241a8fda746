//! The commands of filters: `FURUI.FILTER.RESERVE`, `.ADD`, `.HAS`, `.DEL`, `.COUNT`, `.INFO` and `.MERGE`.

use furui::{HashAlgorithm, HashSpec, text};

use super::Filter;
use super::kind::Kind;
use super::plan::Plan;
use crate::call::{Call, Key, READ, WRITE};
use crate::command::{Command, entry};
use crate::fact::tell;
use crate::refusal::Refusal;
use crate::value::Value;

pub const COMMANDS: [Command; 8] = [
    Command {
        name: c"furui.filter.reserve",
        flags: c"write deny-oom",
        summary: c"Creates an empty filter: FURUI.FILTER.RESERVE key kind error capacity [WINDOW time] [SEED number].",
        complexity: c"O(N) with N the size of the filter",
        arity: -5,
        last_key: 1,
        entry: entry!(reserve),
    },
    Command {
        name: c"furui.filter.add",
        flags: c"write deny-oom fast",
        summary: c"Inserts keys, and says for each whether it is certainly new (1) or not (0).",
        complexity: c"O(N) with N keys",
        arity: -3,
        last_key: 1,
        entry: entry!(add),
    },
    Command {
        name: c"furui.filter.add.at",
        flags: c"write deny-oom fast",
        summary:
            c"Works like FURUI.FILTER.ADD at a time in milliseconds since 1970. A server replicates windows by it.",
        complexity: c"O(N) with N keys",
        arity: -4,
        last_key: 1,
        entry: entry!(add_at),
    },
    Command {
        name: c"furui.filter.has",
        flags: c"readonly fast",
        summary: c"Says for each key whether it may be in the filter (1) or certainly is not (0).",
        complexity: c"O(N) with N keys",
        arity: -3,
        last_key: 1,
        entry: entry!(has),
    },
    Command {
        name: c"furui.filter.del",
        flags: c"write fast",
        summary: c"Removes keys once, and says for each whether it may have been there (1) or certainly was not (0).",
        complexity: c"O(N) with N keys",
        arity: -3,
        last_key: 1,
        entry: entry!(del),
    },
    Command {
        name: c"furui.filter.count",
        flags: c"readonly fast",
        summary: c"Says for each key how often it is in the filter at most.",
        complexity: c"O(N) with N keys",
        arity: -3,
        last_key: 1,
        entry: entry!(count),
    },
    Command {
        name: c"furui.filter.info",
        flags: c"readonly",
        summary: c"Returns names and values: kind, capacity, keys, error, error-now, bytes, hash, seed.",
        complexity: c"O(N) with N the size of the filter",
        arity: 2,
        last_key: 1,
        entry: entry!(info),
    },
    Command {
        name: c"furui.filter.merge",
        flags: c"write deny-oom",
        summary: c"Adds the keys of filters with equal parameters: FURUI.FILTER.MERGE destination source [source ...].",
        complexity: c"O(N) with N the size of all filters",
        arity: -3,
        last_key: -1,
        entry: entry!(merge),
    },
];

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let (kind, rate) = (Kind::read(call.text(2)?)?, call.number(3, "ERROR")?);
    let (capacity, mut window, mut seed, mut next) = (call.number(4, "CAPACITY")?, None, 0, 5);
    while next < call.len() {
        match call.text(next)?.to_ascii_uppercase().as_str() {
            "WINDOW" if kind == Kind::Window => window = Some(call.text(next + 1)?.parse()?),
            "WINDOW" => return Err(Refusal::because(format!("WINDOW is for the kind window, not for {kind}"))),
            "SEED" => seed = text::seed(call.text(next + 1)?)?,
            other => return Err(Refusal::because(format!("{other:?} is unknown: there are WINDOW and SEED"))),
        }
        next += 2;
    }
    let mut key = call.open(1, WRITE)?;
    if !key.is_empty() {
        // A key of another type is told as such.
        let _: Option<&Filter> = key.value()?;
        return Err(Refusal::because("the key exists already"));
    }
    let hash = HashSpec { algorithm: HashAlgorithm::Xxh3, seed };
    key.set(Filter::from(Plan { kind, rate, capacity, window, hash }.table()?));
    call.replicate();
    call.notify(c"furui.filter.reserve", 1);
    call.ok();
    Ok(())
}

/// The filter of a key, which must exist.
fn filter_of(key: &Key) -> Result<&Filter, Refusal> {
    key.value()?.ok_or_else(missing)
}

/// The filter of a key, which must exist, to be changed.
fn changed(key: &mut Key) -> Result<&mut Filter, Refusal> {
    key.value_mut()?.ok_or_else(missing)
}

fn missing() -> Refusal {
    Refusal::because("there is no such key: FURUI.FILTER.RESERVE it first")
}

fn add(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() < 3 {
        return Err(Refusal::Arity);
    }
    let mut key = call.open(1, WRITE)?;
    let filter = changed(&mut key)?;
    if filter.is_timed() {
        let now = call.now();
        filter.tell_time(now)?;
        insert(call, filter, 2)?;
        let time = now.to_string();
        let arguments: Vec<&[u8]> = std::iter::once(time.as_bytes()).chain(call.rest(2)).collect();
        call.replicate_as(c"FURUI.FILTER.ADD.AT", 1, &arguments);
    } else {
        insert(call, filter, 2)?;
        // A repeat changes filters that forget, and those that count.
        call.replicate();
    }
    Ok(())
}

fn add_at(call: &Call<'_>) -> Result<(), Refusal> {
    let time = call.number(2, "time")?;
    let mut key = call.open(1, WRITE)?;
    let filter = changed(&mut key)?;
    filter.tell_time(time)?;
    insert(call, filter, 3)?;
    call.replicate();
    Ok(())
}

/// Inserts the keys from argument `first` on, and replies: an error for each key that has no room.
fn insert(call: &Call<'_>, filter: &mut Filter, first: usize) -> Result<(), Refusal> {
    let keys = call.rest(first);
    filter.admit(keys.len())?;
    call.array(keys.len());
    for key in keys {
        match filter.insert(filter.key(key)) {
            Ok(is_new) => call.integer(is_new.into()),
            Err(refusal) => call.refuse(refusal),
        }
    }
    filter.settle();
    call.notify(c"furui.filter.add", 1);
    Ok(())
}

fn has(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() < 3 {
        return Err(Refusal::Arity);
    }
    let (now, key) = (call.now(), call.open(1, READ)?);
    let filter: Option<&Filter> = key.value()?;
    let keys = call.rest(2);
    call.array(keys.len());
    match filter {
        Some(filter) => keys.for_each(|key| call.integer(filter.contains_at(filter.key(key), now).into())),
        None => keys.for_each(|_| call.integer(0)),
    }
    Ok(())
}

fn del(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() < 3 {
        return Err(Refusal::Arity);
    }
    let mut key = call.open(1, WRITE)?;
    let filter = changed(&mut key)?;
    let removed = call.rest(2).map(|key| filter.remove(filter.key(key))).collect::<Result<Vec<bool>, Refusal>>()?;
    call.array(removed.len());
    removed.iter().for_each(|&was_there| call.integer(was_there.into()));
    if removed.contains(&true) {
        call.replicate();
        call.notify(c"furui.filter.del", 1);
    }
    Ok(())
}

fn count(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() < 3 {
        return Err(Refusal::Arity);
    }
    let key = call.open(1, READ)?;
    let filter = filter_of(&key)?;
    let counts = call.rest(2).map(|key| filter.count(filter.key(key))).collect::<Result<Vec<u64>, Refusal>>()?;
    call.array(counts.len());
    counts.iter().for_each(|&count| call.integer(i64::try_from(count).unwrap_or(i64::MAX)));
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
    let united = match destination.value::<Filter>()? {
        Some(filter) => {
            let mut united = filter.copy()?;
            united.unite(&sources)?;
            united
        }
        None => {
            let mut united = first.copy()?;
            united.unite(others)?;
            united
        }
    };
    drop((keys, destination));
    call.open(1, WRITE)?.set(united);
    call.replicate();
    call.notify(c"furui.filter.merge", 1);
    call.ok();
    Ok(())
}
