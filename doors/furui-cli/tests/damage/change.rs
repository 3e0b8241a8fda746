//! Damages a file in one place.

use std::fmt;
use std::ops::Range;

use crate::damage::random::Random;
use crate::damage::repair::{is_journal, numbers, repair};

/// A way to damage a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One bit is flipped.
    Bit,
    /// 64 bytes are replaced by zeros.
    Zeros,
    /// The end is missing.
    Truncation,
    /// Bytes of another file are appended.
    Growth,
    /// Some bytes are replaced by bytes of another file.
    Splice,
    /// A number is replaced by another one.
    Number,
}

/// The kinds of damage, in turn. `true` means that the checksums are corrected afterwards.
const TURNS: [(Kind, bool); 10] = [
    (Kind::Bit, false),
    (Kind::Zeros, false),
    (Kind::Splice, false),
    (Kind::Number, true),
    (Kind::Truncation, false),
    (Kind::Bit, false),
    (Kind::Bit, true),
    (Kind::Growth, false),
    (Kind::Number, true),
    (Kind::Splice, true),
];

/// The maximum length of a piece of another file.
const PIECE: usize = 4096;

/// A change of a file.
pub struct Change {
    kind: Kind,
    /// True if the checksums were corrected, as an enemy might do, though no disk does.
    pub repaired: bool,
    /// The bytes of the changed file that differ from before.
    place: Range<usize>,
    /// The bytes of the changed file.
    pub file: Vec<u8>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, repaired, place, file } = self;
        let repaired = if *repaired { ", checksums repaired" } else { "" };
        write!(f, "{kind:?} at bytes {place:?}, {} bytes now{repaired}", file.len())
    }
}

impl Change {
    /// Makes a change of `file`. The kind of the change depends on `turn`. Pieces are taken from `other`.
    pub fn new(random: &mut Random, turn: usize, file: &[u8], other: &[u8]) -> Self {
        let (kind, repaired) = TURNS[turn % TURNS.len()];
        loop {
            let mut changed = file.to_vec();
            let place = kind.apply(random, &mut changed, other);
            // Zeros that replace zeros are no damage.
            if changed == file {
                continue;
            }
            if repaired {
                repair(&mut changed);
            }
            return Self { kind, repaired, place, file: changed };
        }
    }

    /// Makes a change that flips a bit of this byte, and corrects the checksums.
    pub fn repaired_bit(file: &[u8], at: usize) -> Self {
        let mut changed = file.to_vec();
        changed[at] ^= 1;
        repair(&mut changed);
        Self { kind: Kind::Bit, repaired: true, place: at..at + 1, file: changed }
    }
}

impl Kind {
    /// Changes the file, and returns the place of the change.
    fn apply(self, random: &mut Random, file: &mut Vec<u8>, other: &[u8]) -> Range<usize> {
        let length = file.len();
        let place = |random: &mut Random, file: &[u8], size: usize| {
            let room = file.len() - size + 1;
            // A file is mostly content, so its headers and tables get a fixed share of the changes.
            let numbers = numbers(file);
            let within =
                if numbers.is_empty() || random.below(4) > 0 { 0..room } else { random.pick(&numbers).clone() };
            let start = (within.start + random.below(within.len())).min(room - 1);
            start..start + size
        };
        match self {
            Self::Bit => {
                let place = place(random, file, 1);
                file[place.start] ^= 1 << random.below(8);
                place
            }
            Self::Zeros => {
                let place = place(random, file, 64);
                file[place.clone()].fill(0);
                place
            }
            Self::Truncation => {
                file.truncate(random.below(length));
                file.len()..file.len()
            }
            Self::Growth => {
                // Up to seven bytes at the end of a journal may be the beginning of a record.
                let least = if is_journal(file) { 8 } else { 1 };
                file.extend_from_slice(&other[..least + random.below(other.len().min(PIECE) - least)]);
                length..file.len()
            }
            Self::Splice => {
                let size = 1 + random.below(PIECE.min(length / 2).min(other.len() / 2));
                let place = place(random, file, size);
                // A piece from the same place of another file is the most likely to be taken for the original.
                let most = other.len() - size;
                let from = if random.below(2) == 0 { place.start.min(most) } else { random.below(most + 1) };
                file[place.clone()].copy_from_slice(&other[from..from + size]);
                place
            }
            Self::Number => {
                let Some(within) =
                    Some(numbers(file)).filter(|all| !all.is_empty()).map(|all| random.pick(&all).clone())
                else {
                    return Self::Bit.apply(random, file, other);
                };
                let size = *random.pick(&[2, 4, 8]);
                let start = within.start + random.below(within.len() / size) * size;
                let place = start..start + size;
                let mut old = [0; 8];
                old[..size].copy_from_slice(&file[place.clone()]);
                let old = u64::from_le_bytes(old);
                let (power, any) = (1u64 << random.below(64), random.next());
                let new = *random.pick(&[
                    0,
                    1,
                    u64::MAX,
                    power,
                    power - 1,
                    old.wrapping_add(1),
                    old.wrapping_sub(1),
                    old.wrapping_mul(2),
                    old / 2,
                    length as u64,
                    any,
                ]);
                file[place.clone()].copy_from_slice(&new.to_le_bytes()[..size]);
                place
            }
        }
    }
}
