use super::Found;
use super::skeleton::Bits;
use super::values::{self, Width};

/// Where keys end and what they hold, taken as nodes come breadth-first, given back in the order of ids: of leaves, of the
/// root, of inner nodes.
pub(super) struct Ends {
    width: Width,
    leaves: Held,
    inners: Held,
    /// Which inner nodes are ends of keys, the root first.
    terminals: Bits,
}

#[derive(Default)]
struct Held {
    values: Packed,
    deleted: Bits,
}

/// The parts of a trie that say what its keys hold.
pub(super) struct EndParts {
    pub(super) keys: u64,
    pub(super) terminals: Vec<u8>,
    pub(super) values: Vec<u8>,
    pub(super) deleted: Vec<u8>,
}

impl Ends {
    /// Values have at most `width` bits.
    pub(super) fn new(width: Width, root: Option<Found>) -> Self {
        let mut ends = Self { width, leaves: Held::default(), inners: Held::default(), terminals: Bits::default() };
        ends.push(true, root);
        ends
    }

    pub(super) fn width(&self) -> Width {
        self.width
    }

    /// The next node.
    #[inline(always)]
    pub(super) fn push(&mut self, inner: bool, terminal: Option<Found>) {
        let held = if inner { &mut self.inners } else { &mut self.leaves };
        if let Some(found) = terminal {
            held.values.push(found.value().unwrap_or(0), self.width);
            held.deleted.push(found == Found::Deleted);
        }
        if inner {
            self.terminals.push(terminal.is_some());
        }
    }

    pub(super) fn finish(self) -> EndParts {
        let Self { width, mut leaves, inners, terminals } = self;
        let count = inners.deleted.len();
        let values = inners.values.finish();
        for i in 0..count {
            leaves.values.push(width.get(&values, i as u64), width);
            leaves.deleted.push(inners.deleted.get(i));
        }
        let keys = leaves.deleted.len() as u64;
        let any_deleted = leaves.deleted.ones() > 0;
        let mut values = leaves.values.finish();
        values.truncate(width.bytes(keys) as usize);
        EndParts {
            keys,
            terminals: values::terminals(&terminals),
            values,
            deleted: if any_deleted { leaves.deleted.to_bytes() } else { vec![] },
        }
    }
}

/// Values of one width, one after the other.
#[derive(Default)]
struct Packed {
    bytes: Vec<u8>,
    /// The bits behind `bytes`, fewer than 32.
    word: u64,
    bits: u32,
}

impl Packed {
    #[inline(always)]
    fn push(&mut self, value: u32, width: Width) {
        self.word |= u64::from(value) << self.bits;
        self.bits += width.bits();
        if self.bits >= 32 {
            self.bytes.extend((self.word as u32).to_le_bytes());
            self.word >>= 32;
            self.bits -= 32;
        }
    }

    /// With a few zeros behind them.
    fn finish(mut self) -> Vec<u8> {
        self.bytes.extend(self.word.to_le_bytes());
        self.bytes
    }
}
