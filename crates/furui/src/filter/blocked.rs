use std::ops::{Deref, DerefMut};

use super::error::no_memory;
use super::{ConfigError, Filter, FilterMut, Full};
use crate::bits::arch::{Line, Lines, prefetch_for_write};
use crate::bits::{Buffer, prefetch, scale};
use crate::hash::{HashSpec, KeyHash};

/// "Is it in this set?" in one access to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedBloom<M = Buffer> {
    table: M,
    shape: Shape,
    hash: HashSpec,
    vectors: Lines,
}

/// Where the bits of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// How many lines there are; even if there are more than 8 probes.
    lines: usize,
    probes: u32,
}

const MULTIPLIER: u64 = 2_862_933_555_777_941_757;

impl Shape {
    #[inline(always)]
    fn line(self, key: KeyHash) -> usize {
        scale(key.get(), self.lines)
    }
}

#[inline(always)]
fn window(count: u32, choice: u64) -> u8 {
    (((1u32 << count) - 1) as u8).rotate_left(choice as u32 >> 13 & 7)
}

#[inline(always)]
fn choices<const K: u32>(shape: Shape, key: KeyHash) -> (u64, u8, u64, u8) {
    let choice = key.get().wrapping_mul(MULTIPLIER);
    let buddy_choice = choice.wrapping_mul(MULTIPLIER);
    (
        choice,
        if K >= 8 { 0xFF } else { window(shape.probes, choice) },
        buddy_choice,
        if K > 8 { window(shape.probes.wrapping_sub(8), buddy_choice) } else { 0 },
    )
}

#[inline(always)]
fn insert<const K: u32>(vectors: Lines, shape: Shape, table: &mut [Line], line: usize, key: KeyHash) -> bool {
    let (choice, lanes, buddy_choice, buddy_lanes) = choices::<K>(shape, key);
    let new = vectors.set(&mut table[line], choice, lanes);
    if K > 8 { new | vectors.set(&mut table[line ^ 1], buddy_choice, buddy_lanes) } else { new }
}

#[inline(always)]
fn contains<const K: u32>(vectors: Lines, shape: Shape, table: &[Line], line: usize, key: KeyHash) -> bool {
    let (choice, lanes, buddy_choice, buddy_lanes) = choices::<K>(shape, key);
    vectors.test(&table[line], choice, lanes) && (K <= 8 || vectors.test(&table[line ^ 1], buddy_choice, buddy_lanes))
}

const AHEAD: usize = 64;
const CACHED: usize = (2 << 20) / 64;

impl BlockedBloom {
    /// How the keys are hashed.
    pub fn hash_spec(&self) -> HashSpec {
        self.hash
    }

    /// How many bits there are.
    pub fn bits(&self) -> u64 {
        self.shape.lines as u64 * 512
    }
    /// A filter of `lines` lines of 512 bits with `probes` probes a key, whatever the number of keys.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn from_parts(lines: u64, probes: u32) -> Result<Self, ConfigError> {
        let lines = lines as usize;
        let table = Buffer::zeroed(64 * lines).map_err(|_| no_memory(lines, "lines of 64 bytes"))?;
        Ok(Self { table, shape: Shape { lines, probes }, hash: HashSpec::default(), vectors: Lines::detect() })
    }
}
impl<M: Deref<Target = [u8]>> Filter for BlockedBloom<M> {
    #[inline]
    fn contains(&self, key: KeyHash) -> bool {
        let table = self.table.as_chunks().0;
        self.vectors.run(
            table,
            self.shape.probes,
            key,
            #[inline(always)]
            |vectors, table, probes, key| {
                let shape = Shape { lines: table.len(), probes };
                let line = shape.line(key);
                match probes {
                    8 => contains::<8>(vectors, shape, table, line, key),
                    9.. => contains::<9>(vectors, shape, table, line, key),
                    _ => contains::<1>(vectors, shape, table, line, key),
                }
            },
        )
    }
    fn contains_all(&self, keys: &[KeyHash], out: &mut Vec<bool>) {
        let table = self.table.as_chunks().0;
        out.clear();
        out.resize(keys.len(), false);
        let shape = self.shape;
        self.vectors.run(
            (),
            (),
            (),
            #[inline(always)]
            |vectors, (), (), ()| match (shape.probes, shape.lines > CACHED) {
                (8, false) => contains_all::<8, false>(vectors, shape, table, keys, out),
                (8, true) => contains_all::<8, true>(vectors, shape, table, keys, out),
                (9.., false) => contains_all::<9, false>(vectors, shape, table, keys, out),
                (9.., true) => contains_all::<9, true>(vectors, shape, table, keys, out),
                (_, false) => contains_all::<1, false>(vectors, shape, table, keys, out),
                (_, true) => contains_all::<1, true>(vectors, shape, table, keys, out),
            },
        )
    }

    /// x
    fn false_positive_rate(&self) -> f64 {
        0.0
    }
}
#[inline(always)]
fn contains_all<const K: u32, const FAR: bool>(
    vectors: Lines,
    shape: Shape,
    table: &[Line],
    keys: &[KeyHash],
    out: &mut [bool],
) {
    if FAR {
        let mut lines = [0; AHEAD];
        for (keys, out) in keys.chunks(AHEAD).zip(out.chunks_mut(AHEAD)) {
            for (&key, line) in keys.iter().zip(&mut lines) {
                *line = shape.line(key);
                prefetch(&table[*line]);
                if K > 8 {
                    prefetch(&table[*line ^ 1]);
                }
            }
            for ((&key, out), &line) in keys.iter().zip(out).zip(&lines) {
                *out = contains::<K>(vectors, shape, table, line, key);
            }
        }
    } else {
        for (&key, out) in keys.iter().zip(out) {
            *out = contains::<K>(vectors, shape, table, shape.line(key), key);
        }
    }
}

#[inline(always)]
fn insert_all<const K: u32, const FAR: bool>(
    vectors: Lines,
    shape: Shape,
    table: &mut [Line],
    keys: &[KeyHash],
) -> u64 {
    let mut new = 0;
    if FAR {
        let mut lines = [0; AHEAD];
        for keys in keys.chunks(AHEAD) {
            for (&key, line) in keys.iter().zip(&mut lines) {
                *line = shape.line(key);
                prefetch_for_write(table, *line);
                if K > 8 {
                    prefetch_for_write(table, *line ^ 1);
                }
            }
            for (&key, &line) in keys.iter().zip(&lines) {
                new += u64::from(insert::<K>(vectors, shape, table, line, key));
            }
        }
    } else {
        for &key in keys {
            new += u64::from(insert::<K>(vectors, shape, table, shape.line(key), key));
        }
    }
    new
}

impl<M: DerefMut<Target = [u8]>> FilterMut for BlockedBloom<M> {
    /// Never full.
    #[inline]
    fn insert(&mut self, key: KeyHash) -> Result<bool, Full> {
        let table = self.table.as_chunks_mut().0;
        Ok(self.vectors.run(
            table,
            self.shape.probes,
            key,
            #[inline(always)]
            |vectors, table, probes, key| {
                let shape = Shape { lines: table.len(), probes };
                let line = shape.line(key);
                match probes {
                    8 => insert::<8>(vectors, shape, table, line, key),
                    9.. => insert::<9>(vectors, shape, table, line, key),
                    _ => insert::<1>(vectors, shape, table, line, key),
                }
            },
        ))
    }

    fn insert_all(&mut self, keys: &[KeyHash]) -> Result<u64, Full> {
        let (vectors, shape) = (self.vectors, self.shape);
        let table = self.table.as_chunks_mut().0;
        Ok(vectors.run(
            (),
            (),
            (),
            #[inline(always)]
            |vectors, (), (), ()| match (shape.probes, shape.lines > CACHED) {
                (8, false) => insert_all::<8, false>(vectors, shape, table, keys),
                (8, true) => insert_all::<8, true>(vectors, shape, table, keys),
                (9.., false) => insert_all::<9, false>(vectors, shape, table, keys),
                (9.., true) => insert_all::<9, true>(vectors, shape, table, keys),
                (_, false) => insert_all::<1, false>(vectors, shape, table, keys),
                (_, true) => insert_all::<1, true>(vectors, shape, table, keys),
            },
        ))
    }
}
