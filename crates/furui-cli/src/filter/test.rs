//! `furui filter test`: which lines may be in a filter?

use std::process::ExitCode;

use furui::filter::AnyFilter;
use furui::{HashSpec, Hashes};

use super::cascade;
use super::file::{is_cascade, open};
use super::seed::given;
use crate::blocks::LargeBlocks;
use crate::cli::TestOptions;
use crate::complain;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::keys::Keys;
use crate::output::{Output, Sink, print};

/// The exit code if no line was printed, as of grep.
const NONE: u8 = 1;

/// The exit code if a file could not be opened, even if something was found in the others, as in grep.
const SKIPPED: u8 = 2;

/// A filter that is asked.
enum Asked {
    File(AnyFilter),
    Cascade(Box<cascade::Reader>),
}

impl Asked {
    fn hash_spec(&self) -> HashSpec {
        match self {
            Self::File(filter) => filter.hash_spec(),
            Self::Cascade(filter) => filter.hash_spec(),
        }
    }

    fn contains_hashes(&mut self, keys: &Hashes, out: &mut Vec<bool>) -> Result<(), Error> {
        match self {
            Self::File(filter) => filter.contains_hashes(keys, out)?,
            Self::Cascade(filter) => filter.contains_hashes(keys, out)?,
        }
        Ok(())
    }
}

/// Runs the command.
pub fn run(options: &TestOptions) -> Result<ExitCode, Error> {
    let mut filter = match is_cascade(&options.filter)? {
        true => Asked::Cascade(Box::new(cascade::open(&options.filter)?)),
        false => Asked::File(open(&options.filter, given(&options.seed)?)?),
    };
    let keys = Keys::new(filter.hash_spec(), &options.lines);
    let interrupt = Interrupt::ignore();
    let mut output = Output::new(options.quiet || options.count)?;
    let mut blocks = options.input.blocks(&interrupt).skipping(complain);
    let (mut hashes, mut answers) = (Hashes::new(&keys.hasher), Vec::new());
    let mut found: u64 = 0;
    while let Some(mut block) = blocks.next()? {
        keys.hash_all(&block, &mut hashes);
        filter.contains_hashes(&hashes, &mut answers)?;
        found += answers.iter().filter(|&&maybe| maybe != options.invert).count() as u64;
        if options.quiet && found > 0 {
            break;
        }
        if output.write(&mut block, answers.iter().map(|&maybe| maybe != options.invert))? == Sink::Closed {
            break;
        }
        if matches!(filter, Asked::Cascade(_)) {
            blocks.enlarge(LargeBlocks::LEAST);
        }
    }
    if options.count {
        print(format!("{found}\n").as_bytes())?;
    }
    Ok(match found {
        1.. if options.quiet => ExitCode::SUCCESS,
        _ if blocks.skipped() => ExitCode::from(SKIPPED),
        0 => ExitCode::from(NONE),
        _ => ExitCode::SUCCESS,
    })
}
