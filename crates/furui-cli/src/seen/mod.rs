//! `furui seen`.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use furui::seen::{Seen, Verdict};
use furui::{Error, HashSpec};

use crate::blocks::{Block, Blocks};
use crate::cli::SeenOptions;
use crate::interrupt::Interrupt;
use crate::keys::Keys;

/// Runs the command.
pub fn run(options: &SeenOptions) -> Result<ExitCode, Error> {
    let interrupt = Interrupt::ignore();
    let mut blocks = Blocks::new(&options.files, if options.null { 0 } else { b'\n' }, &interrupt);
    let keys = Keys { spec: HashSpec::default(), field: None, url: false };
    let mut seen = Seen::new();
    let wanted = if options.invert { Verdict::Repeat } else { Verdict::New };
    let mut out = stdout()?;
    let (mut hashes, mut verdicts) = (Vec::new(), Vec::new());
    while let Some(mut block) = blocks.next()? {
        keys.hash_all(&block, &mut hashes);
        seen.observe_all(&hashes, &mut verdicts)?;
        let kept = keep(&mut block, &verdicts, wanted);
        if let Err(e) = out.write_all(kept) {
            if e.kind() == ErrorKind::BrokenPipe {
                return Ok(ExitCode::SUCCESS);
            }
            return Err(Error::io("cannot write", "standard output", e));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn stdout() -> Result<File, Error> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned().unwrap()))
}

/// Moves the lines with the wanted verdict to the front of the block and returns them: neighbours go in one piece, and all
/// of them leave in one write.
fn keep<'a>(block: &'a mut Block<'_>, verdicts: &[Verdict], wanted: Verdict) -> &'a [u8] {
    let mut kept = 0;
    let mut piece = 0;
    let mut start = 0;
    for (&end, &verdict) in block.ends.iter().zip(verdicts) {
        let next = end as usize + 1;
        if verdict != wanted {
            block.bytes.copy_within(piece..start, kept);
            kept += start - piece;
            piece = next;
        }
        start = next;
    }
    block.bytes.copy_within(piece..start, kept);
    kept += start - piece;
    &block.bytes[..kept]
}
