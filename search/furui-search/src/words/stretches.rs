//! Cuts a text at white space into stretches whose words do not depend on the text around them.

/// The number of bytes of a stretch, if white space is near its end. Chosen: long enough for whole vectors of bytes,
/// and short enough that few stretches contain a word that is searched.
const BYTES: usize = 128;

/// The stretches of the text in order, each with the byte offset at which it begins. Joined, they are the text.
///
/// A stretch ends with ASCII white space, and its [`words`](super::words) are those that the text has there: by UAX #29
/// no word goes over white space, and no pair of characters does. A stretch is ASCII, unless it consists of what is
/// between two white spaces.
pub(super) struct Stretches<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Stretches<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'a> Iterator for Stretches<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.is_empty() {
            return None;
        }
        let near = &rest[..BYTES.min(rest.len())];
        let ascii = near.iter().position(|byte| !byte.is_ascii()).unwrap_or(near.len());
        let length = match near[..ascii].iter().rposition(u8::is_ascii_whitespace) {
            _ if ascii == rest.len() => ascii,
            Some(last) => last + 1,
            None => rest.iter().position(u8::is_ascii_whitespace).map_or(rest.len(), |first| first + 1),
        };
        let start = self.at;
        self.at += length;
        Some((start, &self.text[start..self.at]))
    }
}
