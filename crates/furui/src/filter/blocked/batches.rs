//! The bits of many keys, tested and set: the loops in which a blocked filter spends its time.

use super::probing::{Shape, lower, set, test};
use crate::bits::arch::{KeyRange, Line, LineBatch, Lines, Placing, prefetch_at};
use crate::filter::probes::MULTIPLIER;
use crate::hash::KeyHash;

impl Shape {
    /// See [`Lines::ahead`].
    fn ahead(self, vectors: Lines) -> usize {
        vectors.ahead(self.lines, self.placing())
    }

    /// What a batch is to know of the spread.
    fn placing(self) -> Placing {
        match self.spread.probes() {
            _ if self.spread.straddles() => Placing::Straddling,
            _ if self.spread.patterned() => Placing::Nine,
            ..8 => Placing::Window,
            8 => Placing::Line,
            _ => Placing::Pair,
        }
    }

    /// The keys as a batch.
    fn batch(self, keys: KeyRange<'_>, ahead: usize) -> LineBatch<'_> {
        let Self { lines, first, spread } = self;
        LineBatch {
            keys,
            lines,
            first,
            multiplier: MULTIPLIER,
            placing: self.placing(),
            windows: spread.windows(),
            ahead,
        }
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
    if vectors.test_batch(table, shape.batch(KeyRange::whole(keys), shape.ahead(vectors)), answers) {
        (keys, answers) = (keys.as_chunks::<8>().1, answers.as_chunks_mut::<8>().1);
    }
    test_all(vectors, table, shape, keys, answers);
}

/// [`insert`](super::probing::insert) for every key; says how often it was true. All keys have their lines in `table`.
pub(super) fn insert_all(vectors: Lines, table: &mut [Line], shape: Shape, range: KeyRange<'_>) -> u64 {
    let mut keys = range.keys();
    let mut new = 0;
    if keys.len() >= 8
        && let Some(new_of_eights) = vectors.set_batch(table, shape.batch(range, shape.ahead(vectors)))
    {
        (keys, new) = (keys.as_chunks::<8>().1, new_of_eights);
    }
    new + set_all(vectors, table, shape, keys)
}

/// Asks for the lines of eight keys.
#[inline(always)]
fn fetch(table: &[Line], shape: Shape, eight: &[KeyHash; 8]) {
    for &key in eight {
        let line = shape.line(key);
        let fetch = |line: usize| prefetch_at(table.as_flattened(), line.wrapping_mul(size_of::<Line>()));
        fetch(line);
        if shape.spread.straddles() {
            fetch(lower(line, key));
        } else if shape.spread.is_pair() {
            fetch(line ^ 1);
        }
    }
}

fn test_all(vectors: Lines, table: &[Line], shape: Shape, keys: &[KeyHash], answers: &mut [bool]) {
    vectors.run(
        (table, shape),
        keys,
        answers,
        #[inline(always)]
        |vectors, (table, shape), keys, answers| {
            let (eights, rest) = keys.as_chunks::<8>();
            let (eight_answers, rest_answers) = answers.as_chunks_mut::<8>();
            let ahead = shape.ahead(vectors);
            eights.iter().take(ahead).for_each(|eight| fetch(table, shape, eight));
            for (index, (eight, answers)) in eights.iter().zip(eight_answers).enumerate() {
                if ahead > 0
                    && let Some(soon) = eights.get(index + ahead)
                {
                    fetch(table, shape, soon);
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

fn set_all(vectors: Lines, table: &mut [Line], shape: Shape, keys: &[KeyHash]) -> u64 {
    vectors.run(
        table,
        shape,
        keys,
        #[inline(always)]
        |vectors, table, shape, keys| {
            let (eights, rest) = keys.as_chunks::<8>();
            let ahead = shape.ahead(vectors);
            eights.iter().take(ahead).for_each(|eight| fetch(table, shape, eight));
            let mut new = 0;
            for (index, eight) in eights.iter().enumerate() {
                if ahead > 0
                    && let Some(soon) = eights.get(index + ahead)
                {
                    fetch(table, shape, soon);
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
