use super::{Node, NodeError};

/// The maximum number of completions of a word. Chosen: what a browser shows below its box.
const MOST: usize = 8;

impl Node {
    /// Completes the beginning of a word to at most eight longer ones: of the words whose lists this node keeps, those
    /// that most documents have, the commonest first. No other node is asked, so a node of a large network knows few of
    /// all words.
    ///
    /// # Errors
    /// If the storage fails, or the node is shut down.
    pub async fn completions(&self, beginning: &str) -> Result<Vec<String>, NodeError> {
        let from = beginning.to_owned();
        let words = self.0.keeper.ask(move |shelf| shelf.words_beginning(&from)).await;
        let words = words.ok_or(NodeError::Stopped)??;
        let longer = words.into_iter().map(|(word, _)| word).filter(|word| word != beginning);
        Ok(longer.take(MOST).collect())
    }
}
