use super::block::{INNER, NodeBlock, set_down};
use super::body::Body;
use super::codes::{Code, Dictionary};
use super::draft::Draft;
use super::ends::{EndParts, Ends};
use super::jump::Jump;
use super::labels::{FAR_NIBBLES, LONG_NIBBLES, NEAR_NIBBLES, PLACE_LENGTH_BITS, TOKEN_NIBBLES, WORD_TOKENS, place};
use super::parts::{ALIGN, Names, PARTS, Parts, TriePart};
use super::position::{NODES, Position};
use super::room::reserve;
use super::skeleton::MAX_NODES;
use super::values::Width;
use super::{Found, TrieError, TrieShape, Trusted};
use crate::bits::{Buffer, Cpu, prefetch};

/// The directory has the offset of one block out of this many.
pub(super) const DIRECTORY_STEP: usize = 64;

/// The bytes and the sizes of a trie.
pub(super) struct Encoded {
    pub(super) shape: TrieShape,
    pub(super) body: Buffer,
}

/// Writes the blocks of a trie as its nodes come, breadth-first. Each node is [`pushed`](Self::push), and its label is
/// given before or after that. A block is written when it has all its nodes and labels.
pub(super) struct Writer {
    /// The blocks so far, which are the beginning of the trie's bytes.
    nodes: Body,
    /// A buffer for a block before it is appended to `nodes`.
    block: Vec<u8>,
    directory: Vec<u8>,
    long: Vec<u8>,
    ends: Ends,
    /// The length of each block in bytes.
    lengths: Vec<u16>,
    /// The block that is not written yet.
    draft: Draft,
    /// The rank of the inner node whose group of children begins next.
    group: u32,
    /// The offset of the next block into which the place of its children is to be written, and the rank of the block's
    /// first inner node.
    parent: (usize, u32),
    uses_tokens: bool,
}

/// A number of bytes that no block exceeds.
const BLOCK: usize = 1 << 13;

/// The high bit of a record's length, which is set if the record is a link.
const LINK: u8 = 0x80;

impl Writer {
    /// A writer of a trie of about `room` bytes whose values have at most `width` bits.
    pub(super) fn new(room: usize, width: Width, root: Option<Found>) -> Result<Self, TrieError> {
        let mut block = vec![];
        reserve(&mut block, BLOCK)?;
        Ok(Self {
            nodes: Body::with_room(room)?,
            block,
            directory: vec![],
            lengths: vec![],
            long: vec![],
            ends: Ends::new(width, root)?,
            draft: Draft::new()?,
            group: 0,
            parent: (0, 1),
            uses_tokens: false,
        })
    }

    /// The position of the node whose label comes next.
    #[inline(always)]
    pub(super) fn position(&self) -> Position {
        Position::new(self.nodes.len(), self.draft.labels() as u32)
    }

    /// True if the block has all its nodes and waits for labels.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.draft.nodes() == NODES
    }

    /// The blocks so far.
    #[inline(always)]
    pub(super) fn written(&self) -> &[u8] {
        self.nodes.bytes()
    }

    /// Sets the label of the next node. If the label has a record in place of a code, the record must have been given
    /// before.
    #[inline(always)]
    pub(super) fn code(&mut self, code: Code) -> Result<(), TrieError> {
        self.draft.push_code(code);
        self.block_if_full()
    }

    /// Sets the next record to the `count` tokens in `words`.
    #[inline]
    pub(super) fn tokens(&mut self, words: &[u64], count: usize) {
        self.uses_tokens = true;
        let mut nibbles = count * TOKEN_NIBBLES;
        self.draft.push_length(nibbles as u8);
        for &word in words {
            let now = nibbles.min(WORD_TOKENS * TOKEN_NIBBLES);
            self.draft.push_nibbles(word, now);
            nibbles -= now;
        }
    }

    /// Sets the next record to a link to the record of the node at `position`.
    pub(super) fn link(&mut self, position: Position) {
        let nibbles = link_nibbles(position);
        self.draft.push_length(LINK | nibbles as u8);
        self.draft.push_nibbles(position.0, nibbles);
    }

    /// Sets the next record to a link to the long label at `place`.
    pub(super) fn long(&mut self, place: u64) {
        self.draft.push_length(LINK | LONG_NIBBLES as u8);
        self.draft.push_nibbles(place, LONG_NIBBLES);
    }

    /// Appends a long label, whose text lies outside the blocks, and returns its place.
    pub(super) fn add_long(&mut self, text: &[u8]) -> Result<u64, TrieError> {
        if self.long.len() as u64 >= 1 << 46 {
            return Err(TrieError::TooLarge("more than 2^46 bytes of long labels"));
        }
        let place = place(self.long.len(), text.len());
        reserve(&mut self.long, text.len())?;
        self.long.extend_from_slice(text);
        Ok(place)
    }

    /// True if `text` is the long label at `place`.
    pub(super) fn is_long(&self, place: u64, text: &[u8]) -> bool {
        self.long.get((place >> PLACE_LENGTH_BITS) as usize..).is_some_and(|long| long.starts_with(text))
            && place as usize & ((1 << PLACE_LENGTH_BITS) - 1) == text.len()
    }

    /// Adds the next node: its first byte, whether it is the `first` child of its parent, whether it has children, and
    /// the value of the key that ends there.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        edge: u8,
        first: bool,
        inner: bool,
        terminal: Option<Found>,
    ) -> Result<(), TrieError> {
        self.draft.push_node(edge, first, inner);
        self.ends.push(inner, terminal)?;
        self.block_if_full()
    }

    #[inline(always)]
    fn block_if_full(&mut self) -> Result<(), TrieError> {
        if self.draft.nodes() == NODES && self.draft.labels() == NODES { self.block() } else { Ok(()) }
    }

    /// Writes the block. Each group of siblings begins at a position, which is written into the block of their parent.
    fn block(&mut self) -> Result<(), TrieError> {
        let offset = self.nodes.len();
        if self.lengths.len().is_multiple_of(DIRECTORY_STEP) {
            reserve(&mut self.directory, size_of::<u64>())?;
            self.directory.extend((offset as u64).to_le_bytes());
        }
        let mut firsts = self.draft.first();
        self.block.clear();
        self.draft.write(&mut self.block);
        self.nodes.extend(&self.block)?;
        reserve(&mut self.lengths, 1)?;
        self.lengths.push(self.block.len() as u16);
        if self.nodes.len() as u64 >= 1 << (Position::BITS - 6) {
            return Err(TrieError::TooLarge("more than 16 GiB of nodes"));
        }
        if self.lengths.len() > MAX_NODES / NODES {
            return Err(TrieError::TooLarge("more than 2^32 nodes"));
        }
        while firsts != 0 {
            let position = Position::new(offset, firsts.trailing_zeros());
            // A block without inner nodes gets the place that the next block with inner nodes gets.
            while self.group == self.parent.1 {
                let Some(block) = NodeBlock::at(self.nodes.bytes(), self.parent.0) else { break };
                let next = (self.parent.0 + block.length(), self.parent.1 + block.inner().count_ones());
                self.nodes.bytes().get(next.0 + INNER).into_iter().for_each(prefetch);
                set_down(self.nodes.bytes_mut(), self.parent.0, position);
                self.parent = next;
            }
            self.group += 1;
            firsts &= firsts - 1;
        }
        Ok(())
    }

    /// Finishes the trie, whose labels have the codes and tokens of `dictionary`.
    pub(super) fn finish(mut self, dictionary: Dictionary, vectors: Cpu) -> Result<Encoded, TrieError> {
        let nodes = (self.lengths.len() * NODES + self.draft.nodes()) as u64;
        if self.draft.nodes() > 0 {
            self.block()?;
        }
        // No group of children is left for the blocks from here on, so they state a position that no node has.
        let mut parent = self.parent.0;
        while let Some(length) = NodeBlock::at(self.nodes.bytes(), parent).map(NodeBlock::length) {
            set_down(self.nodes.bytes_mut(), parent, Position(u64::MAX));
            parent += length;
        }
        let leaves = u64::from(self.draft.leaves());
        let width = self.ends.width();
        let EndParts { keys, terminals, mut values, deleted } = self.ends.finish()?;
        let Dictionary { places, texts, tokens } = dictionary;
        let tokens = if self.uses_tokens { tokens } else { vec![] };
        let names = Names {
            nodes: self.nodes.bytes(),
            places: places.as_chunks().0,
            texts: &texts,
            tokens: tokens.as_chunks().0,
            long: &self.long,
            long_start: 0,
            guard: Trusted,
        };
        let jump = Jump::choose(&names, &self.lengths, &terminals, nodes, vectors)?;
        let jump_lengths = jump.lengths;
        let mut body = self.nodes;
        let mut lengths = [body.len() as u64; PARTS];
        let behind =
            [self.directory, places, texts, tokens, self.long, terminals, jump.buckets, jump.paths, vec![], deleted];
        for ((part, length), bytes) in TriePart::ALL.iter().zip(&mut lengths).skip(1).zip(behind) {
            body.pad(ALIGN as usize)?;
            let start = body.len();
            body.extend(&bytes)?;
            while *part == TriePart::Values
                && let Some(piece) = values.pop()?
            {
                body.extend(piece.bytes())?;
            }
            *length = (body.len() - start) as u64;
        }
        let parts = Parts::new(lengths).ok_or(TrieError::TooLarge("more bytes than this machine addresses"))?;
        let shape = TrieShape { keys, nodes, leaves, width, jump: jump_lengths, parts };
        Ok(Encoded { shape, body: body.finish()? })
    }
}

/// The half bytes of a link to a position.
pub(super) fn link_nibbles(position: Position) -> usize {
    if position.0 < 1 << (4 * NEAR_NIBBLES) { NEAR_NIBBLES } else { FAR_NIBBLES }
}
