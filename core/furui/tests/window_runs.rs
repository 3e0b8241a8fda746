//! Windows on storage: the runs of their slices, and what is removed with them.

use furui::KeyHash;
use furui::seen::{Cache, Seen};
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{MANIFEST, Memory, ReadAt, Storage, Window};

use crate::windows::{observe, options, window_of};

#[test]
fn a_window_far_longer_than_the_memory_is_kept_on_storage() {
    for journal in [false, true] {
        let storage = Memory::new();
        let mut seen =
            Seen::open_window(storage.clone(), options(Cache::Recent, journal), window_of(true, 800_000)).unwrap();
        let mut sizes = vec![];
        for start in (0..2_000_000u64).step_by(50_000) {
            let new = observe(&mut seen, &(start..start + 50_000).collect::<Vec<_>>()).unwrap();
            assert!(new.into_iter().all(|new| new));
            sizes.push(storage.list().unwrap().iter().map(|name| storage.open(name).unwrap().len()).sum::<u64>());
        }
        let most = sizes.iter().max().unwrap();
        assert!(*most < 850_000 * 7, "{most} bytes");
        assert!(observe(&mut seen, &[1_999_999, 1_200_001]).unwrap().iter().all(|new| !new));
        assert_eq!(observe(&mut seen, &[1_145_000]).unwrap(), [true]);
    }
}

/// Slices in RAM are counted in few bits, and a crawler may pause for longer than these can count.
#[test]
fn a_key_is_forgotten_however_long_nothing_occurs() {
    let around = |border: u64| (border - 20)..(border + 20);
    let pauses = (0..40).chain(around(1 << 15)).chain(around(1 << 16)).chain([(1 << 17) - 5, (1 << 32) + 7, 1 << 40]);
    let keys = [7, 8, 9].map(KeyHash::new);
    for (first, pause) in [3, 1000].into_iter().flat_map(|first| pauses.clone().map(move |pause| (first, pause))) {
        // A slice takes a millisecond.
        let mut set = Cascade::open_window(Memory::new(), CascadeOptions::default(), window_of(false, 16)).unwrap();
        set.advance_to(first).unwrap();
        set.insert_all(&keys[..2], &mut vec![]).unwrap();
        set.advance_to(first + pause).unwrap();
        let is_known = pause <= Window::SLICES;
        let (mut known, mut new) = (vec![], vec![]);
        set.contains_all(&keys, &mut known).unwrap();
        assert_eq!(known, [is_known, is_known, false], "{pause} slices after {first}");
        assert_eq!(set.contains(keys[0]).unwrap(), is_known);
        assert_eq!(set.len(), if is_known { 2 } else { 0 }, "{pause} slices after {first}");
        set.insert_all(&keys[1..], &mut new).unwrap();
        assert_eq!(new.len(), if is_known { 1 } else { 2 }, "{pause} slices after {first}");
        assert_eq!(set.contains(keys[0]).unwrap(), is_known);
        assert!(set.contains(keys[1]).unwrap() && set.contains(keys[2]).unwrap());
    }
}

fn slices(set: &Cascade<Memory>) -> Vec<u64> {
    set.manifest().runs.iter().map(|run| run.slice).collect()
}

#[test]
fn the_runs_of_a_slice_become_one_when_it_ends_and_not_before() {
    let storage = Memory::new();
    // A slice takes 10 ms.
    let mut set = Cascade::open_window(storage.clone(), CascadeOptions::default(), window_of(false, 160)).unwrap();
    let keys: Vec<_> = (1..=300_004u64).map(|i| KeyHash::new(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    // A small run is not merged into a large one.
    for part in [0..300_000, 300_000..300_001] {
        set.insert_all(&keys[part], &mut vec![]).unwrap();
        set.publish().unwrap();
    }
    set.insert_all(&keys[300_001..300_002], &mut vec![]).unwrap();
    assert!(!set.will_end_slice(9) && set.will_end_slice(10));
    set.advance_to(9).unwrap();
    assert_eq!(slices(&set), [0, 0]);
    let written = set.written();
    set.advance_to(10).unwrap();
    assert_eq!(slices(&set), [0]);
    assert_eq!(set.written(), written + set.manifest().runs[0].seal.length);
    // The key that was in memory joins the run of its slice. A key that occurs again is in two runs.
    set.insert_all(&[keys[0], keys[300_002]], &mut vec![]).unwrap();
    set.publish().unwrap();
    assert_eq!((slices(&set), set.len()), (vec![0, 1], 300_004));
    assert_eq!(storage.list().unwrap().len(), 3);
    set.verify().unwrap();

    // One run of the slice that ends is not written again, and the present time is not an earlier one.
    let before = set.manifest().runs.clone();
    set.advance_to(20).unwrap();
    set.reset_to(20).unwrap();
    assert_eq!(set.manifest().runs, before);
    set.insert_all(&keys[300_003..], &mut vec![]).unwrap();
    let mut known = vec![];
    set.contains_all(&keys, &mut known).unwrap();
    assert!(known.iter().all(|&known| known));
    set.contains_all(&[KeyHash::new(7), keys[300_003]], &mut known).unwrap();
    assert_eq!(known, [false, true]);
}

#[test]
fn a_publish_ends_the_journal_even_if_the_window_has_left_all_keys() {
    for synced in [false, true] {
        let (storage, options) = (Memory::new(), CascadeOptions { journal: true, ..CascadeOptions::default() });
        let mut set = Cascade::open_window(storage.clone(), options, window_of(false, 16)).unwrap();
        set.insert_all(&[KeyHash::new(7)], &mut vec![]).unwrap();
        if synced {
            set.sync().unwrap();
        }
        set.advance_to(1000).unwrap();
        set.publish().unwrap();
        assert_eq!((set.unsynced(), storage.list().unwrap()), (0, vec![MANIFEST.to_owned()]));
        let generation = set.manifest().generation();
        set.publish().unwrap();
        assert_eq!(set.manifest().generation(), generation, "there was nothing to record");
    }
}

/// The batch goes over a hundred windows, and more of it waits for the journal than would make a second batch wait.
#[test]
fn no_key_of_a_batch_is_durable_before_all_of_it_came() {
    let storage = Memory::new();
    let mut seen = Seen::open_window(storage.clone(), options(Cache::Recent, true), window_of(true, 400)).unwrap();
    assert!(observe(&mut seen, &(0..40_000).collect::<Vec<_>>()).unwrap().iter().all(|new| *new));
    assert_eq!((seen.unsynced(), storage.list().unwrap().len()), (40_000, 0));
}
