//! The commands that change dictionaries: `DICT.SET`, `.NUMBER`, `.DEL` and `.RESERVE`.

use std::ffi::CStr;

use furui::HashSpec;
use furui::dict::Purpose;
use furui::dict::{MAX_KEY, MAX_VALUE};
use furui::store::Layout;

use super::Dictionary;
use crate::call::{Call, Key, WRITE};
use crate::command::{Command, entry};
use crate::limits;
use crate::refusal::Refusal;
use crate::text::seed_text;

pub const COMMANDS: [Command; 4] = [
    Command::add(c"dict.set", "key field value [field value ...]", -4, entry!(set))
        .summary(c"Sets the values of fields in a dictionary of bytes, and returns how many of the fields are new.")
        .complexity(c"O(N) with N fields"),
    Command::add(c"dict.number", "key field [field ...]", -3, entry!(number))
        .summary(
            c"Returns the number of each field in a dictionary of numbers. A new field gets the next one, from 0 on.",
        )
        .complexity(c"O(N) with N fields"),
    Command::remove(c"dict.del", "key field [field ...]", -3, entry!(delete))
        .summary(c"Removes fields from a dictionary, and returns how many of them were there.")
        .complexity(c"O(N) with N fields"),
    Command::add(c"dict.reserve", "key BYTES|NUMBERS [SEED number] [LAYOUT compact|louds]", -3, entry!(reserve))
        .fast()
        .summary(c"Creates an empty dictionary: DICT.RESERVE key BYTES|NUMBERS [SEED number] [LAYOUT compact|louds].")
        .complexity(c"O(1)"),
];

fn set(call: &Call<'_>) -> Result<(), Refusal> {
    let parts: Vec<&[u8]> = call.rest(2).collect();
    if !parts.len().is_multiple_of(2) {
        return Err(Refusal::Arity);
    }
    for pair in parts.chunks_exact(2) {
        check_length("field", pair[0], MAX_KEY)?;
        check_length("value", pair[1], MAX_VALUE)?;
    }
    let mut key = call.open(1, WRITE)?;
    let growth = Dictionary::growth(parts.iter().copied());
    let dict = dict_or_new(call, &mut key, Purpose::Bytes, growth)?;
    dict.admit(growth)?;
    let are_new = each(call, c"DICT.SET", dict, (&parts, 2), |dict, pair| dict.put(pair[0], pair[1]))?;
    call.replicate();
    call.notify(c"dict.set");
    call.integer(are_new.into_iter().filter(|&is_new| is_new).count());
    Ok(())
}

fn number(call: &Call<'_>) -> Result<(), Refusal> {
    let fields: Vec<&[u8]> = call.rest(2).collect();
    for field in &fields {
        check_length("field", field, MAX_KEY)?;
    }
    let mut key = call.open(1, WRITE)?;
    let growth = Dictionary::growth(fields.iter().copied());
    let dict = dict_or_new(call, &mut key, Purpose::Numbers, growth)?;
    if dict.admit(growth).is_err() {
        // Fields that already have a number need no memory.
        let known = dict.content.get_all(&fields)?;
        let new = fields.iter().zip(known).filter(|(_, known)| known.is_none()).map(|(&field, _)| field);
        dict.admit(Dictionary::growth(new))?;
    }
    let first = dict.content.next_number();
    let numbers = each(call, c"DICT.NUMBER", dict, (&fields, 1), |dict, field| dict.number(field[0]))?;
    if dict.content.next_number() != first {
        call.replicate();
        call.notify(c"dict.number");
    }
    call.integers(numbers.into_iter());
    Ok(())
}

fn delete(call: &Call<'_>) -> Result<(), Refusal> {
    let fields: Vec<&[u8]> = call.rest(2).collect();
    let mut key = call.open(1, WRITE)?;
    let Some(dict) = key.value_mut::<Dictionary>()? else {
        call.integer(0);
        return Ok(());
    };
    dict.tend();
    // A deletion takes memory until it is merged with the field. It is never refused, because deleting is the way to
    // free memory.
    let were_there = each(call, c"DICT.DEL", dict, (&fields, 1), |dict, field| dict.remove(field[0]))?;
    let removed = were_there.into_iter().filter(|&was_there| was_there).count();
    if removed > 0 {
        call.replicate();
        call.notify(c"dict.del");
    }
    call.integer(removed);
    Ok(())
}

/// Calls `work` for each group of `size` arguments, and returns the results. If it fails for a group, replicas get a
/// command with the groups before it.
fn each<T>(
    call: &Call<'_>,
    command: &CStr,
    dict: &mut Dictionary,
    (arguments, size): (&[&[u8]], usize),
    mut work: impl FnMut(&mut Dictionary, &[&[u8]]) -> Result<T, Refusal>,
) -> Result<Vec<T>, Refusal> {
    let mut done = Vec::with_capacity(arguments.len() / size);
    let worked = arguments.chunks_exact(size).try_for_each(|group| work(dict, group).map(|result| done.push(result)));
    dict.settle();
    if worked.is_err() && !done.is_empty() {
        call.replicate_as(command, &arguments[..size * done.len()]);
    }
    worked.map(|()| done)
}

/// Returns an error unless a field or a value has at most `most` bytes. `what` names it in the message.
fn check_length(what: &str, bytes: &[u8], most: usize) -> Result<(), Refusal> {
    if bytes.len() > most {
        return Err(Refusal::because(format!("a {what} of {} bytes is too long: the most is {most}", bytes.len())));
    }
    Ok(())
}

/// The dictionary of a key. If the key does not exist, and the dictionary may grow by `growth` bytes, creates an empty
/// one with a random seed, which is replicated.
fn dict_or_new<'k>(
    call: &Call<'_>,
    key: &'k mut Key,
    purpose: Purpose,
    growth: usize,
) -> Result<&'k mut Dictionary, Refusal> {
    if key.is_empty() {
        limits::admit(size_of::<Dictionary>() + growth)?;
        return create(call, key, purpose, HashSpec::random().seed, Layout::default());
    }
    let dict: &mut Dictionary = key.value_mut()?.ok_or_else(|| Refusal::because("the key has no value"))?;
    dict.tend();
    let refused = match dict.content.purpose() {
        found if found == purpose => return Ok(dict),
        Purpose::Numbers => "numbers, which DICT.NUMBER gives: set values in another key",
        Purpose::Bytes => "bytes, which DICT.SET sets: number fields in another key",
        Purpose::Values => "values, which is only read here: use another key",
        Purpose::Counts => "counts, which is only read here: use another key",
    };
    Err(Refusal::because(format!("the key is a dictionary of {refused}")))
}

/// Creates an empty dictionary as the value of a key, on replicas too.
fn create<'k>(
    call: &Call<'_>,
    key: &'k mut Key,
    purpose: Purpose,
    seed: u64,
    layout: Layout,
) -> Result<&'k mut Dictionary, Refusal> {
    let dict = key.set(Dictionary::new(purpose, seed, layout)?);
    let (seed, purpose) = (seed_text(seed), purpose.name().to_ascii_uppercase());
    let arguments = [purpose.as_str(), "SEED", &seed, "LAYOUT", layout.name()].map(str::as_bytes);
    call.replicate_as(c"DICT.RESERVE", &arguments);
    Ok(dict)
}

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let purpose = match call.text(2)?.to_ascii_uppercase().as_str() {
        "BYTES" => Purpose::Bytes,
        "NUMBERS" => Purpose::Numbers,
        other => return Err(Refusal::because(format!("{other:?} is unknown: there are BYTES and NUMBERS"))),
    };
    let (mut seed, mut layout) = (None, Layout::default());
    for option in call.options(3) {
        let (name, value) = option?;
        let text = call.text(value)?;
        match name.as_str() {
            "SEED" => seed = Some(furui::text::seed(text)?),
            "LAYOUT" => {
                layout = match text.to_ascii_lowercase().as_str() {
                    "compact" => Layout::Compact,
                    "louds" => Layout::Louds,
                    _ => return Err(Refusal::because(format!("LAYOUT {text:?} is unknown: give compact or louds"))),
                };
            }
            other => return Err(Refusal::because(format!("{other:?} is unknown: there are SEED and LAYOUT"))),
        }
    }
    let mut key = call.open(1, WRITE)?;
    key.check_vacant::<Dictionary>()?;
    create(call, &mut key, purpose, seed.unwrap_or_else(|| HashSpec::random().seed), layout)?;
    call.notify(c"dict.reserve");
    call.ok();
    Ok(())
}
