//! Which part of a line is its key, and how keys are compared.

use clap::{Args, ValueEnum};

use super::InputOptions;
use crate::blocks::Blocks;
use crate::interrupt::Interrupt;
use crate::number;
use crate::reading::Reading;
use crate::split::Split;

/// The part of a line that is its key.
#[derive(Args)]
pub struct LineOptions {
    /// The key is these fields of the line, counted from 1, as in 2 or 2,5
    #[arg(short, long, value_name = "N,...", value_delimiter = ',', value_parser = number::between::<u32>(1, u32::MAX.into()), conflicts_with = "key")]
    pub field: Vec<u32>,
    /// The separator of fields: one byte [default: tab; with --csv a comma]
    #[arg(short, long, value_name = "C", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// The input is CSV: fields may be quoted, and then have commas, newlines and doubled quotes. The first record of each file
    /// names the columns; it is printed once, and not if the output is appended to a file that is not empty
    #[arg(long, group = "format", conflicts_with_all = ["field", "null"])]
    pub csv: bool,
    /// The input is TSV: the fields of a line are separated by tabs, and cannot be quoted. The first line of each file
    /// names the columns; it is printed once
    #[arg(long, group = "format", conflicts_with_all = ["field", "null", "delimiter"])]
    pub tsv: bool,
    /// Each line is a JSON value
    #[arg(long, group = "format", conflicts_with_all = ["field", "delimiter"])]
    pub json: bool,
    /// The key is these columns of --csv or --tsv, by name or by number from 1, or these JSON Pointers of --json, as in
    /// url,lang or /meta/url. Quotes are as in CSV: '"Last, First"'. name:2020 is a name, column:3 a number [default: the
    /// whole line]
    #[arg(long, value_name = "KEY,...", requires = "format")]
    pub key: Vec<String>,
    /// With --csv or --tsv: files have no header, so columns have numbers only
    #[arg(long, requires = "format", conflicts_with = "json")]
    pub no_header: bool,
    /// White space around the key does not matter
    #[arg(long)]
    pub trim: bool,
    /// Letters are equal in upper and lower case (Unicode's simple case folding)
    #[arg(long)]
    pub ignore_case: bool,
    /// The key is the canonical form of the URL (scheme and host in lower case, dots resolved, no default port, no
    /// fragment); a line that is no http, https, ftp, ws or wss URL is its own key
    #[arg(long)]
    pub url: bool,
    /// With --url: these parameters of the query do not matter. Upper and lower case differ; a name may end in *, as in
    /// utm_*,fbclid
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "url")]
    pub url_drop: Vec<String>,
    /// With --url: the order of the query's parameters does not matter
    #[arg(long, requires = "url")]
    pub url_sort: bool,
    /// What becomes of a line that has no key, because it has too few fields or not the expected structure
    #[arg(long, value_enum, default_value = "keep", hide_possible_values = false)]
    pub missing: Policy,
    /// What becomes of a broken record: a quote that is not closed, or text that is not JSON
    #[arg(long, value_enum, default_value = "error")]
    pub bad: Policy,
    /// Make keys as the key options say, even if the store or filter was made with other key options
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
    /// How the input is read.
    pub fn reading(&self, input: &InputOptions) -> Reading {
        let split = match self.csv {
            true => Split::Csv(self.delimiter.unwrap_or(b',')),
            false => Split::Lines(input.separator()),
        };
        let header = (self.csv || self.tsv) && !self.no_header;
        Reading { split, header, ..input.reading() }
    }

    /// The lines of the input.
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
            _ => Err("must be one byte (\\t and \\0 are understood)".into()),
        },
    }
}
