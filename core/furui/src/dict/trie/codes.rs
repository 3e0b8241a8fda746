use super::TrieError;
use super::intern::Interner;
use super::labels::{GROUP, ONES, place};
use super::room::{collected, filled, reserve};

/// The code of a label without its first byte: a class and, for one- and two-byte codes, the code itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) class: Class,
    pub(super) code: u16,
}

/// The class of a label's code, which says how many bytes the code has. It takes two bits in a block of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Empty = 0b00,
    One = 0b01,
    Two = 0b10,
    Record = 0b11,
}

impl Class {
    /// The length of a code of this class, in bytes.
    #[inline(always)]
    pub(super) fn code_len(self) -> usize {
        self as usize % 3
    }
}

impl Code {
    pub(super) const EMPTY: Self = Self { class: Class::Empty, code: 0 };
    pub(super) const RECORD: Self = Self { class: Class::Record, code: 0 };

    #[inline(always)]
    pub(super) fn one(code: u8) -> Self {
        Self { class: Class::One, code: u16::from(code) }
    }

    #[inline(always)]
    pub(super) fn two(code: u16) -> Self {
        Self { class: Class::Two, code }
    }
}

/// The assignment of short codes to frequent labels, and the places of the labels' texts.
pub(super) struct Codes {
    /// The code of each label, by the label's number.
    pub(super) of: Vec<Code>,
    /// The offset and the length of the text for every one-byte code, then for every [`GROUP`] two-byte codes, which
    /// have texts of equal length.
    pub(super) places: Vec<u8>,
    pub(super) texts: Vec<u8>,
}

/// The parts of a trie that hold the texts of its codes and of its tokens.
pub(super) struct Dictionary {
    pub(super) places: Vec<u8>,
    pub(super) texts: Vec<u8>,
    pub(super) tokens: Vec<u8>,
}

/// The maximum number of groups of two-byte codes, so that all two-byte codes have a group.
const MAX_GROUPS: usize = (1 << 16) / GROUP;

/// The maximum length of a label with a code, in bytes. Longer labels would fill the dictionary with small groups.
const MAX_CODED_LENGTH: usize = 128;

impl Codes {
    /// Gives one-byte codes to the 256 most frequent labels, and two-byte codes to the other labels that save most with
    /// a code.
    pub(super) fn choose(labels: &Interner) -> Result<Self, TrieError> {
        let mut of = filled(Code::RECORD, labels.len())?;
        let saving_of = |label| Some((saving(labels.get(label).len(), labels.count(label))?, label));
        let mut wanted: Vec<(u64, u32)> = collected((0..labels.len() as u32).filter_map(saving_of))?;
        // Labels with equal savings are ordered by number, so that equal skeletons are encoded as equal bytes.
        wanted.sort_unstable_by_key(|&(saving, label)| (std::cmp::Reverse(saving), label));
        if let Some(empty) = (0..labels.len() as u32).find(|&label| labels.get(label).is_empty()) {
            of[empty as usize] = Code::EMPTY;
        }
        let length = |label: u32| labels.get(label).len();
        // Labels are ordered by descending counts; labels with equal counts keep the order of savings.
        let counts = wanted.iter().enumerate().map(|(i, &(_, label))| (std::cmp::Reverse(labels.count(label)), i));
        let mut by_count: Vec<(std::cmp::Reverse<u32>, usize)> = collected(counts)?;
        if by_count.len() > ONES {
            by_count.select_nth_unstable(ONES);
            by_count.truncate(ONES);
        }
        by_count.sort_unstable();
        let mut ones: Vec<u32> = collected(by_count.into_iter().map(|(_, i)| wanted[i].1))?;
        for &label in &ones {
            of[label as usize] = Code::one(0);
        }
        let mut of_length = [0; MAX_CODED_LENGTH + 1];
        let mut groups = 0;
        let mut twos: Vec<u32> = vec![];
        for &(_, label) in wanted.iter().filter(|(_, label)| of[*label as usize] == Code::RECORD) {
            let same = &mut of_length[labels.get(label).len()];
            if *same % GROUP == 0 {
                if groups == MAX_GROUPS {
                    continue;
                }
                groups += 1;
            }
            *same += 1;
            reserve(&mut twos, 1)?;
            twos.push(label);
        }
        ones.sort_by_key(|&label| length(label));
        twos.sort_by_key(|&label| length(label));

        let (mut places, mut texts) = (vec![], vec![]);
        reserve(&mut places, (ONES + twos.len().div_ceil(GROUP) + MAX_CODED_LENGTH) * 8)?;
        reserve(&mut texts, ones.iter().chain(&twos).map(|&label| length(label)).sum())?;
        for (code, &label) in ones.iter().enumerate() {
            of[label as usize] = Code::one(code as u8);
            places.extend(place(texts.len(), length(label)).to_le_bytes());
            texts.extend_from_slice(labels.get(label));
        }
        places.resize(ONES * 8, 0);
        let mut code = 0;
        for same in twos.chunk_by(|&a, &b| length(a) == length(b)) {
            for group in same.chunks(GROUP) {
                places.extend(place(texts.len(), length(group[0])).to_le_bytes());
                for (code, &label) in (code..).zip(group) {
                    of[label as usize] = Code::two(code as u16);
                    texts.extend_from_slice(labels.get(label));
                }
                code += GROUP;
            }
        }
        if twos.is_empty() {
            places.truncate(ones.len() * 8);
        }
        Ok(Self { of, places, texts })
    }
}

/// An estimate of the number of bits that a two-byte code saves for a label of `length` bytes that occurs `count`
/// times; `None` if it saves nothing.
///
/// Without a code, the first occurrence of a label is a record of one byte and 12 bits for each 2.7 bytes of text. Each
/// further occurrence is another record, or a link of 5 bytes.
fn saving(length: usize, count: u32) -> Option<u64> {
    if !(1..=MAX_CODED_LENGTH).contains(&length) {
        return None;
    }
    let record = 8 + 9 * length as u64 / 2;
    let (again, code) = (record.min(40), 16);
    let saved = (record + again * (u64::from(count) - 1)).checked_sub(code * u64::from(count) + 8 * length as u64)?;
    (saved > 0).then_some(saved)
}
