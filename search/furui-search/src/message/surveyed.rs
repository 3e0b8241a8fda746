use super::super::Surveyed;
use super::MessageError;
use super::reader::Reader;
use super::writer::Writer;

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
