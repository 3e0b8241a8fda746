//! The arguments of `CF.RESERVE`, `CF.INSERT` and `CF.INSERTNX`.

use super::number;
use crate::call::Call;
use crate::filter::growing_quotient::{CuckooShape, MAX_EXPANSION};
use crate::refusal::Refusal;

/// The default parameters of a new filter, as in RedisBloom.
pub const USUAL: CuckooShape = CuckooShape { capacity: 1024, bucket_size: 2, max_iterations: 20, expansion: 1 };

const MAX_CAPACITY: u64 = 1 << 30;

/// Reads the arguments of `CF.RESERVE`.
///
/// # Errors
/// With the messages of RedisBloom, if an argument is invalid.
pub fn of_reserve(call: &Call<'_>) -> Result<CuckooShape, Refusal> {
    if call.len().is_multiple_of(2) {
        return Err(Refusal::Arity);
    }
    let mut shape = USUAL;
    shape.capacity = number(call, 2, 0..=u64::MAX, "Bad capacity")?;
    for word in (3..call.len()).step_by(2) {
        let read = |what: &str, least: u32, most: u32| {
            let value: i64 = number(call, word + 1, i64::MIN..=i64::MAX, &format!("Couldn't parse {what}"))?;
            let value = u32::try_from(value).ok().filter(|value| (least..=most).contains(value));
            value.ok_or_else(|| Refusal::because(format!("{what}: value must be in the range [{least}, {most}]")))
        };
        match call.bytes(word)?.to_ascii_uppercase().as_slice() {
            b"BUCKETSIZE" => shape.bucket_size = read("BUCKETSIZE", 1, 255)?,
            b"MAXITERATIONS" => shape.max_iterations = read("MAXITERATIONS", 1, 65_535)?,
            b"EXPANSION" => shape.expansion = read("EXPANSION", 0, MAX_EXPANSION)?,
            _ => return Err(Refusal::because("Unknown argument received")),
        }
    }
    if !(u64::from(shape.bucket_size) * 2..=MAX_CAPACITY).contains(&shape.capacity) {
        let range = format!("Capacity must be in the range [2 * BUCKETSIZE, {MAX_CAPACITY}]");
        return Err(Refusal::because(range));
    }
    Ok(shape)
}

/// Reads the arguments of `CF.INSERT` and `CF.INSERTNX`. Returns the parameters of a new filter, true if the command
/// may create a filter, and the index of the argument that is the first item.
///
/// # Errors
/// With the messages of RedisBloom, if an argument is invalid.
pub fn of_insert(call: &Call<'_>) -> Result<(CuckooShape, bool, usize), Refusal> {
    let (mut shape, mut creates, mut next) = (USUAL, true, 2);
    loop {
        // If ITEMS or the capacity is missing, there are too few arguments.
        match call.bytes(next)?.to_ascii_uppercase().as_slice() {
            b"ITEMS" => break,
            b"NOCREATE" => creates = false,
            b"CAPACITY" => {
                next += 1;
                let least = u64::from(shape.bucket_size) * 2;
                let capacity: i64 = number(call, next, i64::MIN..=i64::MAX, "Bad capacity")?;
                let capacity = u64::try_from(capacity).ok().filter(|n| (least..=MAX_CAPACITY).contains(n));
                let range = || format!("Capacity must be in the range [{least}, {MAX_CAPACITY}]");
                shape.capacity = capacity.ok_or_else(|| Refusal::because(range()))?;
            }
            _ => return Err(Refusal::because("Unknown argument received")),
        }
        next += 1;
    }
    if next + 1 == call.len() {
        return Err(Refusal::Arity);
    }
    Ok((shape, creates, next + 1))
}
