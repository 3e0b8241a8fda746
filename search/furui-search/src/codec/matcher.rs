use super::answer;
use super::coded_set::Body;
use super::rice::Ascending;
use super::{CodecError, Coded, CodedSet, Coding, Golomb, MAX_MATCHES, MAX_PER_CELL, Session, ShortChecks};
use crate::ContentId;
use furui::KeyHash;
use furui::filter::{Filter, RingedKey};

/// The number of ids that are looked up in a filter in one batch.
const CHUNK: usize = 1024;

/// Compares a list, slice by slice, with a coded set, and collects the ids of the list that may be in the set.
///
/// The list may be larger than memory, because only the matches are kept, at most [`MAX_MATCHES`]. Cost: for ids and
/// Golomb, one merge of the list with the set; for filters, k probes for an id in the set, and on average 2 probes for
/// any other id.
///
/// ```
/// use furui_search::{CodedSet, Coding, ContentId, Matcher, settle};
///
/// let ids: Vec<_> = (0..100).map(|i| ContentId::new([i; 20])).collect();
/// let (own, other) = (&ids[..60], &ids[50..]);
/// let coding = Coding::Fixed { bits: 500, probes: 4 };
///
/// let sent = CodedSet::encode(own, coding)?;
/// let mut matcher = Matcher::new(CodedSet::decode(&sent.bytes)?);
/// other.chunks(7).try_for_each(|slice| matcher.feed(slice))?;
/// let back = matcher.finish().coded;
///
/// let both = settle(own, coding, &back.bytes)?.both;
/// assert_eq!(both, (50..60).collect::<Vec<_>>());
/// assert_eq!((sent.bits, back.bits >= 10 * 160), (500, true));
/// # Ok::<(), furui_search::CodecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matcher {
    set: CodedSet,
    join: Join,
    /// The matching ids. Empty for [`Coding::Ids`], for which only `ranks` are kept.
    ids: Vec<ContentId>,
    /// For each match, the rank of the id ([`Coding::Ids`]) or of the cell ([`Coding::Golomb`]) in the set. Empty for
    /// filters.
    ranks: Vec<u32>,
    /// The indices of the matching ids in the slice that was passed last.
    matched: Vec<u32>,
    /// The number of ids that were fed.
    fed: u64,
    may_keep: bool,
}

/// The position in the set up to which the ordered list was compared. A filter has no order, and so no position.
#[derive(Clone, Debug)]
enum Join {
    Ids { next: usize },
    Golomb { ahead: Ascending, cell: Option<u64>, in_cell: usize },
    Filter,
}

/// The answer to a coded set: the ids of the other list that may be in the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches {
    /// The answer to send back, and its number of bits T₂.
    pub coded: Coded,
    /// The state to keep for the third message of the exchange; `None` if there will be none.
    pub session: Option<Session>,
}

impl Matcher {
    /// Makes a matcher that has compared nothing yet.
    pub fn new(set: CodedSet) -> Self {
        let join = match &set.body {
            Body::Ids(_) => Join::Ids { next: 0 },
            Body::Fixed(_) | Body::Ringed(_) => Join::Filter,
            Body::Golomb { cells, rice, bits, .. } => {
                let mut ahead = Ascending::new(*cells, *rice);
                Join::Golomb { cell: ahead.next(bits), ahead, in_cell: 0 }
            }
        };
        Self { set, join, ids: Vec::new(), ranks: Vec::new(), matched: Vec::new(), fed: 0, may_keep: true }
    }

    /// The coding of the set. Only a ringed filter uses the keys of [`feed_keys`](Self::feed_keys).
    pub fn coding(&self) -> Coding {
        self.set.coding()
    }

    /// Compares the next slice of the list: ascending ids, all greater than those of earlier slices.
    ///
    /// # Errors
    /// If there are more than [`MAX_MATCHES`] matches, or more than [`MAX_PER_CELL`] in one cell.
    pub fn feed(&mut self, list: &[ContentId]) -> Result<(), CodecError> {
        debug_assert!(list.is_sorted_by(|a, b| a < b), "a list out of order");
        self.fed += list.len() as u64;
        self.matched.clear();
        match (&self.set.body, &mut self.join) {
            (Body::Ids(set), Join::Ids { next }) => {
                for (place, id) in (0..).zip(list) {
                    *next += set[*next..].iter().take_while(|own| *own < id).count();
                    match set.get(*next) {
                        None => break,
                        Some(own) if own == id => {
                            self.ranks.push(*next as u32);
                            self.matched.push(place);
                        }
                        Some(_) => {}
                    }
                }
            }
            (Body::Golomb { golomb, cells, bits, .. }, Join::Golomb { ahead, cell: at, in_cell }) => {
                for (place, &id) in (0..).zip(list) {
                    let cell = golomb.cell(id);
                    while at.is_some_and(|at| at < cell) {
                        *at = ahead.next(bits);
                        *in_cell = 0;
                    }
                    match *at {
                        None => break,
                        Some(at) if at == cell => {
                            *in_cell += 1;
                            if *in_cell > MAX_PER_CELL {
                                return Err(too_many("matches in one cell", MAX_PER_CELL));
                            }
                            self.ranks.push((cells - ahead.left() - 1) as u32);
                            push_match(&mut self.ids, id)?;
                            self.matched.push(place);
                        }
                        Some(_) => {}
                    }
                }
            }
            (Body::Fixed(filter), _) => self.matched = probe(filter, list, &mut self.ids)?,
            (Body::Ringed(Some(filter)), _) => self.matched = probe(filter, list, &mut self.ids)?,
            _ => {}
        }
        Ok(())
    }

    /// The ascending indices of the matching ids in the slice that was passed last.
    pub fn matched(&self) -> &[u32] {
        &self.matched
    }

    /// Compares the next slice like [`feed`](Self::feed), with a precomputed key for each id of `list`. With keys, a
    /// node need not hash ids when a ringed filter arrives, whatever its size and rate. Other codings ignore the keys.
    ///
    /// # Errors
    /// As for [`feed`](Self::feed), and if the number of keys is not the number of ids.
    pub fn feed_keys(&mut self, list: &[ContentId], keys: &[RingedKey]) -> Result<(), CodecError> {
        if !matches!(self.set.coding(), Coding::Ringed(_)) {
            return self.feed(list);
        }
        self.matched.clear();
        let Body::Ringed(Some(filter)) = &self.set.body else { return Ok(()) };
        if keys.len() != list.len() {
            return Err(CodecError::Keys { keys: keys.len(), ids: list.len() });
        }
        let mut answers = Vec::new();
        filter.contains_all_keys(keys, &mut answers);
        self.matched = push_matches(&mut self.ids, 0, list.iter().zip(answers))?;
        Ok(())
    }

    /// The number of matching ids that a [`Session`] would keep; 0 for [`Coding::Ids`], which needs no session.
    pub fn matches(&self) -> usize {
        self.ids.len()
    }

    /// Excludes a third message even if the set allows one. A caller uses this if it cannot keep another session.
    pub fn without_session(self) -> Self {
        Self { may_keep: false, ..self }
    }

    /// Ends the comparison, and encodes the answer.
    pub fn finish(self) -> Matches {
        let Self { set, ids, ranks, fed, may_keep, .. } = self;
        match set.body {
            Body::Ids(own) => Matches { coded: answer::encode_ranks(&ranks, own.len() as u64), session: None },
            Body::Golomb { golomb, cells: occupied, bits, .. } => {
                let (count, sent_bits) = (ids.len() as u64, 8 * bits.len() as u64);
                let worth = || ShortChecks::of_answer(count, occupied, &golomb, fed, sent_bits);
                let short = if golomb.three_messages && may_keep { worth() } else { None };
                let check_bits = short.map_or(golomb.check_bits, |short| short.bits);
                let coded = answer::encode_checked(&ranks, &ids, occupied, &Golomb { check_bits, ..golomb });
                Matches { coded, session: short.map(|_| Session::new(golomb, ids)) }
            }
            Body::Fixed(_) | Body::Ringed(_) => {
                let mut bytes = Vec::new();
                let bits = answer::put_ids(&mut bytes, &ids);
                Matches { coded: Coded { bytes, bits }, session: None }
            }
        }
    }
}

/// Returns the indices of the ids of `list` that may be in the filter, and appends these ids to `found`.
fn probe(filter: &impl Filter, list: &[ContentId], found: &mut Vec<ContentId>) -> Result<Vec<u32>, CodecError> {
    let (mut hashes, mut answers): (Vec<KeyHash>, _) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
    let mut matched = Vec::new();
    for (first, ids) in (0..).step_by(CHUNK).zip(list.chunks(CHUNK)) {
        hashes.clear();
        hashes.extend(ids.iter().map(|id| id.hash()));
        filter.contains_all(&hashes, &mut answers);
        matched.extend(push_matches(found, first, ids.iter().zip(answers.iter().copied()))?);
    }
    Ok(matched)
}

fn push_matches<'a>(
    found: &mut Vec<ContentId>,
    first: u32,
    answers: impl Iterator<Item = (&'a ContentId, bool)>,
) -> Result<Vec<u32>, CodecError> {
    let matches = (first..).zip(answers).filter(|(_, (_, matches))| *matches);
    matches.map(|(place, (&id, _))| push_match(found, id).map(|()| place)).collect()
}

#[inline]
fn push_match(found: &mut Vec<ContentId>, id: ContentId) -> Result<(), CodecError> {
    if found.len() == MAX_MATCHES {
        return Err(too_many("matches", MAX_MATCHES));
    }
    found.push(id);
    Ok(())
}

fn too_many(what: &'static str, most: usize) -> CodecError {
    CodecError::TooMany { what, most: most as u64 }
}
