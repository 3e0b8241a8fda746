//! Finds the words of a shelf that are spelled like another word.

use furui::Result;
use furui_search::Spelling;

use super::Shelf;
use super::fault::Fault;
use super::lists;

/// The maximum number of words that are compared for one request: some 10 ms. Chosen: more words than most nodes have
/// with one first letter.
const COMPARED: usize = 1 << 17;

impl Shelf {
    /// Returns the `most` words of this shelf's lists that are nearest to a word by their spelling, the nearest first,
    /// each with the number of its documents. Words that begin with other letters than [`Spelling::beginnings`] are
    /// looked at only if there is none.
    ///
    /// # Errors
    /// Those of [`words_after`](Self::words_after).
    pub fn words_near(&mut self, spelling: &Spelling, most: usize) -> Result<Vec<(String, u64)>> {
        let mut found = self.asking(|shelf| {
            let (mut found, mut compared) = (vec![], 0);
            let view = shelf.tables.view()?;
            // All words are looked at only if those that are likely to be near are not.
            for beginning in spelling.beginnings().chain([String::new()]) {
                if beginning.is_empty() && !found.is_empty() {
                    break;
                }
                let mut entries = shelf.words.range::<&[u8]>(beginning.as_bytes()..);
                while compared < COMPARED
                    && let Some((word, number)) = entries.next_entry().map_err(Fault::Other)?
                    && word.starts_with(beginning.as_bytes())
                {
                    compared += 1;
                    let Ok(word) = str::from_utf8(word) else { continue };
                    if spelling.cost(word, 1).is_none() {
                        continue;
                    }
                    let extent = match shelf.recent.lists.get(&number) {
                        Some(fresh) => fresh.extent(),
                        None => lists::extent(&view.words, number)?,
                    };
                    if extent.ids > 0 {
                        let cost = spelling.cost(word, extent.ids).unwrap_or(f64::MAX);
                        found.push((cost, word.to_owned(), extent.ids));
                    }
                }
            }
            Ok(found)
        })?;
        found.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
        found.dedup_by(|one, other| one.1 == other.1);
        Ok(found.into_iter().take(most).map(|(_, word, ids)| (word, ids)).collect())
    }
}
