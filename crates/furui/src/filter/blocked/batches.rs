//! The bits of many keys, tested and set: the loops in which a blocked filter spends its time.

use super::probing::{Shape, lower, set, test};
use super::spread::Spread;
use crate::bits::arch::{KeyRange, Line, LineBatch, Lines, Placing, prefetch_at};
use crate::filter::probes::MULTIPLIER;
use crate::hash::KeyHash;

impl Shape {
    /// See [`Lines::ahead_of_lookups`].
    fn ahead_of_lookups(self, vectors: Lines) -> usize {
        vectors.ahead_of_lookups(self.lines, self.placing())
    }

    /// What a batch is to know of the spread, if there are batches of such keys.
    fn placing(self) -> Option<Placing> {
        match self.spread {
            Spread::LINE => Some(Placing::Line),
            Spread::STRADDLING => Some(Placing::Straddling),
            Spread::PATTERNED => Some(Placing::Nine),
            _ => None,
        }
    }

    /// The keys as a batch, if there are batches of such keys.
    fn batch(self, keys: KeyRange<'_>, ahead: usize) -> Option<LineBatch<'_>> {
        let Self { lines, first, .. } = self;
        self.placing().map(|placing| LineBatch { keys, lines, first, multiplier: MULTIPLIER, placing, ahead })
    }
}

/// [`contains`](super::probing::contains) for every key, in as many `answers`. All keys have their lines in `table`.
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
        _ if shape.spread.patterned() => test_all::<PATTERNED>(vectors, table, shape, keys, answers),
        ..8 => test_all::<LANES>(vectors, table, shape, keys, answers),
        8 => test_all::<LINE>(vectors, table, shape, keys, answers),
        _ => test_all::<PAIR>(vectors, table, shape, keys, answers),
    }
}

/// [`insert`](super::probing::insert) for every key; says how often it was true. All keys have their lines in `table`.
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
        _ if shape.spread.patterned() => set_all::<PATTERNED>(vectors, table, shape, keys),
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
const PATTERNED: u32 = 3;
const PAIR: u32 = 4;

/// The same shape, of which the compiler knows what was told.
#[inline(always)]
fn told<const SPREAD: u32>(shape: Shape) -> Shape {
    match SPREAD {
        LINE => Shape { spread: Spread::LINE, ..shape },
        STRADDLING => Shape { spread: Spread::STRADDLING, ..shape },
        PATTERNED => Shape { spread: Spread::PATTERNED, ..shape },
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
