//! The groups of options in the help of a command, in their order there.

use clap::{Arg, ArgAction, Command};

/// What is read, and how.
pub const INPUT: &str = "Input";
/// Which part of a line is its key.
pub const KEYS: &str = "Keys";
/// The set of lines that were seen.
pub const SET: &str = "Set";
/// The filter that is made or changed.
pub const FILTER: &str = "Filter";
/// The dictionary, and its entries.
pub const DICTIONARY: &str = "Dictionary";
/// What is printed, and where.
pub const OUTPUT: &str = "Output";
/// The groups that are not for papers.
const USUAL: [&str; 6] = [INPUT, KEYS, SET, FILTER, DICTIONARY, OUTPUT];
/// What only the experiments of papers need of `furui seen`.
pub const TIERS: &str = "The papers' tiers";
/// What only the experiments of papers need of filters.
pub const PAPERS_FILTERS: &str = "The papers' filters";
/// What only the experiments of a paper need of dictionaries.
pub const PAPERS_TRIES: &str = "The paper's tries";

/// A command with at most this many arguments has them in one list.
const ONE_LIST: usize = 10;

/// Removes the groups of a command with few arguments, except those for papers, and puts `--help` into the last usual
/// group of a large one. Does so for the commands below, too.
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

/// Shortens the help that `-h` prints: the text of an option tells its values, if these are not plain.
pub fn shorten(command: Command) -> Command {
    let shorten_one = |arg: Arg| match arg.get_action().takes_values() {
        true => arg.hide_possible_values(true),
        false => arg,
    };
    command.mut_args(shorten_one).mut_subcommands(shorten)
}
