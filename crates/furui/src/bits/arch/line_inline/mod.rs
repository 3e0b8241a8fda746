//! One line in the midst of portable code: a compiler does not inline a function that uses vectors into one compiled without
//! them, and a call for each key takes as long as all the rest. Assembly is inlined everywhere.

pub(super) mod avx2;
pub(super) mod avx512;
