use super::super::message::Ranking;
use super::super::{ContentId, First, Grade, Index, Place, Scale, Score, limits};
use super::lists;
use furui::Result;

/// True if the parameters of the ranking are valid for a search with `words` required words.
pub(super) fn is_valid(ranking: &Ranking, words: usize) -> bool {
    let Ranking { ref idfs, best, .. } = *ranking;
    idfs.len() == words
        && idfs.iter().all(|&idf| idf <= limits::IDF)
        && (1..=limits::PAGE + 1).contains(&(best as usize))
}

/// The scores of the ids of a search, for the words whose lists were compared so far.
#[derive(Debug)]
pub(super) struct Scoring {
    ranking: Ranking,
    scale: Scale,
    /// For each id, its score for the words so far, and the [bits](super::super::Weight::size_bits) of its lengths.
    scored: Vec<(Score, u16)>,
    /// The place at which the next slice of the first word's list begins.
    pub(super) next: Option<Place>,
}

impl Scoring {
    /// Starts with a slice of the list of `word`: the first `most` postings at or after [`Ranking::from`], in the order
    /// of their documents' maximum scores. Returns the scores, and the ids of the postings in ascending order.
    ///
    /// Cost: one pass over the whole list, because lists are stored in the order of ids.
    pub(super) fn begin(
        ranking: Ranking,
        index: &mut impl Index,
        word: &str,
        most: usize,
    ) -> Result<(Self, Vec<ContentId>)> {
        let scale = Scale::new(ranking.log_length);
        let own = ranking.idfs[0];
        let all: u32 = ranking.idfs.iter().sum();
        let words = ranking.idfs[1..].iter().filter(|idf| **idf > 0).count();
        let from = ranking.from.unwrap_or(Place::FIRST);
        let mut first = First::new(most + 1);
        let pass = lists::stream(index, word, |ids, matches| {
            for (&id, &(grade, size)) in ids.iter().zip(matches) {
                let mut score = Score::default();
                score.add(&scale, own, grade, size);
                let place = Place { score: score.most(&scale, all, all - own, words, size), id };
                if place >= from && place.score >= ranking.floor {
                    first.push((place, grade, size));
                }
            }
            Ok::<(), std::convert::Infallible>(())
        })?;
        let Ok(()) = pass;
        let (mut slice, _) = first.finish();
        let next = if slice.len() > most { slice.pop().map(|(place, ..)| place) } else { None };
        slice.sort_unstable_by_key(|(place, ..)| place.id);
        let scored = slice.iter().map(|&(_, grade, size)| {
            let mut score = Score::default();
            score.add(&scale, own, grade, size);
            (score, size)
        });
        let scored = scored.collect();
        let ids = slice.iter().map(|(place, ..)| place.id).collect();
        Ok((Self { ranking, scale, scored, next }, ids))
    }

    /// Keeps only the documents at the indices in `both`, and adds their scores for the required word with the index
    /// `word` in the ranking. Each index comes with how well the document answers the word.
    pub(super) fn add(&mut self, word: usize, both: &[(u32, Grade)]) {
        let idf = self.ranking.idfs[word];
        let kept = both.iter().map(|&(place, grade)| {
            let (mut score, size) = self.scored[place as usize];
            score.add(&self.scale, idf, grade, size);
            (score, size)
        });
        self.scored = kept.collect();
    }

    /// Keeps only the documents at these indices.
    pub(super) fn keep(&mut self, left: &[usize]) {
        self.scored = left.iter().map(|&place| self.scored[place]).collect();
    }

    /// Returns the best of `ids`, best first. The ranking determines their maximum number, their minimum score, and the
    /// place after which they must come.
    pub(super) fn best(&self, ids: &[ContentId]) -> Vec<Place> {
        let all = self.ranking.idfs.iter().sum();
        let places = ids.iter().zip(&self.scored).map(|(&id, &(score, size))| Place { score: score.of(all, size), id });
        let Ranking { floor, after, best, .. } = self.ranking;
        let wanted = places.filter(|place| place.score >= floor && after.is_none_or(|after| *place > after));
        let mut first = First::new(best as usize);
        wanted.for_each(|place| first.push(place));
        first.finish().0
    }
}
