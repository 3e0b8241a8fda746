//! The command `furui`.

fn main() {}
