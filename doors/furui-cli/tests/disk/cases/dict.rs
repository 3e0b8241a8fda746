//! Commands on dictionaries.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::Path;
use std::process::Stdio;

use furui::dict::{Dict, DictOptions, DictValue};
use furui::store::Directory;

use super::{Case, is_finished, key, keys, lines, nothing_else, open, path, quietly};
use crate::support::feed;

/// The options of a command that makes a LOUDS dictionary.
pub(super) const LOUDS: Made = &["--layout", "louds", "--filter-hash", "polynomials-2"];

/// The options of a command that makes a dictionary.
type Made = &'static [&'static str];

/// The values of a dictionary. In these cases each value stands for a number.
pub(super) trait Values: DictValue {
    const NAME: &str;

    fn open(directory: Directory) -> furui::Result<Dict<Directory, Self>>;

    fn number(value: Self::Read<'_>) -> u32;
}

impl Values for u32 {
    const NAME: &str = "numbers";

    fn open(directory: Directory) -> furui::Result<Dict<Directory>> {
        Dict::open_with(directory, DictOptions::default())
    }

    fn number(value: u32) -> u32 {
        value
    }
}

impl Values for [u8] {
    const NAME: &str = "bytes";

    fn open(directory: Directory) -> furui::Result<Dict<Directory, Self>> {
        Dict::open_bytes_with(directory, DictOptions::default())
    }

    fn number(value: &[u8]) -> u32 {
        str::from_utf8(value).unwrap().parse().unwrap()
    }
}

fn open_dict<V: Values + ?Sized>(
    root: &Path,
    name: &str,
    may_be_missing: bool,
) -> Result<Option<Dict<Directory, V>>, String> {
    let Some(directory) = open(root, name, may_be_missing)? else { return Ok(None) };
    let dict = V::open(directory).map_err(|error| error.to_string())?;
    dict.verify().map_err(|error| error.to_string())?;
    nothing_else(&root.join(name), dict.manifest())?;
    Ok(Some(dict))
}

/// The words arrive one by one, so that each number is made durable by itself.
pub(super) fn number(name: &'static str, before: u32, count: u32, made: Made) -> Case {
    Case {
        name,
        prepare: Box::new(move |root| {
            if before > 0 {
                quietly(&[&["dict", "number", "--store", &path(root, "store")], made].concat(), &keys(0..before));
            }
        }),
        run: Box::new(move |mut command, root| {
            command.args(["dict", "number", "--wait", "--store", &path(root, "store")]).args(made);
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let (mut input, mut answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
            let mut printed = vec![];
            for number in 0..before + count {
                let had = printed.len();
                // The process may have ended.
                let _ = input.write_all((key(number) + "\n").as_bytes());
                answers.read_until(b'\n', &mut printed).unwrap();
                if printed.len() == had {
                    break;
                }
            }
            drop(input);
            let mut output = child.wait_with_output().unwrap();
            output.stdout = printed;
            output
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let mut given: BTreeMap<String, u32> = (0..before).map(|number| (key(number), number)).collect();
            for run in runs {
                for (number, line) in lines(&run.printed).enumerate() {
                    // `dict get` prints the word as well.
                    let word = line.split_once('\t').map_or_else(|| key(number as u32), |(word, _)| word.to_owned());
                    let id = line.rsplit('\t').next().unwrap().parse().unwrap();
                    if *given.entry(word.clone()).or_insert(id) != id {
                        return Err(format!("{word} was given two numbers"));
                    }
                }
            }
            if given.values().collect::<BTreeSet<_>>().len() != given.len() {
                return Err("a number was given twice".to_owned());
            }
            let Some(mut dict) = open_dict::<u32>(root, "store", before == 0)? else {
                return if given.is_empty() {
                    Ok(())
                } else {
                    Err("numbers were given, but there is no dictionary".to_owned())
                };
            };
            if let Some((word, id)) = given.iter().find(|(word, id)| dict.get(word.as_bytes()).ok() != Some(Some(**id)))
            {
                return Err(format!("{word} was given {id} and has {:?}", dict.get(word.as_bytes())));
            }
            let next = dict.number(b"another").map_err(|error| error.to_string())?;
            if given.values().any(|&id| id >= next) {
                return Err(format!("{next} would be given again"));
            }
            Ok(())
        }),
    }
}

/// A command that puts or deletes the entries with the numbers from 25 on. The value of an entry is a number.
pub(super) fn entries<V: Values + ?Sized>(
    name: &'static str,
    before: Range<u32>,
    command: &'static str,
    made: Made,
) -> Case {
    const CHANGED: Range<u32> = 25..100;
    let text = |range: Range<u32>, add: u32| -> Vec<u8> {
        range.flat_map(|number| format!("{}\t{}\n", key(number), number + add).into_bytes()).collect()
    };
    let (deletes, may_be_missing, old) = (command == "delete", before.is_empty(), before.clone());
    Case {
        name,
        prepare: Box::new(move |root| {
            if !before.is_empty() {
                let args = ["dict", "build", "--values", V::NAME, "--store", &path(root, "store")];
                quietly(&[&args, made].concat(), &text(before.clone(), 0));
            }
        }),
        run: Box::new(move |mut process, root| {
            process.args(["dict", command, "--wait", "--store", &path(root, "store")]);
            feed(process, &if deletes { keys(CHANGED) } else { text(CHANGED, 1000) })
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let Some(dict) = open_dict::<V>(root, "store", may_be_missing)? else {
                return if is_finished(runs) { Err("there is no dictionary".to_owned()) } else { Ok(()) };
            };
            for number in 0..CHANGED.end {
                let found = dict.get(key(number).as_bytes()).map_err(|error| error.to_string())?.map(V::number);
                let is_changed = CHANGED.contains(&number);
                let was = found == old.contains(&number).then_some(number);
                let becomes = is_changed && found == (!deletes).then_some(number + 1000);
                if !(becomes || was && !(is_changed && is_finished(runs))) {
                    return Err(format!("{} has {found:?}", key(number)));
                }
            }
            Ok(())
        }),
    }
}

/// Counts lines of which some were counted before. A command that was killed may have counted some of its lines.
pub(super) fn count() -> Case {
    const BEFORE: Range<u32> = 0..40;
    const COUNTED: Range<u32> = 25..100;
    let times = |number: u32| 1 + number % 3;
    let text = move |range: Range<u32>| -> Vec<u8> {
        (0..3)
            .flat_map(|round| range.clone().filter(move |&number| round < times(number)).flat_map(|n| keys(n..n + 1)))
            .collect()
    };
    let count = |root: &Path| ["dict", "count", "--window", "20", "--store", &path(root, "store")].map(str::to_owned);
    Case {
        name: "dict count",
        prepare: Box::new(move |root| quietly(&count(root).each_ref().map(String::as_str), &text(BEFORE))),
        run: Box::new(move |mut process, root| {
            process.args(count(root)).arg("--wait");
            feed(process, &text(COUNTED))
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let dict = open_dict::<u32>(root, "store", false)?.unwrap();
            let finished = runs.iter().filter(|run| run.finished).count() as u32;
            for number in 0..COUNTED.end {
                let found = dict.get(key(number).as_bytes()).map_err(|error| error.to_string())?.unwrap_or(0);
                let before = if BEFORE.contains(&number) { times(number) } else { 0 };
                let (least, most) = match COUNTED.contains(&number) {
                    true => (finished * times(number), runs.len() as u32 * times(number)),
                    false => (0, 0),
                };
                let added = found.checked_sub(before).unwrap_or(u32::MAX);
                if !(least..=most).contains(&added) || added % times(number) != 0 {
                    return Err(format!("{} has the count {found}", key(number)));
                }
            }
            Ok(())
        }),
    }
}

/// A dictionary of several tries, each a tenth of the size of the one before.
pub(super) fn numbered_in_parts(root: &Path, made: Made) {
    for end in [900, 990, WORDS] {
        quietly(&[&["dict", "number", "--store", &path(root, "store")], made].concat(), &keys(0..end));
    }
}

const WORDS: u32 = 999;

pub(super) fn numbers_are(root: &Path, name: &str) -> Result<(), String> {
    let dict = open_dict::<u32>(root, name, false)?.unwrap();
    match (0..WORDS).find(|&number| dict.get(key(number).as_bytes()).ok() != Some(Some(number))) {
        None if dict.next_id() == WORDS => Ok(()),
        wrong => Err(format!("{wrong:?} is wrong, of {}", dict.next_id())),
    }
}
