//! The help, manual pages and completions of the command.

use std::fs;

use crate::support::{TempDir, failure, furui, run, stdout};

/// The words that a shell would offer in place of the last word of `words`.
fn completions(dir: &TempDir, words: &[&str]) -> Vec<String> {
    let mut command = furui();
    command.current_dir(dir.path()).arg("--").args(words).env("FURUI_COMPLETE", "bash").envs([
        ("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string().as_str()),
        ("_CLAP_COMPLETE_COMP_TYPE", "9"),
        ("_CLAP_COMPLETE_SPACE", "true"),
        ("_CLAP_IFS", "\n"),
    ]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}

#[test]
fn shells_complete_files_directories_and_values() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = String::from_utf8(stdout(&["completions", shell], b"")).unwrap();
        assert!(script.contains("FURUI_COMPLETE"), "{shell}");
    }
    let dir = TempDir::new();
    dir.file("lines.txt", b"");
    fs::create_dir(dir.join("known")).unwrap();
    let offered = |words: &[&str], wanted: &str| completions(&dir, words).iter().any(|word| word == wanted);
    for words in [&["furui", "has", ""][..], &["furui", "info", ""], &["furui", "seen", ""]] {
        assert!(offered(words, "lines.txt") && offered(words, "known/"), "{words:?}");
    }
    for words in [&["furui", "seen", "--store", ""][..], &["furui", "compact", ""]] {
        assert!(offered(words, "known/") && !offered(words, "lines.txt"), "{words:?}");
    }
    assert!(offered(&["furui", "seen", "--stats="], "--stats=json"));
    // The value of --stats follows an equals sign, so the next word is a file.
    for option in ["--stats", "-s", "--mark", "--wait"] {
        let words = ["furui", "seen", option, ""];
        assert!(offered(&words, "lines.txt") && !offered(&words, "json") && !offered(&words, "line"), "{option}");
    }
    assert!(offered(&["furui", "seen", "--stat"], "--stats") && offered(&["furui", "seen", "-z", ""], "lines.txt"));
    assert!(offered(&["furui", ""], "compact"));
}

#[test]
fn every_command_has_a_page_with_exit_statuses_and_examples() {
    let dir = TempDir::new();
    let pages = dir.join("man");
    assert_eq!(stdout(&["man", "--dir", &pages], b""), b"");
    let whole = String::from_utf8(stdout(&["man"], b"")).unwrap();
    assert!(whole.starts_with(".ie") && whole.contains(".TH") && whole.contains(".SH FURUI FILTER BUILD"), "{whole}");
    let mut checked = 0;
    for entry in fs::read_dir(&pages).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let page = fs::read_to_string(format!("{pages}/{name}")).unwrap();
        let is_above = ["furui.1", "furui-filter.1", "furui-dict.1"].contains(&name.as_str());
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO", "EXIT STATUS", "EXAMPLES"] {
            let has = page.contains(&format!("\n.SH {section}\n")) || page.contains(&format!("\n.SH \"{section}\"\n"));
            assert!(has || is_above, "{name}: {section}");
        }
        assert!(!page.contains("<subcommands>"), "{name}");
        if !is_above {
            let command = name.trim_start_matches("furui-").trim_end_matches(".1");
            let help = stdout(&[&command.split('-').collect::<Vec<_>>()[..], &["--help"]].concat(), b"");
            let help = String::from_utf8(help).unwrap();
            assert!(help.contains("\nExit status:\n  0 ") && help.contains("\nExamples:\n  furui "), "{help}");
            checked += 1;
        }
    }
    let commands = if cfg!(feature = "node") { 40 } else { 28 };
    assert_eq!(checked, commands);
}

/// The help of a command, without the program's name.
pub fn help(command: &str, option: &str) -> String {
    let args: Vec<&str> = command.split_whitespace().chain([option]).collect();
    String::from_utf8(stdout(&args, b"")).unwrap()
}

/// The commands that do something, as the help lists them.
pub fn commands() -> Vec<String> {
    let listed = |above: &str| -> Vec<String> {
        let text = help(above, "-h");
        let list = text.split("\nCommands:\n").nth(1).unwrap_or("").split("\n\n").next().unwrap_or("");
        let names = list.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
        let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        names.map(|name| format!("{above} {name}").trim_start().to_string()).collect()
    };
    let is_group = |name: &String| help(name, "-h").contains("\nCommands:\n");
    let (groups, mut commands): (Vec<String>, Vec<String>) = listed("").into_iter().partition(is_group);
    commands.extend(groups.iter().flat_map(|group| listed(group)));
    commands
}

/// The groups of options in a help.
fn groups(text: &str) -> Vec<&str> {
    let is_group = |line: &&str| line.ends_with(':') && line.starts_with(|first: char| first.is_ascii_uppercase());
    text.lines().filter(is_group).map(|line| line.trim_end_matches(':')).collect()
}

#[test]
fn the_short_help_is_a_page_and_the_long_one_begins_with_examples() {
    let commands = commands();
    assert!(commands.len() >= 27, "{commands:?}");
    for name in &commands {
        let (short, long) = (help(name, "-h"), help(name, "--help"));
        assert!(short.lines().count() <= 60, "{name}: {short}");
        let place = |text: &str| long.find(text).unwrap_or_else(|| panic!("{name}: {text}: {long}"));
        assert!(
            place("\n\nExamples:\n  furui ") < place("\nUsage: ") && place("\nUsage: ") < place("\nExit status:"),
            "{long}"
        );
        assert!(
            long.find("\n\n").unwrap() == place("\n\nExamples:\n"),
            "nothing but the first sentence is before: {long}"
        );
        // An option without a group of its own would come first, below "Options".
        let options = long.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --")).count();
        let groups = groups(&short);
        let is_grouped = !groups.contains(&"Options") && !groups.contains(&"Arguments");
        assert!(is_grouped || options <= 11, "{name}: an option has no help_heading: {short}");
        let papers = groups.iter().position(|group| group.contains("paper"));
        assert!(papers.is_none_or(|place| place + 1 == groups.len()), "{name}: {groups:?}");
        // Each option has one line.
        let is_more = |line: &&str| line.len() - line.trim_start().len() > 12;
        assert!(!is_grouped || !short.lines().any(|line| is_more(&line)), "{name}: {short}");
    }
    for (name, expected) in [
        ("seen", &["Input", "Keys", "Set", "Output", "The papers' tiers"][..]),
        ("has", &["Input", "Keys", "Set", "Output"]),
        ("filter build", &["Input", "Keys", "Filter", "The papers' filters"]),
        ("filter insert", &["Input", "Keys", "Filter"]),
        #[cfg(feature = "node")]
        ("node", &["Node", "A private network", "Service", "The papers' codings"]),
        ("dict count", &["Input", "Keys", "Dictionary", "Output", "The paper's tries"]),
    ] {
        assert_eq!(groups(&help(name, "-h")), expected, "{name}");
    }
}

#[cfg(not(feature = "node"))]
#[test]
fn a_build_without_the_search_engine_says_how_to_get_it() {
    for args in [&["node", "--data", "x"][..], &["node", "--help"], &["publish"], &["search", "-a", "b"], &["demo"]] {
        let message = failure(args, b"");
        assert!(message.contains(args[0]) && message.contains("--features node"), "{message}");
    }
    let help = String::from_utf8(stdout(&["--help"], b"")).unwrap();
    assert!(help.contains("--features node"), "{help}");
    assert!(!help.contains("unpublish  "), "{help}");
}

#[test]
fn numbers_are_taken_as_people_write_them() {
    let dir = TempDir::new();
    let build = |name: &str, options: &[&str]| {
        let filter = dir.join(name);
        assert_eq!(stdout(&[&["filter", "build", "-o", &filter], options].concat(), b"a\n"), b"");
        fs::read(filter).unwrap()
    };
    let plain = build("plain", &["-c", "1000000", "--fpr", "0.001"]);
    for options in [["-c", "1M", "--fpr", "0.1%"], ["-c", "1e6", "--fpr", "1e-3"]] {
        assert!(build("other", &options) == plain, "{options:?}");
    }
    assert_eq!(stdout(&["seen", "--memory", "1e6KB"], b"a\n"), b"a\n");
    for memory in ["0", "1", "4KiB"] {
        assert!(failure(&["seen", "--memory", memory], b"").contains("at least"), "{memory}");
    }
    let mut wrong = vec![
        &["seen", "--memory", "many"][..],
        &["seen", "--field", "x"],
        &["seen", "--hash-seed", "x"],
        &["filter", "build", "-o", "f", "-c", "x"],
        &["filter", "build", "-o", "f", "--fpr", "x"],
        &["seen", "-x"],
    ];
    if cfg!(feature = "node") {
        wrong.extend([&["search", "--limit", "x", "word"][..], &["demo", "--port", "x"]]);
    }
    for args in wrong {
        let message = failure(args, b"");
        for jargon in ["invalid digit", "invalid float", "as a value, use"] {
            assert!(!message.contains(jargon), "{args:?}: {message}");
        }
    }
}

#[test]
fn reports_say_each_figure_once() {
    let dir = TempDir::new();
    let (filter, store, dict) = (dir.join("filter"), dir.join("store"), dir.join("dict"));
    let lines: Vec<u8> = (0..2000).flat_map(|line| format!("{line}\n").into_bytes()).collect();
    assert_eq!(stdout(&["filter", "build", "-k", "blocked", "-c", "1", "-o", &filter], b"a\n"), b"");
    assert_eq!(stdout(&["seen", "-q", "--store", &store], &lines), b"");
    assert_eq!(stdout(&["dict", "build", "--store", &dict], &lines), b"");
    let info = String::from_utf8(stdout(&["info", &filter, &store, &dict], b"")).unwrap();
    for part in ["cache lines  ", "keys        2,000\n", " in 1 run, ", " in 1 trie, ", "next id     2000\n"] {
        assert!(info.contains(part), "{part}: {info}");
    }
    // The random seed of a store may have any digits.
    let figures: String = info.split_inclusive('\n').filter(|line| !line.starts_with("hash")).collect();
    for ugly in ["(2000)", "e0", "1 runs", "1 tries", "\nlines"] {
        assert!(!figures.contains(ugly), "{ugly}: {info}");
    }
    // Of a few keys, most of what each takes is what a file has besides them.
    let small = dir.join("small");
    assert_eq!(stdout(&["seen", "-q", "--store", &small], b"a\n"), b"");
    let told = [&store, &small].map(|store| String::from_utf8(stdout(&["info", store], b"")).unwrap());
    assert!(told[0].contains(" bytes a key\n") && !told[1].contains("bytes a key"), "{told:?}");
    let said = run(&["seen", "--stats", "--store", &store], b"0\n0\nnew\n");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("3 lines (") && said.contains("1 new, 2 repeats"), "{said}");
}

#[test]
fn what_is_well_is_told_of_although_something_else_is_not() {
    let dir = TempDir::new();
    let (filter, store) = (dir.join("filter"), dir.join("store"));
    assert_eq!(stdout(&["filter", "build", "-o", &filter], b"a\n"), b"");
    assert_eq!(stdout(&["seen", "-q", "--store", &store], b"a\n"), b"");
    assert_eq!(stdout(&["verify", &filter, &store], b""), b"");
    let damaged = dir.file("damaged", &fs::read(&filter).unwrap()[..100]);
    let message = failure(&["verify", &damaged, &filter, &dir.join("missing"), &store], b"");
    assert!(message.contains(&damaged) && message.contains("missing"), "{message}");
    assert!(!message.contains(&filter) && !message.contains(&store), "{message}");
    let output = run(&["info", "--json", &damaged, &filter, &store], b"");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 2), "{said}");
    assert!(said.contains(&format!("{{\"path\":\"{filter}\",\"kind\"")), "{said}");
    // If a path that is used as a filter is something else, the error says what it is.
    assert!(failure(&["filter", "list", &store], b"").contains("a store or a dictionary, not a filter"));
    fs::create_dir(dir.join("folder")).unwrap();
    assert!(failure(&["filter", "list", &dir.join("folder")], b"").contains("a directory, not a filter"));
}
