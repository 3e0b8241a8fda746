//! The bits of keys, tested and set: the loops in which a blocked filter spends its time.

use crate::bits::arch::{KeyRange, Line, LineBatch, Lines, prefetch_at};
use crate::bits::scale;
use crate::hash::KeyHash;

/// As of the probes of other filters.
const MULTIPLIER: u64 = 2_862_933_555_777_941_757;

/// How many groups of eight keys ahead a batch asks for the lines of a group.
const AHEAD: usize = 12;

/// Tables of up to so many lines are in a cache near enough for the processor to overlap accesses by itself.
pub(super) const CACHED: usize = (4 << 20) / size_of::<Line>();

/// Which lines keys belong to.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// How many lines the filter has.
    pub(super) lines: usize,
    /// The number of the first line of the table at hand.
    pub(super) first: usize,
    pub(super) probes: u32,
}

impl Shape {
    pub(super) fn whole(lines: usize, probes: u32) -> Self {
        Self { lines, first: 0, probes }
    }

    /// The index of the key's line in the table at hand.
    #[inline(always)]
    pub(super) fn line(self, key: KeyHash) -> usize {
        scale(key.get(), self.lines).wrapping_sub(self.first)
    }

    fn batch(self, keys: KeyRange<'_>) -> LineBatch<'_> {
        let Self { lines, first, .. } = self;
        LineBatch { keys, lines, first, multiplier: MULTIPLIER, far: lines > CACHED }
    }
}

/// The three ways to probe, told apart once for a whole batch.
const LESS: u32 = 0;
const EIGHT: u32 = 1;
const MORE: u32 = 2;

/// The lanes of the first `count`, turned by three bits of the word that chooses the bits.
#[inline(always)]
fn window(count: u32, choice: u64) -> u8 {
    ((1u32 << count) - 1).to_le_bytes()[0].rotate_left((choice >> 13) as u32 & 7)
}

#[inline(always)]
fn own(shape: Shape, way: u32, key: KeyHash) -> (u64, u8) {
    let choice = key.get().wrapping_mul(MULTIPLIER);
    (choice, if way == LESS { window(shape.probes, choice) } else { 0xFF })
}

/// What is asked of the neighbour of the key's line.
#[inline(always)]
fn buddy(shape: Shape, key: KeyHash) -> (u64, u8) {
    let choice = key.get().wrapping_mul(MULTIPLIER.wrapping_mul(MULTIPLIER));
    (choice, window(shape.probes - 8, choice))
}

#[inline(always)]
fn test<const WAY: u32>(vectors: Lines, table: &[Line], shape: Shape, key: KeyHash) -> bool {
    let line = shape.line(key);
    let (choice, lanes) = own(shape, WAY, key);
    vectors.test(&table[line], choice, lanes)
        && (WAY != MORE || {
            let (choice, lanes) = buddy(shape, key);
            vectors.test(&table[line ^ 1], choice, lanes)
        })
}

#[inline(always)]
fn set<const WAY: u32>(vectors: Lines, table: &mut [Line], shape: Shape, key: KeyHash) -> bool {
    let line = shape.line(key);
    let (choice, lanes) = own(shape, WAY, key);
    let new = vectors.set(&mut table[line], choice, lanes);
    if WAY != MORE {
        return new;
    }
    let (choice, lanes) = buddy(shape, key);
    new | vectors.set(&mut table[line ^ 1], choice, lanes)
}

/// Whether all bits of `key` are set.
#[inline(always)]
pub(super) fn contains(vectors: Lines, table: &[Line], probes: u32, key: KeyHash) -> bool {
    if !vectors.inlines() {
        return call_contains(vectors, table, probes, key);
    }
    let shape = Shape::whole(table.len(), probes);
    let line = shape.line(key);
    match probes {
        8 => vectors.test_inline(&table[line], own(shape, EIGHT, key).0),
        9.. => {
            vectors.test_inline(&table[line], own(shape, MORE, key).0) && {
                let (choice, lanes) = buddy(shape, key);
                vectors.test_lanes_inline(&table[line ^ 1], choice, lanes)
            }
        }
        _ => {
            let (choice, lanes) = own(shape, LESS, key);
            vectors.test_lanes_inline(&table[line], choice, lanes)
        }
    }
}

/// [`contains`] as a call into vector code.
#[inline(never)]
fn call_contains(vectors: Lines, table: &[Line], probes: u32, key: KeyHash) -> bool {
    vectors.run(
        table,
        probes,
        key,
        #[inline(always)]
        |vectors, table, probes, key| {
            let shape = Shape::whole(table.len(), probes);
            match probes {
                8 => test::<EIGHT>(vectors, table, shape, key),
                9.. => test::<MORE>(vectors, table, shape, key),
                _ => test::<LESS>(vectors, table, shape, key),
            }
        },
    )
}

/// Sets all bits of `key`. True if one was not set.
#[inline(always)]
pub(super) fn insert(vectors: Lines, table: &mut [Line], probes: u32, key: KeyHash) -> bool {
    if !vectors.inlines() {
        return call_insert(vectors, table, probes, key);
    }
    let shape = Shape::whole(table.len(), probes);
    let line = shape.line(key);
    match probes {
        8 => vectors.set_inline(&mut table[line], own(shape, EIGHT, key).0),
        9.. => {
            let new = vectors.set_inline(&mut table[line], own(shape, MORE, key).0);
            let (choice, lanes) = buddy(shape, key);
            new | vectors.set_lanes_inline(&mut table[line ^ 1], choice, lanes)
        }
        _ => {
            let (choice, lanes) = own(shape, LESS, key);
            vectors.set_lanes_inline(&mut table[line], choice, lanes)
        }
    }
}

/// [`insert`], likewise.
#[inline(never)]
fn call_insert(vectors: Lines, table: &mut [Line], probes: u32, key: KeyHash) -> bool {
    vectors.run(
        table,
        probes,
        key,
        #[inline(always)]
        |vectors, table, probes, key| {
            let shape = Shape::whole(table.len(), probes);
            match probes {
                8 => set::<EIGHT>(vectors, table, shape, key),
                9.. => set::<MORE>(vectors, table, shape, key),
                _ => set::<LESS>(vectors, table, shape, key),
            }
        },
    )
}

/// [`contains`] for every key, in as many `answers`. All keys have their lines in `table`.
pub(super) fn contains_all(vectors: Lines, table: &[Line], shape: Shape, keys: &[KeyHash], answers: &mut [bool]) {
    match shape.probes {
        8 if vectors.test_batch(table, shape.batch(KeyRange::whole(keys)), answers) => {}
        8 => test_all::<EIGHT>(vectors, table, shape, keys, answers),
        9.. => test_all::<MORE>(vectors, table, shape, keys, answers),
        _ => test_all::<LESS>(vectors, table, shape, keys, answers),
    }
}

/// [`insert`] for every key; says how often it was true. All keys have their lines in `table`.
pub(super) fn insert_all(vectors: Lines, table: &mut [Line], shape: Shape, keys: KeyRange<'_>) -> u64 {
    match shape.probes {
        8 if keys.keys().len() >= 8 => vectors
            .set_batch(table, shape.batch(keys))
            .unwrap_or_else(|| set_all::<EIGHT>(vectors, table, shape, keys.keys())),
        8 => set_all::<EIGHT>(vectors, table, shape, keys.keys()),
        9.. => set_all::<MORE>(vectors, table, shape, keys.keys()),
        _ => set_all::<LESS>(vectors, table, shape, keys.keys()),
    }
}

/// Asks for the lines of eight keys.
#[inline(always)]
fn fetch<const WAY: u32>(table: &[Line], shape: Shape, eight: &[KeyHash; 8]) {
    for &key in eight {
        let line = shape.line(key);
        prefetch_at(table.as_flattened(), line.wrapping_mul(size_of::<Line>()));
        if WAY == MORE {
            prefetch_at(table.as_flattened(), (line ^ 1).wrapping_mul(size_of::<Line>()));
        }
    }
}

// Each loop below becomes a function of its own for each way, small enough to keep in registers what it needs.

fn test_all<const WAY: u32>(vectors: Lines, table: &[Line], shape: Shape, keys: &[KeyHash], answers: &mut [bool]) {
    vectors.run(
        (table, shape),
        keys,
        answers,
        #[inline(always)]
        |vectors, (table, shape), keys, answers| {
            let (eights, rest) = keys.as_chunks::<8>();
            let (eight_answers, rest_answers) = answers.as_chunks_mut::<8>();
            let far = shape.lines > CACHED;
            if far {
                eights.iter().take(AHEAD).for_each(|eight| fetch::<WAY>(table, shape, eight));
            }
            for (index, (eight, answers)) in eights.iter().zip(eight_answers).enumerate() {
                if far && let Some(soon) = eights.get(index + AHEAD) {
                    fetch::<WAY>(table, shape, soon);
                }
                for (&key, answer) in eight.iter().zip(answers) {
                    *answer = test::<WAY>(vectors, table, shape, key);
                }
            }
            for (&key, answer) in rest.iter().zip(rest_answers) {
                *answer = test::<WAY>(vectors, table, shape, key);
            }
        },
    );
}

fn set_all<const WAY: u32>(vectors: Lines, table: &mut [Line], shape: Shape, keys: &[KeyHash]) -> u64 {
    vectors.run(
        table,
        shape,
        keys,
        #[inline(always)]
        |vectors, table, shape, keys| {
            let (eights, rest) = keys.as_chunks::<8>();
            eights.iter().take(AHEAD).for_each(|eight| fetch::<WAY>(table, shape, eight));
            let mut new = 0;
            for (index, eight) in eights.iter().enumerate() {
                if let Some(soon) = eights.get(index + AHEAD) {
                    fetch::<WAY>(table, shape, soon);
                }
                for &key in eight {
                    new += u64::from(set::<WAY>(vectors, table, shape, key));
                }
            }
            for &key in rest {
                new += u64::from(set::<WAY>(vectors, table, shape, key));
            }
            new
        },
    )
}
