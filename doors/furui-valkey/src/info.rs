//! The command `FURUI.INFO`, and what values tell of themselves.

use crate::call::{Call, READ, Refusal};
use crate::command::{Command, entry};
use crate::dict::Dictionary;
use crate::filter::Filter;
use crate::set::Set;

/// The command.
pub const COMMANDS: [Command; 1] = [Command {
    name: c"furui.info",
    flags: c"readonly",
    summary: c"Returns names and values: what a key holds, how much of it, the memory it takes, its hash and seed.",
    complexity: c"O(N) with N the size of a filter; O(1) for other values",
    arity: 2,
    last_key: 1,
    entry: entry!(info),
}];

/// A fact about a value.
pub enum Fact {
    Number(u64),
    Text(String),
    /// The value does not know.
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

/// Replies with names and facts.
pub fn tell(call: &Call<'_>, facts: &[(&str, Fact)]) {
    call.array(2 * facts.len());
    for (name, fact) in facts {
        call.bulk(name.as_bytes());
        match fact {
            Fact::Number(number) => call.integer(i64::try_from(*number).unwrap_or(i64::MAX)),
            Fact::Text(text) => call.bulk(text.as_bytes()),
            Fact::Nothing => call.null(),
        }
    }
}

fn info(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    if key.is_empty() {
        return Err(Refusal::because("there is no such key"));
    }
    if let Ok(Some(set)) = key.value::<Set>() {
        tell(call, &set.facts());
        return Ok(());
    }
    if let Ok(Some(filter)) = key.value::<Filter>() {
        tell(call, &filter.facts());
        return Ok(());
    }
    if let Ok(Some(dict)) = key.value::<Dictionary>() {
        tell(call, &dict.facts());
        return Ok(());
    }
    Err(Refusal::WrongType)
}
