//! How a filter lies in a file, and where its bytes are when it is read back.

use std::io::{self, Write};
use std::ops::Deref;
use std::path::Path;

use super::error::no_memory;
use crate::bits::Buffer;
use crate::format::{
    Access, Bytes, DiskFile, Envelope, EnvelopeWriter, Kind, Problem, ReadAt, ReadError, Seal, Tag, WriteError, publish,
};
use crate::hash::{HashSpec, KeyHash};

/// What a filter is: sizes and counts, of a length that the kind fixes.
pub(super) const META: Tag = Tag::new(*b"META");
/// The filter's table.
pub(super) const BITS: Tag = Tag::new(*b"BITS");

/// Where a filter's file is written to.
pub(super) type Writer<'a> = EnvelopeWriter<&'a mut dyn Write>;

/// A filter that can be kept in a file and read back over bytes of type `M`.
pub(super) trait Stored<M>: Sized {
    const KIND: Kind;

    /// Writes all sections.
    fn write(&self, out: &mut Writer<'_>) -> io::Result<()>;

    /// Shows `see` the bytes of the table that [`Filter::contains`](super::Filter::contains) may read for `key`; all of the
    /// table if that cannot be told from the key.
    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8]));

    /// Reads what [`write`](Self::write) wrote. Total: whatever the bytes are, this gives a filter that works or an
    /// error.
    fn read<S: Source<Bytes = M>>(source: &S) -> Result<Self, ReadError>;
}

/// Writes the file of a filter whose keys are hashed so.
pub(super) fn write<M, F: Stored<M>>(filter: &F, hash: HashSpec, out: &mut dyn Write) -> io::Result<Seal> {
    let mut writer: Writer<'_> = EnvelopeWriter::new(out, F::KIND, hash)?;
    filter.write(&mut writer)?;
    writer.finish()
}

/// Writes the file of a filter to `path`, whole or not at all.
pub(super) fn save<M, F: Stored<M>>(filter: &F, hash: HashSpec, path: &Path) -> Result<(), WriteError> {
    publish(path, Access::Default, |out| {
        let written = write(filter, hash, out);
        written.map_err(|source| WriteError { action: "cannot write", file: path.display().to_string(), source })
    })?;
    Ok(())
}

/// An open file of a filter.
pub(super) trait Source {
    /// How the filter will hold its table.
    type Bytes: Deref<Target = [u8]>;

    fn envelope(&self) -> &Envelope;

    /// A short section, whole and checked.
    fn section(&self, tag: Tag, limit: usize) -> Result<Vec<u8>, ReadError>;

    /// The section of a table, which must have this length.
    fn table(&self, tag: Tag, length: u64) -> Result<Self::Bytes, ReadError>;

    /// The section `META`, which must have this length.
    fn meta<const N: usize>(&self) -> Result<[u8; N], ReadError> {
        let bytes = self.section(META, N)?;
        bytes.try_into().map_err(|_| self.invalid(META, "it is shorter than those of its kind"))
    }

    /// Checks that these are the file's sections.
    fn expect_sections(&self, tags: &[Tag]) -> Result<(), ReadError> {
        let envelope = self.envelope();
        if envelope.sections().iter().map(|section| section.tag).eq(tags.iter().copied()) {
            return Ok(());
        }
        Err(envelope.error(0, Problem::Invalid("its sections are not those of its kind")).into())
    }

    /// The error that a section holds what cannot be.
    fn invalid(&self, tag: Tag, what: &'static str) -> ReadError {
        let offset = self.envelope().section(tag).map_or(0, |section| section.offset);
        self.envelope().error(offset, Problem::Invalid(what)).into()
    }

    /// The place of a section that must have this length.
    fn place(&self, tag: Tag, length: u64) -> Result<(u64, usize), ReadError> {
        let section = self.envelope().section(tag)?;
        if section.length != length {
            return Err(self.invalid(tag, "the length of the table is not what META says"));
        }
        let length = usize::try_from(length).map_err(|_| self.invalid(tag, "the table is beyond this machine"))?;
        Ok((section.offset, length))
    }
}

/// A file of the operating system, whose tables are mapped into memory.
pub(super) struct Mapped<'a> {
    pub(super) file: &'a DiskFile,
    pub(super) envelope: &'a Envelope,
}

impl Source for Mapped<'_> {
    type Bytes = Buffer;

    fn envelope(&self) -> &Envelope {
        self.envelope
    }

    fn section(&self, tag: Tag, limit: usize) -> Result<Vec<u8>, ReadError> {
        self.envelope.read_section(self.file, tag, limit)
    }

    fn table(&self, tag: Tag, length: u64) -> Result<Buffer, ReadError> {
        let (offset, length) = self.place(tag, length)?;
        map_table(self.file, self.envelope.name(), offset, length)
    }
}

/// Bytes of a file as a table: mapped, or read where files cannot be mapped. Errors call the file `name`.
fn map_table(file: &DiskFile, name: &str, offset: u64, length: usize) -> Result<Buffer, ReadError> {
    let io = |source| ReadError::Io { file: name.to_owned(), source };
    if let Some(pages) = file.map_private(offset, length).map_err(io)? {
        return Ok(Buffer::mapped(pages));
    }
    let mut bytes = Buffer::zeroed(length)
        .map_err(|_| io(io::Error::new(io::ErrorKind::OutOfMemory, no_memory(length, "bytes"))))?;
    file.read_at(offset, &mut bytes).map_err(io)?;
    Ok(bytes)
}

/// A file that lies in memory, whose tables stay where they are.
pub(super) struct Borrowed<'a, 'e> {
    pub(super) bytes: &'a [u8],
    pub(super) envelope: &'e Envelope,
}

impl<'a> Source for Borrowed<'a, '_> {
    type Bytes = &'a [u8];

    fn envelope(&self) -> &Envelope {
        self.envelope
    }

    fn section(&self, tag: Tag, limit: usize) -> Result<Vec<u8>, ReadError> {
        self.envelope.read_section(self.bytes, tag, limit)
    }

    fn table(&self, tag: Tag, length: u64) -> Result<&'a [u8], ReadError> {
        let (offset, length) = self.place(tag, length)?;
        // The envelope has checked that its sections lie inside the file.
        Ok(&self.bytes[offset as usize..][..length])
    }
}

/// A file whose bytes are shared, as its tables then are.
pub(super) struct Shared<'a> {
    pub(super) bytes: &'a Bytes,
    pub(super) envelope: &'a Envelope,
}

impl Source for Shared<'_> {
    type Bytes = Bytes;

    fn envelope(&self) -> &Envelope {
        self.envelope
    }

    fn section(&self, tag: Tag, limit: usize) -> Result<Vec<u8>, ReadError> {
        self.envelope.read_section(&**self.bytes, tag, limit)
    }

    fn table(&self, tag: Tag, length: u64) -> Result<Bytes, ReadError> {
        let (offset, length) = self.place(tag, length)?;
        let start = offset as usize;
        Ok(self.bytes.part(start..start + length).expect("the envelope's sections lie inside the file"))
    }
}
