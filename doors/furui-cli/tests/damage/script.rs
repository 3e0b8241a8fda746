//! The commands that run on a specimen, damaged or not.

/// The effect of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The command answers from the specimen.
    Reads,
    /// The command answers from data that no command of the script ever changes, so its answer is the same whether or
    /// not an earlier command failed.
    ReadsSettled,
    /// The command looks for damage.
    Verifies,
    /// The command writes.
    Writes,
}

/// A command of the script.
pub struct Step {
    pub effect: Effect,
    /// The arguments, in which `{}` stands for the damaged file.
    arguments: Vec<String>,
    /// The expected output without damage, if a model knows it.
    pub model: Option<Vec<u8>>,
}

impl Step {
    /// Makes a step from words with spaces between them. A word that begins with @ is a file of that name in the
    /// directory `inputs`.
    pub fn new(effect: Effect, words: &str, inputs: &str) -> Self {
        let word = |word: &str| match word.strip_prefix('@') {
            Some(name) => format!("{inputs}/{name}"),
            None => word.to_owned(),
        };
        Self { effect, arguments: words.split(' ').map(word).collect(), model: None }
    }

    /// The step with its expected output.
    pub fn printing(mut self, model: impl Into<Vec<u8>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The arguments, with this path for the damaged file.
    pub fn arguments(&self, damaged: &str) -> Vec<String> {
        self.arguments.iter().map(|word| word.replace("{}", damaged)).collect()
    }
}
