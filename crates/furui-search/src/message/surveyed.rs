use super::MessageError;
use super::reader::Reader;
use super::writer::Writer;

/// A node's estimate of all documents of the network, from the records that it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surveyed {
    /// The number of documents.
    pub documents: u64,
    /// The mean number of words in a document; 0 if the node holds none.
    pub mean_length: u32,
    /// True if the node has been given everything that it should hold.
    pub whole: bool,
}

impl Surveyed {
    pub(super) fn encode(self, to: &mut Writer) {
        to.varint(self.documents);
        to.varint(self.mean_length.into());
        to.flag(self.whole);
    }

    pub(super) fn decode(from: &mut Reader<'_>) -> Result<Self, MessageError> {
        Ok(Self {
            documents: from.varint("the number of documents")?,
            mean_length: from.varint32("the mean length")?,
            whole: from.flag("whether the node holds everything")?,
        })
    }
}
