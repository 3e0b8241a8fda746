//! The arguments of `BF.RESERVE` and `BF.INSERT`.

use furui::filter::GrowingBloom;

use super::number;
use crate::call::Call;
use crate::filter::Filter;
use crate::filter::table::Table;
use crate::limits;
use crate::refusal::Refusal;

/// The maximum expansion of a filter of the commands `BF.*`, as in RedisBloom.
const MAX_EXPANSION: u32 = 32_768;

/// The parameters of a new filter of `BF.*`. Their defaults are those of RedisBloom and valkey-bloom.
pub struct BloomShape {
    capacity: u64,
    rate: f64,
    expansion: u32,
}

impl Default for BloomShape {
    fn default() -> Self {
        Self { capacity: 100, rate: 0.01, expansion: 2 }
    }
}

impl BloomShape {
    /// Creates an empty filter, after a check that its memory is within the limits.
    ///
    /// # Errors
    /// If a filter with these parameters is impossible, or would exceed a limit of the module.
    pub fn make(&self) -> Result<Filter, Refusal> {
        let bytes = GrowingBloom::bytes_with_expansion(self.capacity, self.rate, self.expansion);
        limits::admit(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        let chain = GrowingBloom::with_expansion(self.capacity, self.rate, self.expansion)?;
        Ok(Table::Chain(Box::new(chain)).into())
    }

    fn read_capacity(&mut self, call: &Call<'_>, index: usize) -> Result<(), Refusal> {
        self.capacity = number(call, index, 0..=u32::MAX.into(), "bad capacity")?;
        if self.capacity == 0 {
            return Err(Refusal::because("(capacity should be larger than 0)"));
        }
        Ok(())
    }

    fn read_rate(&mut self, call: &Call<'_>, index: usize) -> Result<(), Refusal> {
        self.rate = number(call, index, f64::NEG_INFINITY..=f64::INFINITY, "bad error rate")?;
        if self.rate <= 0.0 || self.rate >= 1.0 {
            return Err(Refusal::because("(0 < error rate range < 1)"));
        }
        Ok(())
    }

    /// Reads the arguments of `BF.RESERVE`.
    ///
    /// # Errors
    /// With the messages of valkey-bloom, if an argument is invalid.
    pub fn of_reserve(call: &Call<'_>) -> Result<Self, Refusal> {
        if !(4..=6).contains(&call.len()) {
            return Err(Refusal::Arity);
        }
        let mut shape = Self::default();
        shape.read_rate(call, 2)?;
        shape.read_capacity(call, 3)?;
        if call.len() > 4 {
            match call.bytes(4)?.to_ascii_uppercase().as_slice() {
                b"NONSCALING" if call.len() == 5 => shape.expansion = 0,
                b"EXPANSION" => {
                    let expansion: i64 = number(call, 5, i64::MIN..=i64::MAX, "bad expansion")?;
                    let in_range = u32::try_from(expansion).ok().filter(|&expansion| expansion <= MAX_EXPANSION);
                    let range = || Refusal::because(format!("expansion must be in the range [0, {MAX_EXPANSION}]"));
                    shape.expansion = in_range.ok_or_else(range)?;
                }
                _ => return Err(Refusal::because("unknown argument received")),
            }
        }
        Ok(shape)
    }

    /// Reads the arguments of `BF.INSERT`. Returns the parameters of a new filter, true if the command may create a
    /// filter, and the index of the argument that is the first item.
    ///
    /// # Errors
    /// With the messages of valkey-bloom, if an argument is invalid.
    pub fn of_insert(call: &Call<'_>) -> Result<(Self, bool, usize), Refusal> {
        let (mut shape, mut creates, mut scales, mut next) = (Self::default(), true, true, 2);
        // Without ITEMS, the filter is only made, as in valkey-bloom.
        while next < call.len() {
            let word = call.bytes(next)?.to_ascii_uppercase();
            next += 1;
            match word.as_slice() {
                b"ITEMS" => break,
                b"NOCREATE" => creates = false,
                b"NONSCALING" => scales = false,
                b"ERROR" => shape.read_rate(call, next)?,
                b"CAPACITY" => shape.read_capacity(call, next)?,
                b"EXPANSION" => shape.expansion = number(call, next, 0..=MAX_EXPANSION, "bad expansion")?,
                _ => return Err(Refusal::because("unknown argument received")),
            }
            next += usize::from(matches!(word.as_slice(), b"ERROR" | b"CAPACITY" | b"EXPANSION"));
        }
        if !scales {
            shape.expansion = 0;
        }
        if next == call.len() && call.bytes(next - 1)?.eq_ignore_ascii_case(b"ITEMS") {
            return Err(Refusal::Arity);
        }
        Ok((shape, creates, next))
    }
}
