const WORDS: usize = 624;

/// MT19937 (Matsumoto and Nishimura 1998), the generator of the paper's SBF.
pub(super) struct MersenneTwister {
    state: [u32; WORDS],
    next: usize,
}

impl MersenneTwister {
    pub(super) fn new(seed: u32) -> Self {
        let mut state = [seed; WORDS];
        for i in 1..WORDS {
            let last = state[i - 1];
            state[i] = (last ^ (last >> 30)).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        Self { state, next: WORDS }
    }

    #[inline]
    pub(super) fn next(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9D2C_5680;
        word ^= (word << 15) & 0xEFC6_0000;
        word ^ (word >> 18)
    }

    fn twist(&mut self) {
        for i in 0..WORDS {
            let joined = (self.state[i] & 1 << 31) | (self.state[(i + 1) % WORDS] & !(1 << 31));
            let odd = if joined & 1 == 1 { 0x9908_B0DF } else { 0 };
            self.state[i] = self.state[(i + 397) % WORDS] ^ (joined >> 1) ^ odd;
        }
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the first value, and the 10,000th one, which the C++ standard demands of `mt19937`.
    #[test]
    fn it_is_mt19937() {
        let mut random = MersenneTwister::new(5489);
        assert_eq!(random.next(), 3_499_211_612);
        (2..10_000).for_each(|_| {
            random.next();
        });
        assert_eq!(random.next(), 4_123_659_995);
    }
}
