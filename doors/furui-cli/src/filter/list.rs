//! `furui filter list`: prints the fingerprints of a quotient filter.

use std::io::Write;
use std::process::ExitCode;

use furui::filter::AnyFilter;

use super::file::open;
use super::seed::given;
use crate::cli::ListOptions;
use crate::error::Error;
use crate::output::{Output, Sink};

/// The number of bytes of fingerprints, as text, that are gathered before they are printed.
const PIECE: usize = 1 << 16;

/// Runs `furui filter list`: prints the fingerprints of a quotient filter, in ascending order.
pub fn run(options: &ListOptions) -> Result<ExitCode, Error> {
    let filter = match open(&options.filter, given(&options.seed, [&options.filter])?)? {
        AnyFilter::Quotient(filter) => filter,
        other => {
            let (name, kind) = (options.filter.display(), other.kind());
            return Err(Error::Message(format!("{name}: {kind}, and only a quotient filter has fingerprints to list")));
        }
    };
    let mut output = Output::open(options.print.output.as_deref(), false, &[&options.filter])?;
    let mut piece = Vec::with_capacity(PIECE + 32);
    for fingerprint in filter.fingerprints() {
        writeln!(piece, "{fingerprint}").expect("a vector takes all");
        if piece.len() >= PIECE {
            if output.print(&piece)? == Sink::Closed {
                return Ok(ExitCode::SUCCESS);
            }
            piece.clear();
        }
    }
    output.print(&piece)?;
    Ok(ExitCode::SUCCESS)
}
