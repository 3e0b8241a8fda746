//! What one thread is about to set in a filter that several fill.

/// How many parts a shared filter has, each with a lock.
pub(super) const PARTS: usize = 128;

/// How many bits a thread gathers for a part before it sets them: what threads wait for is lines that another one has
/// changed last, a part's lock among them, so that many bits at a time are to make up for a line.
const GATHERED: usize = 1024;

/// With a cache line more: the ends of rows that fill alike do not fall on the same sets of a cache.
const ROW: usize = GATHERED + 16;

/// Bits of a part are told apart by so many bits at most.
pub(super) const MAX_PART_BITS: u32 = u32::BITS;

/// Where the row of each part begins.
const STARTS: [u32; PARTS] = {
    let mut starts = [0; PARTS];
    let mut part = 1;
    while part < PARTS {
        starts[part] = starts[part - 1] + ROW as u32;
        part += 1;
    }
    starts
};

/// Where it is full: in a table, as that takes fewer instructions for each bit than to compute it.
const LIMITS: [u32; PARTS] = {
    let mut limits = STARTS;
    let mut part = 0;
    while part < PARTS {
        limits[part] += GATHERED as u32;
        part += 1;
    }
    limits
};

/// The bits that a thread is about to set, by part.
pub(super) struct Gathered {
    /// One row for each part, one behind the other.
    rows: Box<[u32; PARTS * ROW]>,
    /// Where the bits of each end.
    ends: [u32; PARTS],
}

impl Gathered {
    /// Half a MiB.
    pub(super) fn new() -> Self {
        Self { rows: vec![0; PARTS * ROW].try_into().expect("as many as there are"), ends: STARTS }
    }

    /// Adds a bit of a part. True if there is no room for more of it: then they are to be [taken](Self::take).
    #[inline(always)]
    pub(super) fn push(&mut self, part: usize, bit: u32) -> bool {
        // The remainder is what it is without: it spares the compiler a check.
        let part = part % PARTS;
        let end = &mut self.ends[part];
        self.rows[*end as usize] = bit;
        *end += 1;
        *end == LIMITS[part]
    }

    /// The bits of a part, which has none then.
    pub(super) fn take(&mut self, part: usize) -> &[u32] {
        let start = STARTS[part];
        let end = std::mem::replace(&mut self.ends[part], start);
        &self.rows[start as usize..end as usize]
    }
}
