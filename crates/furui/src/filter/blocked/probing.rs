//! The bits of keys, tested and set: the loops in which a blocked filter spends its time.

use crate::bits::arch::{Ahead, KeyRange, Line, LineBatch, Lines, prefetch_at};
use crate::bits::scale;
use crate::hash::KeyHash;

/// As of the probes of other filters.
const MULTIPLIER: u64 = 2_862_933_555_777_941_757;

/// How many groups of eight keys ahead a batch asks for the lines of a group.
const AHEAD: usize = 12;

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

    fn batch(self, vectors: Lines, keys: KeyRange<'_>) -> LineBatch<'_> {
        let Self { lines, first, probes } = self;
        let ninth = (probes == 9).then_some(MULTIPLIER.wrapping_mul(MULTIPLIER));
        LineBatch { keys, lines, first, multiplier: MULTIPLIER, ninth, ahead: vectors.ahead(lines) }
    }
}

/// The ways to probe, told apart once for a whole batch.
const LESS: u32 = 0;
const EIGHT: u32 = 1;
const NINE: u32 = 2;
const MORE: u32 = 3;

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

/// What chooses the bits in the neighbour of the key's line.
#[inline(always)]
fn buddy_choice(key: KeyHash) -> u64 {
    key.get().wrapping_mul(MULTIPLIER.wrapping_mul(MULTIPLIER))
}

/// What is asked of the neighbour.
#[inline(always)]
fn buddy(shape: Shape, key: KeyHash) -> (u64, u8) {
    let choice = buddy_choice(key);
    (choice, window(shape.probes - 8, choice))
}

/// What is asked of the neighbour by nine probes: one bit, of a word. That takes no vector.
#[inline(always)]
fn ninth(key: KeyHash) -> (usize, u64) {
    let choice = buddy_choice(key);
    let lane = choice >> 13 & 7;
    (lane as usize, 1 << (choice >> (16 + 6 * lane) & 63))
}

#[inline(always)]
fn test_ninth(line: &Line, key: KeyHash) -> bool {
    let (lane, bit) = ninth(key);
    u64::from_le_bytes(line.as_chunks().0[lane]) & bit != 0
}

#[inline(always)]
fn set_ninth(line: &mut Line, key: KeyHash) -> bool {
    let (lane, bit) = ninth(key);
    let word = &mut line.as_chunks_mut().0[lane];
    let old = u64::from_le_bytes(*word);
    *word = (old | bit).to_le_bytes();
    old & bit == 0
}

#[inline(always)]
fn test<const WAY: u32>(vectors: Lines, table: &[Line], shape: Shape, key: KeyHash) -> bool {
    let line = shape.line(key);
    let (choice, lanes) = own(shape, WAY, key);
    let all = vectors.test(&table[line], choice, lanes);
    match WAY {
        NINE => all && test_ninth(&table[line ^ 1], key),
        MORE => {
            all && {
                let (choice, lanes) = buddy(shape, key);
                vectors.test(&table[line ^ 1], choice, lanes)
            }
        }
        _ => all,
    }
}

#[inline(always)]
fn set<const WAY: u32>(vectors: Lines, table: &mut [Line], shape: Shape, key: KeyHash) -> bool {
    let line = shape.line(key);
    let (choice, lanes) = own(shape, WAY, key);
    let new = vectors.set(&mut table[line], choice, lanes);
    match WAY {
        NINE => new | set_ninth(&mut table[line ^ 1], key),
        MORE => {
            let (choice, lanes) = buddy(shape, key);
            new | vectors.set(&mut table[line ^ 1], choice, lanes)
        }
        _ => new,
    }
}

/// Whether all bits of `key` are set.
#[inline(always)]
pub(super) fn contains(vectors: Lines, table: &[Line], probes: u32, key: KeyHash) -> bool {
    if !vectors.inlines() {
        return call_contains(vectors, table, probes, key);
    }
    let shape = Shape::whole(table.len(), probes);
    let line = shape.line(key);
    // First, and by itself: a compiler makes a loop of its own of it.
    if probes == 8 {
        return vectors.test_inline(&table[line], own(shape, EIGHT, key).0);
    }
    if probes < 8 {
        let (choice, lanes) = own(shape, LESS, key);
        return vectors.test_lanes_inline(&table[line], choice, lanes);
    }
    vectors.test_inline(&table[line], own(shape, EIGHT, key).0)
        && if probes == 9 {
            test_ninth(&table[line ^ 1], key)
        } else {
            let (choice, lanes) = buddy(shape, key);
            vectors.test_lanes_inline(&table[line ^ 1], choice, lanes)
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
                ..8 => test::<LESS>(vectors, table, shape, key),
                8 => test::<EIGHT>(vectors, table, shape, key),
                9 => test::<NINE>(vectors, table, shape, key),
                _ => test::<MORE>(vectors, table, shape, key),
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
    if probes == 8 {
        return vectors.set_inline(&mut table[line], own(shape, EIGHT, key).0);
    }
    if probes < 8 {
        let (choice, lanes) = own(shape, LESS, key);
        return vectors.set_lanes_inline(&mut table[line], choice, lanes);
    }
    let new = vectors.set_inline(&mut table[line], own(shape, EIGHT, key).0);
    if probes == 9 && !vectors.are_whole() {
        return new | set_ninth(&mut table[line ^ 1], key);
    }
    // Of nine probes too where a whole line is stored sooner than a word of one.
    let (choice, lanes) = buddy(shape, key);
    new | vectors.set_lanes_inline(&mut table[line ^ 1], choice, lanes)
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
                ..8 => set::<LESS>(vectors, table, shape, key),
                8 => set::<EIGHT>(vectors, table, shape, key),
                9 => set::<NINE>(vectors, table, shape, key),
                _ => set::<MORE>(vectors, table, shape, key),
            }
        },
    )
}

/// [`contains`] for every key, in as many `answers`. All keys have their lines in `table`.
pub(super) fn contains_all(
    vectors: Lines,
    table: &[Line],
    shape: Shape,
    mut keys: &[KeyHash],
    mut answers: &mut [bool],
) {
    if matches!(shape.probes, 8 | 9) && vectors.test_batch(table, shape.batch(vectors, KeyRange::whole(keys)), answers)
    {
        (keys, answers) = (keys.as_chunks::<8>().1, answers.as_chunks_mut::<8>().1);
    }
    match shape.probes {
        ..8 => test_all::<LESS>(vectors, table, shape, keys, answers),
        8 => test_all::<EIGHT>(vectors, table, shape, keys, answers),
        9 => test_all::<NINE>(vectors, table, shape, keys, answers),
        _ => test_all::<MORE>(vectors, table, shape, keys, answers),
    }
}

/// [`insert`] for every key; says how often it was true. All keys have their lines in `table`.
pub(super) fn insert_all(vectors: Lines, table: &mut [Line], shape: Shape, range: KeyRange<'_>) -> u64 {
    let mut keys = range.keys();
    let mut new = 0;
    if matches!(shape.probes, 8 | 9)
        && keys.len() >= 8
        && let Some(new_of_eights) = vectors.set_batch(table, shape.batch(vectors, range))
    {
        (keys, new) = (keys.as_chunks::<8>().1, new_of_eights);
    }
    new + match shape.probes {
        ..8 => set_all::<LESS>(vectors, table, shape, keys),
        8 => set_all::<EIGHT>(vectors, table, shape, keys),
        9 => set_all::<NINE>(vectors, table, shape, keys),
        _ => set_all::<MORE>(vectors, table, shape, keys),
    }
}

/// Asks for the lines of eight keys.
#[inline(always)]
fn fetch<const WAY: u32>(table: &[Line], shape: Shape, eight: &[KeyHash; 8]) {
    for &key in eight {
        let line = shape.line(key);
        prefetch_at(table.as_flattened(), line.wrapping_mul(size_of::<Line>()));
        if WAY >= NINE {
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
            let far = vectors.ahead(shape.lines) != Ahead::Nothing;
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
