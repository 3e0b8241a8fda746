use super::{MAX_PROBE_LENGTH, WriteBuffer};
use crate::dict::Found;
use crate::hash::HashSpec;

#[test]
fn a_buffer_says_when_its_hashes_are_not_random() {
    let spec = HashSpec::default();
    let random = |i: u32| spec.hash(&i.to_le_bytes());
    let mut buffer = WriteBuffer::new();
    let keys = 200_000u32;
    for i in 0..keys {
        buffer.put(&i.to_le_bytes(), random(i), Found::Value(i));
    }
    assert!(!buffer.is_crowded());
    let crowd = |i: u32| (i + keys).to_le_bytes();
    let (mut crowded, hash) = (0, random(0));
    while !buffer.is_crowded() {
        buffer.put(&crowd(crowded), hash, Found::Deleted);
        crowded += 1;
    }
    assert!((MAX_PROBE_LENGTH / 2..=MAX_PROBE_LENGTH + 1).contains(&(crowded as usize)), "{crowded}");
    // The buffer continues to work.
    assert!((0..keys).all(|i| buffer.get(&i.to_le_bytes(), random(i)) == Some(Found::Value(i))));
    assert!((0..crowded).all(|i| buffer.get(&crowd(i), hash) == Some(Found::Deleted)));
    assert_eq!(buffer.len(), (keys + crowded) as usize);
}
