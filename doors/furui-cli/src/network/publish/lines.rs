use std::path::Path;

use furui_net::http::{MAX_LINE, read_line};

use super::Publisher;
use crate::blocks::Blocks;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::reading::Reading;

impl Publisher<'_> {
    /// Publishes the documents of a file that has one document in each line.
    pub(super) fn lines(&mut self, path: &Path) -> Result<(), Error> {
        let interrupt = Interrupt::ignore();
        let mut blocks = Blocks::new(&[path.to_owned()], Reading::lines(MAX_LINE), &interrupt).cutting();
        loop {
            let Some(block) = blocks.next()? else { return Ok(()) };
            for (index, line) in block.lines().enumerate() {
                // Blank lines are skipped. But if a line was too long and has been cut, the part that is left is not
                // skipped, because it may be blank by chance.
                if line.len() <= MAX_LINE && line.trim_ascii().is_empty() {
                    continue;
                }
                match read_line(line) {
                    Ok(record) => self.record(block.place(index), record)?,
                    Err(why) => self.sums.leave_out(&block.place(index), &why)?,
                }
            }
            self.progress.advance(block.bytes().len());
            if blocks.would_wait() {
                self.send()?;
            }
        }
    }
}
