use std::io::{self, Write};
use std::ops::Deref;

use super::block::CODES;
use super::jump::{BUCKET, Lengths, MAX_JUMP_LENGTH};
use super::parts::{PARTS, Parts, TriePart};
use super::position::NODES;
use super::skeleton::MAX_NODES;
use super::values::{Width, terminals_len};
use super::{Trie, TrieShape, Trusted};
use crate::bits::Cpu;
use crate::format::field::{put, u16_at, u32_at, u64_at};
use crate::format::{Align, Bytes, Envelope, EnvelopeWriter, Kind, Problem, ReadAt, ReadError, Regions, Seal, Tag};
use crate::hash::HashSpec;

/// The tag of the section with the sizes of the trie.
const META: Tag = Tag::new(*b"META");
/// The tag of the section with the bytes of the trie.
const TRIE: Tag = Tag::new(*b"TRIE");

const META_LEN: usize = LENGTHS + 8 * PARTS;
const KEYS: usize = 0;
const NODE_COUNT: usize = 8;
const LEAVES: usize = 16;
const WIDTH: usize = 24;
const JUMPS: usize = 28;
const RESERVED: usize = 36;
const LENGTHS: usize = 40;

impl<M: Deref<Target = [u8]>> Trie<M> {
    /// Writes the trie's file to `out`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<Seal> {
        let mut writer = EnvelopeWriter::new(out, Kind::Trie, HashSpec::default())?;
        writer.section(META, Align::Line)?;
        writer.write_all(&self.shape.meta())?;
        writer.section(TRIE, Align::Page)?;
        writer.write_all(&self.body)?;
        writer.finish()
    }
}

impl<'a> Trie<&'a [u8]> {
    /// The trie in a file with these bytes, which is called `name` in errors. All checksums are compared.
    /// [`check`](Self::check) also finds out whether the nodes form one tree; if they do not, the trie gives wrong
    /// answers, but never panics.
    ///
    /// # Errors
    /// [`ReadError::Format`] if these are not the bytes of a whole and undamaged file of a trie.
    pub fn from_bytes(bytes: &'a [u8], name: &str) -> Result<Self, ReadError> {
        let (envelope, shape) = read_shape(bytes, name)?;
        envelope.verify(bytes)?;
        let offset = envelope.section(TRIE)?.offset as usize;
        // The envelope has checked that its sections lie inside the file.
        Ok(Self { body: &bytes[offset..][..shape.parts.len()], shape, vectors: Cpu::detect(), guard: Trusted })
    }
}

impl Trie<Bytes> {
    /// Returns three parts: the trie in a file with these bytes, not checked yet; the regions of the file, by which it
    /// can be checked; and the offset of the trie's bytes in the file.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the envelope or the sizes in it are damaged, or if the file is of another kind.
    pub(in crate::dict) fn unchecked(bytes: &Bytes, name: &str) -> Result<(Self, Regions, usize), ReadError> {
        let (envelope, shape) = read_shape(bytes, name)?;
        let base = envelope.section(TRIE)?.offset as usize;
        let body = bytes.part(base..base + shape.parts.len()).expect("the envelope's sections lie inside the file");
        let regions = envelope.regions(bytes).expect("a trie's file has checksums of its regions");
        Ok((Self { body, shape, vectors: Cpu::detect(), guard: Trusted }, regions, base))
    }
}

fn read_shape(file: &(impl ReadAt + ?Sized), name: &str) -> Result<(Envelope, TrieShape), ReadError> {
    let envelope = Envelope::open(file, name)?;
    envelope.expect_kind(Kind::Trie)?;
    envelope.expect_hash(HashSpec::default())?;
    envelope.expect_sections(&[META, TRIE], &[])?;
    let meta = envelope.read_section(file, META, META_LEN)?;
    let invalid = |what| envelope.error(envelope.sections()[0].offset, Problem::Invalid(what));
    let meta: [u8; META_LEN] = meta.try_into().map_err(|_| invalid("the section META is too short"))?;
    let shape = TrieShape::from_meta(&meta).map_err(invalid)?;
    if shape.parts.len() as u64 != envelope.section(TRIE)?.length {
        return Err(invalid("the lengths of the parts do not add up to that of the trie").into());
    }
    Ok((envelope, shape))
}

impl TrieShape {
    fn meta(&self) -> [u8; META_LEN] {
        let mut meta = [0; META_LEN];
        put(&mut meta, KEYS, self.keys.to_le_bytes());
        put(&mut meta, NODE_COUNT, self.nodes.to_le_bytes());
        put(&mut meta, LEAVES, self.leaves.to_le_bytes());
        put(&mut meta, WIDTH, self.width.bits().to_le_bytes());
        for (i, length) in self.jump.iter().enumerate() {
            put(&mut meta, JUMPS + 2 * i, length.to_le_bytes());
        }
        for (i, length) in self.parts.lengths().iter().enumerate() {
            put(&mut meta, LENGTHS + 8 * i, length.to_le_bytes());
        }
        meta
    }

    /// Decodes the sizes of a trie. For any bytes, the result is an error, or sizes with which all other code works.
    fn from_meta(meta: &[u8; META_LEN]) -> Result<Self, &'static str> {
        let [keys, nodes, leaves] = [KEYS, NODE_COUNT, LEAVES].map(|at| u64_at(meta, at));
        let jump: Lengths = std::array::from_fn(|i| u16_at(meta, JUMPS + 2 * i));
        let lengths: [u64; PARTS] = std::array::from_fn(|i| u64_at(meta, LENGTHS + 8 * i));
        let width = Width::new(u32_at(meta, WIDTH)).ok_or("values of more than 32 bits")?;
        let parts = Parts::new(lengths).ok_or("the stated lengths of the parts exceed the file")?;
        let length = |part: TriePart| lengths[part as usize];
        if nodes > MAX_NODES as u64 || leaves > nodes || leaves > keys || keys - leaves > nodes - leaves + 1 {
            return Err("a trie cannot have these numbers of keys, nodes and leaves");
        }
        let blocks = nodes.div_ceil(NODES as u64);
        if length(TriePart::Nodes) < blocks * CODES as u64 || (nodes == 0 && length(TriePart::Nodes) > 0) {
            return Err("the length of the nodes does not fit their number");
        }
        let terminals = if keys > leaves { terminals_len(nodes - leaves + 1) } else { 0 };
        if length(TriePart::Terminals) != terminals
            || length(TriePart::Values) != width.bytes(keys)
            || ![0, keys.div_ceil(8)].contains(&length(TriePart::Deleted))
        {
            return Err("the lengths of the parts do not fit the number of keys");
        }
        let whole = [(TriePart::Places, 8), (TriePart::Tokens, 16), (TriePart::Buckets, BUCKET as u64)];
        if whole.iter().any(|&(part, item)| length(part) % item != 0) {
            return Err("a table ends within an entry");
        }
        let descends = jump.is_sorted_by(|a, b| a > b || *b == 0);
        if !descends || jump[0] > MAX_JUMP_LENGTH || (jump[0] == 0) != (length(TriePart::Buckets) == 0) {
            return Err("a trie cannot have a jump table of these lengths");
        }
        if meta[RESERVED..LENGTHS].iter().any(|&byte| byte != 0) {
            return Err("a reserved byte is not zero");
        }
        Ok(Self { keys, nodes, leaves, width, jump, parts })
    }
}
