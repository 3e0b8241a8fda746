use std::mem::MaybeUninit;

use super::super::{KeyRange, Line, Lines, Pattern, Pile};
use super::{LineBatch, Placing};
use crate::bits::{least_of, scale};
use crate::hash::KeyHash;

/// All ways have but the portable one, which is the last.
fn has_batches(way: Lines) -> bool {
    Lines::each().last() != Some(way)
}

fn batch(keys: KeyRange<'_>, lines: usize, first: usize, placing: Placing) -> LineBatch<'_> {
    LineBatch { keys, lines, first, multiplier: MULTIPLIER, placing, windows: Pattern::windows(LANES), ahead: 0 }
}

const PLACINGS: [Placing; 5] = [Placing::Line, Placing::Window, Placing::Straddling, Placing::Nine, Placing::Pair];

fn is_of_pairs(placing: Placing) -> bool {
    matches!(placing, Placing::Straddling | Placing::Pair)
}

/// What batches do, word by word.
struct Plain {
    table: Vec<Line>,
    placing: Placing,
}

const MULTIPLIER: u64 = 0x5851_F42D_4C95_7F2D;

/// How many lanes a window has.
const LANES: u32 = 3;

impl Plain {
    fn bits(&self, key: KeyHash) -> Vec<(usize, usize)> {
        let line = scale(key.get(), self.table.len());
        let straddles = self.placing == Placing::Straddling && key.get() / 64 % 4 == 3;
        let lower = if straddles { line ^ 1 } else { line };
        let choice = key.get().wrapping_mul(MULTIPLIER);
        let window = |choice| Pattern::window(Pattern::windows(LANES), choice);
        let pattern = match self.placing {
            Placing::Nine => Pattern::of_nine(key),
            Placing::Window => window(choice),
            Placing::Line | Placing::Straddling | Placing::Pair => &Pattern::LINE,
        };
        let bits = |pattern: &Pattern, choice, place: &dyn Fn(usize) -> usize| {
            let turned = pattern.turned(choice);
            let bits = (0..512).filter(|bit| turned[bit / 64] >> (bit % 64) & 1 == 1);
            bits.map(|bit| (place(bit / 64), bit)).collect::<Vec<_>>()
        };
        let mut all = bits(pattern, choice, &|lane| if lane < 4 { lower } else { line });
        if self.placing == Placing::Pair {
            let choice = choice.wrapping_mul(MULTIPLIER);
            all.extend(bits(window(choice), choice, &|_| line ^ 1));
        }
        all
    }

    fn test(&self, key: KeyHash) -> bool {
        self.bits(key).into_iter().all(|(line, bit)| self.table[line][bit / 8] >> (bit % 8) & 1 == 1)
    }

    fn set(&mut self, key: KeyHash) -> bool {
        let new = !self.test(key);
        self.bits(key).into_iter().for_each(|(line, bit)| self.table[line][bit / 8] |= 1 << (bit % 8));
        new
    }
}

#[test]
fn batches_equal_their_keys_one_by_one() {
    let random = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xD129_0DAC_6E5A_42B5);
    let keys: Vec<KeyHash> = [0, u64::MAX, 0].into_iter().chain((0..700).map(random)).map(KeyHash::new).collect();
    let lengths = (0..150).chain([keys.len()]);
    let kinds: Vec<_> = Lines::each().flat_map(|way| PLACINGS.map(|placing| (way, placing))).collect();
    for (len, &(way, placing)) in lengths.flat_map(|len| kinds.iter().map(move |kind| (len, kind))) {
        // With few lines all bits are set, with many hardly any.
        for lines in [0, 1, 2, 3, 40, 400] {
            let has_batches = has_batches(way) && lines > 0 && (!is_of_pairs(placing) || lines % 2 == 0);
            let context = format!("{way:?}, {placing:?}, {lines}, {len}");
            let batch = |keys, ahead| LineBatch { ahead, ..batch(KeyRange::whole(keys), lines, 0, placing) };
            let mut plain = Plain { table: vec![[0; 64]; lines], placing };
            let mut table = plain.table.clone();
            let told = way.set_batch(&mut table, batch(&keys[..len], 0));
            assert_eq!(told.is_some(), has_batches, "{context}");
            let Some(told) = told else {
                assert!(!way.test_batch(&table, batch(&keys, 0), &mut [false; 703]), "{context}");
                continue;
            };
            // Whole groups of eight; the rest is left alone.
            let new = keys[..len / 8 * 8].iter().filter(|&&key| plain.set(key)).count();
            assert_eq!(new as u64, told, "{context}");
            assert!(plain.table == table, "{context}");
            let eights = keys.len() / 8 * 8;
            let asked = keys[..eights].iter().map(|&key| plain.test(key));
            let expected: Vec<bool> = asked.chain(keys[eights..].iter().map(|_| false)).collect();
            for ahead in [0, 1, 12, 100] {
                let mut answers = [false; 703];
                assert!(way.test_batch(&table, batch(&keys, ahead), &mut answers), "{context}");
                assert_eq!(answers[..], expected, "{context}");
            }
        }
    }
}

#[test]
fn a_part_of_a_table_takes_the_keys_of_its_lines_and_no_others() {
    let keys: Vec<KeyHash> = (0..900u64).map(|i| KeyHash::new(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    let way = Lines::detect();
    if !has_batches(way) {
        return;
    }
    for placing in PLACINGS {
        let (step, firsts) = if is_of_pairs(placing) { (2, [2, 24, 48]) } else { (1, [1, 25, 49]) };
        for first in firsts {
            let mut parts = vec![[0; 64]; 50];
            let (left, right) = parts.split_at_mut(first);
            let bound = least_of(first, 50);
            let mut rooms = [[MaybeUninit::uninit(); 900]; 2];
            let [low_room, high_room] = &mut rooms;
            let (mut low, mut high) = (Pile::new(low_room, [0, bound - 1]), Pile::new(high_room, [bound, u64::MAX]));
            KeyRange::whole(&keys).split(way, &mut low, &mut high);
            let (low, high) = (low.keys(), high.keys());
            let after = first + step;
            for (first, keys) in [(0, high), (first, low), (after, high)] {
                let part = if first == 0 { &mut *left } else { &mut *right };
                assert_eq!(way.set_batch(part, batch(keys, 50, first, placing)), None, "{first}");
                assert!(!way.test_batch(part, batch(keys, 50, first, placing), &mut [false; 900]), "{first}");
            }
            let told = [
                way.set_batch(left, batch(low, 50, 0, placing)),
                way.set_batch(right, batch(high, 50, first, placing)),
            ];
            let mut plain = Plain { table: vec![[0; 64]; 50], placing };
            let eights = [low, high].into_iter().flat_map(|side| side.keys().as_chunks::<8>().0.as_flattened());
            let new = eights.filter(|&&key| plain.set(key)).count();
            assert_eq!(told.into_iter().sum::<Option<u64>>(), Some(new as u64), "{first}");
            assert!(parts == plain.table, "{first}");
        }
    }
    // Half a pair is no table for keys with bits in two lines.
    let mut odd = vec![[0; 64]; 49];
    let halves = [(0, 0), (49, u64::MAX)];
    for (placing, (first, key)) in [Placing::Straddling, Placing::Pair].into_iter().flat_map(|p| halves.map(|h| (p, h)))
    {
        let keys = [KeyHash::new(key); 8];
        let mut rooms = [[MaybeUninit::uninit(); 8]; 2];
        let [low_room, high_room] = &mut rooms;
        let bound = least_of(49, 98);
        let (mut low, mut high) = (Pile::new(low_room, [0, bound - 1]), Pile::new(high_room, [bound, u64::MAX]));
        KeyRange::whole(&keys).split(way, &mut low, &mut high);
        let side = if first == 0 { low } else { high };
        assert_eq!(side.len(), 8);
        assert_eq!(way.set_batch(&mut odd, batch(side.keys(), 98, first, placing)), None);
    }
}
