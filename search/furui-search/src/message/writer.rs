use super::super::{ContentId, IdRange, Peer, Scale, Weight, limits, varint};
use super::{MessageError, VERSION};

/// Encodes a message. The first limit that is exceeded is recorded, and reported at the end.
pub(super) struct Writer {
    bytes: Vec<u8>,
    broken: Option<MessageError>,
}

impl Writer {
    pub(super) fn new(kind: u8) -> Self {
        Self { bytes: vec![VERSION, kind], broken: None }
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, MessageError> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        MessageError::if_too_long(self.bytes.len())?;
        Ok(self.bytes)
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Appends bytes without their number, which the reader must know.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    pub(super) fn varint(&mut self, value: u64) {
        varint::put(&mut self.bytes, value);
    }

    pub(super) fn fixed(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn count(&mut self, what: &'static str, count: usize, most: usize) {
        if count > most {
            self.broken.get_or_insert(MessageError::TooMany { what, count: count as u64, most });
        }
        self.varint(count as u64);
    }

    /// Appends the number of the items, and then each of them by `put`.
    pub(super) fn all<T>(&mut self, what: &'static str, items: &[T], most: usize, mut put: impl FnMut(&mut Self, &T)) {
        self.count(what, items.len(), most);
        items.iter().for_each(|item| put(self, item));
    }

    pub(super) fn bytes(&mut self, what: &'static str, bytes: &[u8], most: usize) {
        self.count(what, bytes.len(), most);
        // Once a limit has been exceeded, nothing more is copied.
        if self.broken.is_none() {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Makes the encoding fail if `is_valid` is false, because a field has an invalid value.
    pub(super) fn require(&mut self, is_valid: bool, what: &'static str) {
        if !is_valid {
            self.broken.get_or_insert(MessageError::Invalid { what, at: self.bytes.len() });
        }
    }

    pub(super) fn word(&mut self, word: &str) {
        self.require(!word.is_empty(), "an empty word");
        self.word_or_none(word);
    }

    pub(super) fn word_or_none(&mut self, word: &str) {
        self.bytes("bytes of a word", word.as_bytes(), limits::ASKED_BYTES);
    }

    pub(super) fn log_length(&mut self, log_length: u8) {
        self.require(Scale::LENGTHS.contains(&log_length), "a mean length");
        self.byte(log_length);
    }

    pub(super) fn range(&mut self, range: IdRange) {
        self.require(range.first <= range.last, "a range of ids");
        self.bound(range.first);
        self.bound(!range.last);
    }

    /// Appends the number of significant bytes of `number`, and then these bytes, most significant first. Trailing zero
    /// bytes are omitted.
    fn bound(&mut self, number: u64) {
        let bytes = number.swap_bytes().to_le_bytes();
        let count = 8 - number.trailing_zeros() as usize / 8;
        self.byte(count as u8);
        self.bytes.extend_from_slice(&bytes[..count]);
    }

    pub(super) fn id(&mut self, id: ContentId) {
        if self.broken.is_none() {
            self.bytes.extend(id.as_bytes());
        }
    }

    pub(super) fn weights(&mut self, weights: impl IntoIterator<Item = Weight>) {
        if self.broken.is_none() {
            self.bytes.extend(weights.into_iter().flat_map(Weight::to_bytes));
        }
    }

    pub(super) fn ids(&mut self, ids: &[ContentId], most: usize) {
        self.count("ids", ids.len(), most);
        if self.broken.is_none() {
            self.bytes.extend(ids.iter().flat_map(|id| id.as_bytes()));
        }
    }

    pub(super) fn peers(&mut self, peers: &[Peer]) {
        self.all("peers that keep a word", peers, limits::HOLDERS, |to, peer| {
            to.bytes("bytes of a peer's identity", peer.identity(), Peer::MAX_IDENTITY);
            to.bytes("bytes of a peer's address", peer.address(), Peer::MAX_ADDRESS);
        });
    }
}
