//! The bits of a key, tested and set.

use super::spread::Spread;
use crate::bits::arch::{Half, Line, Lines, Pattern, straddle};
use crate::bits::scale;
use crate::filter::probes::MULTIPLIER;
use crate::hash::KeyHash;

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

/// The line of the lower lanes of a key that may straddle.
#[inline(always)]
pub(super) fn lower(line: usize, key: KeyHash) -> usize {
    line ^ straddle(key)
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
pub(super) fn test(vectors: Lines, table: &[Line], shape: Shape, key: KeyHash) -> bool {
    let (line, choice) = (shape.line(key), choice(key));
    if shape.spread.straddles() {
        return vectors.test_halves(halves(table, line, key), choice);
    }
    vectors.test(&table[line], choice, shape.spread.pattern(key, choice))
        && (!shape.spread.is_of_pairs() || test_rest(vectors, table, shape, key))
}

/// [`test`] of the bits in the neighbour, where all keys have some there.
#[inline(always)]
fn test_rest(vectors: Lines, table: &[Line], shape: Shape, key: KeyHash) -> bool {
    let choice = buddy_choice(key);
    vectors.test(&table[shape.line(key) ^ 1], choice, Pattern::window(shape.spread.probes() - 8, choice))
}

#[inline(always)]
pub(super) fn set(vectors: Lines, table: &mut [Line], shape: Shape, key: KeyHash) -> bool {
    let (line, choice) = (shape.line(key), choice(key));
    if shape.spread.straddles() {
        return vectors.set_halves(halves_mut(table, line, key), choice);
    }
    let new = vectors.set(&mut table[line], choice, shape.spread.pattern(key, choice));
    if !shape.spread.is_of_pairs() {
        return new;
    }
    let choice = buddy_choice(key);
    new | vectors.set(&mut table[line ^ 1], choice, Pattern::window(shape.spread.probes() - 8, choice))
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
    if spread.has_pattern() {
        return vectors.test_pattern_inline(&table[line], choice, spread.pattern(key, choice));
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
    if !vectors.inlines() || (spread.is_of_pairs() && !spread.straddles()) {
        return call_insert(vectors, table, spread, key);
    }
    let (line, choice) = (Shape::whole(table.len(), spread).line(key), choice(key));
    if spread.is_line() {
        return vectors.set_inline(&mut table[line], choice);
    }
    if spread.straddles() {
        return vectors.set_halves_inline(halves_mut(table, line, key), choice);
    }
    vectors.set_pattern_inline(&mut table[line], choice, spread.pattern(key, choice))
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
