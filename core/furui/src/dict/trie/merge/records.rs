use crate::bits::{Cpu, prefetch, scale};
use crate::dict::trie::TrieError;
use crate::dict::trie::block::NodeBlock;
use crate::dict::trie::label::Label;
use crate::dict::trie::labels::{NEAR_NIBBLES, TOKEN_NIBBLES, words};
use crate::dict::trie::position::Position;
use crate::dict::trie::room::filled;
use crate::dict::trie::search::fetch;
use crate::dict::trie::writer::{Writer, link_nibbles};

/// A cache of the positions of token records that were written, so that an equal record can be written as a link.
///
/// Each hash has one place in the cache, which holds the last record with this hash. A record that was overwritten in
/// the cache is written again in full.
pub(super) struct Records {
    /// The entries of the cache, each with 24 bits of a hash and the position of a node.
    places: Vec<u64>,
}

/// The number of keys of the trie for each place of the cache.
const KEYS: usize = 12;

const TAG: u64 = !0 << Position::BITS;

impl Records {
    pub(super) fn new(keys: u64) -> Result<Self, TrieError> {
        Ok(Self { places: filled(0, (keys as usize / KEYS).max(1))? })
    }

    /// Prefetches the place of a record of `count` tokens by the hash of its text. Short records have no place, because
    /// links to them would save nothing.
    #[inline(always)]
    pub(super) fn fetch(&self, count: usize, hash: u64) {
        if count * TOKEN_NIBBLES > NEAR_NIBBLES {
            prefetch(&self.places[scale(hash, self.places.len())]);
        }
    }

    /// Prefetches the record that the cache has for this hash, because it may be equal to the next one.
    #[inline(always)]
    pub(super) fn fetch_earlier(&self, writer: &Writer, count: usize, hash: u64) {
        let entry = self.places[scale(hash, self.places.len())];
        if count * TOKEN_NIBBLES > NEAR_NIBBLES && (entry ^ hash << Position::BITS) & TAG == 0 {
            fetch(writer.written(), Position(entry & !TAG).offset());
        }
    }

    /// Returns the position of an equal record that was written before, if a link to it is shorter than the record.
    /// Otherwise returns `None`, and remembers that the record becomes the label `slot` labels after the next one.
    #[inline(always)]
    pub(super) fn before(
        &mut self,
        writer: &Writer,
        slot: usize,
        words: &[u64],
        count: usize,
        hash: u64,
        vectors: Cpu,
    ) -> Option<Position> {
        let nibbles = count * TOKEN_NIBBLES;
        if nibbles <= NEAR_NIBBLES {
            return None;
        }
        let place = scale(hash, self.places.len());
        let entry = self.places[place];
        let position = Position(entry & !TAG);
        if (entry ^ hash << Position::BITS) & TAG == 0
            && nibbles > link_nibbles(position)
            && is_at(writer.written(), position, words, count, vectors)
        {
            return Some(position);
        }
        self.places[place] = hash << Position::BITS | (writer.position().0 + slot as u64);
        None
    }
}

/// True if the label of the node at `position` is a record with these tokens.
#[inline(always)]
fn is_at(nodes: &[u8], position: Position, record: &[u64], count: usize, vectors: Cpu) -> bool {
    let label = NodeBlock::at(nodes, position.offset()).and_then(|block| block.label(position.slot(), vectors));
    let Some(Label::Record { records, start, nibbles, link: false }) = label else { return false };
    nibbles == count * TOKEN_NIBBLES && words(records, start, count).eq(record.iter().copied())
}
