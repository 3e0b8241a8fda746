/// Random numbers that a seed determines: SplitMix64.
pub struct Random(u64);

impl Random {
    /// The random numbers for one damage of a run. They do not depend on earlier damages, so each damage can be
    /// repeated by itself.
    pub fn new(seed: u64, index: usize) -> Self {
        let mut random = Self(seed);
        random.0 = random.next() ^ index as u64;
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
