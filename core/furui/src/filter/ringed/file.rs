use std::io::{self, Write};
use std::ops::Deref;

use super::ring::Ring;
use super::{RingedBloom, RingedParams, lookup};
use crate::filter::file::{BITS, FilterSource, FilterWriter, META, Stored};
use crate::format::field::{put, u32_at, u64_at};
use crate::format::{Align, ReadError};
use crate::hash::KeyHash;

impl<M: Deref<Target = [u8]>> Stored<M> for RingedBloom<M> {
    fn write(&self, out: &mut FilterWriter<'_>) -> io::Result<()> {
        let mut meta = [0; 32];
        put(&mut meta, 0, self.capacity().to_le_bytes());
        put(&mut meta, 8, self.params().fixed_gamma().to_le_bytes());
        put(&mut meta, 16, self.params().delta().to_le_bytes());
        put(&mut meta, 20, self.probes().to_le_bytes());
        out.section(META, Align::Line)?;
        out.write_all(&meta)?;
        out.section(BITS, Align::Line)?;
        out.write_all(&self.words)
    }

    fn reads(&self, key: KeyHash, see: &mut dyn FnMut(&[u8])) {
        lookup::positions(&self.ring, key).for_each(|position| see(&self.words[position / 8..][..1]));
    }

    fn read(source: &FilterSource<'_, M>) -> Result<Self, ReadError> {
        source.expect_sections(&[META, BITS])?;
        let meta: [u8; 32] = source.meta()?;
        let groups = u64_at(&meta, 0);
        let params = RingedParams::from_fixed(u32_at(&meta, 20), u64_at(&meta, 8), u32_at(&meta, 16));
        let ring = params.and_then(|params| Ring::new(params, groups));
        let (Ok(ring), 1.., 0) = (ring, groups, u64_at(&meta, 24)) else {
            return Err(source.invalid(META, "a ringed filter cannot have these numbers of groups, bits and probes"));
        };
        let bits = ring.bits();
        let words = source.table(BITS, bits.div_ceil(64) * 8)?;
        if ring.bits_here().is_none() {
            return Err(source.too_large());
        }
        if bits % 64 != 0 && words.last_chunk().is_none_or(|&last| u64::from_le_bytes(last) >> (bits % 64) != 0) {
            return Err(source.invalid(BITS, "a bit beyond the last is set"));
        }
        Ok(Self { words, ring, hash: source.envelope.hash() })
    }
}
