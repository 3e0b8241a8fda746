use std::ops::Index;
use std::time::Duration;

use super::super::{Peer, Response, Term, limits};
use super::blame::Blame;
use super::word::Word;

/// The words of a query, and which nodes have failed in it.
#[derive(Debug, Default)]
pub(super) struct Words {
    words: Vec<Word>,
    pub(super) blame: Blame,
}

/// A conjunction in the order in which its lists are to meet.
pub(super) struct Plan {
    pub(super) order: Vec<usize>,
    pub(super) must: Vec<Term>,
    pub(super) without: Vec<Term>,
}

impl Words {
    /// The number of a word; a new one gets the next.
    pub(super) fn number(&mut self, name: &str) -> usize {
        self.words.iter().position(|word| word.name == name).unwrap_or_else(|| {
            self.words.push(Word::new(name));
            self.words.len() - 1
        })
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Those that are known, and their keepers in the order in which they are to be asked.
    pub(super) fn terms(&self) -> impl Iterator<Item = Term> {
        self.words.iter().filter_map(Word::term).map(|term| self.in_order(term))
    }

    /// The term with those of its keepers last that failed most.
    fn in_order(&self, term: &Term) -> Term {
        let mut term = term.clone();
        term.holders.sort_by_key(|holder| self.blame.of(holder));
        term
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Word> {
        self.words.iter()
    }

    /// Takes over what is known from an earlier query; an empty list may have grown since.
    pub(super) fn know(&mut self, term: Term) {
        if let Some(word) = self.words.iter_mut().find(|word| word.name == term.word) {
            word.know(term);
        }
    }

    /// Whether the word is to be looked up now; then that has begun.
    pub(super) fn wants_lookup(&mut self, word: usize, now: Duration) -> bool {
        self.words[word].wants_lookup(now)
    }

    pub(super) fn on_holders(&mut self, name: &str, holders: Vec<Peer>, now: Duration) {
        if let Some(word) = self.words.iter_mut().find(|word| word.name == name) {
            word.on_holders(holders, now);
        }
    }

    /// The node to ask for the size of the word's list now; then it counts as asked.
    pub(super) fn next_to_ask(&mut self, word: usize, now: Duration) -> Option<Peer> {
        let word = &mut self.words[word];
        let sizing = word.sizing()?;
        let next = sizing.next(&self.blame, now);
        if next.is_none() && sizing.is_over(now) {
            sizing.slow(now).into_iter().for_each(|peer| self.blame.shun(peer));
            word.settle(now);
        }
        next
    }

    /// The answer of a node that was asked for the size. If that is known by now, the node was overtaken, and is blamed
    /// for it already.
    pub(super) fn on_response(&mut self, word: usize, from: Peer, response: Response) {
        let Some(sizing) = self.words[word].sizing() else { return };
        match response {
            Response::Sizes(mut sizes) if sizes.len() == 1 => sizing.on_size(from, sizes.remove(0)),
            Response::Refused(_) => {
                sizing.lose(&from);
                self.blame.excuse(from);
            }
            _ => self.on_failure(word, from),
        }
    }

    pub(super) fn on_failure(&mut self, word: usize, from: Peer) {
        if let Some(sizing) = self.words[word].sizing() {
            sizing.lose(&from);
            self.blame.shun(from);
        }
    }

    /// Has a word looked up anew, if that was not done too often yet.
    pub(super) fn forget(&mut self, word: usize, now: Duration) {
        self.words[word].forget(now);
    }

    /// When a word that is still needed wants attention.
    pub(super) fn deadline(&self, is_needed: impl Fn(usize) -> bool) -> Option<Duration> {
        let needed = self.words.iter().enumerate().filter(|&(number, _)| is_needed(number));
        needed.filter_map(|(_, word)| word.deadline()).min()
    }

    /// The terms of a conjunction whose words are all known: the shortest list first, for then the fewest bits are sent;
    /// of those to be left out the longest, for it leaves the fewest.
    pub(super) fn plan(&self, must: &[usize], without: &[usize]) -> Option<Plan> {
        let terms = |numbers: &[usize]| -> Option<Vec<(usize, Term)>> {
            let terms = numbers.iter().map(|&number| {
                let mut term = self.in_order(self.words[number].term()?);
                term.holders.truncate(limits::REPLICAS);
                Some((number, term))
            });
            terms.collect()
        };
        let (mut must, mut without) = (terms(must)?, terms(without)?);
        must.sort_by_key(|(_, term)| term.size);
        without.retain(|(_, term)| term.size > 0);
        without.sort_by_key(|(_, term)| std::cmp::Reverse(term.size));
        let order = must.iter().chain(&without).map(|&(number, _)| number).collect();
        let terms = |terms: Vec<(usize, Term)>| terms.into_iter().map(|(_, term)| term).collect();
        Some(Plan { order, must: terms(must), without: terms(without) })
    }
}

impl Index<usize> for Words {
    type Output = Word;

    fn index(&self, number: usize) -> &Word {
        &self.words[number]
    }
}
