use super::TrieError;
use super::codes::{Code, Codes, Dictionary};
use super::labels::{MAX_RECORD_NIBBLES, TOKEN_NIBBLES};
use super::matcher::LabelMatcher;
use super::position::Position;
use super::room::{collected, filled};
use super::skeleton::Skeleton;
use super::tokens::Tokens;
use super::values::Width;
use super::writer::{Encoded, Writer, link_nibbles};
use crate::bits::Cpu;

/// Encodes a trie: chooses the codes of labels by their counts, trains the tokens with the labels without codes, and
/// writes the blocks in one pass over the nodes.
pub(super) fn encode(skeleton: &Skeleton) -> Result<Encoded, TrieError> {
    let codes = Codes::choose(&skeleton.distinct)?;
    let tokens = train(skeleton, &codes)?;
    let root = skeleton.root.and_then(|found| found.value());
    let width = Width::of(skeleton.values.iter().copied().chain(root));
    let room = skeleton.nodes() * ROOM_PER_NODE + width.bytes(skeleton.keys() as u64) as usize;
    let mut writer = Writer::new(room, width, skeleton.root)?;
    let written = filled(0, skeleton.distinct.len())?;
    let mut records = Records { skeleton, tokens: tokens.matcher(), written, cut: vec![] };
    let mut terminal = 0;
    for node in 0..skeleton.nodes() {
        let label = skeleton.rests[node];
        let code = codes.of[label as usize];
        if code == Code::RECORD {
            records.write(&mut writer, label)?;
        }
        writer.code(code)?;
        let found = skeleton.terminals.get(node).then(|| skeleton.found(terminal));
        terminal += usize::from(found.is_some());
        writer.push(skeleton.edges[node], skeleton.firsts.get(node), skeleton.inner.get(node), found)?;
    }
    let Codes { places, texts, .. } = codes;
    writer.finish(Dictionary { places, texts, tokens: tokens.as_bytes().to_vec() }, Cpu::detect())
}

/// The number of bytes for each node that are reserved before a trie is written. If nodes take more, the trie is moved
/// to a larger buffer while it is written.
const ROOM_PER_NODE: usize = 8;

/// The maximum length in bytes of a label that is written as tokens. A longer label without a code is written as plain
/// text, outside the blocks of nodes.
pub(super) const MAX_RARE: usize = 255;

/// The maximum size in bytes of the sample of labels on which the token dictionary is trained.
const TRAINING_BYTES: usize = 3 << 20;

fn train(skeleton: &Skeleton, codes: &Codes) -> Result<Tokens, TrieError> {
    let labels = &skeleton.distinct;
    let is_rare = |label: &u32| codes.of[*label as usize] == Code::RECORD;
    let rare: Vec<u32> = collected((0..labels.len() as u32).filter(is_rare))?;
    let mut occurs = [false; 256];
    let mut bytes = 0;
    for text in rare.iter().map(|&label| labels.get(label)).filter(|text| text.len() <= MAX_RARE) {
        text.iter().for_each(|&byte| occurs[usize::from(byte)] = true);
        bytes += text.len();
    }
    // The sample is spread evenly, because labels of one region of the keys are alike.
    let step = bytes / TRAINING_BYTES + 1;
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

/// A pair of adjacent tokens becomes a token if it occurs at least once in this many bytes of the training sample.
const REPEATS_PER: usize = 1 << 16;

/// The writer of the labels that are too rare for a code.
struct Records<'s> {
    skeleton: &'s Skeleton,
    tokens: LabelMatcher,
    /// For each label, by its number: the position of the node at which the label was first written, plus one; 0 if it
    /// was not written yet.
    written: Vec<u64>,
    /// A reusable buffer for the tokens into which a label is divided, in words of five tokens.
    cut: Vec<u64>,
}

impl Records<'_> {
    /// Writes the label of the next node: as a record of tokens, or as a link to an equal earlier record if the link is
    /// shorter.
    fn write(&mut self, writer: &mut Writer, label: u32) -> Result<(), TrieError> {
        let text = self.skeleton.distinct.get(label);
        let written = self.written[label as usize];
        if written & LONG_TEXT != 0 {
            writer.long(written & !LONG_TEXT);
            return Ok(());
        }
        let before = written.checked_sub(1).map(Position);
        if let Some(position) = before
            && text.len() > 2 * link_nibbles(position)
        {
            writer.link(position);
            return Ok(());
        }
        self.cut.clear();
        let count = if text.len() <= MAX_RARE { self.tokens.cut(text, &mut self.cut) } else { None };
        let Some(count) = count.filter(|count| count * TOKEN_NIBBLES <= MAX_RECORD_NIBBLES) else {
            let place = writer.add_long(text)?;
            self.written[label as usize] = place | LONG_TEXT;
            writer.long(place);
            return Ok(());
        };
        let nibbles = count * TOKEN_NIBBLES;
        match before {
            Some(position) if nibbles > link_nibbles(position) => writer.link(position),
            Some(_) => writer.tokens(&self.cut, count),
            None => {
                self.written[label as usize] = writer.position().0 + 1;
                writer.tokens(&self.cut, count);
            }
        }
        Ok(())
    }
}

/// The flag in an entry of `written` that marks a label whose text was written outside the blocks of nodes.
const LONG_TEXT: u64 = 1 << 63;
