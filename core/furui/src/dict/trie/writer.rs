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

/// An encoded trie: its sizes and its bytes.
pub(super) struct Encoded {
    pub(super) shape: TrieShape,
    pub(super) body: Buffer,
}

/// Writes the nodes of a trie, which are given in breadth-first order, in blocks of 64. Each node is
/// [`pushed`](Self::push), and its label is given before or after that. A block is written when it has all its nodes
/// and labels.
pub(super) struct Writer {
    /// The blocks of nodes that are complete. They are the beginning of the trie's bytes.
    nodes: Body,
    /// A buffer in which a block is encoded before it is appended to `nodes`.
    block: Vec<u8>,
    long: Vec<u8>,
    ends: Ends,
    /// The length in bytes of each block of nodes that is complete.
    lengths: Vec<u16>,
    /// The block that still receives nodes or labels.
    draft: Draft,
    /// The rank, among the inner nodes, of the node whose children are the next group of siblings.
    group: u32,
    /// The offset of the earliest block that still lacks the position of its children, and the rank of the block's
    /// first inner node.
    parent: (usize, u32),
    uses_tokens: bool,
}

/// An upper bound of the length of a block of nodes, in bytes.
const BLOCK: usize = 1 << 13;

/// The high bit of a record's length. It is set if the record is a link to another text, and clear if it consists of
/// tokens.
const LINK: u8 = 0x80;

impl Writer {
    /// A writer of a trie whose nodes take about `room` bytes, and whose values have at most `width` bits. `root` is
    /// the value of the empty key, if the trie has it.
    pub(super) fn new(room: usize, width: Width, root: Option<Found>) -> Result<Self, TrieError> {
        let mut block = vec![];
        reserve(&mut block, BLOCK)?;
        Ok(Self {
            nodes: Body::with_room(room)?,
            block,
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

    /// True if the current block has 64 nodes, so that it only lacks labels.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.draft.nodes() == NODES
    }

    /// The bytes of the blocks of nodes that are complete.
    #[inline(always)]
    pub(super) fn written(&self) -> &[u8] {
        self.nodes.bytes()
    }

    /// Adds the code of the next label. If the code says that the label is a record, the record must have been added
    /// before.
    #[inline(always)]
    pub(super) fn code(&mut self, code: Code) -> Result<(), TrieError> {
        self.draft.push_code(code);
        self.block_if_full()
    }

    /// Adds a record of `count` tokens, which are packed in `words`.
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

    /// Adds a record that is a link to the equal record of the node at `position`.
    pub(super) fn link(&mut self, position: Position) {
        let nibbles = link_nibbles(position);
        self.draft.push_length(LINK | nibbles as u8);
        self.draft.push_nibbles(position.0, nibbles);
    }

    /// Adds a record that is a link to the long label at `place`.
    pub(super) fn long(&mut self, place: u64) {
        self.draft.push_length(LINK | LONG_NIBBLES as u8);
        self.draft.push_nibbles(place, LONG_NIBBLES);
    }

    /// Stores the text of a long label outside the blocks of nodes, and returns its place (its start and its length in
    /// one number).
    pub(super) fn add_long(&mut self, text: &[u8]) -> Result<u64, TrieError> {
        if self.long.len() as u64 >= 1 << 46 {
            return Err(TrieError::TooLarge("more than 2^46 bytes of long labels"));
        }
        let place = place(self.long.len(), text.len());
        reserve(&mut self.long, text.len())?;
        self.long.extend_from_slice(text);
        Ok(place)
    }

    /// True if the long label at `place`, which [`add_long`](Self::add_long) has returned, is equal to `text`.
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

    /// Writes the current block, and fills in the positions of children in the blocks of their parents.
    fn block(&mut self) -> Result<(), TrieError> {
        let offset = self.nodes.len();
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
            // A block without inner nodes stores the same position of children as the next block with inner nodes.
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

    /// Finishes the trie. `dictionary` has the texts of the codes and tokens of its labels.
    pub(super) fn finish(mut self, dictionary: Dictionary, vectors: Cpu) -> Result<Encoded, TrieError> {
        let nodes = (self.lengths.len() * NODES + self.draft.nodes()) as u64;
        if self.draft.nodes() > 0 {
            self.block()?;
        }
        // The blocks from here on have no group of children, so they store a position that no node has.
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
        let behind = [places, texts, tokens, self.long, terminals, jump.buckets, jump.paths, vec![], deleted];
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

/// The number of half bytes of a record that is a link to the node at this position.
pub(super) fn link_nibbles(position: Position) -> usize {
    if position.0 < 1 << (4 * NEAR_NIBBLES) { NEAR_NIBBLES } else { FAR_NIBBLES }
}
