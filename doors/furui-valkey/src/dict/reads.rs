//! The commands that read dictionaries: `DICT.GET`, `.MGET`, `.PREFIX`, `.RANGE` and `.COUNT`.

use std::ops::Bound;

use super::Dictionary;
use super::content::{Answer, Content};
use crate::call::{Call, READ};
use crate::command::{Command, entry};
use crate::refusal::Refusal;

pub const COMMANDS: [Command; 5] = [
    Command::read(c"dict.get", "key field", 3, entry!(get))
        .fast()
        .summary(c"Returns the value of a field in a dictionary: bytes, a number, or null if there is no such field.")
        .complexity(c"O(1)"),
    Command::read(c"dict.mget", "key field [field ...]", -3, entry!(get_all))
        .fast()
        .summary(c"Returns the value of each field in a dictionary, null for a field that is not there.")
        .complexity(c"O(N) with N fields"),
    Command::read(c"dict.prefix", "key prefix [LIMIT n] [AFTER field]", -3, entry!(prefix))
        .summary(
            c"Returns the fields that begin with a prefix, each followed by its value, in byte order, at most LIMIT \
              (1000 if it is not given) and about 16 MiB: DICT.PREFIX key prefix [LIMIT n] [AFTER field]. Go on \
              after the last field until a reply is empty."
        )
        .complexity(
            c"O(N) with N fields in the reply and deleted fields between them; O(W log W) with W fields in the window, \
              if it has changed"
        ),
    Command::read(c"dict.range", "key start end [LIMIT n] [AFTER field]", -4, entry!(range))
        .summary(
            c"Returns the fields from START on and before END, each followed by its value, as DICT.PREFIX does: \
              DICT.RANGE key start end [LIMIT n] [AFTER field]. An empty END is no end."
        )
        .complexity(
            c"O(N) with N fields in the reply and deleted fields between them; O(W log W) with W fields in the window, \
              if it has changed"
        ),
    Command::read(c"dict.count", "key [PREFIX prefix]", -2, entry!(count))
        .summary(
            c"Returns the number of fields, or of those that begin with a prefix: DICT.COUNT key [PREFIX \
              prefix]."
        )
        .complexity(c"O(1) for all fields, or with a prefix of few levels; O(N) with N fields that begin with the prefix, if fields were \
              deleted or set again since the last merge"),
];

/// The default maximum number of fields in a reply.
const LIMIT: usize = 1000;
/// The largest maximum number of fields in a reply that a command may ask for, because the server runs no other command
/// meanwhile.
const MOST: usize = 100_000;
/// The maximum size of a reply in bytes. The field that exceeds it is the last one of the reply.
const REPLY: usize = 16 << 20;

fn get(call: &Call<'_>) -> Result<(), Refusal> {
    let field = call.bytes(2)?;
    read(call, |content| {
        reply(call, content.map(|content| content.get(field)).transpose()?.flatten());
        Ok(())
    })
}

fn get_all(call: &Call<'_>) -> Result<(), Refusal> {
    let fields: Vec<&[u8]> = call.rest(2).collect();
    read(call, |content| {
        let found = match content {
            Some(content) => content.get_all(&fields)?,
            None => vec![None; fields.len()],
        };
        call.array(found.len());
        found.into_iter().for_each(|value| reply(call, value));
        Ok(())
    })
}

fn prefix(call: &Call<'_>) -> Result<(), Refusal> {
    let prefix = call.bytes(2)?;
    let end = after_prefix(prefix);
    list(call, 3, prefix, end.as_deref())
}

fn range(call: &Call<'_>) -> Result<(), Refusal> {
    let (start, end) = (call.bytes(2)?, call.bytes(3)?);
    list(call, 4, start, Some(end).filter(|end| !end.is_empty()))
}

/// Replies with the entries from `start` to before `end`. The arguments from index `next` on are options.
fn list(call: &Call<'_>, next: usize, start: &[u8], end: Option<&[u8]>) -> Result<(), Refusal> {
    let (mut limit, mut from) = (LIMIT, Bound::Included(start));
    for option in call.options(next) {
        let (name, value) = option?;
        match name.as_str() {
            "LIMIT" => {
                limit = call.number(value, "LIMIT")?;
                if !(1..=MOST).contains(&limit) {
                    return Err(Refusal::because(format!(
                        "LIMIT must be from 1 to {MOST}: for more, go on with AFTER"
                    )));
                }
            }
            "AFTER" => {
                let field = call.bytes(value)?;
                from = if field < start { Bound::Included(start) } else { Bound::Excluded(field) };
            }
            other => return Err(Refusal::because(format!("{other:?} is unknown: there are LIMIT and AFTER"))),
        }
    }
    read(call, |content| {
        let (mut entries, mut bytes) = (vec![], 0);
        if let Some(content) = content {
            content.for_each((from, end.map_or(Bound::Unbounded, Bound::Excluded)), |field, value| {
                bytes += field.len() + value.len();
                entries.push((field.to_vec(), value));
                entries.len() < limit && bytes < REPLY
            })?;
        }
        call.array(2 * entries.len());
        for (field, value) in entries {
            call.bulk(&field);
            reply(call, Some(value));
        }
        Ok(())
    })
}

fn count(call: &Call<'_>) -> Result<(), Refusal> {
    let prefix = match call.len() {
        2 => None,
        4 if call.bytes(2)?.eq_ignore_ascii_case(b"PREFIX") => Some(call.bytes(3)?),
        _ => return Err(Refusal::because("the arguments are: key [PREFIX prefix]")),
    };
    let mut key = call.open(1, READ)?;
    let Some(dict) = key.value_mut::<Dictionary>()? else {
        call.integer(0);
        return Ok(());
    };
    dict.tend();
    let mut count = dict.len;
    if let Some(prefix) = prefix {
        if let Some(count) = dict.content.keys_with(prefix, dict.len)? {
            call.integer(count);
            return Ok(());
        }
        count = 0;
        let end = after_prefix(prefix);
        let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        dict.content.for_each((Bound::Included(prefix), end), |_, _| {
            count += 1;
            true
        })?;
    }
    call.integer(count);
    Ok(())
}

/// Calls `then` with the entries of the command's key, or with `None` if the key does not exist.
fn read(call: &Call<'_>, then: impl FnOnce(Option<&Content>) -> Result<(), Refusal>) -> Result<(), Refusal> {
    let mut key = call.open(1, READ)?;
    let dict: Option<&mut Dictionary> = key.value_mut()?;
    then(dict.map(|dict| {
        dict.tend();
        &dict.content
    }))
}

/// Replies with a value, or with null if it is `None`.
fn reply(call: &Call<'_>, value: Option<Answer<'_>>) {
    match value {
        Some(Answer::Bytes(bytes)) => call.bulk(bytes),
        Some(Answer::Number(number)) => call.integer(number),
        None => call.null(),
    }
}

/// The smallest string that is greater than every string that begins with `prefix`. `None` if there is no such string.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}
