//! The options that say which part of a line is its key, and how keys are compared.

use clap::{Args, ValueEnum};

use super::number;
use super::{InputOptions, headings};
use crate::input::blocks::Blocks;
use crate::input::reading::Reading;
use crate::input::split::Split;
use crate::interrupt::Interrupt;

/// The part of a line that is its key.
#[derive(Args)]
#[command(next_help_heading = headings::KEYS)]
pub struct LineOptions {
    /// The key is these fields, counted from 1, as in 2,5
    #[arg(short, long, value_name = "N,...", value_delimiter = ',', value_parser = number::between::<u32>(1, u32::MAX.into()), conflicts_with = "key")]
    pub field: Vec<u32>,
    /// The byte between fields [default: tab; with --csv a comma]
    #[arg(short, long, value_name = "C", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// The input is CSV, with a header
    ///
    /// Fields may be quoted, and then have commas, newlines and doubled quotes. The first record of each file names the
    /// columns; it is printed once, and not if the output is appended to a file that is not empty
    #[arg(long, group = "format", conflicts_with_all = ["field", "null"])]
    pub csv: bool,
    /// The input is TSV, with a header
    ///
    /// The fields of a line are separated by tabs, and cannot be quoted. The first line of each file names the columns;
    /// it is printed once
    #[arg(long, group = "format", conflicts_with_all = ["field", "null", "delimiter"])]
    pub tsv: bool,
    /// Each line is a JSON value
    #[arg(long, group = "format", conflicts_with_all = ["field", "delimiter"])]
    pub json: bool,
    /// The key is these columns, or these JSON Pointers
    ///
    /// Columns of --csv or --tsv are given by name or by number from 1, and members of --json by JSON Pointers, as in
    /// url,lang or /meta/url. Quotes are as in CSV: '"Last, First"'. name:2020 is a name, column:3 a number [default:
    /// the whole line]
    #[arg(long, value_name = "KEY,...", requires = "format")]
    pub key: Vec<String>,
    /// Files have no header, so columns have numbers only
    #[arg(long, requires = "format", conflicts_with = "json")]
    pub no_header: bool,
    /// White space around the key does not matter
    #[arg(long)]
    pub trim: bool,
    /// Upper and lower case do not matter
    ///
    /// Letters are compared by Unicode's simple case folding
    #[arg(short, long)]
    pub ignore_case: bool,
    /// The key is the canonical form of the URL
    ///
    /// Scheme and host in lower case, dots resolved, no default port, no fragment. A line that is no http, https, ftp,
    /// ws or wss URL is its own key
    #[arg(long)]
    pub url: bool,
    /// With --url: these parameters of the query do not matter
    ///
    /// Upper and lower case differ; a name may end in *, as in utm_*,fbclid
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "url")]
    pub url_drop: Vec<String>,
    /// With --url: the order of the parameters does not matter
    #[arg(long, requires = "url")]
    pub url_sort: bool,
    /// Lines without a key: keep, drop, or error
    ///
    /// A line has no key if it has too few fields, or not the expected structure
    #[arg(long, value_enum, value_name = "FATE", default_value = "keep")]
    pub missing: Policy,
    /// Broken records: keep, drop, or error
    ///
    /// A record is broken if a quote is not closed, or if the text is not JSON
    #[arg(long, value_enum, value_name = "FATE", default_value = "error")]
    pub bad: Policy,
    /// Use a set even if it was made with other key options
    ///
    /// The keys of lines are made by the options that are given here. Without --as-is, a store or filter that was made
    /// with other key options is refused
    #[arg(long)]
    pub as_is: bool,
}

/// What becomes of a line without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// It is printed, counted, and not recorded
    Keep,
    /// It is counted, and neither printed nor recorded
    Drop,
    /// It ends the command with an error that names file and line
    Error,
}

impl LineOptions {
    /// The way in which the input is read, with these options and those of `input`.
    pub fn reading(&self, input: &InputOptions) -> Reading {
        let split = match self.csv {
            true => Split::Csv(self.delimiter.unwrap_or(b',')),
            false => Split::Lines(input.separator()),
        };
        let header = (self.csv || self.tsv) && !self.no_header;
        Reading { split, header, ..input.reading() }
    }

    /// Makes the reader of the lines of the input, with these options and those of `input`.
    pub fn blocks<'a>(&self, input: &InputOptions, interrupt: &'a Interrupt) -> Blocks<'a> {
        Blocks::new(&input.files, self.reading(input), interrupt)
    }
}

/// Parses a field delimiter: one byte, or the escape `\\t` or `\\0`.
fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "\\t" => Ok(b'\t'),
        "\\0" => Ok(0),
        _ => match text.as_bytes() {
            b"\n" => Err("a line break cannot separate fields".into()),
            [byte] => Ok(*byte),
            _ => Err("must be one byte, or \\t for a tab, or \\0 for NUL".into()),
        },
    }
}
