use furui::KeyForm;
use furui::format::Printable;

use super::fields::{key_parts, quoted};
use crate::cli::LineOptions;
use crate::error::Error;

/// Returns the key form of these options: the options that determine how keys are made from lines, in the syntax of the
/// command line. A store or a filter remembers this form.
pub fn form(options: &LineOptions) -> Result<KeyForm, Error> {
    let mut words = vec![];
    let list = |items: &[String]| items.join(",");
    for (is_given, name) in [(options.csv, "--csv"), (options.tsv, "--tsv"), (options.json, "--json")] {
        if is_given {
            words.push(name.to_owned());
        }
    }
    if !options.key.is_empty() {
        let parts: Vec<String> = key_parts(&options.key)?.iter().map(|part| quoted(part)).collect();
        words.push(format!("--key {}", list(&parts)));
    }
    if !options.field.is_empty() {
        let numbers: Vec<String> = options.field.iter().map(u32::to_string).collect();
        words.push(format!("--field {}", list(&numbers)));
    }
    if let Some(delimiter) = options.delimiter {
        words.push(format!("--delimiter {}", delimiter.escape_ascii()));
    }
    for (is_given, name) in [(options.trim, "--trim"), (options.ignore_case, "--ignore-case"), (options.url, "--url")] {
        if is_given {
            words.push(name.to_owned());
        }
    }
    if !options.url_drop.is_empty() {
        words.push(format!("--url-drop {}", list(&options.url_drop)));
    }
    if options.url_sort {
        words.push("--url-sort".to_owned());
    }
    words.join(" ").parse().map_err(|error| Error::Message(format!("{error}")))
}

/// Returns an error if the set at `path`, whose keys have this form, is used with keys of another form, unless the user
/// gives `--as-is`.
pub fn check(path: impl std::fmt::Display, found: KeyForm, options: &LineOptions) -> Result<(), Error> {
    let asked = form(options)?;
    if options.as_is || asked == found {
        return Ok(());
    }
    Err(Error::Message(format!(
        "{path}: its keys were made from {}, and now they are made from {}: give the same options, or --as-is to go on",
        said(found),
        said(asked)
    )))
}

/// The description of a key form (how keys are made from lines) in messages.
pub fn said(form: KeyForm) -> String {
    if form.is_empty() { "whole lines".to_owned() } else { Printable(form).to_string() }
}
