//! The headings under which the help of a command groups its options, in their order there.

use clap::{Arg, ArgAction, Command};

/// The heading of the options that say what is read, and how.
pub const INPUT: &str = "Input";
/// The heading of the options that say which part of a line is its key.
pub const KEYS: &str = "Keys";
/// The heading of the options of the set of lines that were seen.
pub const SET: &str = "Set";
/// The heading of the options of the filter that is made or changed.
pub const FILTER: &str = "Filter";
/// The heading of the options of a dictionary and its entries.
pub const DICTIONARY: &str = "Dictionary";
/// The heading of the options that say what is printed, and where.
pub const OUTPUT: &str = "Output";
/// The headings of the options of `furui node`.
const NODE: [&str; 3] = ["Node", "A private network", "Service"];
/// The headings of the groups that are not for experiments of papers.
const USUAL: [&str; 9] = [INPUT, KEYS, SET, FILTER, DICTIONARY, OUTPUT, NODE[0], NODE[1], NODE[2]];
/// The heading of the options of `furui seen` that only the experiments of papers need.
pub const TIERS: &str = "The papers' tiers";
/// The heading of the options of filters that only the experiments of papers need.
pub const PAPERS_FILTERS: &str = "The papers' filters";
/// The heading of the options of dictionaries that only the experiments of a paper need.
pub const PAPERS_TRIES: &str = "The paper's tries";

/// The help of a command with at most this many arguments has them in one list, without groups.
const ONE_LIST: usize = 10;

/// Removes the groups from the help of a command with few arguments, except those for papers, and puts `--help` into
/// the last usual group of a large one. Does so for the command's subcommands, too.
pub fn arrange(command: Command) -> Command {
    if command.is_hide_set() {
        return command;
    }
    let is_large = command.get_arguments().count() > ONE_LIST;
    // Without an order, the files would come last in their group.
    let mut order = 0;
    let command = command.mut_args(|arg| {
        order += 1;
        let arg = arg.display_order(order);
        let stays = is_large || arg.get_help_heading().is_some_and(|heading| !USUAL.contains(&heading));
        if stays { arg } else { arg.help_heading(None::<&str>) }
    });
    let is_used = |heading: &&str| command.get_arguments().any(|arg| arg.get_help_heading() == Some(*heading));
    let last = USUAL.into_iter().rfind(is_used);
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).display_order(order + 1);
    let help = help.help("Print help; --help has examples, and says more").help_heading(last);
    command.disable_help_flag(true).arg(help).mut_subcommands(arrange)
}

/// Shortens the help that `-h` prints: it does not list the possible values of options. The text of an option tells
/// them if they are not obvious.
pub fn shorten(command: Command) -> Command {
    let shorten_one = |arg: Arg| match arg.get_action().takes_values() {
        true => arg.hide_possible_values(true),
        false => arg,
    };
    command.mut_args(shorten_one).mut_subcommands(shorten)
}
