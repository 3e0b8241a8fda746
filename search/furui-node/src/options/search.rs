//! The options of `furui search`.

use clap::Args;

use super::between;
use super::node::{CodingOptions, NodeAddress};

/// The number of results without `--limit`. A result that is opened is the one that such a search shows at this rank.
pub const USUAL: u64 = 10;

/// Find the documents that contain all of the words
///
/// A word also finds its plural, its singular, and the word with and without accents. If no document has all words, the
/// results are those for words with another spelling or, if there are none, documents with most of the words, and a
/// line says so. What cannot be understood as a query is searched for as it is written.
///
/// a b finds documents with both words; a OR b, documents with at least one of the words; a -b, documents with the
/// first word and without the second; '"a b"', documents with b directly after a; and site:example.org, documents on
/// that host and its subdomains. Parentheses group words. Quotes and parentheses must be quoted in the shell.
#[derive(Args)]
pub struct SearchOptions {
    /// The words, after all options; -WORD excludes a word. If the first word is excluded, write -- before it
    #[arg(value_name = "QUERY", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub query: Vec<String>,
    #[command(flatten)]
    pub node: NodeAddress,
    /// Print a line of JSON for each document (id, url, title, snippet, score, and the byte ranges of the words in
    /// title and snippet: title_marks, marks; and if other documents have the URL, publishers, and also: the ids and
    /// publishers of these), and a last line with total and bytes
    #[arg(long)]
    pub json: bool,
    /// Show the N-th document in the program that the system has for its address, and print its title and URL only
    ///
    /// Addresses of the web are opened, and files that this node publishes from a watched directory, which the node
    /// itself shows
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "explain", "limit"],
        value_parser = between::<u64>(1, u64::MAX))]
    pub open: Option<u64>,
    /// Do not show the results in a pager
    ///
    /// On a terminal, they are shown in the program of the environment variable PAGER, or in less. NO_PAGER=1 is the
    /// same as this option
    #[arg(long)]
    pub no_pager: bool,
    /// Print at most N documents
    #[arg(long, value_name = "N", default_value_t = USUAL, value_parser = between::<u64>(1, u64::MAX))]
    pub limit: u64,
    #[command(flatten)]
    pub coding: CodingOptions,
    /// Print only documents that have all of the words, in the order of their scores, whoever has published them, and
    /// refuse a query that cannot be understood
    #[arg(long)]
    pub exact: bool,
    /// Also print each step of the search: what was sent in which coding, and the size of every message
    #[arg(long)]
    pub explain: bool,
}
