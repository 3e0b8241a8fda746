//! The experiments behind the numbers, and the rivals they are measured against.

fn main() {}
