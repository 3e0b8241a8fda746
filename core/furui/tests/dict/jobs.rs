//! Jobs, the windows (write buffers) that wait for them, and the snapshots that hold windows.

use furui::dict::{Dict, DictOptions, Merging};
use furui::store::{Memory, Storage};

use crate::dict::made::{MADE, Model, SMALL, assert_same};
use crate::dict::values::Values;

#[test]
fn one_job_of_each_kind_is_handed_out_at_a_time() {
    let options = DictOptions { window: 2, merge_after: 1, merging: Merging::All, ..SMALL };
    let mut dict = Dict::open_with(Memory::new(), options).unwrap();
    let mut number = 0;
    let mut fill = |dict: &mut Dict<Memory>| {
        for _ in 0..2 {
            dict.put(format!("key {number}"), number).unwrap();
            number += 1;
        }
    };
    fill(&mut dict);
    assert!(dict.job().unwrap().is_none(), "nobody waits until a key finds the window full");
    for tries in 1..3 {
        fill(&mut dict);
        drop(dict.job().unwrap().expect("a window waits"));
        let freezes = dict.job().unwrap().expect("a job that is dropped is handed out again");
        assert!(dict.job().unwrap().is_none());
        assert!(dict.install(freezes.run().unwrap()).unwrap());
        assert_eq!(dict.tries().count(), tries);
    }
    let merges = dict.job().unwrap().expect("two tries, where one is enough");
    assert!(dict.job().unwrap().is_none());
    fill(&mut dict);
    let freezes = dict.job().unwrap().expect("windows are frozen while tries are merged");
    assert!(dict.job().unwrap().is_none());
    assert!(dict.install(freezes.run().unwrap()).unwrap());
    assert_eq!(dict.tries().count(), 3);
    assert!(dict.install(merges.run().unwrap()).unwrap());
    assert_eq!((dict.tries().count(), dict.count().unwrap()), (2, 8));
}

#[test]
fn a_job_whose_work_was_done_meanwhile_leaves_nothing() {
    let storage = Memory::new();
    let mut dict = Dict::open_with(storage.clone(), DictOptions { window: 2, ..SMALL }).unwrap();
    (0..3).for_each(|i| dict.put([i], i.into()).unwrap());
    let job = dict.job().unwrap().unwrap();
    dict.compact().unwrap();
    let done = job.run().unwrap();
    let files = storage.list().unwrap().len();
    assert!(!dict.install(done).unwrap());
    assert_eq!((storage.list().unwrap().len(), dict.tries().count(), dict.count().unwrap()), (files - 1, 1, 3));
}

#[test]
fn a_call_that_may_have_to_freeze_a_window_itself_is_foretold() {
    // By their number: one window waits, and the next one has room for two keys more.
    let mut dict = Dict::open_with(Memory::new(), DictOptions { window: 3, ..SMALL }).unwrap();
    assert!(!dict.will_freeze(4, 0), "nothing waits");
    (0..4).for_each(|i| dict.put([i], 0).unwrap());
    assert!(!dict.will_freeze(2, 2) && dict.will_freeze(3, 3));
    (4..6).for_each(|i| dict.put([i], 0).unwrap());
    assert_eq!(dict.tries().count(), 0);
    dict.put([6], 0).unwrap();
    assert_eq!(dict.tries().count(), 1);

    // By their bytes: many short keys, or few long ones. What is not foretold does not happen.
    for (length, window_bytes) in [(4, 3000), (4, 20_000), (100, 3000), (1000, 20_000)] {
        let mut dict = Dict::open_with(Memory::new(), DictOptions { window: 10_000, window_bytes, ..SMALL }).unwrap();
        let key = |i: u32| format!("{i:0length$}");
        let mut keys = (0..).map(key);
        while !dict.will_freeze(1, usize::MAX / 2) {
            dict.put(keys.next().unwrap(), 0).unwrap();
        }
        let most = (1..window_bytes).find(|&count| dict.will_freeze(count, count * length)).unwrap() - 1;
        assert!(most * (length + 60) >= window_bytes / 2, "{most} keys of {length} bytes in {window_bytes}");
        let (mut tries, mut put) = (dict.tries().count(), 0);
        while dict.tries().count() == tries {
            dict.put(keys.next().unwrap(), 0).unwrap();
            put += 1;
        }
        assert!(put > most, "{most} of {length} bytes in {window_bytes} were said to have room");
        tries = dict.tries().count();
        let left = keys.by_ref().take(most / 2).collect::<Vec<_>>();
        assert!(!dict.will_freeze(left.len(), left.len() * length));
        left.into_iter().for_each(|key| dict.put(key, 0).unwrap());
        assert_eq!(dict.tries().count(), tries);
    }
}

#[test]
fn snapshots_that_hold_windows_stay_as_they_are_while_windows_are_joined() {
    MADE.into_iter().for_each(snapshots_hold_windows::<u32>);
    MADE.into_iter().for_each(snapshots_hold_windows::<[u8]>);
}

fn snapshots_hold_windows<V: Values + ?Sized>(made: DictOptions) {
    let storage = Memory::new();
    let mut dict = V::open(storage.clone(), DictOptions { window: 1000, ..made }).unwrap();
    let (mut model, mut snapshots) = (Model::<V>::new(), vec![]);
    for i in 0..60u32 {
        let (key, value) = (format!("{}", i * 7 % 40).into_bytes(), V::value(i));
        if i % 11 == 10 {
            dict.delete(&key).unwrap();
            model.remove(&key);
        } else {
            V::put(&mut dict, &key, &value).unwrap();
            model.insert(key, value);
        }
        // Each window is held by a snapshot when the next key comes, and some snapshots are forgotten after that.
        snapshots.push((dict.snapshot(), model.clone()));
        if i % 3 == 0 {
            snapshots.remove(i as usize / 2 % snapshots.len());
        }
    }
    assert_eq!(dict.tries().count(), 0);
    let asked = [b"1".to_vec(), b"2".to_vec(), b"39".to_vec()];
    for (snapshot, model) in &snapshots {
        assert_same(snapshot, model, &asked);
    }
    assert_same(&dict, &model, &asked);
    dict.sync().unwrap();
    dict.verify().unwrap();
    assert_same(&V::open(storage, made).unwrap(), &model, &asked);
}
