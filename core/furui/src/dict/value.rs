use std::fmt;

use super::TrieError;
use super::layer::Layer;
use crate::error::Result;
use crate::store::Purpose;

/// A type of the values of a [`Dict`](super::Dict): numbers, `u32`, or any bytes, `[u8]`.
pub trait DictValue: Send + Sync + 'static {
    /// A value as it is read: a number, or bytes that the dictionary lends.
    type Read<'a>: Copy + fmt::Debug + PartialEq + Send + Sync;

    /// The purposes of the dictionaries that have such values. The first is that of a new dictionary for which nobody
    /// names one.
    const PURPOSES: &'static [Purpose];

    /// Reads the value for which a trie or a window (a write buffer) has this number: the number itself, or the bytes
    /// with this id.
    #[doc(hidden)]
    fn read(number: u32, layers: Layers<'_>) -> Result<Self::Read<'_>>;
}

/// The parts of a dictionary, oldest first.
#[derive(Clone, Copy, Debug)]
pub struct Layers<'a>(pub(super) &'a [Layer]);

impl DictValue for u32 {
    type Read<'a> = u32;
    const PURPOSES: &'static [Purpose] = &[Purpose::Numbers, Purpose::Values, Purpose::Counts];

    #[inline(always)]
    fn read(number: u32, _: Layers<'_>) -> Result<u32> {
        Ok(number)
    }
}

impl DictValue for [u8] {
    type Read<'a> = &'a [u8];
    const PURPOSES: &'static [Purpose] = &[Purpose::Bytes];

    fn read(id: u32, layers: Layers<'_>) -> Result<&[u8]> {
        let layer = layers.0.iter().rev().find(|layer| layer.ids().contains(&id));
        layer.ok_or(TrieError::Damaged)?.value(id)
    }
}
