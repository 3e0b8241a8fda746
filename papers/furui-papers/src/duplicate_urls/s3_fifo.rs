use std::collections::{HashMap, HashSet, VecDeque};

use furui::KeyHash;

/// S3-FIFO (Yang and others, SOSP 2023): a small queue for new keys, a main queue for keys that come again, and the
/// names (ghosts) of keys that left the small queue lately.
///
/// ```text
///   new -> [ small: a tenth ] -- asked for again --> [ main: the rest ] -> back to its start if asked for meanwhile
///                 |                                      ^
///                 +-- else --> { ghosts: keys only } ----+  asked for again
/// ```
///
/// Its capacity is that of an implementation written to save memory: 14 bytes an entry (key, table slot, uses) and 9
/// bytes a ghost (fingerprint, table slot).
pub(super) struct S3Fifo {
    small: VecDeque<u64>,
    main: VecDeque<u64>,
    /// The number of hits of each entry since it was inserted or reinserted, up to 3.
    uses: HashMap<u64, u8>,
    ghosts: VecDeque<u64>,
    ghost_keys: HashSet<u64>,
    small_room: usize,
    main_room: usize,
}

impl S3Fifo {
    pub(super) fn new(bytes: usize) -> Self {
        let entries = (bytes as f64 / (14.0 + 0.9 * 9.0)) as usize;
        let small_room = (entries / 10).max(1);
        Self {
            small: VecDeque::new(),
            main: VecDeque::new(),
            uses: HashMap::new(),
            ghosts: VecDeque::new(),
            ghost_keys: HashSet::new(),
            small_room,
            main_room: entries.saturating_sub(small_room).max(1),
        }
    }

    /// Returns true if the key was in the cache. Otherwise inserts the key, and evicts another one if the cache is
    /// full.
    pub(super) fn observe(&mut self, key: KeyHash) -> bool {
        let key = key.get();
        if let Some(uses) = self.uses.get_mut(&key) {
            *uses = (*uses + 1).min(3);
            return true;
        }
        if self.ghost_keys.remove(&key) {
            self.make_room_in_main();
            self.main.push_back(key);
        } else {
            self.make_room_in_small();
            self.small.push_back(key);
        }
        self.uses.insert(key, 0);
        false
    }

    fn make_room_in_small(&mut self) {
        while self.small.len() >= self.small_room
            && let Some(key) = self.small.pop_front()
        {
            if self.uses[&key] > 1 {
                self.make_room_in_main();
                self.main.push_back(key);
                self.uses.insert(key, 0);
            } else {
                self.uses.remove(&key);
                self.ghosts.push_back(key);
                self.ghost_keys.insert(key);
                if self.ghosts.len() > self.main_room
                    && let Some(oldest) = self.ghosts.pop_front()
                {
                    self.ghost_keys.remove(&oldest);
                }
            }
        }
    }

    fn make_room_in_main(&mut self) {
        while self.main.len() >= self.main_room
            && let Some(key) = self.main.pop_front()
        {
            match self.uses.get_mut(&key) {
                Some(uses) if *uses > 0 => {
                    *uses -= 1;
                    self.main.push_back(key);
                }
                _ => {
                    self.uses.remove(&key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_once_does_not_drive_out_what_comes_often() {
        // There is room for 100 entries: 10 in the small queue and 90 in the main queue.
        let mut cache = S3Fifo::new(2211);
        let key = |i: u64| KeyHash::new(i);
        for _ in 0..4 {
            (0..5).for_each(|i| _ = cache.observe(key(i)));
        }
        (1000..2000).for_each(|i| assert!(!cache.observe(key(i))));
        assert!((0..5).all(|i| cache.observe(key(i))));
        assert!(cache.uses.len() <= 100 && cache.ghosts.len() <= 90);
    }
}
