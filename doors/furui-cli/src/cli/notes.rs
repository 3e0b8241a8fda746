//! Exit statuses and examples of the commands, for their help and manual pages.

use clap::Command;

use crate::network;
use crate::say::notes::{DONE, ERROR, Notes};

/// The exit status, with its meaning, of a command that records its progress when a signal ends it.
const SIGNAL: (&str, &str) = ("128+N", "signal N ended the command; its progress until then is recorded");
/// The exit statuses, with their meanings, of a command that looks for something.
const FOUND: &[(&str, &str)] = &[("0", "something was found"), ("1", "nothing was found"), ERROR];

/// The exit statuses and examples of all commands, except those of the search engine.
#[rustfmt::skip]
const NOTES: &[Notes] = &[
    Notes {
        command: "seen",
        statuses: &[
            ("0", "all lines were read, or as many as --limit allows, or the reader of the output wanted no more"),
            ("1", "with --status: no line was new"),
            ERROR,
            ("128+N", "signal N ended a run with --store; the lines printed until then are recorded"),
        ],
        examples: &[
            ("furui seen urls.txt", "print each line once"),
            ("furui seen --store known --memory 64MiB urls.txt", "print the lines that no earlier run with this store has printed"),
            ("furui seen -f 2 -d , -v log.csv", "print the lines whose second field came before"),
            ("furui seen --csv --key url,lang crawl.csv.gz", "print the rows of a compressed table whose two columns are new"),
            ("furui seen --json --key /meta/url --trim log.jsonl.zst", "print the lines of JSON whose member /meta/url is new"),
            ("furui seen --store crawl --cache lru+stable --stats links.txt", "ask storage less often, drop 1 new line in 100,000, and say how many"),
            ("furui seen --store known --pending new.run urls.txt", "print new lines, and leave it to `furui commit known new.run` to record them"),
            ("furui seen --store alerts --window 1h alerts.log", "print the lines that did not come within the last hour"),
            ("furui seen --filter lately.filter urls.txt", "print the lines that a filter does not have, and insert them"),
            ("furui seen --store tuesday --like monday urls.txt", "keep a new set that can be combined with another"),
            ("furui seen --remove gone.txt --store known --stats", "make a store forget lines, and say how many it had"),
            ("furui seen --store known --limit 1000 urls.txt", "print the next thousand new lines, and record just these"),
            ("furui seen --mark --store known", "a coprocess: 1 or 0 for each line on standard input, at once"),
            ("furui seen --repeats again.txt --count monday.txt tuesday.txt", "put the repeats into a file, and count the lines of each file"),
            ("furui seen --store redis://db.example.com/urls urls.txt", "share the set with other machines, in a server that has furui-valkey"),
            ("furui seen --store known --dry-run urls.txt", "print the lines that would be new, and record nothing"),
        ],
    },
    Notes {
        command: "has",
        statuses: &[
            ("0", "some line was printed, or would have been without --quiet"),
            ("1", "no line was printed, or would have been without --quiet"),
            ("2", "after an error, or if a file could not be read to its end, whatever the other files contained"),
        ],
        examples: &[
            ("furui has -v old.txt new.txt", "print the lines of new.txt that are not in old.txt"),
            ("furui has known urls.txt", "print the lines that are in a store, and record nothing"),
            ("furui has urls.filter candidates.txt", "print the lines that may be in a filter"),
            ("furui has --csv --key url blocked.csv log.csv", "print the records whose URL another file has"),
        ],
    },
    Notes {
        command: "union",
        statuses: DONE,
        examples: &[
            ("furui union monday tuesday -o both", "a store of the lines that are in either store"),
            ("furui union monday.filter tuesday.filter -o all.filter", "a filter of the lines that are in either filter"),
        ],
    },
    Notes {
        command: "subtract",
        statuses: DONE,
        examples: &[("furui subtract known blocked -o left", "a store of the lines of known that are not in blocked")],
    },
    Notes {
        command: "intersect",
        statuses: DONE,
        examples: &[
            ("furui intersect monday tuesday -o both", "a store of the lines that are in both stores"),
            ("furui intersect monday.filter tuesday.filter -o both.filter", "a filter of the lines that are in both filters"),
        ],
    },
    Notes {
        command: "commit",
        statuses: DONE,
        examples: &[
            ("furui commit known new.run", "record the lines that `furui seen --store known --pending new.run` printed"),
            ("furui commit known new.run --note 2026-11-27 --after 2026-11-26", "record the lines of a day, once, after those of the day before"),
        ],
    },
    Notes {
        command: "export",
        statuses: DONE,
        examples: &[("furui export known --u64 -o known.u64", "write the hashes of a store as sorted numbers of 64 bits")],
    },
    Notes {
        command: "import",
        statuses: DONE,
        examples: &[("furui import known more.u64", "insert the hashes in a file, which were made by the hash of the store")],
    },
    Notes {
        command: "filter build",
        statuses: DONE,
        examples: &[
            ("furui filter build -o urls.filter urls.txt", "a Bloom filter of the lines of a file, wrong at a rate of 1 %"),
            ("furui filter build -o urls.filter -k blocked -c 10M --fpr 0.1%", "a filter for 10 million lines of standard input"),
            ("furui filter build -o hint -k fuse --store urls", "a filter to be shipped, of the lines in a store, in the least space"),
            ("furui filter build -o urls -k cascade -c 10G --rate 0.1% --memory 64MiB", "a filter larger than memory, in the directory urls"),
        ],
    },
    Notes {
        command: "filter insert",
        statuses: DONE,
        examples: &[("furui filter insert urls.filter more.txt", "insert the lines of another file")],
    },
    Notes {
        command: "filter resize",
        statuses: DONE,
        examples: &[("furui filter resize urls.filter --capacity 10M", "make room for 10 million lines in a quotient filter")],
    },
    Notes {
        command: "filter list",
        statuses: DONE,
        examples: &[("furui filter list urls.filter", "the fingerprints of the lines in a quotient filter, in ascending order")],
    },
    Notes {
        command: "filter remove",
        statuses: &[("0", "all lines were in the filter, and are removed"), ("1", "some lines were not in the filter; the others are removed"), ERROR],
        examples: &[("furui filter remove urls.filter gone.txt", "remove lines from a counting or quotient filter")],
    },
    Notes {
        command: "filter compare",
        statuses: DONE,
        examples: &[("furui filter compare monday.filter tuesday.filter", "about how many lines two filters share")],
    },
    Notes {
        command: "dict build",
        statuses: &[("0", "done"), ERROR, SIGNAL],
        examples: &[
            ("furui dict build --store ids ids.tsv", "lines of a key, a tab and a number become entries; `dict number` goes on above the greatest"),
            ("furui dict build --values values --store ranks ranks.tsv", "numbers with a meaning of their own, such as ranks"),
            ("furui dict build --store ranks --layout louds --merging all --filter-hash polynomials-4 ranks.tsv", "a new dictionary in the way of Koyanagi et al."),
            ("furui dict build --values bytes --store titles urls.tsv", "lines of a key, a tab and any text become entries"),
        ],
    },
    Notes {
        command: "dict get",
        statuses: FOUND,
        examples: &[("furui dict get --store ranks words.txt", "print the words that are keys, and their numbers"), ("furui dict get -v --store ranks words.txt", "print the words that are not keys")],
    },
    Notes {
        command: "dict key",
        statuses: FOUND,
        examples: &[("furui dict key --store ids 17 4", "print the lines that got the numbers 17 and 4")],
    },
    Notes {
        command: "dict prefix",
        statuses: FOUND,
        examples: &[("furui dict prefix --store ranks http://example.org/", "print all entries whose keys begin with this")],
    },
    Notes {
        command: "dict range",
        statuses: FOUND,
        examples: &[("furui dict range --store ranks a b", "print the entries from \"a\" up to but not including \"b\"")],
    },
    Notes {
        command: "dict delete",
        statuses: &[("0", "all lines were keys, and are deleted"), ("1", "some lines were not keys; the others are deleted"), ERROR, SIGNAL],
        examples: &[("furui dict delete --store ranks gone.txt", "delete the keys that a file lists")],
    },
    Notes {
        command: "dict number",
        statuses: &[("0", "done"), ERROR, SIGNAL],
        examples: &[("furui dict number --store ids urls.txt", "print a number for each line, equal for equal lines"), ("furui dict number --with-key --store ids urls.txt", "print each line after its number and a tab"), ("furui dict number --csv --key url --store ids crawl.csv", "print the number of each row's URL")],
    },
    Notes {
        command: "dict count",
        statuses: &[("0", "all lines are counted"), ERROR, SIGNAL],
        examples: &[
            ("furui dict count --csv --key lang --top 10 crawl.csv", "print the ten most frequent languages after their counts"),
            ("furui dict count --store hits urls.txt", "print each distinct line after its count, which includes earlier runs"),
            ("furui dict count --store hits --top 10 urls.txt", "print the ten most frequent lines, the most frequent first"),
        ],
    },
    Notes {
        command: "compact",
        statuses: DONE,
        examples: &[("furui compact known", "make a store as small and as fast as possible")],
    },
    Notes {
        command: "snapshot",
        statuses: DONE,
        examples: &[
            ("furui snapshot known /backup/known", "copy a store, even while a crawl writes to it"),
            ("furui snapshot --node http://127.0.0.1:7717 /backup/node", "copy a running node of the search engine"),
        ],
    },
    Notes {
        command: "info",
        statuses: DONE,
        examples: &[("furui info urls.filter known ranks", "describe a filter, a store and a dictionary")],
    },
    Notes {
        command: "verify",
        statuses: &[("0", "every byte is as it was written"), ("2", "something is damaged or cannot be read, and is reported; the other paths are checked nevertheless")],
        examples: &[("furui verify known ranks urls.filter", "check a store, a dictionary and a filter")],
    },
    Notes {
        command: "completions",
        statuses: DONE,
        examples: &[("furui completions bash", "print the script; in ~/.bashrc: source <(furui completions bash)")],
    },
    Notes {
        command: "man",
        statuses: DONE,
        examples: &[
            ("furui man", "print the manual page, as for man -l -"),
            ("furui man --dir man1", "write a manual page for each command into a directory"),
        ],
    },
];

/// The exit statuses and examples of the command with this name, such as `filter build`; `None` if it has none.
pub fn of(command: &str) -> Option<&'static Notes> {
    NOTES.iter().chain(network::NOTES).find(|notes| notes.command == command)
}

/// Adds the exit statuses and examples of the command `name` and of its subcommands to their help. The long help begins
/// with what the command does, and the examples.
pub fn annotate(command: Command, name: &str) -> Command {
    if command.is_hide_set() {
        return command;
    }
    let command = match of(name) {
        Some(notes) => {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
            let rest = long.strip_prefix(&about).unwrap_or(&long).trim_start();
            let long = format!("{about}\n\n{}\n{rest}", notes.examples());
            command.long_about(long.trim_end().to_string()).after_long_help(notes.statuses())
        }
        None => command,
    };
    command.mut_subcommands(|below| {
        let name = format!("{name} {}", below.get_name());
        annotate(below, name.trim_start())
    })
}

impl Notes {
    fn examples(&self) -> String {
        let examples = self.examples.iter().map(|(line, effect)| format!("  {line}\n          {effect}\n"));
        "Examples:\n".to_string() + &examples.collect::<String>()
    }

    fn statuses(&self) -> String {
        let statuses = self.statuses.iter().map(|(status, meaning)| format!("  {status:5}  {meaning}\n"));
        "Exit status:\n".to_string() + &statuses.collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, command};

    fn leaves(command: &Command, name: &str, out: &mut Vec<String>) {
        let name = |below: &Command| format!("{name} {}", below.get_name()).trim_start().to_string();
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            match below.has_subcommands() {
                true => leaves(below, &name(below), out),
                false => out.push(name(below)),
            }
        }
    }

    #[test]
    fn something_is_said_of_every_command_and_its_examples_can_be_typed() {
        let mut names = vec![];
        leaves(&command(), "", &mut names);
        assert_eq!(names.len(), NOTES.len() + network::NOTES.len());
        for name in names {
            let notes = of(&name).unwrap_or_else(|| panic!("{name}"));
            assert!(notes.statuses.iter().any(|(status, _)| *status == "0"), "{name}");
            for (line, _) in notes.examples {
                assert!(line.starts_with(&format!("furui {name}")), "{line}");
                if let Err(error) = Cli::try_parse_from(line.split(' ')) {
                    panic!("{line}: {error}");
                }
            }
        }
    }
}
