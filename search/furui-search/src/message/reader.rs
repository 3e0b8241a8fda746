use super::super::{Coding, ContentId, IdRange, Peer, Scale, Weight, limits, varint};
use super::{MessageError, VERSION};

/// Decodes a message. Memory for elements is allocated only after checking that the message has enough bytes for them.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Returns the kind of a message, and a reader of its body.
    pub(super) fn new(bytes: &'a [u8]) -> Result<(u8, Self), MessageError> {
        MessageError::if_too_long(bytes.len())?;
        let mut reader = Self { bytes, at: 0 };
        let version = reader.byte("the version")?;
        if version != VERSION {
            return Err(MessageError::Version(version));
        }
        Ok((reader.byte("the kind")?, reader))
    }

    pub(super) fn finish(self) -> Result<(), MessageError> {
        if self.at < self.bytes.len() { Err(MessageError::Trailing { at: self.at }) } else { Ok(()) }
    }

    /// Makes the error that the field `what`, which begins at the byte offset `at`, is invalid.
    fn invalid<T>(what: &'static str, at: usize) -> Result<T, MessageError> {
        Err(MessageError::Invalid { what, at })
    }

    /// Reads the next `count` bytes of the message. If there are fewer, the error names the field `what`.
    pub(super) fn take(&mut self, what: &'static str, count: usize) -> Result<&'a [u8], MessageError> {
        let Some(taken) = self.bytes[self.at..].get(..count) else {
            return Err(MessageError::Short { what, at: self.at });
        };
        self.at += count;
        Ok(taken)
    }

    /// Reads the next `N` bytes of the message. If there are fewer, the error names the field `what`.
    pub(super) fn raw<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], MessageError> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(what, N)?);
        Ok(bytes)
    }

    pub(super) fn byte(&mut self, what: &'static str) -> Result<u8, MessageError> {
        Ok(self.take(what, 1)?[0])
    }

    /// Reads a byte of the field `what` that must be less than `kinds`.
    pub(super) fn tag(&mut self, what: &'static str, kinds: u8) -> Result<u8, MessageError> {
        let at = self.at;
        let tag = self.byte(what)?;
        if tag < kinds { Ok(tag) } else { Self::invalid(what, at) }
    }

    pub(super) fn flag(&mut self, what: &'static str) -> Result<bool, MessageError> {
        Ok(self.tag(what, 2)? == 1)
    }

    pub(super) fn varint(&mut self, what: &'static str) -> Result<u64, MessageError> {
        let at = self.at;
        let mut rest = &self.bytes[at..];
        let Some(value) = varint::take(&mut rest) else {
            let is_short = rest.len() < 10 && rest.iter().all(|byte| *byte >= 0x80);
            return if is_short { Err(MessageError::Short { what, at }) } else { Self::invalid(what, at) };
        };
        self.at = self.bytes.len() - rest.len();
        Ok(value)
    }

    pub(super) fn varint32(&mut self, what: &'static str) -> Result<u32, MessageError> {
        let at = self.at;
        u32::try_from(self.varint(what)?).or_else(|_| Self::invalid(what, at))
    }

    pub(super) fn fixed(&mut self, what: &'static str) -> Result<u64, MessageError> {
        Ok(u64::from_le_bytes(self.raw(what)?))
    }

    /// Reads the number of elements that follow, each of which has at least `least` bytes. It is an error if it exceeds
    /// `most`.
    pub(super) fn count(&mut self, what: &'static str, most: usize, least: usize) -> Result<usize, MessageError> {
        let at = self.at;
        let count = self.varint(what)?;
        if count > most as u64 {
            return Err(MessageError::TooMany { what, count, most });
        }
        let count = count as usize;
        if count * least > self.bytes.len() - self.at {
            return Err(MessageError::Short { what, at });
        }
        Ok(count)
    }

    /// Reads the number of elements, each of which has at least `least` bytes, and then the elements, each by a call of
    /// `one`. The number is at most `most`.
    pub(super) fn all<T>(
        &mut self,
        what: &'static str,
        most: usize,
        least: usize,
        mut one: impl FnMut(&mut Self) -> Result<T, MessageError>,
    ) -> Result<Vec<T>, MessageError> {
        (0..self.count(what, most, least)?).map(|_| one(self)).collect()
    }

    pub(super) fn bytes(&mut self, what: &'static str, most: usize) -> Result<&'a [u8], MessageError> {
        let count = self.count(what, most, 1)?;
        self.take(what, count)
    }

    pub(super) fn coding(&mut self, what: &'static str) -> Result<Coding, MessageError> {
        let at = self.at;
        let header = self.bytes("bytes of a coding", Coding::MAX_HEADER)?;
        Coding::from_header(header).map_or_else(|| Self::invalid(what, at), Ok)
    }

    pub(super) fn word(&mut self) -> Result<String, MessageError> {
        let at = self.at;
        let word = self.word_or_none()?;
        if word.is_empty() { Self::invalid("an empty word", at) } else { Ok(word) }
    }

    pub(super) fn word_or_none(&mut self) -> Result<String, MessageError> {
        self.text("a word, which is not UTF-8,", "bytes of a word", limits::ASKED_BYTES)
    }

    /// Reads UTF-8 text. If it is invalid, the error names the field `what`.
    pub(super) fn text(
        &mut self,
        what: &'static str,
        bytes: &'static str,
        most: usize,
    ) -> Result<String, MessageError> {
        let at = self.at;
        let bytes = self.bytes(bytes, most)?;
        std::str::from_utf8(bytes).map(str::to_owned).or_else(|_| Self::invalid(what, at))
    }

    /// Returns an error if `is_valid`, which refers to the previous field, is false.
    pub(super) fn require(&self, is_valid: bool, what: &'static str) -> Result<(), MessageError> {
        if is_valid { Ok(()) } else { Self::invalid(what, self.at) }
    }

    pub(super) fn log_length(&mut self) -> Result<u8, MessageError> {
        let log_length = self.byte("a mean length")?;
        self.require(Scale::LENGTHS.contains(&log_length), "a mean length")?;
        Ok(log_length)
    }

    pub(super) fn range(&mut self) -> Result<IdRange, MessageError> {
        let (at, what) = (self.at, "a range of ids");
        let range = IdRange { first: self.bound(what)?, last: !self.bound(what)? };
        if range.first <= range.last { Ok(range) } else { Self::invalid(what, at) }
    }

    fn bound(&mut self, what: &'static str) -> Result<u64, MessageError> {
        let at = self.at;
        let count = usize::from(self.tag(what, 9)?);
        let mut bytes = [0; 8];
        bytes[..count].copy_from_slice(self.take(what, count)?);
        if count > 0 && bytes[count - 1] == 0 {
            return Self::invalid(what, at);
        }
        Ok(u64::from_le_bytes(bytes).swap_bytes())
    }

    pub(super) fn id(&mut self) -> Result<ContentId, MessageError> {
        Ok(ContentId::new(self.raw("an id")?))
    }

    pub(super) fn weights(&mut self, count: usize) -> Result<Vec<Weight>, MessageError> {
        let at = self.at;
        let (weights, _) = self.take("weights", count * Weight::BYTES)?.as_chunks();
        let weights = weights.iter().map(|&weight| Weight::from_bytes(weight)).collect::<Option<_>>();
        weights.map_or_else(|| Self::invalid("a weight", at), Ok)
    }

    pub(super) fn ids(&mut self, most: usize) -> Result<Vec<ContentId>, MessageError> {
        let count = self.count("ids", most, ContentId::BYTES)?;
        let (ids, _) = self.take("ids", count * ContentId::BYTES)?.as_chunks();
        Ok(ids.iter().copied().map(ContentId::new).collect())
    }

    pub(super) fn peers(&mut self) -> Result<Vec<Peer>, MessageError> {
        self.all("peers that keep a word", limits::HOLDERS, 2, |reader| {
            let identity = reader.bytes("bytes of a peer's identity", Peer::MAX_IDENTITY)?;
            Ok(Peer::new(identity, reader.bytes("bytes of a peer's address", Peer::MAX_ADDRESS)?))
        })
    }
}
