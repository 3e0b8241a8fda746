use std::array::from_fn;

use crate::hash::KeyHash;

/// The bits of a key in a line, lane by lane, before each lane is turned (rotated) by as much as the key's choice says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Pattern(pub(crate) [u64; 8]);

/// How many patterns there are of nine bits.
const NINES: usize = 128;

/// How many lanes of a pattern of nine bits have none.
const EMPTY: usize = 3;

/// Which lanes have none, in every eighth of the patterns of nine bits; those after each are it with the lanes turned. Sixteen
/// of the 35 ways to choose three lanes of seven: of those in which two lanes have bits at once about as often, whichever two
/// they are.
const EMPTY_LANES: [[usize; EMPTY]; NINES / 8] = [
    [1, 2, 3],
    [1, 2, 5],
    [1, 2, 6],
    [1, 3, 7],
    [1, 4, 5],
    [1, 4, 6],
    [1, 4, 7],
    [1, 5, 6],
    [1, 5, 7],
    [1, 6, 7],
    [2, 3, 4],
    [2, 3, 5],
    [2, 5, 6],
    [3, 4, 6],
    [3, 5, 6],
    [3, 5, 7],
];

static OF_NINE: [Pattern; NINES] = of_nine();

/// Windows of 0 to 8 lanes, from each lane on.
static WINDOWS: [[Pattern; 8]; 9] = windows();

impl Pattern {
    /// A bit in each lane.
    pub(crate) const LINE: Self = Self([1; 8]);

    /// A bit in each of `lanes` lanes in a row, 8 at most, from each lane on.
    #[inline(always)]
    pub(crate) fn windows(lanes: u32) -> &'static [Self; 8] {
        &WINDOWS[lanes.min(8) as usize]
    }

    /// Of these [`windows`](Self::windows) the one that three bits of the choice say.
    #[inline(always)]
    pub(crate) fn window(windows: &'static [Self; 8], choice: u64) -> &'static Self {
        &windows[(choice >> 13) as usize & 7]
    }

    /// Two bits in each of four lanes and one in a fifth: how, seven bits of the key say.
    #[inline(always)]
    pub(crate) fn of_nine(key: KeyHash) -> &'static Self {
        &OF_NINE[(key.get() >> 6) as usize & (NINES - 1)]
    }

    /// All patterns that [`of_nine`](Self::of_nine) can say, each as often as any.
    pub(crate) fn all_of_nine() -> &'static [Self] {
        &OF_NINE
    }

    /// The bits of a lane where the key's choice says these.
    #[inline(always)]
    pub(crate) fn turned(&self, choice: u64) -> [u64; 8] {
        from_fn(|lane| self.0[lane].rotate_left((choice >> (16 + 6 * lane)) as u32 & 63))
    }
}

const fn of_nine() -> [Pattern; NINES] {
    let mut patterns = [Pattern([0; 8]); NINES];
    let (mut base, mut distance) = (0, 0);
    while base < EMPTY_LANES.len() {
        let mut lane = 0;
        while lane < 8 {
            let [a, b, c] = EMPTY_LANES[base];
            let word = if lane == 0 {
                1
            } else if lane == a || lane == b || lane == c {
                0
            } else {
                // Each distance of two bits in a lane as often as any.
                distance = distance % 31 + 1;
                1 | 1 << distance
            };
            let mut turn = 0;
            while turn < 8 {
                patterns[8 * base + turn].0[(lane + turn) % 8] = word;
                turn += 1;
            }
            lane += 1;
        }
        base += 1;
    }
    patterns
}

const fn windows() -> [[Pattern; 8]; 9] {
    let mut windows = [[Pattern([0; 8]); 8]; 9];
    let mut lanes = 0;
    while lanes < 9 {
        let mut first = 0;
        while first < 8 {
            let mut i = 0;
            while i < lanes {
                windows[lanes][first].0[(first + i) % 8] = 1;
                i += 1;
            }
            first += 1;
        }
        lanes += 1;
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_nine_have_each_pair_of_bits_about_as_often() {
        let patterns = Pattern::all_of_nine();
        assert!(patterns.iter().all(|pattern| pattern.0.iter().map(|word| word.count_ones()).sum::<u32>() == 9));
        assert_eq!(patterns.iter().map(|pattern| pattern.0[0].count_ones()).sum::<u32>(), 9 * 128 / 8);
        // How often bits x and y are a key's, in 128 patterns and all turns of their lanes: 1.13 of 4096 for a random pair.
        for (a, b) in (0..8).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let both: u32 = patterns.iter().map(|pattern| pattern.0[a].count_ones() * pattern.0[b].count_ones()).sum();
            assert!((140..=150).contains(&both), "lanes {a} and {b}: {both} of 128 x 4096");
        }
        for (lane, distance) in (0..8).flat_map(|lane| (1..32).map(move |distance| (lane, distance))) {
            let both = patterns.iter().filter(|pattern| pattern.0[lane] == 1 | 1 << distance).count();
            assert!((2..=3).contains(&both), "lane {lane}, distance {distance}: {both}");
        }
    }

    #[test]
    fn windows_are_lanes_in_a_row() {
        assert_eq!(*Pattern::window(Pattern::windows(8), 3 << 13), Pattern::LINE);
        assert_eq!(Pattern::window(Pattern::windows(3), 6 << 13).0, [1, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(Pattern::window(Pattern::windows(0), 6 << 13).0, [0; 8]);
    }
}
