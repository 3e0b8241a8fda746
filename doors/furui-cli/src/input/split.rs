//! Finds the positions at which the records of an input end.

/// The rule that says where a record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// A record ends at every occurrence of this byte.
    Lines(u8),
    /// A record ends at a line break that is not within quotes, by RFC 4180: LF, CRLF, or a CR alone. A quote opens a
    /// quoted field only after this delimiter or at the beginning of a record.
    Csv(u8),
}

impl Default for Split {
    fn default() -> Self {
        Self::Lines(b'\n')
    }
}

impl Split {
    /// The byte that ends a record. A record of CSV may also end in CR.
    pub fn separator(self) -> u8 {
        match self {
            Self::Lines(separator) => separator,
            Self::Csv(_) => b'\n',
        }
    }

    /// True if this byte, as the last one of an input, ends a record.
    pub fn ends_with(self, last: u8) -> bool {
        last == self.separator() || last == b'\r' && matches!(self, Self::Csv(_))
    }
}

/// The byte order mark: the three bytes with which some programs begin a text in UTF-8.
pub const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Finds the ends of records in a growing buffer that begins with a record.
pub struct Splitter {
    split: Split,
    /// The byte offset up to which the buffer was searched for ends of records.
    searched: usize,
    /// True if `searched` lies in a quoted field, where a line break does not end a record.
    quoted: bool,
    /// The byte offset in the buffer after the last closing quote.
    closed: usize,
    /// True if the buffer has a CR that no LF follows.
    lone_cr: bool,
}

impl Splitter {
    pub fn new(split: Split) -> Self {
        Self { split, searched: 0, quoted: false, closed: 0, lone_cr: false }
    }

    /// Prepares for another buffer, which must begin with a record, too.
    pub fn reset(&mut self) {
        *self = Self::new(self.split);
    }

    /// Searches the bytes that the buffer got since the last call, or after the length to which [`cut`](Self::cut) cut
    /// the buffer. Appends the positions of the bytes that end a record. A CR at the end of the buffer ends a record of
    /// CSV only if the input is `whole`; otherwise an LF may follow.
    pub fn find(&mut self, buffer: &[u8], whole: bool, ends: &mut Vec<u32>) {
        let from = self.searched.min(buffer.len());
        let waits = !whole && matches!(self.split, Split::Csv(_)) && buffer[from..].ends_with(b"\r");
        let end = buffer.len() - usize::from(waits);
        self.searched = end;
        match self.split {
            Split::Lines(separator) => {
                let before = ends.len();
                furui::raw::byte_positions(&buffer[from..], separator, ends);
                if from > 0 {
                    ends[before..].iter_mut().for_each(|end| *end += from as u32);
                }
            }
            Split::Csv(delimiter) => {
                let is_lone = |cr: usize| buffer.get(from + cr + 1) != Some(&b'\n');
                self.lone_cr = self.lone_cr || memchr::memchr_iter(b'\r', &buffer[from..end]).any(is_lone);
                self.find_csv(&buffer[..end], from, delimiter, ends);
            }
        }
    }

    /// Searches a buffer for the ends of records of CSV, from the byte offset `at` on, and appends their offsets to
    /// `ends`. A CR that is the last byte ends a record.
    fn find_csv(&mut self, buffer: &[u8], mut at: usize, delimiter: u8, ends: &mut Vec<u32>) {
        let mut start = ends.last().map_or(0, |&end| end as usize + 1);
        while at < buffer.len() {
            if self.quoted {
                let Some(quote) = memchr::memchr(b'"', &buffer[at..]) else { return };
                at += quote + 1;
                (self.quoted, self.closed) = (false, at);
                continue;
            }
            let next = match self.lone_cr {
                true => memchr::memchr3(b'"', b'\n', b'\r', &buffer[at..]),
                false => memchr::memchr2(b'"', b'\n', &buffer[at..]),
            };
            let Some(next) = next else { return };
            let found = at + next;
            at = found + 1;
            match buffer[found] {
                b'"' => {}
                b'\r' if buffer.get(at) == Some(&b'\n') => continue,
                _ => {
                    ends.push(found as u32);
                    start = at;
                    continue;
                }
            }
            // Two quotes within quotes stand for one quote. A byte order mark is not a part of the first field.
            let is_second = self.closed == found && found > start;
            let begins = found == start || buffer[found - 1] == delimiter || &buffer[start..found] == BOM;
            self.quoted = is_second || begins;
        }
    }

    /// Must be called after the buffer was cut to this length. Only [`Split::Lines`] allows a cut.
    pub fn cut(&mut self, length: usize) {
        self.searched = length;
    }

    /// True if the buffer has a CR that no LF follows, which may end a record of CSV.
    pub fn has_lone_cr(&self) -> bool {
        self.lone_cr
    }

    /// True if the end of the buffer is within a quoted field.
    pub fn is_open(&self) -> bool {
        self.quoted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn records(split: Split, text: &[u8], step: usize) -> Vec<Vec<u8>> {
        let (mut splitter, mut ends) = (Splitter::new(split), vec![]);
        for end in (0..=text.len()).step_by(step).chain([text.len()]) {
            splitter.find(&text[..end], false, &mut ends);
        }
        splitter.find(text, true, &mut ends);
        let mut start = 0;
        ends.iter().map(|&end| text[std::mem::replace(&mut start, end as usize + 1)..end as usize].to_vec()).collect()
    }

    #[test]
    fn a_newline_in_quotes_ends_no_record() {
        let text = b"a,\"x\ny\"\n\"\"\"\n\"\"\",5\" disk\nb,\"\",\"\n\"\n\xEF\xBB\xBF\"\n";
        let expected: [&[u8]; 3] = [b"a,\"x\ny\"", b"\"\"\"\n\"\"\",5\" disk", b"b,\"\",\"\n\""];
        for step in 1..=text.len() {
            assert_eq!(records(Split::Csv(b','), text, step), expected, "{step} bytes at a time");
        }
    }

    proptest! {
        #[test]
        fn records_are_those_of_another_reader(text in "[a\",\n\r]{0,40}", step in 1usize..50) {
            // Every record ends, in quotes or not.
            let text = text + "\"\n\n";
            let found = records(Split::Csv(b','), text.as_bytes(), step);
            let mut reader = csv_core::Reader::new();
            let (mut at, mut expected) = (0, vec![]);
            loop {
                let (mut fields, mut ends) = ([0; 100], [0; 100]);
                let (state, read, _, _) = reader.read_record(&text.as_bytes()[at..], &mut fields, &mut ends);
                if state != csv_core::ReadRecordResult::Record {
                    break;
                }
                // The reader of csv_core counts empty lines before a record, and the LF of a CRLF before it, as a part
                // of the record.
                let record = text[at..at + read].trim_start_matches(['\n', '\r']);
                if let Some(record) = record.strip_suffix(['\n', '\r']) {
                    expected.push(record.as_bytes().to_vec());
                }
                at += read;
            }
            let found = found.iter().map(|record| record.strip_suffix(b"\r").unwrap_or(record).to_vec());
            let found: Vec<_> = found.filter(|record| !record.is_empty()).collect();
            // A record with an unclosed quote extends to the end.
            let length = found.len().min(expected.len());
            prop_assert!(expected.len() - length <= 1);
            prop_assert_eq!(&found[..], &expected[..length]);
        }
    }
}
