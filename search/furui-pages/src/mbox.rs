use std::io::{self, BufRead, Read};

use crate::{Entry, MAX_MESSAGE, Unreadable, message};

/// Reads the messages of a mailbox in the form `mbox` (RFC 4155): each begins with a line `From `, after an empty line.
/// In its text, `>From ` at the beginning of a line stands for `From `, and so on.
///
/// A message with more than [`MAX_MESSAGE`] bytes is broken, and so is what is no message. Memory: a few times the
/// size of a message.
pub struct Mbox<R: BufRead> {
    from: R,
    /// The number of the message, counted from 1.
    number: u64,
    /// The next line, or the beginning of a long one.
    line: Vec<u8>,
    is_ended: bool,
}

impl<R: BufRead> Mbox<R> {
    /// The maximum length of a line that is read at once.
    const PIECE: u64 = 64 << 10;

    /// Makes a reader of the messages in `from`.
    pub fn new(from: R) -> Self {
        Self { from, number: 0, line: Vec::new(), is_ended: false }
    }

    /// Reads a line, or a piece of a long one. Returns false at the end of the file.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        Ok(self.from.by_ref().take(Self::PIECE).read_until(b'\n', &mut self.line)? > 0)
    }

    /// Reads the next message without its first line. `None` is the end of the file; the inner error is the reason that
    /// there is no message.
    fn read_message(&mut self) -> io::Result<Option<Result<Vec<u8>, String>>> {
        if self.number == 0 && !self.read_line()? || self.line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let is_message = self.line.starts_with(b"From ");
        let mut bytes = Vec::new();
        let (mut is_after_empty, mut is_start, mut is_long) = (false, self.line.ends_with(b"\n"), false);
        while self.read_line()? {
            if is_start && is_after_empty && self.line.starts_with(b"From ") {
                break;
            }
            let line = if is_start { unquoted(&self.line) } else { &self.line };
            is_after_empty = is_start && line.trim_ascii().is_empty();
            is_start = line.ends_with(b"\n");
            is_long |= bytes.len() + line.len() > MAX_MESSAGE;
            if !is_long {
                bytes.extend_from_slice(line);
            }
        }
        Ok(Some(match (is_message, is_long) {
            (false, _) => Err("no message: there is no line that begins with \"From \"".into()),
            (_, true) => Err(Unreadable::LongMessage.to_string()),
            _ => Ok(bytes),
        }))
    }
}

impl<R: BufRead> Iterator for Mbox<R> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.is_ended {
            return None;
        }
        let read = self.read_message();
        self.is_ended = !matches!(read, Ok(Some(_)));
        let place = format!("message {}", self.number);
        let why = match read {
            Ok(None) => return None,
            Ok(Some(Ok(bytes))) => match message(&bytes, &place) {
                Ok(document) => return Some(Entry::Document(document)),
                Err(why) => why.to_string(),
            },
            Ok(Some(Err(why))) => why,
            Err(error) => error.to_string(),
        };
        Some(Entry::Broken { place, why })
    }
}

/// A line without the mark that its writer put before `From `.
fn unquoted(line: &[u8]) -> &[u8] {
    let marks = line.iter().take_while(|&&byte| byte == b'>').count();
    if marks > 0 && line[marks..].starts_with(b"From ") { &line[1..] } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, Document};

    fn read(text: &str) -> Vec<Result<(String, String), String>> {
        let entries = Mbox::new(text.as_bytes());
        let parts = entries.map(|entry| match entry {
            Entry::Document(Document { page, .. }) => Ok((page.title, page.text)),
            Entry::Broken { place, why } => Err(format!("{place}: {why}")),
            Entry::Other => panic!("no message is of another kind"),
        });
        parts.collect()
    }

    #[test]
    fn messages_are_read_one_by_one() {
        let file = "From a@b Mon Jan  1 00:00:00 2024\nFrom: a@b\nSubject: One\n\ntext\nFrom here on\n>From x\n\n\
            From c@d Mon Jan  1 00:00:00 2024\r\nFrom: c@d\r\nSubject: Two\r\n\r\n>>From y\r\n> From z\r\n\r\n";
        let expected = [("One", "From: a@b.\ntext\nFrom here on\nFrom x"), ("Two", "From: c@d.\n>From y\n> From z")];
        let read: Vec<_> = read(file).into_iter().map(|message| message.unwrap()).collect();
        let read: Vec<_> = read.iter().map(|(title, text)| (title.as_str(), text.replace('\r', ""))).collect();
        assert_eq!(read, expected.map(|(title, text)| (title, text.to_owned())));
    }

    #[test]
    fn what_is_no_message_is_named_and_the_next_one_is_read() {
        let long = "x".repeat(MAX_MESSAGE);
        let file =
            format!("rubbish\n\nFrom a\nnothing\n\nFrom b\nSubject: long\n\n{long}\n\nFrom c\nSubject: last\n\nx\n");
        let read = read(&file);
        assert!(read[0].as_ref().unwrap_err().starts_with("message 1: no message"), "{read:?}");
        assert!(read[1].as_ref().unwrap_err().starts_with("message 2: not an electronic message"), "{read:?}");
        assert_eq!(read[2], Err(format!("message 3: a message of more than {MAX_MESSAGE} bytes")));
        assert_eq!(read[3..], [Ok(("last".into(), "\nx".into()))]);
    }

    #[test]
    fn a_message_without_an_id_has_its_place_as_address() {
        let address = |text: &str| message(text.as_bytes(), "message 7").unwrap().address;
        assert_eq!(address("Subject: x\n\n"), Address::Part("message 7".into()));
        assert_eq!(address("Subject: x\nMessage-ID: <a/b%c@d>\n\n"), Address::Url("mid:a%2Fb%25c@d".into()));
    }
}
