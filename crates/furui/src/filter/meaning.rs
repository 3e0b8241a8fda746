use super::Mismatch;
use crate::hash::HashSpec;

/// How the bits of a filter are to be understood. Two filters go together if this is equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning<const N: usize> {
    /// Sizes and parameters, with what they count.
    pub(super) sizes: [(&'static str, u64); N],
    pub(super) hash: HashSpec,
}

impl<const N: usize> Meaning<N> {
    /// Refuses a filter whose bits are to be understood in another way.
    pub(super) fn check(self, other: Self) -> Result<(), Mismatch> {
        for ((what, ours), (_, theirs)) in self.sizes.into_iter().zip(other.sizes) {
            if ours != theirs {
                return Err(Mismatch::Size { what, ours, theirs });
            }
        }
        if self.hash != other.hash {
            return Err(Mismatch::Hash { ours: self.hash, theirs: other.hash });
        }
        Ok(())
    }
}
