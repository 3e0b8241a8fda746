//! The file of a filter: its sections, and the memory in which its table lies when it is opened.

use std::io::{self, Write};
use std::path::Path;

use super::error::no_memory;
use super::{ConfigError, Filter};
use crate::bits::Buffer;
use crate::format::{
    Access, Bytes, DiskFile, Envelope, EnvelopeWriter, Kind, Problem, ReadAt, ReadError, Seal, Tag, WriteError, publish,
};
use crate::hash::KeyHash;

/// The tag of the section with the sizes and counts of a filter, whose length is fixed for each kind of filter.
pub(super) const META: Tag = Tag::new(*b"META");
/// The tag of the section with the filter's table.
pub(super) const BITS: Tag = Tag::new(*b"BITS");

/// The writer of a filter's file, to which the filter adds its sections. Its output is of no particular type, so that
/// the code of filters is compiled once.
pub(super) type FilterWriter<'a> = EnvelopeWriter<&'a mut dyn Write>;

/// A filter that can be written to a file, and read back with a table of type `M`.
pub(super) trait Stored<M>: Filter {
    /// Writes the sections of the filter's table and of its parameters, in the order of docs/format.md.
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()>;

    /// Calls `see` with the bytes of the table that [`Filter::contains_hash`] may read for `key`.
    /// If the key does not determine these bytes, calls `see` with the whole table.
    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8]));

    /// Reads a filter that [`write`](Self::write) wrote. The function is total: for any bytes it returns a usable
    /// filter or an error.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the sizes in `META` are not those of such a filter, or if the table does not fit them;
    /// [`ReadError::Io`].
    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError>
    where
        Self: Sized;
}

/// Writes the file of `filter`, which is of this kind.
pub(super) fn write<M>(filter: &impl Stored<M>, kind: Kind, out: &mut dyn Write) -> io::Result<Seal> {
    let mut writer: FilterWriter<'_> = EnvelopeWriter::new(out, kind, filter.hash_spec())?;
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

/// A reader of a filter's file, which returns its tables as values of type `M`.
pub(super) struct FilterSource<'a, M> {
    pub(super) envelope: &'a Envelope,
    /// Reads and checks the section `META`. The argument is the maximum length of the section in bytes.
    meta: Box<dyn Fn(usize) -> Result<Vec<u8>, ReadError> + 'a>,
    /// Reads the part of the file with this offset and length as a table.
    table: Box<dyn Fn(u64, usize) -> Result<M, ReadError> + 'a>,
    /// True if the file has other sections too. The caller has checked that the filter's sections are there.
    embedded: bool,
}

impl<'a, M> FilterSource<'a, M> {
    fn new(
        file: &'a (impl ReadAt + ?Sized),
        envelope: &'a Envelope,
        table: impl Fn(u64, usize) -> Result<M, ReadError> + 'a,
    ) -> Self {
        let meta = move |limit| envelope.read_section(file, META, limit);
        Self { envelope, meta: Box::new(meta), table: Box::new(table), embedded: false }
    }

    /// Reads the section of a table, whose length must be `length`.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the section is missing, damaged, of another length, or larger than the address space;
    /// [`ReadError::Io`].
    pub(super) fn table(&self, tag: Tag, length: u64) -> Result<M, ReadError> {
        let section = self.envelope.section(tag)?;
        if section.length != length {
            return Err(self.invalid(tag, "the length of the table is not the one in META"));
        }
        let length = usize::try_from(length).map_err(|_| self.too_large())?;
        (self.table)(section.offset, length)
    }

    /// Reads the section `META`, whose length must be `N`.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the section is missing, damaged, or of another length; [`ReadError::Io`].
    pub(super) fn meta<const N: usize>(&self) -> Result<[u8; N], ReadError> {
        let bytes = (self.meta)(N)?;
        bytes.try_into().map_err(|_| self.invalid(META, "the section META is too short"))
    }

    /// Checks that the sections of the file have these tags, in this order.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the file has others, or another order. In a file with sections of others, nothing is
    /// checked.
    pub(super) fn expect_sections(&self, tags: &[Tag]) -> Result<(), ReadError> {
        if self.embedded {
            return Ok(());
        }
        Ok(self.envelope.expect_sections(tags, &[])?)
    }

    /// Creates the error that the table is larger than the address space of this machine.
    pub(super) fn too_large(&self) -> ReadError {
        let what = "the filter is too large for the address space of this machine: open it on a 64-bit machine";
        let source = io::Error::new(io::ErrorKind::OutOfMemory, what);
        ReadError::Io { file: self.envelope.name().to_owned(), source }
    }

    /// Creates the error that the section `tag` is invalid; `what` is the reason.
    pub(super) fn invalid(&self, tag: Tag, what: &'static str) -> ReadError {
        let offset = self.envelope.section(tag).map_or(0, |section| section.offset);
        self.envelope.error(offset, Problem::Invalid(what)).into()
    }
}

impl<'a> FilterSource<'a, Buffer> {
    /// A reader of a file of the operating system, whose tables are mapped into memory.
    pub(super) fn mapped(file: &'a DiskFile, envelope: &'a Envelope) -> Self {
        Self::new(file, envelope, |offset, length| map_table(file, envelope.name(), offset, length))
    }

    /// A reader of a file whose tables are copied into memory.
    pub(super) fn copied(file: &'a (impl ReadAt + ?Sized), envelope: &'a Envelope) -> Self {
        Self::new(file, envelope, |offset, length| read_table(file, envelope.name(), offset, length))
    }

    /// A reader of a file that has the sections of a filter's file among other sections. Its tables are copied into
    /// memory.
    pub(super) fn embedded(file: &'a impl ReadAt, envelope: &'a Envelope) -> Self {
        Self { embedded: true, ..Self::copied(file, envelope) }
    }
}

impl<'a, 'b: 'a> FilterSource<'a, &'b [u8]> {
    /// A reader of a file in memory, from which the tables are borrowed.
    pub(super) fn borrowed(bytes: &'b [u8], envelope: &'a Envelope) -> Self {
        // The envelope has checked that its sections lie inside the file.
        Self::new(bytes, envelope, |offset, length| Ok(&bytes[offset as usize..][..length]))
    }
}

impl<'a> FilterSource<'a, Bytes> {
    /// A reader of a file whose bytes are shared: the tables of its filter are handles to the same bytes.
    pub(super) fn shared(bytes: &'a Bytes, envelope: &'a Envelope) -> Self {
        Self::new(bytes, envelope, |offset, length| {
            let start = offset as usize;
            Ok(bytes.part(start..start + length).expect("the envelope's sections lie inside the file"))
        })
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

/// Checks that `bytes`, which do not come from a filter's file, are a table of `bits` bits: ⌈bits / 8⌉ bytes, with
/// zeros after the last bit.
///
/// # Errors
/// [`ConfigError::OutOfRange`] if the number of bytes is another one; [`ConfigError::BitBeyond`] if a bit after the
/// last is set.
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
