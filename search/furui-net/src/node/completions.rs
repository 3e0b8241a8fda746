use std::cmp::Reverse;

use super::{Node, NodeError};

/// The maximum number of completions of a word. Chosen: what a browser shows below its box.
const MOST: usize = 8;
/// The number of words, in byte order, among which completions are chosen. The value is a choice, not a measurement.
const EXAMINED: usize = 256;

impl Node {
    /// Completes the beginning of a word to at most eight longer ones: of the first words in byte order whose lists
    /// this node keeps, those that most documents have, the commonest first. No other node is asked, so a node of a
    /// large network knows few of all words.
    ///
    /// # Errors
    /// If the storage fails, or the node is shut down.
    pub async fn completions(&self, beginning: &str) -> Result<Vec<String>, NodeError> {
        let from = beginning.to_owned();
        let words = self.0.keeper.ask(move |shelf| shelf.words_after(&from, EXAMINED)).await;
        let mut lists = words.ok_or(NodeError::Stopped)??;
        // What has other characters is no word of a text, but a site or a pair of common words.
        lists.retain(|list| list.word.starts_with(beginning) && list.word.chars().all(char::is_alphanumeric));
        lists.sort_by_key(|list| Reverse(list.ids));
        lists.truncate(MOST);
        Ok(lists.into_iter().map(|list| list.word).collect())
    }
}
