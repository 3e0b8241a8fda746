//! `furui has`: prints the lines whose keys are in a set, or those whose keys are not.

mod file;
mod set;
mod text;

use std::path::Path;
use std::process::ExitCode;

use crate::cli::HasOptions;
use crate::error::Error;
use crate::input::large_blocks::LargeBlocks;
use crate::input::unread;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::output::{Output, Sink};
use set::Set;

pub use text::{Text, TextLines};

/// The exit code of `furui has` if no line was printed, as that of grep.
const NONE: u8 = 1;

/// Runs `furui has`: prints the lines whose keys are in a set, or those whose keys are not.
pub fn run(options: &HasOptions) -> Result<ExitCode, Error> {
    let files = &options.input.files;
    if options.set.as_os_str() == "-" && (files.is_empty() || files.contains(&options.set)) {
        let reason = "-: standard input is the set, so the lines to look up cannot come from there: name their file";
        return Err(Error::Message(reason.into()));
    }
    let memory = options.memory.unwrap_or_else(memory::quarter);
    let large = LargeBlocks::of(memory, 1);
    let interrupt = Interrupt::ignore();
    let mut set = Set::open(options, memory - large.bytes().saturating_sub(LargeBlocks::SPARE), &interrupt)?;
    let read: Vec<&Path> = [options.set.as_path()].into_iter().chain(options.input.inputs()).collect();
    let mut output = Output::open(options.print.output.as_deref(), options.quiet, &read)?;
    let mut keys = set.keys(&options.lines)?.printed_to(&output);
    let mut blocks = options.lines.blocks(&options.input, &interrupt).keeping_going();
    let prints = !options.quiet && !options.count;
    let mut answers = vec![];
    let mut found: u64 = 0;
    while let Some(block) = blocks.next()? {
        if let Some(is_first) = keys.header(block)? {
            if is_first && prints && output.write(block, std::iter::once(true))? == Sink::Closed {
                break;
            }
            continue;
        }
        set.contains(&mut keys, block, &mut answers)?;
        // A line without a key counts as not in the set.
        let wanted = || keys.wanted(answers.iter().map(|&there| there != options.invert), options.invert);
        found += wanted().take(block.len()).filter(|&wanted| wanted).count() as u64;
        if options.quiet && found > 0 {
            break;
        }
        if prints && output.write(block, wanted())? == Sink::Closed {
            break;
        }
        let line = block.mean_line();
        if set.is_on_storage() {
            blocks.enlarge(large, line);
        }
        keys.failure()?;
    }
    keys.report("not in the set");
    if options.count {
        output.print(format!("{found}\n").as_bytes())?;
    }
    Ok(match found {
        1.. if options.quiet => ExitCode::SUCCESS,
        0 => unread::status(ExitCode::from(NONE)),
        _ => unread::status(ExitCode::SUCCESS),
    })
}
