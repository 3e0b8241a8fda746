/// The factors of [`PolynomialHashes`]: primes near the size of the alphabet, from the 131 of Koyanagi et al. on.
const PRIMES: [u64; 8] = [131, 137, 139, 149, 151, 157, 163, 167];

/// The hash of the paper of Koyanagi et al. (2011), from which [`Rolling`](super::Rolling) was developed: `K` states,
/// at most 8, each with its own prime, and no seed. Each state gives a position modulo the number of bits of a filter.
///
/// A dictionary has filters of such hashes if its [`FilterHash`](crate::dict::FilterHash) says so. One state with
/// double hashing is faster, takes 8 bytes instead of 8 · `K` for each path of a walk, and does not confuse short keys
/// whose bytes are larger than the primes.
///
/// ```
/// use furui::raw::PolynomialHashes;
///
/// let hashes = PolynomialHashes::<2>::start().push(1).push(2);
/// assert_eq!(hashes.hashes(), &[131 + 2, 137 + 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolynomialHashes<const K: usize>([u64; K]);

impl<const K: usize> PolynomialHashes<K> {
    /// The number by which [`push`](Self::push) multiplies each state: a prime of its own. That of the first state is
    /// the 131 of Koyanagi et al.
    pub const PRIMES: [u64; K] = {
        assert!(K <= PRIMES.len(), "there are 8 primes");
        let mut primes = [0; K];
        let mut i = 0;
        while i < K {
            primes[i] = PRIMES[i];
            i += 1;
        }
        primes
    };

    /// The states of the empty key, which are 0. Every key that has only zero bytes has the same states.
    #[inline]
    pub const fn start() -> Self {
        Self([0; K])
    }

    /// The states after the key is continued by one more byte.
    #[inline(always)]
    #[must_use]
    pub fn push(self, byte: u8) -> Self {
        Self(std::array::from_fn(|i| self.0[i].wrapping_mul(Self::PRIMES[i]).wrapping_add(u64::from(byte))))
    }

    /// The values of the `K` polynomials for the bytes so far. The caller takes them modulo the number of bits of its
    /// filter.
    #[inline(always)]
    pub const fn hashes(&self) -> &[u64; K] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_hashes_are_polynomials() {
        let state = b"ab".iter().fold(PolynomialHashes::<2>::start(), |state, &byte| state.push(byte));
        assert_eq!(state.hashes(), &[97 * 131 + 98, 97 * 137 + 98]);
    }
}
