//! How a filter is stored in a file, and where its bytes are when it is read back.

use std::io::{self, Write};
use std::ops::Deref;
use std::path::Path;

use super::ConfigError;
use super::error::no_memory;
use crate::bits::Buffer;
use crate::format::{
    Access, Bytes, DiskFile, Envelope, EnvelopeWriter, Kind, Problem, ReadAt, ReadError, Seal, Tag, WriteError, publish,
};
use crate::hash::{HashSpec, KeyHash};

/// The section of sizes and counts, whose length is fixed for each kind of filter.
pub(super) const META: Tag = Tag::new(*b"META");
/// The section of the filter's table.
pub(super) const BITS: Tag = Tag::new(*b"BITS");

/// The writer of a filter's file.
pub(super) type FilterWriter<'a> = EnvelopeWriter<&'a mut dyn Write>;

/// A filter that can be written to a file, and read back with a table of type `M`.
pub(super) trait Stored<M>: Sized {
    const KIND: Kind;

    /// Writes the sections of the filter's table and of its parameters, in the order of docs/format.md.
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()>;

    /// Calls `see` with the bytes of the table that [`Filter::contains`](super::Filter::contains) may read for `key`.
    /// If the key does not determine these bytes, calls `see` with the whole table.
    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8]));

    /// Reads a filter that [`write`](Self::write) wrote. The function is total: for any bytes it returns a usable
    /// filter or an error.
    fn read<S: FilterSource<Bytes = M>>(source: &S) -> Result<Self, ReadError>;
}

/// Writes the file of `filter`, whose keys are hashed by `hash`.
pub(super) fn write<M, F: Stored<M>>(filter: &F, hash: HashSpec, out: &mut dyn Write) -> io::Result<Seal> {
    let mut writer: FilterWriter<'_> = EnvelopeWriter::new(out, F::KIND, hash)?;
    filter.write(&mut writer)?;
    writer.finish()
}

/// Publishes atomically, at `path`, the file of a filter. `write` writes its bytes.
pub(super) fn save(path: &Path, write: impl Fn(&mut dyn Write) -> io::Result<Seal>) -> Result<(), WriteError> {
    publish(path, Access::Default, |out| {
        let written = write(out);
        written.map_err(|source| WriteError { action: "cannot write", file: path.display().to_string(), source })
    })?;
    Ok(())
}

/// An open file of a filter.
pub(super) trait FilterSource {
    /// The type of the filter's table.
    type Bytes: Deref<Target = [u8]>;

    fn envelope(&self) -> &Envelope;

    /// Reads and checks a whole section of at most `limit` bytes.
    fn section(&self, tag: Tag, limit: usize) -> Result<Vec<u8>, ReadError>;

    /// Reads the section of a table, whose length must be `length`.
    fn table(&self, tag: Tag, length: u64) -> Result<Self::Bytes, ReadError>;

    /// Reads the section `META`, whose length must be `N`.
    fn meta<const N: usize>(&self) -> Result<[u8; N], ReadError> {
        let bytes = self.section(META, N)?;
        bytes.try_into().map_err(|_| self.invalid(META, "it is shorter than in other filters of this kind"))
    }

    /// Checks that the sections of the file have these tags, in this order.
    fn expect_sections(&self, tags: &[Tag]) -> Result<(), ReadError> {
        let envelope = self.envelope();
        if envelope.own_sections().iter().map(|section| section.tag).eq(tags.iter().copied()) {
            return Ok(());
        }
        Err(envelope.error(0, Problem::Invalid("its sections are not those of its kind")).into())
    }

    /// The error that the section `tag` is invalid.
    fn invalid(&self, tag: Tag, what: &'static str) -> ReadError {
        let offset = self.envelope().section(tag).map_or(0, |section| section.offset);
        self.envelope().error(offset, Problem::Invalid(what)).into()
    }

    /// The offset and length of a section, whose length must be `length`.
    fn place(&self, tag: Tag, length: u64) -> Result<(u64, usize), ReadError> {
        let section = self.envelope().section(tag)?;
        if section.length != length {
            return Err(self.invalid(tag, "the length of the table is not the one in META"));
        }
        let length =
            usize::try_from(length).map_err(|_| self.invalid(tag, "the table is too large for this machine"))?;
        Ok((section.offset, length))
    }
}

/// A file of the operating system, whose tables are mapped into memory.
pub(super) struct Mapped<'a> {
    pub(super) file: &'a DiskFile,
    pub(super) envelope: &'a Envelope,
}

impl FilterSource for Mapped<'_> {
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

/// Maps a part of a file as a table, or reads it where files cannot be mapped. Errors call the file `name`.
fn map_table(file: &DiskFile, name: &str, offset: u64, length: usize) -> Result<Buffer, ReadError> {
    let io = |source| ReadError::Io { file: name.to_owned(), source };
    match file.map_private(offset, length).map_err(io)? {
        Some(pages) => Ok(Buffer::mapped(pages)),
        None => read_table(file, name, offset, length),
    }
}

/// Reads a part of a file as a table. Errors call the file `name`.
fn read_table(file: &(impl ReadAt + ?Sized), name: &str, offset: u64, length: usize) -> Result<Buffer, ReadError> {
    let io = |source| ReadError::Io { file: name.to_owned(), source };
    let mut bytes = Buffer::zeroed(length)
        .map_err(|_| io(io::Error::new(io::ErrorKind::OutOfMemory, no_memory(length, "bytes"))))?;
    file.read_at(offset, &mut bytes).map_err(io)?;
    Ok(bytes)
}

/// A file that has the sections of a filter's file among other sections. The caller has checked that the filter's
/// sections are there. The table is read into memory.
pub(super) struct Embedded<'a, F> {
    pub(super) file: &'a F,
    pub(super) envelope: &'a Envelope,
}

impl<F: ReadAt> FilterSource for Embedded<'_, F> {
    type Bytes = Buffer;

    fn envelope(&self) -> &Envelope {
        self.envelope
    }

    fn section(&self, tag: Tag, limit: usize) -> Result<Vec<u8>, ReadError> {
        self.envelope.read_section(self.file, tag, limit)
    }

    fn table(&self, tag: Tag, length: u64) -> Result<Buffer, ReadError> {
        let (offset, length) = self.place(tag, length)?;
        read_table(self.file, self.envelope.name(), offset, length)
    }

    fn expect_sections(&self, _: &[Tag]) -> Result<(), ReadError> {
        Ok(())
    }
}

/// A file in memory, from which the tables are borrowed.
pub(super) struct Borrowed<'a, 'e> {
    pub(super) bytes: &'a [u8],
    pub(super) envelope: &'e Envelope,
}

impl<'a> FilterSource for Borrowed<'a, '_> {
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

/// A file in memory, whose tables are copied.
pub(super) struct Copied<'a, 'e>(pub(super) Borrowed<'a, 'e>);

impl FilterSource for Copied<'_, '_> {
    type Bytes = Buffer;

    fn envelope(&self) -> &Envelope {
        self.0.envelope
    }

    fn section(&self, tag: Tag, limit: usize) -> Result<Vec<u8>, ReadError> {
        self.0.section(tag, limit)
    }

    fn table(&self, tag: Tag, length: u64) -> Result<Buffer, ReadError> {
        let (offset, length) = self.place(tag, length)?;
        read_table(self.0.bytes, self.0.envelope.name(), offset, length)
    }
}

/// A file whose bytes are shared, also by the tables of its filter.
pub(super) struct Shared<'a> {
    pub(super) bytes: &'a Bytes,
    pub(super) envelope: &'a Envelope,
}

impl FilterSource for Shared<'_> {
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

/// Checks that `bytes`, which do not come from a filter's file, are a table of `bits` bits: ⌈bits / 8⌉ bytes, with
/// zeros after the last bit.
pub(super) fn check_bits(bits: u64, bytes: &[u8]) -> Result<(), ConfigError> {
    let (given, length) = (bytes.len() as u64, bits.div_ceil(8));
    if given != length {
        return Err(ConfigError::OutOfRange { what: "bytes of a table", given, least: length, most: length });
    }
    match bytes.last() {
        Some(&last) if !bits.is_multiple_of(8) && last >> (bits % 8) != 0 => Err(ConfigError::BitBeyond { bits }),
        _ => Ok(()),
    }
}
