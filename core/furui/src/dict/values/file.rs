use std::ops::Range;

use super::head::{MAX_HEAD, ValueHead};
use super::{BLOCK, DATA, ENTRY_AT, ENTRY_LEN, INDEX, MAX_VALUE, META, META_END, META_FIRST, META_LEN};
use crate::error::Error;
use crate::format::field::{u32_at, u64_at};
use crate::format::{Bytes, Envelope, FormatError, Kind, Problem, ReadError, Regions};
use crate::hash::HashSpec;

/// The values of a part of a dictionary, in their file. Each region of the file is checked when this process first
/// reads it.
///
/// ```text
///   index   id 0 │ id 37 │ id 90 …          the first value of each block
///             │       └────────────────┐
///   data    1 5 seven 1 4 four  …      1 5 again …      before each value: the step from the last id, and the length
/// ```
///
/// Cost: opening reads the ends of the file and META. A look-up is a binary search in the index, and a walk over
/// the heads of the values in a block, which all begin in its first KiB.
#[derive(Debug)]
pub(in crate::dict) struct ValueFile {
    file: Bytes,
    name: String,
    regions: Regions,
    data: Range<usize>,
    index: Range<usize>,
    count: u64,
    ids: Range<u32>,
}

impl ValueFile {
    /// Opens the file with these bytes, which is called `name` in errors.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the envelope is damaged or its sizes contradict each other. The values are checked when
    /// they are read.
    pub(in crate::dict) fn open(file: &Bytes, name: &str) -> Result<Self, ReadError> {
        let envelope = Envelope::open(file, name)?;
        envelope.expect_kind(Kind::Values)?;
        envelope.expect_hash(HashSpec::default())?;
        let invalid = |what| envelope.error(0, Problem::Invalid(what));
        envelope.expect_sections(&[META, DATA, INDEX], &[])?;
        let meta = envelope.read_section(file, META, META_LEN)?;
        if meta.len() != META_LEN {
            return Err(invalid("the section META is too short").into());
        }
        let (count, ids) = (u64_at(&meta, 0), u32_at(&meta, META_FIRST)..u32_at(&meta, META_END));
        // The envelope has checked that its sections lie inside the file.
        let range = |tag| envelope.section(tag).map(|it| it.offset as usize..(it.offset + it.length) as usize);
        let (data, index) = (range(DATA)?, range(INDEX)?);
        let blocks = (index.len() / ENTRY_LEN) as u64;
        let most = u64::from(ids.end.saturating_sub(ids.start));
        if index.len() % ENTRY_LEN != 0
            || count > most
            || blocks > count
            || (blocks == 0) != (count == 0)
            || data.is_empty() != (count == 0)
            || count == 0 && ids != (0..0)
        {
            return Err(invalid("the sizes of the values contradict each other").into());
        }
        let regions = envelope.regions(file).expect("a file of values has checksums of its regions");
        Ok(Self { file: file.clone(), name: name.to_owned(), regions, data, index, count, ids })
    }

    /// The range of the ids of the values. Some ids in the range may have no value.
    pub(in crate::dict) fn ids(&self) -> Range<u32> {
        self.ids.clone()
    }

    /// The number of bytes of all values and of the heads in front of them.
    pub(in crate::dict) fn bytes(&self) -> u64 {
        self.data.len() as u64
    }

    /// The value with this id. A missing value is an error, because the trie in the file has the id.
    ///
    /// # Errors
    /// [`FormatError`] if the value is missing, or if bytes on the way to it are damaged.
    pub(in crate::dict) fn get(&self, id: u32) -> Result<&[u8], FormatError> {
        let mut walk = match self.block_before(id) {
            Some(block) => self.walk_from(block),
            None => return Err(self.missing()),
        };
        while let Some((found, range)) = walk.next()? {
            if found >= id {
                return if found == id { self.read(range) } else { Err(self.missing()) };
            }
        }
        Err(self.missing())
    }

    /// Calls `each` for the values with these ids, which ascend, in one pass.
    ///
    /// # Errors
    /// [`FormatError`] if a value is missing or damaged; those of `each`.
    pub(in crate::dict) fn for_each(
        &self,
        ids: &[u32],
        mut each: impl FnMut(u32, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut walk = self.walk();
        for &id in ids {
            let range = loop {
                match walk.next()? {
                    Some((found, range)) if found == id => break range,
                    Some((found, _)) if found < id => {}
                    _ => return Err(self.missing().into()),
                }
            };
            each(id, self.read(range)?)?;
        }
        Ok(())
    }

    /// Reads all values, and checks that they have exactly these ids, which ascend, and that the index fits them.
    ///
    /// # Errors
    /// [`FormatError`] that says which of this is not so, and where.
    pub(in crate::dict) fn check(&self, ids: &[u32]) -> Result<(), FormatError> {
        self.regions.check_all()?;
        let (mut walk, mut blocks, mut block) = (self.walk(), 0, 0);
        for &id in ids {
            let at = walk.at;
            match walk.next()? {
                Some((found, _)) if found == id => {}
                _ => return Err(self.invalid(at, "the values are not those of the trie's keys")),
            }
            if blocks == 0 || (at - block) as u64 >= BLOCK {
                if blocks == self.blocks() || self.block(blocks) != (id, at as u64) {
                    return Err(self.invalid(at, "the index does not fit the values"));
                }
                (blocks, block) = (blocks + 1, at);
            }
        }
        let ends = walk.next()?.is_none() && blocks == self.blocks() && ids.len() as u64 == self.count;
        let fits =
            self.ids.start == *ids.first().unwrap_or(&0) && self.ids.end == ids.last().map_or(0, |last| last + 1);
        if ends && fits { Ok(()) } else { Err(self.invalid(walk.at, "the values do not fit their index")) }
    }

    fn blocks(&self) -> usize {
        self.index.len() / ENTRY_LEN
    }

    /// Returns the id of the first value of the block with this index, and the offset in the data at which the block
    /// begins.
    fn block(&self, block: usize) -> (u32, u64) {
        let at = self.index.start + block * ENTRY_LEN;
        self.regions.touch(at, ENTRY_LEN);
        let entry = &self.file[at..][..ENTRY_LEN];
        (u32_at(entry, 0), u64_at(entry, ENTRY_AT))
    }

    /// The last block whose first id is at most `id`, as that first id and the block's offset in the data; `None` if
    /// every block begins with a greater id.
    fn block_before(&self, id: u32) -> Option<(u32, u64)> {
        let (mut from, mut to) = (0, self.blocks());
        while from < to {
            let middle = from + (to - from) / 2;
            if self.block(middle).0 <= id { from = middle + 1 } else { to = middle }
        }
        from.checked_sub(1).map(|last| self.block(last))
    }

    fn walk(&self) -> Walk<'_> {
        self.walk_from((self.ids.start, 0))
    }

    fn walk_from(&self, (id, at): (u32, u64)) -> Walk<'_> {
        Walk { values: self, at: usize::try_from(at).unwrap_or(usize::MAX), next: Some(id), last: id }
    }

    /// The bytes of a value, which lie in `range` of the data.
    fn read(&self, range: Range<usize>) -> Result<&[u8], FormatError> {
        self.regions.touch(self.data.start + range.start, range.len());
        self.regions.result()?;
        Ok(&self.file[self.data.clone()][range])
    }

    /// Returns the error that a value is missing, or the error of a checksum if one is wrong.
    fn missing(&self) -> FormatError {
        self.invalid(0, "a key has no value")
    }

    /// Returns the error that the data at offset `at` is invalid, or the error of a checksum if one is wrong.
    fn invalid(&self, at: usize, what: &'static str) -> FormatError {
        let here = FormatError {
            file: self.name.clone(),
            offset: (self.data.start + at.min(self.data.len())) as u64,
            problem: Problem::Invalid(what),
        };
        self.regions.result().err().unwrap_or(here)
    }
}

/// A walk from value to value, which reads only their heads.
struct Walk<'v> {
    values: &'v ValueFile,
    /// The offset in the data at which the next value's head begins.
    at: usize,
    /// The id of the first value of the block, until that value is read; then `None`. The step of ids in the head of
    /// that value is not used.
    next: Option<u32>,
    last: u32,
}

impl Walk<'_> {
    /// Returns the id of the next value, and the range of its bytes in the data; `None` after the last value.
    fn next(&mut self) -> Result<Option<(u32, Range<usize>)>, FormatError> {
        let values = self.values;
        let data = &values.file[values.data.clone()];
        if self.at == data.len() {
            return Ok(None);
        }
        let rest = data.get(self.at..).unwrap_or_default();
        values.regions.touch(values.data.start.saturating_add(self.at), rest.len().min(MAX_HEAD));
        values.regions.result()?;
        let entry = ValueHead::read(rest).and_then(|(head, length)| {
            let id = match self.next {
                Some(id) => id,
                None => self.last.checked_add(head.step).filter(|_| head.step > 0)?,
            };
            let (start, length) = (self.at + length, head.length as usize);
            (length <= MAX_VALUE && length <= data.len() - start).then_some((id, start..start + length))
        });
        let Some((id, range)) = entry else {
            return Err(values.invalid(self.at, "the head of a value is invalid"));
        };
        (self.at, self.next, self.last) = (range.end, None, id);
        Ok(Some((id, range)))
    }
}
