use super::block::{Block, INNER, NODES, Position, set_down};
use super::body::Body;
use super::codes::{Code, Dictionary};
use super::draft::Draft;
use super::ends::{EndParts, Ends};
use super::jump::Jump;
use super::labels::{FAR_NIBBLES, LONG_NIBBLES, NEAR_NIBBLES, PLACE_LENGTH_BITS, TOKEN_NIBBLES, WORD_TOKENS, place};
use super::parts::{ALIGN, Names, PARTS, Part, Parts};
use super::room::reserve;
use super::skeleton::MAX_NODES;
use super::values::Width;
use super::{Found, Shape, TrieError, Trusted};
use crate::bits::{Buffer, Cpu, prefetch};

/// The offset of every so many blocks is in the directory.
pub(super) const DIRECTORY_STEP: usize = 64;

/// A trie's bytes and its numbers.
pub(super) struct Encoded {
    pub(super) shape: Shape,
    pub(super) body: Buffer,
}

/// Writes the blocks of a trie as its nodes come, breadth-first: [`push`](Self::push) for each, and for each its label,
/// before or after that: a block is written when it has all of both.
pub(super) struct Writer {
    /// The blocks so far: the beginning of the trie's bytes.
    nodes: Body,
    /// A block, before it is put there.
    block: Vec<u8>,
    directory: Vec<u8>,
    long: Vec<u8>,
    ends: Ends,
    /// How many bytes each block has.
    lengths: Vec<u16>,
    /// The block that is not yet written.
    draft: Draft,
    /// The group of children that begins next belongs to the inner node of this rank.
    group: u32,
    /// The block whose first inner node is the next to get its children's place, and that node's rank.
    parent: (usize, u32),
    uses_tokens: bool,
}

/// More bytes than a block has.
const BLOCK: usize = 1 << 13;

/// What a link to a label's text leads with: the high bit of its length.
const LINK: u8 = 0x80;

impl Writer {
    /// Of a trie of about `room` bytes whose values have at most `width` bits.
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

    /// The node whose label comes next.
    #[inline(always)]
    pub(super) fn position(&self) -> Position {
        Position::new(self.nodes.len(), self.draft.labels() as u32)
    }

    /// Whether the block waits for labels.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.draft.nodes() == NODES
    }

    /// The blocks so far.
    #[inline(always)]
    pub(super) fn written(&self) -> &[u8] {
        self.nodes.bytes()
    }

    /// The next node's label. If it is a record, that was given before.
    #[inline(always)]
    pub(super) fn code(&mut self, code: Code) -> Result<(), TrieError> {
        self.draft.push_code(code);
        self.block_if_full()
    }

    /// The next record is made of `count` tokens, which `words` are.
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

    /// The next record is that of the node at `position`.
    pub(super) fn link(&mut self, position: Position) {
        let nibbles = link_nibbles(position);
        self.draft.push_length(LINK | nibbles as u8);
        self.draft.push_nibbles(position.0, nibbles);
    }

    /// The next record is the text at a place of its own.
    pub(super) fn long(&mut self, place: u64) {
        self.draft.push_length(LINK | LONG_NIBBLES as u8);
        self.draft.push_nibbles(place, LONG_NIBBLES);
    }

    /// A place for a text of its own.
    pub(super) fn add_long(&mut self, text: &[u8]) -> Result<u64, TrieError> {
        if self.long.len() as u64 >= 1 << 46 {
            return Err(TrieError::TooLarge("more than 2^46 bytes of long labels"));
        }
        let place = place(self.long.len(), text.len());
        reserve(&mut self.long, text.len())?;
        self.long.extend_from_slice(text);
        Ok(place)
    }

    /// Whether this text is at a place of its own.
    pub(super) fn is_long(&self, place: u64, text: &[u8]) -> bool {
        self.long.get((place >> PLACE_LENGTH_BITS) as usize..).is_some_and(|long| long.starts_with(text))
            && place as usize & ((1 << PLACE_LENGTH_BITS) - 1) == text.len()
    }

    /// The next node: its first byte, whether it is the `first` child of its parent, whether it has
    /// children, and what the key holds that ends there.
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

    /// Writes the block, and in the blocks of their parents where the children are that are in it.
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
            // Blocks without inner nodes say the same as the next one that has some.
            while self.group == self.parent.1 {
                let Some(block) = Block::at(self.nodes.bytes(), self.parent.0) else { break };
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

    /// The trie, if its labels have the codes and tokens of `dictionary`.
    pub(super) fn finish(mut self, dictionary: Dictionary, vectors: Cpu) -> Result<Encoded, TrieError> {
        let nodes = (self.lengths.len() * NODES + self.draft.nodes()) as u64;
        if self.draft.nodes() > 0 {
            self.block()?;
        }
        // No inner node comes any more.
        let mut parent = self.parent.0;
        while let Some(length) = Block::at(self.nodes.bytes(), parent).map(Block::length) {
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
        for ((part, length), bytes) in Part::ALL.iter().zip(&mut lengths).skip(1).zip(behind) {
            body.pad(ALIGN as usize)?;
            let start = body.len();
            body.extend(&bytes)?;
            while *part == Part::Values
                && let Some(piece) = values.pop()?
            {
                body.extend(piece.bytes())?;
            }
            *length = (body.len() - start) as u64;
        }
        let parts = Parts::new(lengths).ok_or(TrieError::TooLarge("more bytes than this machine addresses"))?;
        let shape = Shape { keys, nodes, leaves, width, jump: jump_lengths, parts };
        Ok(Encoded { shape, body: body.finish()? })
    }
}

/// How many half bytes a link to a position has.
pub(super) fn link_nibbles(position: Position) -> usize {
    if position.0 < 1 << (4 * NEAR_NIBBLES) { NEAR_NIBBLES } else { FAR_NIBBLES }
}
