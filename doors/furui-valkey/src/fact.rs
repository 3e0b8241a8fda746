//! The facts about values that `FURUI.INFO` and `SIEVE.INFO` print.

use crate::call::Call;

pub enum Fact {
    Number(u64),
    Text(String),
    /// There is no value: the fact is unknown.
    Nothing,
}

impl From<u64> for Fact {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Fact {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Fact {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<F: Into<Self>> From<Option<F>> for Fact {
    fn from(fact: Option<F>) -> Self {
        fact.map_or(Self::Nothing, Into::into)
    }
}

/// Replies with the names of facts and their values.
pub fn tell(call: &Call<'_>, facts: &[(&str, Fact)]) {
    call.array(2 * facts.len());
    for (name, fact) in facts {
        call.bulk(name.as_bytes());
        match fact {
            Fact::Number(number) => call.integer(*number),
            Fact::Text(text) => call.bulk(text.as_bytes()),
            Fact::Nothing => call.null(),
        }
    }
}
