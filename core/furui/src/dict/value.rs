use std::fmt;

use super::TrieError;
use super::layer::Layer;
use crate::error::Result;
use crate::store::Purpose;

/// The type of the values of a [`Dict`](super::Dict): `u32` for numbers, `[u8]` for bytes.
pub trait DictValue: Send + Sync + 'static {
    /// The type of a value that was read: a number, or bytes borrowed from the dictionary.
    type Read<'a>: Copy + fmt::Debug + PartialEq + Send + Sync;

    /// The purposes that a dictionary with such values can have. The first one is the default of a new dictionary.
    const PURPOSES: &'static [Purpose];

    /// Reads the value for which a trie or a window (a write buffer) has `number`: the number itself, or the bytes that
    /// have it as their id.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) if the bytes of the value are damaged;
    /// [`Error::Trie`](crate::Error::Trie) if no layer can have the id.
    #[doc(hidden)]
    fn read(number: u32, layers: Layers<'_>) -> Result<Self::Read<'_>>;
}

/// The parts of a dictionary (tries and write buffers), oldest first.
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
