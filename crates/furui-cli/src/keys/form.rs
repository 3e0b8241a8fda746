use crate::cli::LineOptions;

/// How keys are made from lines, in the words of the options that say so. Empty if a line is its own key.
///
/// A store or a filter remembers this text (docs/format.md, "How keys are made").
pub fn form(options: &LineOptions) -> String {
    let mut words = vec![];
    let list = |items: &[String]| items.join(",");
    for (is_given, name) in [(options.csv, "--csv"), (options.tsv, "--tsv"), (options.json, "--json")] {
        if is_given {
            words.push(name.to_owned());
        }
    }
    if !options.key.is_empty() {
        words.push(format!("--key {}", list(&options.key)));
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
    words.join(" ")
}
