/// A sorter for the branches of a node, by their first bytes. It is stable: branches with equal bytes keep their order.
#[derive(Default)]
pub(super) struct Order {
    /// The branches, each as 2²⁴ · byte + index, so that sorting these numbers is stable.
    items: Vec<u32>,
}

/// At most this many branches are sorted by counting: for each branch, the number of smaller branches is its place.
/// This needs no conditional jumps that the processor could not predict.
const COUNTED: usize = 16;

impl Order {
    pub(super) fn clear(&mut self) {
        self.items.clear();
    }

    /// Adds the next branch, which begins with `byte`.
    #[inline(always)]
    pub(super) fn push(&mut self, byte: u8) {
        self.items.push(u32::from(byte) << 24 | self.items.len() as u32);
    }

    /// Returns the branches sorted by their first bytes, as they are stored: 2²⁴ · byte + index.
    #[inline(always)]
    pub(super) fn ascending(&mut self) -> &[u32] {
        let count = self.items.len();
        if count > COUNTED {
            self.items.sort_unstable();
            return &self.items;
        }
        if let [first, second] = *self.items {
            (self.items[0], self.items[1]) = (first.min(second), first.max(second));
            return &self.items;
        }
        let mut all = [u32::MAX; COUNTED];
        all[..count].copy_from_slice(&self.items);
        let mut smaller = [0u32; COUNTED];
        for &item in &self.items {
            for (smaller, &other) in smaller.iter_mut().zip(&all) {
                *smaller += u32::from(item < other);
            }
        }
        for (&place, &item) in smaller.iter().zip(&all[..count]) {
            self.items[place as usize] = item;
        }
        &self.items
    }

    #[inline(always)]
    pub(super) fn index(item: u32) -> usize {
        (item & 0xFF_FFFF) as usize
    }

    #[inline(always)]
    pub(super) fn same_byte(item: u32, other: u32) -> bool {
        (item ^ other) >> 24 == 0
    }
}
