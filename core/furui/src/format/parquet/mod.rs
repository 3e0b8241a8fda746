//! `BloomFilterHeader` of Parquet in Thrift's compact protocol: the only message that this module knows.
//!
//! The message is a struct of four fields, three of which are unions of one empty struct each:
//!
//! ```text
//! 1 numBytes     i32
//! 2 algorithm    1 BLOCK
//! 3 hash         1 XXHASH
//! 4 compression  1 UNCOMPRESSED
//! ```

mod problem;

pub use problem::ParquetProblem;

/// The maximum length of the header of a Parquet filter that is accepted, in bytes. The headers that are written today
/// have 15 to 19 bytes; the rest is room for future fields.
const MAX_HEADER: usize = 4096;

/// The maximum depth to which values of unknown fields of a Parquet header may be nested.
const MAX_DEPTH: u32 = 16;

/// The types of Thrift's compact protocol, as its documents number them. A bool outside a collection has no bytes: its
/// type is its value.
mod kind {
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const MAP: u8 = 11;
    pub(super) const STRUCT: u8 = 12;
    pub(super) const UUID: u8 = 13;
}

/// Encodes the Parquet header of a filter whose bitset has `length` bytes.
pub(crate) fn encode(length: u32) -> Vec<u8> {
    // A field starts with its type and the difference between its number and that of the previous field.
    const STRUCT_1: u8 = 1 << 4 | kind::STRUCT;
    const STOP: u8 = 0;
    let mut header = vec![1 << 4 | kind::I32];
    let mut rest = u64::from(length) << 1;
    while rest >= 0x80 {
        header.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    header.push(rest as u8);
    for _algorithm_hash_compression in 0..3 {
        header.extend([STRUCT_1, STRUCT_1, STOP, STOP]);
    }
    header.push(STOP);
    header
}

/// The error that bytes are not the header of a Parquet filter.
#[derive(Debug)]
pub(crate) struct Malformed {
    /// The offset, in the header, of the first byte that cannot be read.
    pub(crate) offset: usize,
    /// The problem with the byte at this offset.
    pub(crate) problem: ParquetProblem,
}

/// Reads the header of a Parquet filter at the beginning of `bytes`. Returns two numbers of bytes: the length of the
/// header, and the length that the header states for the bitset after it. The second is not checked: it may be
/// negative, or more than the file has.
///
/// # Errors
/// [`Malformed`] if the header does not end within its maximum length or within `bytes`, if a field is missing or has
/// another type, or if the filter has another algorithm, hash or compression than those that the format has today.
pub(crate) fn decode(bytes: &[u8]) -> Result<(usize, i64), Malformed> {
    let mut input = Input { bytes: &bytes[..bytes.len().min(MAX_HEADER)], at: 0 };
    let mut length = None;
    let mut choices = [None; 3];
    let mut last = 0;
    while let Some((field, kind)) = input.field(&mut last)? {
        match (field, kind) {
            (1, kind::I32) => length = Some(input.signed()?),
            (2..=4, kind::STRUCT) => choices[field as usize - 2] = Some(input.union()?),
            (1..=4, _) => return Err(input.invalid(ParquetProblem::FieldType { field, kind })),
            _ => input.skip(kind, MAX_DEPTH)?,
        }
    }
    let names = [("algorithm", "BLOCK"), ("hash", "XXHASH"), ("compression", "UNCOMPRESSED")];
    for ((field, known), choice) in names.into_iter().zip(choices) {
        match choice {
            Some(1) => {}
            Some(number) => {
                return Err(input.invalid(ParquetProblem::Unknown { field, number, known }));
            }
            None => return Err(input.invalid(ParquetProblem::Missing(field))),
        }
    }
    let length = length.ok_or_else(|| input.invalid(ParquetProblem::Missing("numBytes")))?;
    Ok((input.at, length))
}

/// A reader of the bytes of a header, with the position of the next byte to read. Each step consumes a byte or fails,
/// so reading ends.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn invalid(&self, problem: ParquetProblem) -> Malformed {
        Malformed { offset: self.at, problem }
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = self.bytes.get(self.at).copied();
        let byte = byte.ok_or_else(|| self.invalid(ParquetProblem::HeaderWithoutEnd))?;
        self.at += 1;
        Ok(byte)
    }

    fn advance(&mut self, bytes: u64) -> Result<(), Malformed> {
        if bytes > (self.bytes.len() - self.at) as u64 {
            return Err(self.invalid(ParquetProblem::HeaderWithoutEnd));
        }
        self.at += bytes as usize;
        Ok(())
    }

    /// Reads a number that is stored in seven bits a byte, the lowest first.
    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.invalid(ParquetProblem::LongNumber))
    }

    /// Reads a signed number: 0, -1, 1, -2, … are stored as 0, 1, 2, 3, ….
    fn signed(&mut self) -> Result<i64, Malformed> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Reads the number and type of a struct's next field; `None` at the end of the struct. `last` is the number of the
    /// previous field.
    fn field(&mut self, last: &mut i64) -> Result<Option<(i64, u8)>, Malformed> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        *last = match byte >> 4 {
            0 => self.signed()?,
            difference => last.saturating_add(i64::from(difference)),
        };
        Ok(Some((*last, byte & 0xF)))
    }

    /// Reads a union (a struct with one of several fields), and returns the number of the one field that is set.
    fn union(&mut self) -> Result<i64, Malformed> {
        let mut last = 0;
        let Some((choice, kind)) = self.field(&mut last)? else {
            return Err(self.invalid(ParquetProblem::Union { is_empty: true }));
        };
        self.skip(kind, MAX_DEPTH)?;
        match self.field(&mut last)? {
            None => Ok(choice),
            Some(_) => Err(self.invalid(ParquetProblem::Union { is_empty: false })),
        }
    }

    /// Skips the value of a field, which has the type `kind` and is nested `depth` levels deep.
    fn skip(&mut self, kind: u8, depth: u32) -> Result<(), Malformed> {
        match kind {
            kind::TRUE | kind::FALSE => Ok(()),
            _ => self.skip_element(kind, depth),
        }
    }

    /// Skips a value of the type `kind` in a collection, where a bool is a byte too.
    fn skip_element(&mut self, kind: u8, depth: u32) -> Result<(), Malformed> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.invalid(ParquetProblem::Nested(MAX_DEPTH)));
        };
        match kind {
            kind::TRUE | kind::FALSE | kind::BYTE => self.advance(1),
            kind::I16 | kind::I32 | kind::I64 => self.varint().map(|_| ()),
            kind::DOUBLE => self.advance(8),
            kind::UUID => self.advance(16),
            kind::BINARY => {
                let length = self.varint()?;
                self.advance(length)
            }
            kind::LIST | kind::SET => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
                (0..count).try_for_each(|_| self.skip_element(byte & 0xF, depth))
            }
            kind::MAP => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 0xF, depth)
                })
            }
            kind::STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth)?;
                }
                Ok(())
            }
            _ => Err(self.invalid(ParquetProblem::UnknownType(kind))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY_UNION: [u8; 4] = [0x1C, 0x1C, 0, 0];

    fn header(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    #[test]
    fn a_header_is_the_bytes_that_parquet_writes() {
        let mut expected = vec![0x15, 0x40];
        expected.extend(EMPTY_UNION.repeat(3));
        expected.push(0);
        assert_eq!(encode(32), expected);
        for length in [32, 64, 1 << 20, 128 << 20, i32::MAX as u32] {
            let bytes = encode(length);
            assert_eq!(decode(&bytes).unwrap(), (bytes.len(), i64::from(length)));
        }
    }

    #[test]
    fn fields_to_come_are_skipped_whatever_their_type() {
        let long_list = [&[0x19, 0xF3, 17][..], &[0xFF; 17]].concat();
        let fields: [&[u8]; 10] = [
            &[0x11],                                     // field 5: true
            &[0x12],                                     // false
            &[0x13, 7],                                  // a byte
            &[0x16, 0xFF, 0x01],                         // i64
            &[0x17, 1, 2, 3, 4, 5, 6, 7, 8],             // a double
            &[0x18, 3, b'a', b'b', b'c'],                // a string
            &[0x19, 0x31, 1, 2, 1],                      // a list of three bools
            &[0x1B, 1, 0x5C, 4, 0x15, 2, 0x18, 1, 7, 0], // a map from an i32 to a struct of two fields
            &[0x1B, 0],                                  // an empty map
            &long_list,                                  // a list of 17 bytes
        ];
        let mut bytes = encode(32);
        bytes.pop();
        bytes.extend(fields.concat());
        bytes.extend([0x05, 0x90, 0x03, 0x02, 0]); // field 200 in the long form, an i32, and the end
        assert_eq!(decode(&bytes).unwrap(), (bytes.len(), 32));
        for length in 0..bytes.len() {
            let Malformed { offset, problem } = decode(&bytes[..length]).unwrap_err();
            assert!(matches!(problem, ParquetProblem::HeaderWithoutEnd), "{problem}");
            assert!(offset <= length);
        }
        // Where a value ends with the bytes, the next field is what is missing.
        let start = encode(32).len() - 1;
        let ends = [&encode(32)[..start], &[0x18, 3, b'a', b'b', b'c']].concat();
        assert_eq!([4, 5].map(|length| decode(&ends[..start + length]).unwrap_err().offset), [start + 2, start + 5]);
    }

    #[test]
    fn what_is_not_known_is_named() {
        let number = [0x15, 0x40];
        let other = [0x1C, 0x2C, 0, 0];
        let e = EMPTY_UNION;
        for (bytes, message) in [
            (header(&[&number, &other, &e, &e, &[0]]), "its algorithm is number 2: only number 1, BLOCK,"),
            (header(&[&number, &e, &other, &e, &[0]]), "its hash is number 2: only number 1, XXHASH,"),
            (header(&[&number, &e, &e, &other, &[0]]), "its compression is number 2: only number 1, UNCOMPRESSED,"),
            (header(&[&number, &e, &e, &[0]]), "has no field compression"),
            (header(&[&[0x25, 0x40], &[0]]), "field 2 of the header has type 5"),
            (header(&[&[0x2C], &e[1..], &e, &e, &[0]]), "has no field numBytes"),
            (header(&[&number, &[0x1C, 0]]), "a union of the header is empty"),
            (header(&[&number, &[0x1C, 0x1C, 0, 0x1C, 0, 0]]), "a union of the header has two values"),
            (header(&[&number, &e, &e, &e, &[0x1E, 0]]), "of type 14"),
            (header(&[&[0x15], &[0xFF; 11]]), "more than 64 bits"),
            (header(&[&number, &e, &e, &e, &[0x18, 0xFF, 0xFF, 0xFF, 0x7F]]), "no end"),
            (header(&[&number, &e, &e, &e, &[0x1C; 40]]), "nests more than 16"),
            (encode(32)[..14].to_vec(), "no end"),
            (vec![], "no end"),
        ] {
            let error = decode(&bytes).unwrap_err().problem.to_string();
            assert!(error.contains(message), "{error}, not {message}");
        }
    }
}
