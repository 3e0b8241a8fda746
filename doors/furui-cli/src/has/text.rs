use std::path::Path;

use furui::Hashes;
use furui::seen::{Seen, SeenOptions};

use super::file::refuse_binary;
use crate::cli::{InputOptions, LineOptions};
use crate::error::Error;
use crate::files::Files;
use crate::input::blocks::Blocks;
use crate::input::reading::Reading;
use crate::interrupt::Interrupt;
use crate::keys::Keys;

/// The rules by which the lines of a text become keys.
pub struct TextLines<'a> {
    pub lines: &'a LineOptions,
    pub input: &'a InputOptions,
    /// True if each line is a key as it is, whatever the options say of other lines.
    pub are_keys: bool,
    /// The words that say what becomes of lines without a key, for a message.
    pub lacking: &'static str,
    /// Advice to the user if the text is not of the expected kind, for a message.
    pub hint: &'static str,
}

/// The lines of a text as a set, which uses temporary files if it does not fit into memory.
pub struct Text {
    /// The keys of the lines, each once.
    pub seen: Seen<Files>,
    /// The number of lines, including repeats and lines without a key.
    pub lines: u64,
    /// The length of the text in bytes, decoded if it was compressed.
    pub bytes: u64,
}

impl Text {
    /// Reads the keys of a text, which is a file, a pipe or standard input, into a set. Temporary files of at most
    /// `mapped` bytes are mapped into memory.
    pub fn read(
        path: &Path,
        TextLines { lines, input, are_keys, lacking, hint }: TextLines<'_>,
        settings: SeenOptions,
        mapped: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let mut text = Self { seen: Seen::open_with(Files::temporary(mapped), settings)?, lines: 0, bytes: 0 };
        let spec = text.seen.hash_spec();
        let mut keys = if are_keys { Keys::listed(spec, lines)? } else { Keys::new(spec, lines)? };
        let reading = if are_keys { input.reading() } else { lines.reading(input) };
        // A set of only some of the lines would be another set, so the first error ends the reading.
        let reading = Reading { keeps_going: false, ..reading };
        let path = path.to_path_buf();
        let mut blocks = Blocks::new(std::slice::from_ref(&path), reading, interrupt);
        let (mut hashes, mut verdicts) = (Hashes::new(keys.hasher()), vec![]);
        let hinted = |error| Error::Message(format!("{error}{hint}"));
        while let Some(block) = blocks.next()? {
            if text.bytes == 0 && !are_keys && reading.split.separator() != 0 {
                refuse_binary(block.bytes(), block.input()).map_err(hinted)?;
            }
            text.bytes += block.bytes().len() as u64;
            if keys.header(block).map_err(hinted)?.is_some() {
                continue;
            }
            text.lines += block.len() as u64;
            keys.hash_all(block, &mut hashes);
            text.seen.observe_all(&hashes, &mut verdicts)?;
            keys.failure()?;
        }
        keys.report(lacking);
        Ok(text)
    }
}
