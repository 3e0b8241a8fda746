//! What is done with a specimen, whole or damaged.

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It answers from what is there.
    Reads,
    /// It answers from what no command of the script ever changes: what it says does not depend on whether one failed.
    ReadsSettled,
    /// It looks for damage.
    Verifies,
    /// It writes.
    Writes,
}

/// One command.
pub struct Step {
    pub effect: Effect,
    /// `{}` stands for the damaged file.
    arguments: Vec<String>,
    /// What it must print if nothing is damaged, where a model knows it.
    pub model: Option<Vec<u8>>,
}

impl Step {
    /// Of words with spaces between; a word that begins with @ is a file of that name in the directory `inputs`.
    pub fn new(effect: Effect, words: &str, inputs: &str) -> Self {
        let word = |word: &str| match word.strip_prefix('@') {
            Some(name) => format!("{inputs}/{name}"),
            None => word.to_owned(),
        };
        Self { effect, arguments: words.split(' ').map(word).collect(), model: None }
    }

    /// With what it must print.
    pub fn printing(mut self, model: impl Into<Vec<u8>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The arguments, where this file is the damaged one.
    pub fn arguments(&self, damaged: &str) -> Vec<String> {
        self.arguments.iter().map(|word| word.replace("{}", damaged)).collect()
    }
}
