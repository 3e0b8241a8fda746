use super::block::{Block, Draft, NODES, Position, set_down};
use super::codes::{Code, Codes};
use super::jump::{Jump, Landing};
use super::labels::{FAR_NIBBLES, LONG_NIBBLES, MAX_RECORD, NEAR_NIBBLES, TOKEN_NIBBLES, place};
use super::matcher::Matcher;
use super::parts::{PARTS, Parts};
use super::skeleton::Skeleton;
use super::tokens::Tokens;
use super::values::{self, Width};
use super::{Shape, TrieError};

/// The offset of every so many blocks is in the directory.
pub(super) const DIRECTORY_STEP: usize = 64;

/// A trie's bytes, part by part, and its numbers.
pub(super) struct Encoded {
    pub(super) shape: Shape,
    pub(super) parts: [Vec<u8>; PARTS],
}

/// Encodes a trie: the codes of labels from their counts, the tokens from the labels without codes, then the blocks in one
/// pass over the nodes.
pub(super) fn encode(skeleton: &Skeleton) -> Result<Encoded, TrieError> {
    let codes = Codes::choose(&skeleton.distinct);
    let tokens = train(skeleton, &codes);
    let mut landings = Jump::choose(skeleton);
    let mut blocks = Blocks::new(skeleton, &codes, &tokens);
    blocks.write(&mut landings)?;
    let Blocks { nodes, directory, long, uses_tokens, .. } = blocks;
    let jump = Jump::build(&landings);
    let keys = skeleton.keys() as u64;
    let leaves = skeleton.nodes() - skeleton.inner.ones();
    let values = values::in_order(skeleton);
    let width = Width::of(&values);
    let deleted = values::deleted(skeleton);
    let tokens = if uses_tokens { tokens.as_bytes().to_vec() } else { vec![] };
    let parts = [
        nodes,
        directory,
        codes.places,
        codes.texts,
        tokens,
        long,
        values::terminals(skeleton),
        jump.buckets,
        jump.paths,
        width.pack(&values),
        deleted,
    ];
    let lengths = std::array::from_fn(|i| parts[i].len() as u64);
    let shape = Shape {
        keys,
        nodes: skeleton.nodes() as u64,
        leaves: leaves as u64,
        width,
        jump: jump.lengths,
        parts: Parts::new(lengths).ok_or(TrieError::TooLarge("more bytes than this machine addresses"))?,
    };
    Ok(Encoded { shape, parts })
}

/// Rare labels up to this many bytes are made of tokens; longer ones are texts of their own.
const MAX_RARE: usize = 255;

/// At most this many bytes of labels train the tokens.
const SAMPLE: usize = 3 << 20;

fn train(skeleton: &Skeleton, codes: &Codes) -> Tokens {
    let labels = &skeleton.distinct;
    let is_rare = |label: &u32| codes.of[*label as usize] == Code::Record;
    let rare: Vec<u32> = (0..labels.len() as u32).filter(is_rare).collect();
    let mut occurs = [false; 256];
    let mut bytes = 0;
    for text in rare.iter().map(|&label| labels.get(label)).filter(|text| text.len() <= MAX_RARE) {
        text.iter().for_each(|&byte| occurs[usize::from(byte)] = true);
        bytes += text.len();
    }
    // Every so many labels: those of one region of the keys are alike.
    let step = bytes / SAMPLE + 1;
    let stride = 17;
    let repeats = (bytes / step / REPEATS_PER).clamp(3, 400) as u16;
    let sample = (0..stride)
        .flat_map(|start| rare.iter().skip(start * step).step_by(stride * step))
        .map(|&label| labels.get(label));
    Tokens::train(
        (0..=255).filter(|&byte| occurs[usize::from(byte)]),
        sample.filter(|text| text.len() <= MAX_RARE),
        repeats,
    )
}

/// A pair of tokens becomes one when it was met once for every so many bytes of the sample.
const REPEATS_PER: usize = 1 << 16;

/// The blocks while they are written.
struct Blocks<'s> {
    skeleton: &'s Skeleton,
    codes: &'s Codes,
    tokens: Matcher,
    uses_tokens: bool,
    nodes: Vec<u8>,
    directory: Vec<u8>,
    long: Vec<u8>,
    /// Where the record of a label is that was written first, + 1; by the number among labels.
    written: Vec<u64>,
    cut: Vec<u16>,
}

impl<'s> Blocks<'s> {
    fn new(skeleton: &'s Skeleton, codes: &'s Codes, tokens: &'s Tokens) -> Self {
        Self {
            skeleton,
            codes,
            tokens: tokens.matcher(),
            uses_tokens: false,
            nodes: vec![],
            directory: vec![],
            long: vec![],
            written: vec![0; skeleton.distinct.len()],
            cut: vec![],
        }
    }

    fn write(&mut self, landings: &mut [Landing]) -> Result<(), TrieError> {
        let skeleton = self.skeleton;
        let (mut inners, mut leaves) = (1u32, 0u32);
        // The group of children that comes next belongs to the inner node of this rank.
        let mut group = 0u32;
        // The block whose first inner node is the next to get its children's place, and that node's rank.
        let (mut parent, mut parents) = (0, 1);
        let mut landing = landings.iter_mut().peekable();
        for start in (0..skeleton.nodes()).step_by(NODES) {
            let offset = self.nodes.len();
            if (start / NODES).is_multiple_of(DIRECTORY_STEP) {
                self.directory.extend((offset as u64).to_le_bytes());
            }
            let count = (skeleton.nodes() - start).min(NODES);
            let mut draft = Draft {
                first: skeleton.firsts.word(start / NODES),
                inner: skeleton.inner.word(start / NODES),
                inners,
                leaves,
                edges: skeleton.edges[start..start + count].to_vec(),
                ..Draft::default()
            };
            for slot in 0..count {
                self.label(&mut draft, start + slot, Position::new(offset, slot as u32))?;
            }
            draft.write(&mut self.nodes);
            if self.nodes.len() as u64 >= 1 << (Position::BITS - 6) {
                return Err(TrieError::TooLarge("more than 16 GiB of nodes"));
            }
            let inner = skeleton.inner.word(start / NODES).count_ones();
            inners += inner;
            leaves += count as u32 - inner;
            let mut firsts = skeleton.firsts.word(start / NODES);
            while firsts != 0 {
                let position = Position::new(offset, firsts.trailing_zeros());
                // Blocks without inner nodes say the same as the next one that has some.
                while group == parents {
                    let Some(block) = Block::at(&self.nodes, parent) else { break };
                    let next = (parent + block.length(), parents + block.inner().count_ones());
                    set_down(&mut self.nodes, parent, position);
                    (parent, parents) = next;
                }
                while let Some(landing) = landing.next_if(|landing| landing.inner == group) {
                    landing.children = position;
                }
                group += 1;
                firsts &= firsts - 1;
            }
        }
        // No inner node comes any more.
        while let Some(length) = Block::at(&self.nodes, parent).map(Block::length) {
            set_down(&mut self.nodes, parent, Position(u64::MAX));
            parent += length;
        }
        Ok(())
    }

    /// Writes the label of a node, which is at `position`, behind those before it.
    fn label(&mut self, draft: &mut Draft, node: usize, position: Position) -> Result<(), TrieError> {
        let label = self.skeleton.rests[node];
        let bit = 1u64 << position.slot();
        match self.codes.of[label as usize] {
            Code::Empty => {}
            Code::One(code) => {
                draft.one |= bit;
                draft.codes.push(code);
            }
            Code::Two(code) => {
                draft.two |= bit;
                draft.codes.extend(code.to_le_bytes());
            }
            Code::Record => {
                draft.one |= bit;
                draft.two |= bit;
                self.record(draft, label, position)?;
            }
        }
        Ok(())
    }

    fn record(&mut self, draft: &mut Draft, label: u32, position: Position) -> Result<(), TrieError> {
        const LINK: u8 = 0x80;
        let written = self.written[label as usize];
        let text = self.skeleton.distinct.get(label);
        if written & LONG_TEXT != 0 {
            draft.lengths.push(LINK | LONG_NIBBLES as u8);
            draft.push_nibbles(written & !LONG_TEXT, LONG_NIBBLES);
            return Ok(());
        }
        let near = written <= 1 << (4 * NEAR_NIBBLES);
        let link = if near { NEAR_NIBBLES } else { FAR_NIBBLES };
        if written != 0 && text.len() > 2 * link {
            draft.lengths.push(LINK | link as u8);
            draft.push_nibbles(written - 1, link);
            return Ok(());
        }
        self.cut.clear();
        if text.len() <= MAX_RARE {
            self.tokens.cut(text, &mut self.cut);
        }
        let nibbles = self.cut.len() * TOKEN_NIBBLES;
        if text.len() > MAX_RARE || nibbles > MAX_RECORD {
            let place = place(self.long.len(), text.len());
            if self.long.len() as u64 >= 1 << 46 {
                return Err(TrieError::TooLarge("more than 2^46 bytes of long labels"));
            }
            self.long.extend_from_slice(text);
            self.written[label as usize] = place | LONG_TEXT;
            draft.lengths.push(LINK | LONG_NIBBLES as u8);
            draft.push_nibbles(place, LONG_NIBBLES);
        } else if written != 0 && nibbles > link {
            draft.lengths.push(LINK | link as u8);
            draft.push_nibbles(written - 1, link);
        } else {
            self.uses_tokens = true;
            draft.lengths.push(nibbles as u8);
            for &token in &self.cut {
                draft.push_nibbles(u64::from(token), TOKEN_NIBBLES);
            }
            if written == 0 {
                self.written[label as usize] = position.0 + 1;
            }
        }
        Ok(())
    }
}

/// Marks a label that was written as a text of its own.
const LONG_TEXT: u64 = 1 << 63;
