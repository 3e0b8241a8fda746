use std::path::Path;

use furui_net::http::{MAX_LINE, read_line};

use super::Publisher;
use crate::Error;
use crate::program::Part;

impl Publisher<'_> {
    /// Publishes the documents of a file that has one document in each line.
    pub(super) fn lines(&mut self, path: &Path) -> Result<(), Error> {
        self.program.lines(path, MAX_LINE, &mut |part| match part {
            // Blank lines are skipped. A line that was cut because it is too long is not skipped, because the part that
            // was read may be blank by chance.
            Part::Line(line, _) if line.len() <= MAX_LINE && line.trim_ascii().is_empty() => Ok(()),
            Part::Line(line, place) => match read_line(line, self.key()?) {
                Ok(record) => self.record(place, record),
                Err(why) => self.sums.leave_out(&place, &why),
            },
            Part::Read(bytes) => {
                (self.progress)(bytes);
                Ok(())
            }
            Part::Pause => self.send(),
        })
    }
}
