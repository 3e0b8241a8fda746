//! The bits of keys, tested and set: the loops in which a blocked filter spends its time.

use super::spread::Spread;
use crate::bits::arch::{Half, KeyRange, Line, LineBatch, Lines, prefetch_at};
use crate::bits::scale;
use crate::hash::KeyHash;

/// As of the probes of other filters.
const MULTIPLIER: u64 = 2_862_933_555_777_941_757;

/// Which lines keys belong to.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// How many lines the filter has.
    pub(super) lines: usize,
    /// The number of the first line of the table at hand.
    pub(super) first: usize,
    pub(super) spread: Spread,
}

impl Shape {
    pub(super) fn whole(lines: usize, spread: Spread) -> Self {
        Self { lines, first: 0, spread }
    }

    /// The index of the key's line in the table at hand.
    #[inline(always)]
    pub(super) fn line(self, key: KeyHash) -> usize {
        scale(key.get(), self.lines).wrapping_sub(self.first)
    }

    /// The indices of the lines that a miss reads in the table at hand.
    #[inline(always)]
    pub(super) fn lines_of_a_miss(self, key: KeyHash) -> impl Iterator<Item = usize> {
        let line = self.line(key);
        let lower = if self.spread.straddles() { lower(line, key) } else { line };
        [line, lower].into_iter()
    }

    /// See [`Lines::ahead_of_lookups`].
    fn ahead_of_lookups(self, vectors: Lines) -> usize {
        vectors.ahead_of_lookups(self.lines, self.spread.straddles())
    }

    /// The keys as a batch, if they have bits in eight lanes.
    fn batch(self, keys: KeyRange<'_>, ahead: usize) -> Option<LineBatch<'_>> {
        let Self { lines, first, spread } = self;
        let straddle = spread.straddles();
        (spread.probes() == 8).then_some(LineBatch { keys, lines, first, multiplier: MULTIPLIER, straddle, ahead })
    }
}

/// What chooses the bits in the key's line.
#[inline(always)]
fn choice(key: KeyHash) -> u64 {
    key.get().wrapping_mul(MULTIPLIER)
}

/// What chooses the bits in the other line of the pair.
#[inline(always)]
fn buddy_choice(key: KeyHash) -> u64 {
    key.get().wrapping_mul(MULTIPLIER.wrapping_mul(MULTIPLIER))
}

/// The lanes of the first `count`, turned by three bits of the word that chooses the bits.
#[inline(always)]
fn window(count: u32, choice: u64) -> u8 {
    ((1u32 << count) - 1).to_le_bytes()[0].rotate_left((choice >> 13) as u32 & 7)
}

/// The line of the lower lanes of a key that may straddle.
#[inline(always)]
fn lower(line: usize, key: KeyHash) -> usize {
    line ^ (key.get() >> 6 & key.get() >> 7 & 1) as usize
}

/// The halves of lines that have the bits of a key that may straddle.
#[inline(always)]
fn halves(table: &[Line], line: usize, key: KeyHash) -> [&Half; 2] {
    let halves = table.as_flattened().as_chunks().0;
    [&halves[2 * lower(line, key)], &halves[2 * line + 1]]
}

#[inline(always)]
fn halves_mut(table: &mut [Line], line: usize, key: KeyHash) -> [&mut Half; 2] {
    let halves = table.as_flattened_mut().as_chunks_mut().0;
    halves
        .get_disjoint_mut([2 * lower(line, key), 2 * line + 1])
        .expect("an even and an odd one, of lines in the table")
}

#[inline(always)]
fn test(vectors: Lines, table: &[Line], shape: Shape, key: KeyHash) -> bool {
    let (line, choice, probes) = (shape.line(key), choice(key), shape.spread.probes());
    if shape.spread.straddles() {
        return vectors.test_halves(halves(table, line, key), choice);
    }
    let own = if probes < 8 { window(probes, choice) } else { 0xFF };
    vectors.test(&table[line], choice, own) && (probes <= 8 || test_rest(vectors, table, shape, key))
}

/// [`test`] of the bits in the neighbour, with more than 8 probes.
#[inline(always)]
fn test_rest(vectors: Lines, table: &[Line], shape: Shape, key: KeyHash) -> bool {
    let choice = buddy_choice(key);
    vectors.test(&table[shape.line(key) ^ 1], choice, window(shape.spread.probes() - 8, choice))
}

#[inline(always)]
fn set(vectors: Lines, table: &mut [Line], shape: Shape, key: KeyHash) -> bool {
    let (line, choice, probes) = (shape.line(key), choice(key), shape.spread.probes());
    if shape.spread.straddles() {
        return vectors.set_halves(halves_mut(table, line, key), choice);
    }
    let own = if probes < 8 { window(probes, choice) } else { 0xFF };
    let new = vectors.set(&mut table[line], choice, own);
    if probes <= 8 {
        return new;
    }
    let choice = buddy_choice(key);
    new | vectors.set(&mut table[line ^ 1], choice, window(probes - 8, choice))
}

/// Whether all bits of `key` are set.
#[inline(always)]
pub(super) fn contains(vectors: Lines, table: &[Line], spread: Spread, key: KeyHash) -> bool {
    // The one condition for the most common case of all: of what is asked first compilers make a loop over keys of its own,
    // and it is short.
    if vectors.is_wide() & spread.is_line() {
        return vectors.test_inline(&table[Shape::whole(table.len(), spread).line(key)], choice(key));
    }
    if !vectors.inlines() {
        return call_contains(vectors, table, spread, key);
    }
    let (line, choice, probes) = (Shape::whole(table.len(), spread).line(key), choice(key), spread.probes());
    // First, and each by itself: a compiler makes a loop of its own of it.
    if probes == 8 {
        return if spread.straddles() {
            vectors.test_halves_inline(halves(table, line, key), choice)
        } else {
            vectors.test_inline(&table[line], choice)
        };
    }
    if probes < 8 {
        return vectors.test_lanes_inline(&table[line], choice, window(probes, choice));
    }
    // The rest by a call, so that the loops of the others stay small: misses seldom come to it.
    vectors.test_inline(&table[line], choice) && call_contains_rest(vectors, table, spread, key)
}

/// [`contains`] as a call into vector code.
#[inline(never)]
fn call_contains(vectors: Lines, table: &[Line], spread: Spread, key: KeyHash) -> bool {
    vectors.run(
        table,
        spread,
        key,
        #[inline(always)]
        |vectors, table, spread, key| test(vectors, table, Shape::whole(table.len(), spread), key),
    )
}

/// [`test_rest`], likewise.
#[inline(never)]
fn call_contains_rest(vectors: Lines, table: &[Line], spread: Spread, key: KeyHash) -> bool {
    vectors.run(
        table,
        spread,
        key,
        #[inline(always)]
        |vectors, table, spread, key| test_rest(vectors, table, Shape::whole(table.len(), spread), key),
    )
}

/// Sets all bits of `key`. True if one was not set.
#[inline(always)]
pub(super) fn insert(vectors: Lines, table: &mut [Line], spread: Spread, key: KeyHash) -> bool {
    if !vectors.inlines() || spread.probes() > 8 {
        return call_insert(vectors, table, spread, key);
    }
    let (line, choice, probes) = (Shape::whole(table.len(), spread).line(key), choice(key), spread.probes());
    if probes == 8 {
        return if spread.straddles() {
            vectors.set_halves_inline(halves_mut(table, line, key), choice)
        } else {
            vectors.set_inline(&mut table[line], choice)
        };
    }
    vectors.set_lanes_inline(&mut table[line], choice, window(probes, choice))
}

/// [`insert`], likewise.
#[inline(never)]
fn call_insert(vectors: Lines, table: &mut [Line], spread: Spread, key: KeyHash) -> bool {
    vectors.run(
        table,
        spread,
        key,
        #[inline(always)]
        |vectors, table, spread, key| set(vectors, table, Shape::whole(table.len(), spread), key),
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
    if let Some(batch) = shape.batch(KeyRange::whole(keys), shape.ahead_of_lookups(vectors))
        && vectors.test_batch(table, batch, answers)
    {
        (keys, answers) = (keys.as_chunks::<8>().1, answers.as_chunks_mut::<8>().1);
    }
    match shape.spread.probes() {
        _ if shape.spread.straddles() => test_all::<STRADDLING>(vectors, table, shape, keys, answers),
        ..8 => test_all::<LANES>(vectors, table, shape, keys, answers),
        8 => test_all::<LINE>(vectors, table, shape, keys, answers),
        _ => test_all::<PAIR>(vectors, table, shape, keys, answers),
    }
}

/// [`insert`] for every key; says how often it was true. All keys have their lines in `table`.
pub(super) fn insert_all(vectors: Lines, table: &mut [Line], shape: Shape, range: KeyRange<'_>) -> u64 {
    let mut keys = range.keys();
    let mut new = 0;
    if keys.len() >= 8
        && let Some(batch) = shape.batch(range, vectors.ahead(shape.lines))
        && let Some(new_of_eights) = vectors.set_batch(table, batch)
    {
        (keys, new) = (keys.as_chunks::<8>().1, new_of_eights);
    }
    new + match shape.spread.probes() {
        _ if shape.spread.straddles() => set_all::<STRADDLING>(vectors, table, shape, keys),
        ..8 => set_all::<LANES>(vectors, table, shape, keys),
        8 => set_all::<LINE>(vectors, table, shape, keys),
        _ => set_all::<PAIR>(vectors, table, shape, keys),
    }
}

// The spreads, told apart once for a whole batch. Each loop below becomes a function of its own for each, small enough to
// keep in registers what it needs.
const LANES: u32 = 0;
const LINE: u32 = 1;
const STRADDLING: u32 = 2;
const PAIR: u32 = 3;

/// The same shape, of which the compiler knows what was told.
#[inline(always)]
fn told<const SPREAD: u32>(shape: Shape) -> Shape {
    match SPREAD {
        LINE => Shape { spread: Spread::LINE, ..shape },
        STRADDLING => Shape { spread: Spread::STRADDLING, ..shape },
        _ => shape,
    }
}

/// Asks for the lines of eight keys.
#[inline(always)]
fn fetch<const SPREAD: u32>(table: &[Line], shape: Shape, eight: &[KeyHash; 8]) {
    for &key in eight {
        let line = shape.line(key);
        let fetch = |line: usize| prefetch_at(table.as_flattened(), line.wrapping_mul(size_of::<Line>()));
        fetch(line);
        match SPREAD {
            STRADDLING => fetch(lower(line, key)),
            PAIR => fetch(line ^ 1),
            _ => {}
        }
    }
}

fn test_all<const SPREAD: u32>(vectors: Lines, table: &[Line], shape: Shape, keys: &[KeyHash], answers: &mut [bool]) {
    vectors.run(
        (table, shape),
        keys,
        answers,
        #[inline(always)]
        |vectors, (table, shape), keys, answers| {
            let shape = told::<SPREAD>(shape);
            let (eights, rest) = keys.as_chunks::<8>();
            let (eight_answers, rest_answers) = answers.as_chunks_mut::<8>();
            let ahead = shape.ahead_of_lookups(vectors);
            eights.iter().take(ahead).for_each(|eight| fetch::<SPREAD>(table, shape, eight));
            for (index, (eight, answers)) in eights.iter().zip(eight_answers).enumerate() {
                if ahead > 0
                    && let Some(soon) = eights.get(index + ahead)
                {
                    fetch::<SPREAD>(table, shape, soon);
                }
                for (&key, answer) in eight.iter().zip(answers) {
                    *answer = test(vectors, table, shape, key);
                }
            }
            for (&key, answer) in rest.iter().zip(rest_answers) {
                *answer = test(vectors, table, shape, key);
            }
        },
    );
}

fn set_all<const SPREAD: u32>(vectors: Lines, table: &mut [Line], shape: Shape, keys: &[KeyHash]) -> u64 {
    vectors.run(
        table,
        shape,
        keys,
        #[inline(always)]
        |vectors, table, shape, keys| {
            let shape = told::<SPREAD>(shape);
            let (eights, rest) = keys.as_chunks::<8>();
            let ahead = vectors.ahead(shape.lines);
            eights.iter().take(ahead).for_each(|eight| fetch::<SPREAD>(table, shape, eight));
            let mut new = 0;
            for (index, eight) in eights.iter().enumerate() {
                if let Some(soon) = eights.get(index + ahead) {
                    fetch::<SPREAD>(table, shape, soon);
                }
                for &key in eight {
                    new += u64::from(set(vectors, table, shape, key));
                }
            }
            for &key in rest {
                new += u64::from(set(vectors, table, shape, key));
            }
            new
        },
    )
}
