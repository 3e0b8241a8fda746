//! The commands `FURUI.SEEN`, `FURUI.HAS`, `FURUI.FORGET`, `FURUI.CARD` and `FURUI.SEEN.RESERVE`.

use furui::store::Window;
use furui::{HashAlgorithm, HashSpec, text};

use super::Set;
use crate::call::{Call, Key, READ, WRITE};
use crate::command::{Command, entry};
use crate::refusal::Refusal;
use crate::text::{seed_text, window_text};

pub const COMMANDS: [Command; 6] = [
    Command {
        name: c"furui.seen",
        flags: c"write deny-oom fast",
        summary: c"Records members in an exact set, and says for each whether it is new (1) or was seen (0).",
        complexity: c"O(N) with N members",
        arity: -3,
        last_key: 1,
        entry: entry!(seen),
    },
    Command {
        name: c"furui.seen.at",
        flags: c"write deny-oom fast",
        summary:
            c"Works like FURUI.SEEN at a time in milliseconds since 1970. A server replicates sets with a window by it.",
        complexity: c"O(N) with N members",
        arity: -4,
        last_key: 1,
        entry: entry!(seen_at),
    },
    Command {
        name: c"furui.has",
        flags: c"readonly fast",
        summary: c"Says for each member whether it is in the set (1) or not (0).",
        complexity: c"O(N) with N members",
        arity: -3,
        last_key: 1,
        entry: entry!(has),
    },
    Command {
        name: c"furui.forget",
        flags: c"write fast",
        summary: c"Removes members from a set, and says for each whether it was there (1) or not (0).",
        complexity: c"O(N) with N members",
        arity: -3,
        last_key: 1,
        entry: entry!(forget),
    },
    Command {
        name: c"furui.card",
        flags: c"readonly fast",
        summary: c"Returns the number of members of a set, 0 if there is no such key.",
        complexity: c"O(1)",
        arity: 2,
        last_key: 1,
        entry: entry!(card),
    },
    Command {
        name: c"furui.seen.reserve",
        flags: c"write deny-oom fast",
        summary: c"Creates an empty set: FURUI.SEEN.RESERVE key [WINDOW seconds s | WINDOW members] [SEED number].",
        complexity: c"O(1)",
        arity: -2,
        last_key: 1,
        entry: entry!(reserve),
    },
];

fn seen(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() < 3 {
        return Err(Refusal::Arity);
    }
    let now = call.now();
    let mut key = call.open(1, WRITE)?;
    let set = set_or_new(call, &mut key)?;
    if set.window().is_some_and(|window| matches!(window, Window::Milliseconds(_))) {
        set.tell_time(now);
        insert(call, set, 2)?;
        let time = now.to_string();
        let arguments: Vec<&[u8]> = std::iter::once(time.as_bytes()).chain(call.rest(2)).collect();
        call.replicate_as(c"FURUI.SEEN.AT", 1, &arguments);
        return Ok(());
    }
    let changed = insert(call, set, 2)?;
    // A repeat changes a set with a window of members, which counts it.
    if changed || set.window().is_some() {
        call.replicate();
    }
    Ok(())
}

fn seen_at(call: &Call<'_>) -> Result<(), Refusal> {
    let time = call.number(2, "time")?;
    let mut key = call.open(1, WRITE)?;
    let set = set_or_new(call, &mut key)?;
    set.tell_time(time);
    insert(call, set, 3)?;
    call.replicate();
    Ok(())
}

/// Records the members from argument `first` on, and replies: an error for each member that has no room. True if one of
/// them is new.
fn insert(call: &Call<'_>, set: &mut Set, first: usize) -> Result<bool, Refusal> {
    let members = call.rest(first);
    set.admit(members.len())?;
    call.array(members.len());
    let mut changed = false;
    for member in members {
        match set.insert(set.key(member)) {
            Ok(is_new) => {
                call.integer(is_new.into());
                changed |= is_new;
            }
            Err(refusal) => call.refuse(refusal),
        }
    }
    set.settle();
    if changed {
        call.notify(c"furui.seen", 1);
    }
    Ok(changed)
}

/// The set of a key. A key without a value gets an empty set with a seed of its own, which replicas are told.
fn set_or_new<'k>(call: &Call<'_>, key: &'k mut Key) -> Result<&'k mut Set, Refusal> {
    if key.is_empty() {
        let hash = HashSpec::random();
        call.replicate_as(c"FURUI.SEEN.RESERVE", 1, &[b"SEED", seed_text(hash.seed).as_bytes()]);
        return Ok(key.set(Set::new(hash, None)));
    }
    key.value_mut()?.ok_or_else(|| Refusal::because("the key has no value"))
}

fn has(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() < 3 {
        return Err(Refusal::Arity);
    }
    let (now, key) = (call.now(), call.open(1, READ)?);
    let set: Option<&Set> = key.value()?;
    let members = call.rest(2);
    call.array(members.len());
    match set {
        Some(set) => members.for_each(|member| call.integer(set.contains_at(set.key(member), now).into())),
        None => members.for_each(|_| call.integer(0)),
    }
    Ok(())
}

fn forget(call: &Call<'_>) -> Result<(), Refusal> {
    if call.len() < 3 {
        return Err(Refusal::Arity);
    }
    let mut key = call.open(1, WRITE)?;
    let set: Option<&mut Set> = key.value_mut()?;
    let members = call.rest(2);
    call.array(members.len());
    let Some(set) = set else {
        members.for_each(|_| call.integer(0));
        return Ok(());
    };
    let mut changed = false;
    for member in members {
        let was_there = set.remove(set.key(member));
        call.integer(was_there.into());
        changed |= was_there;
    }
    if changed {
        call.replicate();
        call.notify(c"furui.forget", 1);
    }
    Ok(())
}

fn card(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let set: Option<&Set> = key.value()?;
    call.integer(set.map_or(0, |set| set.len() as i64));
    Ok(())
}

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let (mut window, mut seed, mut next) = (None, None, 2);
    while next < call.len() {
        match call.text(next)?.to_ascii_uppercase().as_str() {
            "WINDOW" => window = Some(call.text(next + 1)?.parse()?),
            "SEED" => seed = Some(text::seed(call.text(next + 1)?)?),
            other => return Err(Refusal::because(format!("{other:?} is unknown: there are WINDOW and SEED"))),
        }
        next += 2;
    }
    let mut key = call.open(1, WRITE)?;
    if !key.is_empty() {
        // A key of another type is told as such.
        let _: Option<&Set> = key.value()?;
        return Err(Refusal::because("the key exists already"));
    }
    let hash = match seed {
        Some(seed) => HashSpec { algorithm: HashAlgorithm::Xxh3, seed },
        None => HashSpec::random(),
    };
    key.set(Set::new(hash, window));
    let (seed, window) = (seed_text(hash.seed), window.map(window_text));
    let mut arguments: Vec<&[u8]> = vec![b"SEED", seed.as_bytes()];
    if let Some(window) = &window {
        arguments.extend([&b"WINDOW"[..], window.as_bytes()]);
    }
    call.replicate_as(c"FURUI.SEEN.RESERVE", 1, &arguments);
    call.notify(c"furui.seen.reserve", 1);
    call.ok();
    Ok(())
}
