//! The command `FURUI.INFO`.

use crate::call::{Call, READ};
use crate::command::{Command, entry};
use crate::dict::Dictionary;
use crate::fact::tell;
use crate::filter::Filter;
use crate::refusal::Refusal;
use crate::set::Set;

pub const COMMANDS: [Command; 1] = [Command {
    name: c"furui.info",
    flags: c"readonly",
    summary: c"Returns names and values: what a key holds, how much of it, the memory it takes, its hash and seed.",
    complexity: c"O(N) with N the size of a filter; O(1) for other values",
    arity: 2,
    last_key: 1,
    entry: entry!(info),
}];

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
