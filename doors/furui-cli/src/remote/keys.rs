use furui::KeyHasher;

use super::layout::Layout;

/// A batch of keys for one request to the servers, each with the shard of the set to which it belongs.
#[derive(Clone)]
pub struct RemoteKeys {
    hasher: KeyHasher,
    layout: Layout,
    /// The bytes of all keys, one key after the other.
    bytes: Vec<u8>,
    /// The position in `bytes` at which each key ends.
    ends: Vec<usize>,
    places: Vec<u32>,
}

impl RemoteKeys {
    /// An empty list of keys for a set with this layout.
    pub fn new(layout: Layout) -> Self {
        Self { hasher: layout.hash().hasher(), layout, bytes: vec![], ends: vec![], places: vec![] }
    }

    /// Empties the list, which keeps its memory for the next batch.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.places.clear();
    }

    /// The number of keys in the batch, repeats included.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Appends a key. Its shard is that of its XXH3 with the seed of the set.
    pub fn push(&mut self, key: &[u8]) {
        self.places.push(self.layout.shard(self.hasher.hash(key).get()));
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// The key with this index in the batch.
    pub fn key(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    /// The shard of the server's set to which the key with this index in the batch belongs.
    pub fn place(&self, index: usize) -> u32 {
        self.places[index]
    }

    /// Returns a batch of those keys for whose indices in this one `is_wanted` returns true.
    pub fn only(&self, is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut some = Self::new(self.layout);
        (0..self.len()).filter(|&index| is_wanted(index)).for_each(|index| some.push(self.key(index)));
        some
    }

    /// The indices of the keys in the order of their shards. Keys of one shard keep their order.
    pub fn by_shard(&self) -> Vec<usize> {
        let mut starts = vec![0; self.layout.shards as usize + 1];
        self.places.iter().for_each(|&place| starts[place as usize + 1] += 1);
        (1..starts.len()).for_each(|place| starts[place] += starts[place - 1]);
        let mut order = vec![0; self.len()];
        for (index, &place) in self.places.iter().enumerate() {
            order[starts[place as usize]] = index;
            starts[place as usize] += 1;
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_ranges_of_the_exchanged_hash() {
        // The Python package gives the same, with seed 0.
        let mut keys = RemoteKeys::new(Layout { shards: 1024, seed: 0, window: None });
        for key in ["a", "b", "", "https://example.com/"] {
            keys.push(key.as_bytes());
        }
        let places: Vec<u32> = (0..keys.len()).map(|index| keys.place(index)).collect();
        assert_eq!(places, PLACES);
        assert_eq!(keys.key(3), b"https://example.com/");
        assert_eq!(keys.key(2), b"");
        let some = keys.only(|index| index != 1);
        assert_eq!((some.len(), some.key(0), some.place(2)), (3, &b"a"[..], PLACES[3]));
        keys.push(b"a");
        assert_eq!(keys.by_shard(), [0, 4, 2, 3, 1]);
    }

    const PLACES: [u32; 4] = [122, 275, 227, 257];
}
