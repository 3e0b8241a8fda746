//! Commands on filters.

use std::ops::Range;

use furui::filter::AnyFilter;
use furui::store::cascade::{CascadeFilter, CascadeOptions};

use super::{Case, is_finished, key, keys, nothing_else, open, path, quietly};
use crate::support::feed;

/// Inserts the keys 100 to 199 into a filter or, if the command is `remove`, removes them.
pub(super) fn filter(
    name: &'static str,
    args: &'static [&'static str],
    before: &'static [(&'static str, Range<u32>)],
) -> Case {
    let command = args[0];
    let is_new = before.iter().all(|(name, _)| *name != "f");
    Case {
        name,
        prepare: Box::new(move |root| {
            let kind = if command == "remove" { "counting" } else { "bloom" };
            for (name, range) in before {
                let to = path(root, name);
                quietly(&["filter", "build", "--kind", kind, "-c", "200000", "-o", &to], &keys(range.clone()));
            }
        }),
        run: Box::new(move |mut process, root| {
            let is_input = |arg: &str| before.iter().any(|(name, _)| *name == arg);
            if command != "union" {
                process.arg("filter");
            }
            process.args(args.iter().map(|arg| if is_input(arg) { path(root, arg) } else { (*arg).to_owned() }));
            process.arg(path(root, "f"));
            feed(process, &keys(100..200))
        }),
        second: None,
        check: Box::new(move |root, runs| {
            if !root.join("f").exists() {
                let lost = !is_new || is_finished(runs);
                return if lost { Err("the filter is gone".to_owned()) } else { Ok(()) };
            }
            let filter = AnyFilter::open(root.join("f")).map_err(|error| error.to_string())?;
            let count = |range: Range<u32>| range.map(key).filter(|key| filter.contains(key)).count();
            let (first, second) = (count(0..100), count(100..200));
            let is_right = match command {
                "build" => second == 100,
                "insert" => first == 100 && (second == 100 || !is_finished(runs)),
                "union" => first == 100 && second == 100,
                // A few keys are found as false positives.
                _ => first == 100 && if is_finished(runs) { second < 50 } else { second == 100 || second < 50 },
            };
            if is_right { Ok(()) } else { Err(format!("the filter has {first} and {second} of 100 keys")) }
        }),
    }
}

/// A cascade filter of some keys, into which more are inserted than its memory holds.
pub(super) fn cascade(before: u32) -> Case {
    let count = 130_000;
    Case {
        name: "filter insert, a cascade filter",
        prepare: Box::new(move |root| {
            let args = ["filter", "build", "-k", "cascade", "-c", "1M", "--fpr", "1e-6", "--memory", "1MiB", "-o"];
            quietly(&[&args[..], &[&path(root, "store")]].concat(), &keys(0..before));
        }),
        run: Box::new(move |mut command, root| {
            command.args(["filter", "insert", "--memory", "1MiB", "--wait", &path(root, "store")]);
            feed(command, &keys(before..before + count))
        }),
        second: None,
        check: Box::new(move |root, runs| {
            let Some(directory) = open(root, "store", false)? else { return Err("the filter is gone".to_owned()) };
            let options = CascadeOptions { memory: 0, hash: None, form: None, journal: false };
            let mut filter = CascadeFilter::open_with(directory.mapped(false), options).map_err(|e| e.to_string())?;
            filter.set().verify().map_err(|error| error.to_string())?;
            nothing_else(&root.join("store"), filter.set().manifest())?;
            let certain = if is_finished(runs) { before + count } else { before };
            let hashes = filter.hash_spec().hasher().hash_all((0..certain).map(key));
            let mut found = vec![];
            filter.contains_hashes(&hashes, &mut found).map_err(|error| error.to_string())?;
            match found.iter().position(|&found| !found) {
                Some(number) => Err(format!("{number}: inserted, and not there")),
                None => Ok(()),
            }
        }),
    }
}
