use std::io::{self, Write};
use std::ops::Deref;

use super::LoudsTrie;
use crate::bits::{Rank1, Select0};
use crate::dict::trie::Trusted;
use crate::format::field::u64_at;
use crate::format::{Align, Bytes, Envelope, EnvelopeWriter, Kind, Problem, ReadError, Regions, Seal, Tag};
use crate::hash::HashSpec;

/// The tag of the section with the number of nodes and the number of keys.
const META: Tag = Tag::new(*b"META");
const META_LEN: usize = 16;
/// The tags of three sections: the numbers of children in unary; the number of zeros before each piece of 512 of these
/// bits; and the number of the piece that has every 512th zero.
const BASE: [Tag; 3] = [Tag::new(*b"BASE"), Tag::new(*b"BCNT"), Tag::new(*b"BHNT")];
/// The tags of two sections: a bit for each node, which is set if a key ends there; and the number of ones before each
/// piece of 512 of these bits.
const LEAF: [Tag; 2] = [Tag::new(*b"LEAF"), Tag::new(*b"LCNT")];
/// The tag of the section with the byte (edge label) of every node.
const EDGE: Tag = Tag::new(*b"EDGE");
/// The tag of the section with the values of the keys.
const VALUES: Tag = Tag::new(*b"VALU");
/// The tag of the section that marks the deleted keys with a bit each.
const DEAD: Tag = Tag::new(*b"DEAD");

const SECTIONS: [Tag; 9] = [META, BASE[0], BASE[1], BASE[2], LEAF[0], LEAF[1], EDGE, VALUES, DEAD];

impl<M: Deref<Target = [u8]>> LoudsTrie<M> {
    /// Writes the trie's file to `out`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<Seal> {
        let mut writer = EnvelopeWriter::new(out, Kind::LoudsTrie, HashSpec::default())?;
        let meta = [self.nodes().to_le_bytes(), self.keys().to_le_bytes()].concat();
        let [counts, hints] = self.base.index();
        let (base, leaf) = ([self.base.words(), counts, hints], [self.leaf.words(), self.leaf.index()]);
        let rest: [&[u8]; 3] = [&self.edge, &self.values, &self.dead];
        let parts = [&meta[..]].into_iter().chain(base).chain(leaf).chain(rest);
        for (tag, bytes) in SECTIONS.into_iter().zip(parts) {
            writer.section(tag, Align::Line)?;
            writer.write_all(bytes)?;
        }
        writer.finish()
    }
}

impl LoudsTrie<Bytes> {
    /// The trie in a file with these bytes, which is called `name` in errors, and the regions of the file. Only the
    /// sizes are checked. Searches end and do not panic, even if the file is damaged.
    ///
    /// # Errors
    /// [`ReadError::Format`] if the envelope or the sizes in it are damaged, or if the file is of another kind.
    pub(in crate::dict) fn unchecked(bytes: &Bytes, name: &str) -> Result<(Self, Regions), ReadError> {
        let envelope = Envelope::open(&**bytes, name)?;
        envelope.expect_kind(Kind::LoudsTrie)?;
        envelope.expect_hash(HashSpec::default())?;
        envelope.expect_sections(&SECTIONS, &[])?;
        let meta = envelope.read_section(&**bytes, META, META_LEN)?;
        let part = |tag| {
            let section = envelope.section(tag)?;
            let start = section.offset as usize;
            let part = bytes.part(start..start + section.length as usize);
            Ok::<_, ReadError>(part.expect("the envelope's sections lie inside the file"))
        };
        let [edge, values, dead] = [part(EDGE)?, part(VALUES)?, part(DEAD)?];
        let sized = || {
            let meta = meta.first_chunk::<META_LEN>()?;
            let (nodes, keys) = (u64_at(meta, 0), u64_at(meta, 8));
            let fits = (edge.len() as u64).checked_add(1) == Some(nodes)
                && keys.checked_mul(4) == Some(values.len() as u64)
                && (dead.is_empty() || dead.len() as u64 == keys.div_ceil(64) * 8);
            fits.then_some(nodes)
        };
        let at_meta = envelope.sections()[0].offset;
        let invalid =
            || envelope.error(at_meta, Problem::Invalid("a LOUDS trie cannot have sections of these lengths"));
        let nodes = sized().ok_or_else(invalid)?;
        let bits = |words: Bytes, len: u64| (words.len() as u64 == len.div_ceil(64) * 8).then_some(words);
        let base = || -> Result<_, ReadError> {
            let [words, counts, hints] = [part(BASE[0])?, part(BASE[1])?, part(BASE[2])?];
            let words = bits(words, 2 * nodes + 1);
            Ok(words.and_then(|words| Select0::from_parts(words, 2 * nodes + 1, nodes + 1, [counts, hints])))
        };
        let leaf = || -> Result<_, ReadError> {
            let [words, counts] = [part(LEAF[0])?, part(LEAF[1])?];
            Ok(bits(words, nodes).and_then(|words| Rank1::from_parts(words, nodes, counts)))
        };
        let (base, leaf) = (base()?.ok_or_else(invalid)?, leaf()?.ok_or_else(invalid)?);
        let regions = envelope.regions(bytes).expect("a trie's file has checksums of its regions");
        let origin = bytes.as_ptr().addr();
        Ok((Self { base, leaf, edge, values, dead, origin, guard: Trusted }, regions))
    }
}
