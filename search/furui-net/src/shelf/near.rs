//! Finds the words of a shelf that are spelled like another word, or begin with a text.

use std::cmp::Reverse;

use furui::Result;
use furui_search::{Spelling, limits};

use super::Shelf;
use super::fault::Fault;
use super::lists;

/// The maximum number of words that are compared for one request: some 10 ms. Chosen: more words than most nodes have
/// with one first letter.
const COMPARED: usize = 1 << 17;

/// The maximum number of words with one beginning that are looked at: some 10 ms. The value is a choice, not a
/// measurement.
const BEGINNING: usize = 1 << 12;
/// The number of words that are named for their spelling. The value is a choice, not a measurement.
const NEAREST: usize = 8;

impl Shelf {
    /// Returns the words of this shelf's lists that are nearest to a word by their spelling, the nearest first, each
    /// with the number of its documents. Words that begin with other letters than [`Spelling::beginnings`] are looked
    /// at only if there is none.
    ///
    /// # Errors
    /// Those of [`words_after`](Self::words_after).
    pub fn words_near(&mut self, spelling: &Spelling) -> Result<Vec<(String, u64)>> {
        let (mut found, mut left) = (vec![], COMPARED);
        for beginning in spelling.beginnings() {
            found.extend(self.words_with(&beginning, &mut left, |word| spelling.cost(word, 1).is_some())?);
        }
        if found.is_empty() {
            found = self.words_with("", &mut left, |word| spelling.cost(word, 1).is_some())?;
        }
        let cost = |(word, documents): &(String, u64)| spelling.cost(word, *documents).unwrap_or(f64::MAX);
        found.sort_by(|one, other| cost(one).total_cmp(&cost(other)).then_with(|| one.0.cmp(&other.0)));
        found.dedup();
        found.truncate(NEAREST);
        Ok(found)
    }

    /// Returns the words of this shelf's lists that begin with this text, at most [`limits::NEAR`] of the first 4096 in
    /// byte order, those of the most documents first, each with their number. Names that are no word, such as those of
    /// sites, are left out.
    ///
    /// # Errors
    /// Those of [`words_after`](Self::words_after).
    pub fn words_beginning(&mut self, beginning: &str) -> Result<Vec<(String, u64)>> {
        let is_word = |word: &str| word.chars().all(char::is_alphanumeric);
        let mut found = self.words_with(beginning, &mut { BEGINNING }, is_word)?;
        found.sort_by_key(|(_, documents)| Reverse(*documents));
        found.truncate(limits::NEAR);
        Ok(found)
    }

    /// The words of lists that begin with this text and are wanted, each with the number of its documents. Compares at
    /// most as many words as are `left`, and counts them down.
    fn words_with(
        &mut self,
        beginning: &str,
        left: &mut usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, u64)>> {
        self.asking(|shelf| {
            let mut found = vec![];
            let view = shelf.tables.view()?;
            let mut entries = shelf.words.range::<&[u8]>(beginning.as_bytes()..);
            while *left > 0
                && let Some((word, number)) = entries.next_entry().map_err(Fault::Other)?
                && word.starts_with(beginning.as_bytes())
            {
                *left -= 1;
                let Some(word) = str::from_utf8(word).ok().filter(|word| is_wanted(word)) else { continue };
                let extent = match shelf.recent.lists.get(&number) {
                    Some(fresh) => fresh.extent(),
                    None => lists::extent(&view.words, number)?,
                };
                if extent.ids > 0 {
                    found.push((word.to_owned(), extent.ids));
                }
            }
            Ok(found)
        })
    }
}
