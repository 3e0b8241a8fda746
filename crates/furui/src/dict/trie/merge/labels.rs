use std::collections::HashMap;

use super::codebook::{Codebook, Known, number};
use super::path::Path;
use crate::bits::{Vectors, scale};
use crate::dict::trie::TrieError;
use crate::dict::trie::block::{Block, Position};
use crate::dict::trie::codes::{Code, Dictionary};
use crate::dict::trie::encode::MAX_RARE;
use crate::dict::trie::labels::{Label, MAX_RECORD, MAX_TOKEN, NEAR_NIBBLES, Rest, TOKEN_NIBBLES, Token, token_number};
use crate::dict::trie::matcher::Matcher;
use crate::dict::trie::parts::Names;
use crate::dict::trie::tokens::MAX_TOKENS;
use crate::dict::trie::writer::{Writer, link_nibbles};
use crate::hash::{Rolling, RollingRun};

/// Writes the labels of a merged trie, which has the codes and tokens of one of its sources, the heir's.
///
/// A label that is whole in a source is not read if it has a code, and its tokens are copied if they are the heir's; any
/// other text is looked up among the codes, or cut into tokens anew.
pub(super) struct Labels<'t> {
    names: Names<'t>,
    heir: u8,
    book: Codebook<'t>,
    /// By source and code.
    known: Vec<Vec<Option<Known>>>,
    tokens: Vec<Token>,
    /// What the heir's tokens that are kept do to a hash.
    runs: Vec<RollingRun>,
    matcher: Matcher,
    cut: Vec<u16>,
    /// Where a record is: by the hash of its tokens, 24 bits of it and the position. The last of each place counts.
    records: Vec<u64>,
    /// The places of texts of their own, by hash: the first of each counts.
    long: HashMap<u64, (Vec<u8>, u64)>,
    vectors: Vectors,
}

impl<'t> Labels<'t> {
    /// For a trie of about `keys` keys.
    pub(super) fn new(sources: &[Names<'t>], heir: u8, keys: u64, vectors: Vectors) -> Result<Self, TrieError> {
        let names = sources[usize::from(heir)];
        let book = Codebook::new(names, vectors);
        let (tokens, kept) = tokens(names.tokens, sources)?;
        let run = |token: &Token| RollingRun::of(&token[..usize::from(token[MAX_TOKEN])]);
        Ok(Self {
            names,
            heir,
            known: sources.iter().map(|source| book.known(source)).collect(),
            book,
            runs: tokens[..kept].iter().map_while(run).collect(),
            matcher: Matcher::new(&tokens),
            tokens,
            cut: vec![],
            records: vec![0; (keys as usize / RECORDS_PER).next_power_of_two()],
            long: HashMap::new(),
            vectors,
        })
    }

    /// What is known of a label that is whole in a source.
    #[inline(always)]
    pub(super) fn known(&self, source: u8, label: Label<'t>) -> Option<Known> {
        match number(label) {
            Some(number) => *self.known[usize::from(source)].get(number)?,
            None if matches!(label, Label::Empty) => Some(Known { run: RollingRun::default(), code: Code::Empty }),
            None => None,
        }
    }

    /// Writes the label of the next node, if it is a record of tokens that are kept.
    #[inline]
    pub(super) fn copy(&mut self, writer: &mut Writer, source: u8, rest: Rest<'t>, path: Path) -> Option<Path> {
        let Rest::Tokens { records, start, count } = rest else { return None };
        if source != self.heir || count * TOKEN_NIBBLES > MAX_RECORD {
            return None;
        }
        self.cut.clear();
        let mut path = path;
        for i in 0..count {
            let token = token_number(records, start + i * TOKEN_NIBBLES)?;
            path = path.push_run(*self.runs.get(usize::from(token))?);
            self.cut.push(token);
        }
        self.record(writer);
        Some(path)
    }

    /// Writes the label of the next node, if it has a code.
    pub(super) fn write(&mut self, writer: &mut Writer, text: &[u8], path: Path) -> Result<Path, TrieError> {
        let run = RollingRun::of(text);
        let path = run.map_or_else(|| path.push_all(text), |run| path.push_run(run));
        match run.map_or(Code::Record, |run| self.book.get(text, run)) {
            Code::Record => self.rare(writer, text)?,
            code => writer.code(code),
        }
        Ok(path)
    }

    fn rare(&mut self, writer: &mut Writer, text: &[u8]) -> Result<(), TrieError> {
        let is_cut = text.len() <= MAX_RARE && self.matcher.cut(text, &mut self.cut);
        if is_cut && self.cut.len() * TOKEN_NIBBLES <= MAX_RECORD {
            self.record(writer);
            return Ok(());
        }
        let hash = Rolling::start(0).push_all(text).finish().get();
        let place = match self.long.get(&hash) {
            Some((first, place)) if first == text => *place,
            _ => {
                let place = writer.add_long(text)?;
                self.long.entry(hash).or_insert_with(|| (text.to_vec(), place));
                place
            }
        };
        writer.long(place);
        Ok(())
    }

    /// Writes the tokens in `cut`, or a link to where they are already.
    #[inline]
    fn record(&mut self, writer: &mut Writer) {
        const TAG: u64 = !0 << Position::BITS;
        let nibbles = self.cut.len() * TOKEN_NIBBLES;
        if nibbles > NEAR_NIBBLES {
            let hash =
                self.cut.iter().fold(Rolling::start(0), |hash, &token| hash.push(token as u8).push((token >> 8) as u8));
            let hash = hash.finish().get();
            let slot = scale(hash, self.records.len());
            let entry = self.records[slot];
            let position = Position(entry & !TAG);
            if (entry ^ hash << Position::BITS) & TAG == 0
                && nibbles > link_nibbles(position)
                && self.is_at(writer.written(), position)
            {
                writer.link(position);
                return;
            }
            self.records[slot] = hash << Position::BITS | writer.position().0;
        }
        writer.tokens(&self.cut);
    }

    /// Whether the tokens of `cut` are the label of the node at `position`.
    fn is_at(&self, nodes: &[u8], position: Position) -> bool {
        let block = Block::at(nodes, position.offset());
        let Some(Label::Record { records, start, nibbles, link: false }) =
            block.and_then(|block| block.label(position.slot(), self.vectors))
        else {
            return false;
        };
        let token = |i| token_number(records, start + i * TOKEN_NIBBLES);
        nibbles == self.cut.len() * TOKEN_NIBBLES && self.cut.iter().enumerate().all(|(i, &cut)| token(i) == Some(cut))
    }

    pub(super) fn finish(self) -> Dictionary {
        Dictionary {
            places: self.names.places.as_flattened().to_vec(),
            texts: self.names.texts.to_vec(),
            tokens: self.tokens.into_flattened(),
        }
    }
}

/// For how many keys a record is remembered.
const RECORDS_PER: usize = 8;

/// The tokens of the merged trie, and how many of the heir's are kept: there is one for every byte that a token or a code of
/// any source has. Room for those that the heir lacks is made at the end.
fn tokens(heir: &[Token], sources: &[Names<'_>]) -> Result<(Vec<Token>, usize), TrieError> {
    let is_token = |token: &Token| (1..=MAX_TOKEN).contains(&usize::from(token[MAX_TOKEN]));
    if heir.len() > MAX_TOKENS || !heir.iter().all(is_token) {
        return Err(TrieError::Damaged);
    }
    let mut occurs = [false; 256];
    for source in sources {
        let tokens = source.tokens.iter().filter(|token| is_token(token));
        let bytes = tokens.flat_map(|token| &token[..usize::from(token[MAX_TOKEN])]);
        bytes.chain(source.texts).for_each(|&byte| occurs[usize::from(byte)] = true);
    }
    for token in heir.iter().filter(|token| token[MAX_TOKEN] == 1) {
        occurs[usize::from(token[0])] = false;
    }
    let missing = (0..=255).filter(|&byte| occurs[usize::from(byte)]);
    let kept = heir.len().min(MAX_TOKENS - missing.clone().count());
    let mut tokens = heir[..kept].to_vec();
    tokens.extend(missing.map(|byte| {
        let mut token = [0; MAX_TOKEN + 1];
        (token[0], token[MAX_TOKEN]) = (byte, 1);
        token
    }));
    let mut sorted: Vec<&[u8]> = tokens.iter().map(|token| &token[..usize::from(token[MAX_TOKEN])]).collect();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(TrieError::Damaged);
    }
    Ok((tokens, kept))
}
