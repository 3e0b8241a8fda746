//! The options of `furui search`.

use clap::Args;

use super::node::NodeAddress;
use crate::number;

/// Find the documents that hold all of some words
///
/// a b finds documents with both words, a OR b with one of them, a -b those with the first and without the second, '"a b"'
/// those with both one after the other, site:example.org those on that host or below it; parentheses group. Quotes and
/// parentheses are to be kept from the shell.
#[derive(Args)]
pub struct SearchOptions {
    /// The words, after all options; -WORD excludes one. If that is the first of them, write -- before it
    #[arg(value_name = "QUERY", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub query: Vec<String>,
    #[command(flatten)]
    pub node: NodeAddress,
    /// A line of JSON for each document (id, url, title, snippet, score, and the places of the words in title and
    /// snippet in bytes: title_marks, marks), and a last one with total and bytes
    #[arg(long)]
    pub json: bool,
    /// How many documents at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number::between::<u64>(1, u64::MAX))]
    pub limit: u64,
    /// Print also what is done for it, and the bytes of every message
    #[arg(long)]
    pub explain: bool,
}
