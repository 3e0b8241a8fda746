//! The command `FURUI.INFO`, which prints facts about the value of a key.

use crate::call::{Call, READ};
use crate::command::{Command, entry};
use crate::dict::Dictionary;
use crate::fact::tell;
use crate::filter::Filter;
use crate::refusal::Refusal;
use crate::set::Set;

pub const COMMANDS: [Command; 1] = [Command::read(c"furui.info", "key", 2, entry!(info))
    .summary(c"Returns names and values: what a key holds, how much of it, the memory it takes, its hash and seed.")
    .complexity(c"O(N) with N the size of a filter; O(1) for other values")];

fn info(call: &Call<'_>) -> Result<(), Refusal> {
    let key = call.open(1, READ)?;
    if key.is_empty() {
        return Err(Refusal::because("there is no such key"));
    }
    let facts = key.read(Set::facts).or_else(|| key.read(Filter::facts)).or_else(|| key.read(Dictionary::facts));
    tell(call, &facts.ok_or(Refusal::WrongType)?);
    Ok(())
}
