//! The commands `SEEN.ADD`, `SEEN.HAS`, `SEEN.FORGET`, `SEEN.CARD` and `SEEN.RESERVE`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use furui::store::Window;
use furui::{HashAlgorithm, HashSpec, text};

use super::Set;
use crate::call::{Call, Key, READ, WRITE};
use crate::command::{Command, entry};
use crate::refusal::Refusal;
use crate::text::{seed_text, window_text};

pub const COMMANDS: [Command; 6] = [
    Command::add(c"seen.add", "key member [member ...]", -3, entry!(seen))
        .fast()
        .summary(c"Records members in an exact set, and says for each whether it is new (1) or was seen (0).")
        .complexity(c"O(N) with N members"),
    Command::add(c"seen.at", "key time [member ...]", -3, entry!(seen_at))
        .fast()
        .dangerous()
        .summary(
            c"Works like SEEN.ADD at a time in milliseconds since 1970. Only a master sends it, to replicate sets with a \
              window."
        )
        .complexity(c"O(N) with N members"),
    Command::read(c"seen.has", "key member [member ...]", -3, entry!(has))
        .fast()
        .summary(c"Says for each member whether it is in the set (1) or not (0).")
        .complexity(c"O(N) with N members"),
    Command::remove(c"seen.forget", "key member [member ...]", -3, entry!(forget))
        .fast()
        .summary(c"Removes members from a set, and says for each whether it was there (1) or not (0).")
        .complexity(c"O(N) with N members"),
    Command::read(c"seen.card", "key", 2, entry!(card))
        .fast()
        .summary(c"Returns the number of members of a set, 0 if there is no such key.")
        .complexity(c"O(1)"),
    Command::add(c"seen.reserve", "key [WINDOW window] [SEED number]", -2, entry!(reserve))
        .fast()
        .summary(c"Creates an empty set, which may forget: WINDOW is a time (12h) or a number of members.")
        .complexity(c"O(1)"),
];

/// The numbers of answers of `SEEN.ADD`, since the server's start: seen, and new.
pub static ANSWERS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

fn seen(call: &Call<'_>) -> Result<(), Refusal> {
    let now = call.now();
    let mut key = call.open(1, WRITE)?;
    let set = set_or_new(call, &mut key)?;
    set.tell_time(now);
    let changed = insert(call, set, 2)?;
    match set.window() {
        Some(Window::Milliseconds(_)) => call.replicate_at(c"SEEN.AT", now),
        // A repeated member changes a set with a window of members, because it is counted.
        Some(Window::Keys(_)) => call.replicate(),
        None if changed => call.replicate(),
        None => {}
    }
    Ok(())
}

fn seen_at(call: &Call<'_>) -> Result<(), Refusal> {
    call.check_repeated()?;
    let time = call.number(2, "time")?;
    let mut key = call.open(1, WRITE)?;
    let set = set_or_new(call, &mut key)?;
    set.tell_time(time);
    insert(call, set, 3)?;
    call.replicate();
    Ok(())
}

/// Records the members from argument `first` on, and replies for each: 1 if it is new, 0 if not, or an error if it has
/// no room. Returns true if at least one is new.
fn insert(call: &Call<'_>, set: &mut Set, first: usize) -> Result<bool, Refusal> {
    set.admit(call.rest(first).len())?;
    let mut answers = [0; 2];
    let changed = call.insert_each(first, |member| {
        let is_new = set.insert(set.key(member))?;
        answers[usize::from(is_new)] += 1;
        Ok(is_new)
    });
    ANSWERS.iter().zip(answers).for_each(|(sum, count)| _ = sum.fetch_add(count, Relaxed));
    set.settle();
    if changed {
        call.notify(c"seen.add");
    }
    Ok(changed)
}

/// The set of a key. If the key does not exist, creates an empty set with a random seed, which is replicated.
fn set_or_new<'k>(call: &Call<'_>, key: &'k mut Key) -> Result<&'k mut Set, Refusal> {
    if key.is_empty() {
        let hash = HashSpec::random();
        call.replicate_as(c"SEEN.RESERVE", &[b"SEED", seed_text(hash.seed).as_bytes()]);
        return Ok(key.set(Set::new(hash, None)));
    }
    key.value_mut()?.ok_or_else(|| Refusal::because("the key has no value"))
}

fn has(call: &Call<'_>) -> Result<(), Refusal> {
    let (now, key) = (call.now(), call.open(1, READ)?);
    let set: Option<&Set> = key.value()?;
    call.integers(call.rest(2).map(|member| set.is_some_and(|set| set.contains_at(set.key(member), now))));
    Ok(())
}

fn forget(call: &Call<'_>) -> Result<(), Refusal> {
    let mut key = call.open(1, WRITE)?;
    let (mut set, mut changed): (Option<&mut Set>, _) = (key.value_mut()?, false);
    call.integers(call.rest(2).map(|member| {
        let was_there = set.as_mut().is_some_and(|set| set.remove(set.key(member)));
        changed |= was_there;
        was_there
    }));
    if changed {
        call.replicate();
        call.notify(c"seen.forget");
    }
    Ok(())
}

fn card(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    let set: Option<&Set> = key.value()?;
    call.integer(set.map_or(0, |set| set.len_at(call.now())));
    Ok(())
}

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let (mut window, mut seed) = (None, None);
    for option in call.options(2) {
        let (name, value) = option?;
        match name.as_str() {
            "WINDOW" => window = Some(call.text(value)?.parse()?),
            "SEED" => seed = Some(text::seed(call.text(value)?)?),
            other => return Err(Refusal::because(format!("{other:?} is unknown: there are WINDOW and SEED"))),
        }
    }
    let mut key = call.open(1, WRITE)?;
    key.check_vacant::<Set>()?;
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
    call.replicate_as(c"SEEN.RESERVE", &arguments);
    call.notify(c"seen.reserve");
    call.ok();
    Ok(())
}
