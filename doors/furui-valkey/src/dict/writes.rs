//! The commands that change dictionaries: `FURUI.DICT.SET`, `.NUMBER`, `.DEL` and `.RESERVE`.

use furui::HashSpec;
use furui::dict::Purpose;
use furui::dict::{MAX_KEY, MAX_VALUE};
use furui::store::Layout;

use super::Dictionary;
use crate::call::{Call, Key, WRITE};
use crate::command::{Command, entry};
use crate::limits::Account;
use crate::refusal::Refusal;
use crate::text::seed_text;

pub const COMMANDS: [Command; 4] = [
    Command {
        name: c"furui.dict.set",
        flags: c"write deny-oom",
        summary: c"Sets the values of fields in a dictionary of bytes, and returns how many of the fields are new.",
        complexity: c"O(N) with N fields",
        arity: -4,
        last_key: 1,
        entry: entry!(set),
    },
    Command {
        name: c"furui.dict.number",
        flags: c"write deny-oom",
        summary:
            c"Returns the number of each field in a dictionary of numbers. A new field gets the next one, from 0 on.",
        complexity: c"O(N) with N fields",
        arity: -3,
        last_key: 1,
        entry: entry!(number),
    },
    Command {
        name: c"furui.dict.del",
        flags: c"write",
        summary: c"Removes fields from a dictionary, and returns how many of them were there.",
        complexity: c"O(N) with N fields",
        arity: -3,
        last_key: 1,
        entry: entry!(delete),
    },
    Command {
        name: c"furui.dict.reserve",
        flags: c"write deny-oom fast",
        summary:
            c"Creates an empty dictionary: FURUI.DICT.RESERVE key BYTES|NUMBERS [SEED number] [LAYOUT compact|louds].",
        complexity: c"O(1)",
        arity: -3,
        last_key: 1,
        entry: entry!(reserve),
    },
];

fn set(call: &Call<'_>) -> Result<(), Refusal> {
    let parts: Vec<&[u8]> = call.rest(2).collect();
    if parts.is_empty() || !parts.len().is_multiple_of(2) {
        return Err(Refusal::Arity);
    }
    for pair in parts.chunks_exact(2) {
        check_length("field", pair[0], MAX_KEY)?;
        check_length("value", pair[1], MAX_VALUE)?;
    }
    let mut key = call.open(1, WRITE)?;
    let growth = Dictionary::growth(parts.iter().copied());
    let dict = dict_or_new(call, &mut key, Purpose::Bytes, growth)?;
    if !call.is_repeated() {
        dict.admit(growth)?;
    }
    let mut new = 0;
    for (i, pair) in parts.chunks_exact(2).enumerate() {
        match dict.put(pair[0], pair[1]) {
            Ok(is_new) => new += i64::from(is_new),
            Err(refusal) => return Err(cut_short(call, c"FURUI.DICT.SET", &parts[..2 * i], dict, refusal)),
        }
    }
    dict.settle();
    call.replicate();
    call.notify(c"furui.dict.set", 1);
    call.integer(new);
    Ok(())
}

fn number(call: &Call<'_>) -> Result<(), Refusal> {
    let fields: Vec<&[u8]> = call.rest(2).collect();
    if fields.is_empty() {
        return Err(Refusal::Arity);
    }
    for field in &fields {
        check_length("field", field, MAX_KEY)?;
    }
    let mut key = call.open(1, WRITE)?;
    let growth = Dictionary::growth(fields.iter().copied());
    let dict = dict_or_new(call, &mut key, Purpose::Numbers, growth)?;
    if !call.is_repeated() && dict.admit(growth).is_err() {
        // Fields that have a number already need no memory.
        let known = dict.content().get_all(&fields)?;
        let new = fields.iter().zip(known).filter(|(_, known)| known.is_none()).map(|(&field, _)| field);
        dict.admit(Dictionary::growth(new))?;
    }
    let (first, mut numbers) = (dict.content().next_number(), Vec::with_capacity(fields.len()));
    for (i, field) in fields.iter().enumerate() {
        match dict.number(field) {
            Ok(number) => numbers.push(number),
            Err(refusal) => return Err(cut_short(call, c"FURUI.DICT.NUMBER", &fields[..i], dict, refusal)),
        }
    }
    dict.settle();
    if dict.content().next_number() != first {
        call.replicate();
        call.notify(c"furui.dict.number", 1);
    }
    call.array(numbers.len());
    numbers.iter().for_each(|&number| call.integer(number.into()));
    Ok(())
}

fn delete(call: &Call<'_>) -> Result<(), Refusal> {
    let fields: Vec<&[u8]> = call.rest(2).collect();
    if fields.is_empty() {
        return Err(Refusal::Arity);
    }
    let mut key = call.open(1, WRITE)?;
    let Some(dict) = key.value_mut::<Dictionary>()? else {
        call.integer(0);
        return Ok(());
    };
    dict.tend();
    // A deletion takes memory until it is merged with the field. It is not refused, because it is the way to free
    // memory.
    let mut removed = 0;
    for (i, field) in fields.iter().enumerate() {
        match dict.remove(field) {
            Ok(was_there) => removed += i64::from(was_there),
            Err(refusal) => return Err(cut_short(call, c"FURUI.DICT.DEL", &fields[..i], dict, refusal)),
        }
    }
    dict.settle();
    if removed > 0 {
        call.replicate();
        call.notify(c"furui.dict.del", 1);
    }
    call.integer(removed);
    Ok(())
}

/// Ends a command that fails after it has done a part of its work: replicas do the same part. Returns the refusal.
fn cut_short(
    call: &Call<'_>,
    command: &std::ffi::CStr,
    done: &[&[u8]],
    dict: &mut Dictionary,
    refusal: Refusal,
) -> Refusal {
    dict.settle();
    if !done.is_empty() {
        call.replicate_as(command, 1, done);
    }
    refusal
}

/// Checks the length of a field or of a value.
fn check_length(what: &str, bytes: &[u8], most: usize) -> Result<(), Refusal> {
    if bytes.len() > most {
        return Err(Refusal::because(format!("a {what} has {} bytes: the most is {most}", bytes.len())));
    }
    Ok(())
}

/// The dictionary of a key. A key without a value gets an empty one with a seed of its own, which replicas are told, if
/// it may grow by `growth` bytes.
fn dict_or_new<'k>(
    call: &Call<'_>,
    key: &'k mut Key,
    purpose: Purpose,
    growth: usize,
) -> Result<&'k mut Dictionary, Refusal> {
    if key.is_empty() {
        if !call.is_repeated() {
            Account::default().admit(size_of::<Dictionary>(), growth)?;
        }
        return create(call, key, purpose, HashSpec::random().seed, Layout::default());
    }
    let dict: &mut Dictionary = key.value_mut()?.ok_or_else(|| Refusal::because("the key has no value"))?;
    dict.tend();
    let refused = match dict.content().purpose() {
        found if found == purpose => return Ok(dict),
        Purpose::Numbers => "numbers, which FURUI.DICT.NUMBER gives: set values in another key",
        Purpose::Bytes => "bytes, which FURUI.DICT.SET sets: number fields in another key",
        Purpose::Values => "values, which is only read here: use another key",
        Purpose::Counts => "counts, which is only read here: use another key",
    };
    Err(Refusal::because(format!("the key is a dictionary of {refused}")))
}

/// Gives a key an empty dictionary, on replicas too.
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
    call.replicate_as(c"FURUI.DICT.RESERVE", 1, &arguments);
    Ok(dict)
}

fn reserve(call: &Call<'_>) -> Result<(), Refusal> {
    let purpose = match call.text(2)?.to_ascii_uppercase().as_str() {
        "BYTES" => Purpose::Bytes,
        "NUMBERS" => Purpose::Numbers,
        other => return Err(Refusal::because(format!("{other:?} is unknown: there are BYTES and NUMBERS"))),
    };
    let (mut seed, mut layout, mut next) = (None, Layout::default(), 3);
    while next < call.len() {
        let (option, text) = (call.text(next)?.to_ascii_uppercase(), call.text(next + 1)?);
        match option.as_str() {
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
        next += 2;
    }
    let mut key = call.open(1, WRITE)?;
    if !key.is_empty() {
        // A key of another type is told as such.
        let _: Option<&Dictionary> = key.value()?;
        return Err(Refusal::because("the key exists already"));
    }
    create(call, &mut key, purpose, seed.unwrap_or_else(|| HashSpec::random().seed), layout)?;
    call.notify(c"furui.dict.reserve", 1);
    call.ok();
    Ok(())
}
