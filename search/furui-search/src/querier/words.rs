use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use super::super::neighbours::is_neighbours;
use super::super::ranking::{Scale, idf};
use super::super::site::is_site;
use super::super::{ContentId, Peer, Request, Response, Term, limits};
use super::blame::Blame;
use super::word::{KnownWord, Word};

/// The words of a query, and the nodes that failed during it.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) all: Vec<Word>,
    pub(super) blame: Blame,
}

/// The figures by which a query ranks documents. They stay the same for the whole query, so that all scores can be
/// compared and checked.
#[derive(Debug)]
pub(super) struct Measure {
    /// The inverse document frequency of each required word, by its index.
    pub(super) idfs: HashMap<usize, u32>,
    /// The mean length of documents, as an exponent of two.
    pub(super) log_length: u8,
}

/// The terms of a conjunction, in the order in which their lists will be intersected.
pub(super) struct Plan {
    pub(super) order: Vec<usize>,
    pub(super) must: Vec<Term>,
    pub(super) without: Vec<Term>,
}

impl Words {
    /// The index of a word among the query's distinct words. A new word gets the next index.
    pub(super) fn number(&mut self, name: &str) -> usize {
        self.all.iter().position(|word| word.name == name).unwrap_or_else(|| {
            self.all.push(Word::new(name));
            self.all.len() - 1
        })
    }

    /// The words with complete lists whose sizes are known, each with the nodes that keep the list in the order in
    /// which to ask them.
    pub(super) fn known(&self) -> impl Iterator<Item = KnownWord> {
        let known = self.all.iter().filter(|word| word.is_whole()).filter_map(Word::known);
        known.map(|word| KnownWord { term: self.in_order(&word.term), ..*word })
    }

    /// Returns the term with the nodes that keep its list ordered by their failures: those that failed most are last.
    fn in_order(&self, term: &Term) -> Term {
        let mut term = term.clone();
        term.holders.sort_by_key(|holder| self.blame.of(holder));
        term
    }

    /// The word of this name; `None` if the query does not have it.
    pub(super) fn named(&mut self, name: &str) -> Option<&mut Word> {
        self.all.iter_mut().find(|word| word.name == name)
    }

    /// Sets the size of a word's list, and the nodes that keep it, from an earlier query. A term without such nodes is
    /// ignored; so is an empty list, because it may have grown since.
    pub(super) fn know(&mut self, known: KnownWord) {
        if let Some(word) = self.named(&known.term.word) {
            word.know(known);
        }
    }

    /// Returns the next node to ask for the size of the word's list, and marks it as asked. `None` if no node is to be
    /// asked.
    pub(super) fn next_to_ask(&mut self, word: usize, salt: u64, now: Duration) -> Option<Peer> {
        let word = &mut self.all[word];
        let sizing = word.sizing()?;
        let next = sizing.next(&self.blame, now);
        if next.is_none() && sizing.is_over(now) {
            sizing.waiting().for_each(|(peer, since)| self.blame.miss(peer.clone(), since));
            sizing.slow(now).into_iter().for_each(|peer| self.blame.shun(peer));
            word.conclude(salt, now);
        }
        next
    }

    /// Returns the next node to ask for a sample of the word's list, with the request, and marks it as asked. `None`
    /// unless the nodes that keep the list state different sizes.
    pub(super) fn next_to_sample(&mut self, word: usize) -> Option<(Peer, Request)> {
        let word = &mut self.all[word];
        let name = word.name.clone();
        word.weighing()?.next(&name)
    }

    /// Returns the documents whose records the caller must check for the word. When their results are known or the time
    /// limit has passed, the size of the word's list is decided.
    pub(super) fn next_to_prove(&mut self, word: usize, now: Duration) -> Option<Vec<ContentId>> {
        let word = &mut self.all[word];
        let weighing = word.weighing()?;
        let ids = weighing.next_to_prove(now);
        if weighing.is_over(now) {
            word.weigh().into_iter().for_each(|peer| self.blame.excuse(peer));
        }
        ids
    }

    pub(super) fn on_sample(&mut self, word: usize, from: &Peer, response: Response) {
        if let Some(weighing) = self.all[word].weighing() {
            weighing.on_response(from, response);
        }
    }

    pub(super) fn lose_sample(&mut self, word: usize, from: &Peer) {
        if let Some(weighing) = self.all[word].weighing() {
            weighing.lose(from);
        }
    }

    /// Handles the answer of a node to a request for the size. If the size is already decided, the answer is ignored:
    /// another node was faster, and this node was blamed for the delay.
    pub(super) fn on_response(&mut self, word: usize, from: Peer, response: Response) {
        let Some(sizing) = self.all[word].sizing() else { return };
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
        if let Some(sizing) = self.all[word].sizing() {
            sizing.lose(&from);
            self.blame.shun(from);
        }
    }

    /// The earliest time at which the next step for one of the words for which `is_needed` returns true is due; `None`
    /// if there is none.
    pub(super) fn deadline(&self, is_needed: impl Fn(usize) -> bool) -> Option<Duration> {
        let needed = self.all.iter().enumerate().filter(|&(number, _)| is_needed(number));
        needed.filter_map(|(_, word)| word.deadline()).min()
    }

    /// Determines by which figures a query ranks documents that have these words: the idf of each, and the mean length
    /// of documents, as an exponent of two, in the longest of their lists. Hosts of URLs (`site:…`) and neighbours of
    /// common words say nothing about the relevance of a document, and do not count. `None` while the size of a list is
    /// not known, unless no node tells it.
    pub(super) fn measure(&self, words: &BTreeSet<usize>) -> Option<Measure> {
        let mut sizes = vec![];
        for &number in words {
            let word = &self.all[number];
            match word.known() {
                Some(known) => sizes.push((number, known.term.size, known.log_length)),
                None if word.is_lost() => {}
                None => return None,
            }
        }
        let is_scored = |number: usize| !is_site(&self.all[number].name) && !is_neighbours(&self.all[number].name);
        let scored = sizes.iter().filter(|(number, ..)| is_scored(*number));
        let (longest, log_length) =
            scored.map(|&(_, size, log_length)| (size, log_length)).max().unwrap_or((0, Scale::USUAL));
        let idf = |size, number: usize| if is_scored(number) { idf(longest, size) } else { 0 };
        let idfs = sizes.iter().map(|&(number, size, _)| (number, idf(size, number))).collect();
        Some(Measure { idfs, log_length })
    }

    /// The terms of a conjunction whose words are all known. The shortest list comes first, because then the fewest
    /// bits are sent. Among the excluded words, the word with the longest list comes first, because its list excludes
    /// the most ids.
    pub(super) fn plan(&self, must: &[usize], without: &[usize]) -> Option<Plan> {
        let terms = |numbers: &[usize]| -> Option<Vec<(usize, Term)>> {
            let terms = numbers.iter().map(|&number| {
                let mut term = self.in_order(&self.all[number].known()?.term);
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
