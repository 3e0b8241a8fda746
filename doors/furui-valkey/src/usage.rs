//! The arguments of commands, read from their usage as documents print it, for the clients that ask the server for
//! them (`COMMAND DOCS`): `key [WINDOW window] [SEED number]`.

use std::ffi::{CString, c_char, c_int};
use std::ptr;

use valkey_module::raw;
use valkey_module::raw::{
    RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK as BLOCK,
    RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_DOUBLE as DOUBLE,
    RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER as INTEGER,
    RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY as KEY,
    RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_ONEOF as ONE_OF,
    RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN as TOKEN,
    RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING as STRING,
};

/// Makes the descriptions of the arguments in a usage, which live as long as the process. The list ends with an empty
/// description.
///
/// A word in lower case is the name of an argument; one in upper case is a token, which an argument may follow. `[...]`
/// is optional, ` | ` separates the alternatives of a group and `A|B` those of a word, and `...` after a group or a
/// word says that it may be repeated.
pub fn arguments(usage: &str) -> *mut raw::RedisModuleCommandArg {
    let spaced = usage.replace('[', " [ ").replace(']', " ] ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    finished(sequence(&mut &words[..]))
}

/// Reads alternatives up to the end of a group. Several of them become one argument.
fn sequence(words: &mut &[&str]) -> Vec<raw::RedisModuleCommandArg> {
    let mut alternatives = vec![vec![]];
    while let [word, rest @ ..] = *words {
        *words = rest;
        match *word {
            "]" => break,
            "|" => alternatives.push(vec![]),
            "[" => {
                let inner = sequence(words);
                let mut group = one(inner, BLOCK);
                group.flags |= raw::REDISMODULE_CMD_ARG_OPTIONAL as c_int;
                last(&mut alternatives).push(repeated(group, words));
            }
            choice if choice.contains('|') => {
                let tokens = choice.split('|').map(token).collect();
                last(&mut alternatives).push(one(tokens, ONE_OF));
            }
            word if is_token(word) => {
                let argument = match *words {
                    [name, rest @ ..] if !is_token(name) => {
                        *words = rest;
                        raw::RedisModuleCommandArg { token: text(word), ..named(name) }
                    }
                    _ => token(word),
                };
                last(&mut alternatives).push(repeated(argument, words));
            }
            name => {
                let argument = repeated(named(name), words);
                last(&mut alternatives).push(argument);
            }
        }
    }
    match <[_; 1]>::try_from(alternatives) {
        Ok([only]) => only,
        Err(several) => {
            let choices = several.into_iter().map(|choice| one(choice, BLOCK)).collect();
            vec![one(choices, ONE_OF)]
        }
    }
}

fn last<T>(alternatives: &mut [Vec<T>]) -> &mut Vec<T> {
    alternatives.last_mut().expect("it begins with one")
}

/// The only argument of a list, or one of the given kind that has them all.
fn one(arguments: Vec<raw::RedisModuleCommandArg>, kind: raw::RedisModuleCommandArgType) -> raw::RedisModuleCommandArg {
    match <[_; 1]>::try_from(arguments) {
        Ok([only]) => only,
        Err(several) => {
            let name = if kind == ONE_OF { "choice" } else { "block" };
            raw::RedisModuleCommandArg { subargs: finished(several), ..named_as(name, kind) }
        }
    }
}

/// Marks an argument as one that may be repeated, if the next word is `...`.
fn repeated(mut argument: raw::RedisModuleCommandArg, words: &mut &[&str]) -> raw::RedisModuleCommandArg {
    if let ["...", rest @ ..] = *words {
        *words = rest;
        argument.flags |= raw::REDISMODULE_CMD_ARG_MULTIPLE as c_int;
    }
    argument
}

/// True if a word is a token, which stands for itself.
fn is_token(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_uppercase())
}

fn token(word: &str) -> raw::RedisModuleCommandArg {
    raw::RedisModuleCommandArg { token: text(word), ..named_as(word, TOKEN) }
}

/// An argument with a type that its name says.
fn named(name: &str) -> raw::RedisModuleCommandArg {
    let kind = match name {
        "key" | "source" | "destination" => KEY,
        "capacity" | "n" | "number" | "piece" | "iterator" | "time" => INTEGER,
        "error" | "rate" => DOUBLE,
        _ => STRING,
    };
    named_as(name, kind)
}

fn named_as(name: &str, kind: raw::RedisModuleCommandArgType) -> raw::RedisModuleCommandArg {
    // The destination of a command and the keys that it only reads have descriptions of their own.
    let key_spec_index = match (kind, name) {
        (KEY, "source") => 1,
        (KEY, _) => 0,
        _ => -1,
    };
    raw::RedisModuleCommandArg {
        name: text(&name.to_ascii_lowercase()),
        type_: kind,
        key_spec_index,
        token: ptr::null(),
        summary: ptr::null(),
        since: ptr::null(),
        flags: 0,
        deprecated_since: ptr::null(),
        subargs: ptr::null_mut(),
        display_text: ptr::null(),
    }
}

/// The list with an empty description at its end.
fn finished(mut arguments: Vec<raw::RedisModuleCommandArg>) -> *mut raw::RedisModuleCommandArg {
    let end = raw::RedisModuleCommandArg { name: ptr::null(), ..named_as("", STRING) };
    arguments.push(end);
    Box::leak(arguments.into_boxed_slice()).as_mut_ptr()
}

/// A text for the server, which lives as long as the process.
fn text(text: &str) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}
