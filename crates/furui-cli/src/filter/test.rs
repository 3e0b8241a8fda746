//! `furui filter test`: which lines may be in a filter?

use std::process::ExitCode;

use furui::filter::AnyFilter;
use furui::{HashSpec, Hashes};

use super::cascade;
use super::file::{form_of, is_cascade, open};
use super::seed::given;
use crate::blocks::LargeBlocks;
use crate::cli::TestOptions;
use crate::complain;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::keys::{self, Keys};
use crate::output::{Output, Sink, print};

/// The exit code if no line was printed, as of grep.
const NONE: u8 = 1;

/// The exit code if a file could not be opened, even if something was found in the others, as in grep.
const SKIPPED: u8 = 2;

/// The filter in which lines are looked up.
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
    let (mut filter, form) = if is_cascade(&options.filter)? {
        let filter = cascade::open(&options.filter)?;
        let form = filter.set().manifest().form;
        (Asked::Cascade(Box::new(filter)), form)
    } else {
        let filter = open(&options.filter, given(&options.seed)?)?;
        (Asked::File(filter), form_of(&options.filter)?)
    };
    keys::check(options.filter.display(), form, &options.lines)?;
    let mut keys = Keys::new(filter.hash_spec(), &options.lines)?;
    let interrupt = Interrupt::ignore();
    let mut output = Output::new(options.quiet || options.count)?;
    let mut blocks = options.lines.blocks(&options.input, &interrupt).skipping(complain);
    let (mut hashes, mut answers) = (Hashes::new(&keys.hasher), Vec::new());
    let mut found: u64 = 0;
    while let Some(mut block) = blocks.next()? {
        if let Some(is_first) = keys.header(&block)? {
            if is_first && output.write(&mut block, std::iter::once(true))? == Sink::Closed {
                break;
            }
            continue;
        }
        keys.hash_all(&mut block, &mut hashes);
        filter.contains_hashes(&hashes, &mut answers)?;
        // A line without a key is in no filter.
        let wanted = || keys.wanted(answers.iter().map(|&maybe| maybe != options.invert), options.invert);
        found += wanted().filter(|&wanted| wanted).count() as u64;
        if options.quiet && found > 0 {
            break;
        }
        if output.write(&mut block, wanted())? == Sink::Closed {
            break;
        }
        if matches!(filter, Asked::Cascade(_)) {
            blocks.enlarge(LargeBlocks::LEAST);
        }
        keys.failure()?;
    }
    keys.report();
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
