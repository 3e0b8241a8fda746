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
    vectors.test(&table[shape.line(key) ^ 1], choice, Pattern::window(shape.spread.windows(), choice))
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
    new | vectors.set(&mut table[line ^ 1], choice, Pattern::window(shape.spread.windows(), choice))
}

/// Whether all bits of `key` are set.
///
/// Each condition, here and below, is settled before a loop over keys, and what follows it becomes a short loop of its own: the
/// fewer instructions a key has, the more keys a processor has under way, and the more lines it waits for at once.
#[inline(always)]
pub(super) fn contains(vectors: Lines, table: &[Line], spread: Spread, key: KeyHash) -> bool {
    if vectors.is_wide() {
        return contains_inline(vectors, table, spread, key);
    }
    if vectors.is_narrow() {
        return contains_inline(vectors, table, spread, key);
    }
    call_contains(vectors, table, spread, key)
}

#[inline(always)]
fn contains_inline(vectors: Lines, table: &[Line], spread: Spread, key: KeyHash) -> bool {
    let (line, choice) = (Shape::whole(table.len(), spread).line(key), choice(key));
    if spread.is_line() {
        return vectors.test_inline(&table[line], choice);
    }
    if spread.patterned() {
        return vectors.test_pattern_inline(&table[line], choice, Pattern::of_nine(key));
    }
    if spread.is_window() {
        return vectors.test_pattern_inline(&table[line], choice, Pattern::window(spread.windows(), choice));
    }
    if spread.is_pair() {
        let buddy = buddy_choice(key);
        let window = Pattern::window(spread.windows(), buddy);
        return vectors.test_inline(&table[line], choice)
            && vectors.test_pattern_inline(&table[line ^ 1], buddy, window);
    }
    call_contains(vectors, table, spread, key)
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

/// Sets all bits of `key`. True if one was not set. Its conditions are as those of [`contains`].
#[inline(always)]
pub(super) fn insert(vectors: Lines, table: &mut [Line], spread: Spread, key: KeyHash) -> bool {
    if vectors.is_wide() {
        return insert_inline(vectors, table, spread, key);
    }
    if vectors.is_narrow() {
        return insert_inline(vectors, table, spread, key);
    }
    call_insert(vectors, table, spread, key)
}

#[inline(always)]
fn insert_inline(vectors: Lines, table: &mut [Line], spread: Spread, key: KeyHash) -> bool {
    let (line, choice) = (Shape::whole(table.len(), spread).line(key), choice(key));
    if spread.is_line() {
        return vectors.set_inline(&mut table[line], choice);
    }
    if spread.patterned() {
        return vectors.set_pattern_inline(&mut table[line], choice, Pattern::of_nine(key));
    }
    if spread.is_window() {
        return vectors.set_pattern_inline(&mut table[line], choice, Pattern::window(spread.windows(), choice));
    }
    if spread.is_pair() {
        let buddy = buddy_choice(key);
        let window = Pattern::window(spread.windows(), buddy);
        return vectors.set_inline(&mut table[line], choice)
            | vectors.set_pattern_inline(&mut table[line ^ 1], buddy, window);
    }
    call_insert(vectors, table, spread, key)
}

/// [`insert`] as a call into vector code.
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
