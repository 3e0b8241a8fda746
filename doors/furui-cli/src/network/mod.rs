//! The commands of the search engine, which the crate `furui-node` runs with the input and output of this command. Only
//! builds with the feature `node` have them; other builds have `missing/network.rs` in the place of this module.

mod notes;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use furui_node::{Part, Program};

use crate::error::Error;
use crate::input::blocks::Blocks;
use crate::input::reading::Reading;
use crate::interrupt::Interrupt;
use crate::output::{Output, Sink, is_styled};
use crate::say::progress::Progress;
use crate::streams::standard_input;

pub use furui_node::NetworkCommand;
pub use notes::NOTES;

/// The text below the list of all commands in the help. `None`, because this build has all commands.
pub fn missing() -> Option<String> {
    None
}

/// Runs a command of the search engine to its end, with the input and the output of this process. Returns the exit
/// code: 0 if it did or found something, and 1 if there was nothing.
///
/// # Errors
/// If the node, the input or the output fails.
pub fn run(command: &NetworkCommand) -> Result<ExitCode, Error> {
    furui_node::run(command, &Furui).map_err(of_network)
}

/// Copies the files of the running node whose HTTP address is `url` into the directory `copy`, which is new or empty.
/// `token` is a file with the node's token, which is needed if the node was started with --http-token. `keys` is the
/// directory of that node, on this machine, from which its secret keys are copied, too. Without it, the copy has no
/// keys.
pub fn snapshot(url: &str, token: Option<&Path>, copy: &Path, keys: Option<&Path>) -> Result<ExitCode, Error> {
    furui_node::snapshot(url, token, copy, keys, &Furui).map_err(of_network)
}

fn of_network(error: furui_node::Error) -> Error {
    match error {
        furui_node::Error::Library(error) => Error::Library(error),
        furui_node::Error::Message(message) => Error::Message(message),
    }
}

impl From<Error> for furui_node::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Library(error) => Self::Library(error),
            Error::Message(message) => Self::Message(message),
        }
    }
}

/// The program `furui`, as the crate `furui-node` uses it for the search engine's commands.
struct Furui;

impl Program for Furui {
    fn print(&self, bytes: &[u8]) -> Result<bool, furui_node::Error> {
        Ok(Output::new(false)?.print(bytes)? != Sink::Closed)
    }

    fn is_styled(&self) -> bool {
        is_styled()
    }

    fn complain(&self, message: &str) {
        crate::complain(&Error::Message(message.to_owned()));
    }

    fn input(&self) -> io::Result<File> {
        standard_input()
    }

    fn lines(
        &self,
        path: &Path,
        most: usize,
        take: &mut dyn FnMut(Part<'_>) -> Result<(), furui_node::Error>,
    ) -> Result<(), furui_node::Error> {
        let interrupt = Interrupt::ignore();
        let mut blocks = Blocks::new(&[path.to_owned()], Reading::lines(most), &interrupt).cutting();
        while let Some(block) = blocks.next()? {
            for (index, line) in block.lines().enumerate() {
                take(Part::Line(line, block.place(index)))?;
            }
            take(Part::Read(block.bytes().len()))?;
            if blocks.would_wait() {
                take(Part::Pause)?;
            }
        }
        Ok(())
    }

    fn progress(&self, what: &'static str, files: &[PathBuf]) -> Box<dyn FnMut(usize)> {
        let mut progress = Progress::new(what, files);
        Box::new(move |bytes| progress.advance(bytes))
    }
}
