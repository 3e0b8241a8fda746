//! The dictionary of numbers: its limits, its ids, and what it refuses.

use std::thread;

use furui::dict::{Dict, DictOptions, Done, FilterHash, Job, Layout, MAX_KEY, Merging, Snapshot};
use furui::error::{StoreError, StoreProblem};
use furui::format::Problem;
use furui::raw::Rolling;
use furui::seen::{Seen, SeenOptions};
use furui::store::{Directory, MANIFEST, Manifest, Memory, Purpose, Storage, StoreKind};
use furui::{Error, HashAlgorithm, HashSpec};

use crate::dict::made::{MADE, SMALL, format_error, three_tries};

fn open<S: Storage>(storage: S) -> Dict<S> {
    Dict::open_with(storage, SMALL).unwrap()
}

#[test]
fn without_jobs_there_are_never_more_tries_than_asked_for() {
    let ways = [(1, Merging::All), (3, Merging::All), (1, Merging::Geometric), (4, Merging::Geometric)];
    for (made, (merge_after, merging)) in MADE.into_iter().flat_map(|made| ways.map(|way| (made, way))) {
        let options = DictOptions { window: 10, merge_after, merging, ..made };
        let mut dict = Dict::open_with(Memory::new(), options).unwrap();
        for i in 0..2000u32 {
            dict.put(i.to_le_bytes(), i).unwrap();
            assert!(dict.tries().count() <= merge_after && dict.buffered() <= 20);
        }
        assert_eq!(dict.count().unwrap(), 2000);
    }
}

#[test]
fn the_filter_of_merged_tries_has_the_size_for_the_keys_that_are_left() {
    for (made, merge_after) in MADE.into_iter().flat_map(|made| [1, 2, 3].map(|merge_after| (made, merge_after))) {
        let options = DictOptions { window: 1000, merge_after, merging: Merging::All, ..made };
        let mut dict = Dict::open_with(Memory::new(), options).unwrap();
        // Each window (a full write buffer) has new keys, new keys with a few repeats, or repeats only.
        for (round, first) in (0..).zip([0, 1000, 1980, 2980, 0, 1000, 0]) {
            (first..first + 1000).for_each(|i| dict.put(u32::to_le_bytes(i), i + round).unwrap());
            dict.sync().unwrap();
            for trie in dict.tries() {
                assert_eq!(trie.filter().capacity(), trie.keys());
                assert_eq!(trie.filter().hash(), made.filter_hash.unwrap_or_default());
            }
        }
        assert_eq!(dict.count().unwrap(), 3980);
        assert!((0..3980).all(|i| dict.get(u32::to_le_bytes(i)).unwrap().is_some()));
    }
}

#[test]
fn keys_up_to_the_limit_are_taken_and_no_longer_ones() {
    for made in MADE {
        let storage = Memory::new();
        let mut dict = Dict::open_with(storage.clone(), made).unwrap();
        let longest = vec![0xFF; MAX_KEY];
        dict.put(&longest, 1).unwrap();
        let error = dict.put(vec![0; MAX_KEY + 1], 2).unwrap_err().to_string();
        assert!(error.contains("65537") && error.contains("65536"), "{error}");
        dict.sync().unwrap();
        let dict = open(storage);
        assert_eq!((dict.get(&longest).unwrap(), dict.count().unwrap()), (Some(1), 1));
        assert_eq!(dict.get(vec![0xFF; MAX_KEY + 1]).unwrap(), None);
        assert_eq!(dict.longest_prefix(vec![0xFF; MAX_KEY + 1]).unwrap(), Some((MAX_KEY, 1)));
        dict.verify().unwrap();
    }
}

#[test]
fn windows_are_bounded_by_bytes_as_well() {
    for made in MADE {
        let options = DictOptions { window: 1000, window_bytes: 10_000, ..made };
        let mut dict = Dict::open_with(Memory::new(), options).unwrap();
        for i in 0..100u8 {
            dict.put([i; 1000], i.into()).unwrap();
        }
        assert!(dict.buffered() <= 20 && dict.count().unwrap() == 100);
    }
}

#[test]
fn ids_are_given_once_and_end_with_an_error() {
    let storage = Memory::new();
    let mut dict = open(storage.clone());
    assert_eq!(dict.number(b"a").unwrap(), 0);
    assert_eq!(dict.number(b"b").unwrap(), 1);
    dict.delete(b"b").unwrap();
    dict.sync().unwrap();
    dict.compact().unwrap();
    let mut dict = open(storage.clone());
    dict.put(b"x", u32::MAX).unwrap();
    assert_eq!(dict.number(b"c").unwrap(), 2, "the id of a deleted word is not given again");
    dict.put(b"moved in", 7).unwrap();
    dict.delete(b"moved in").unwrap();
    dict.sync().unwrap();
    dict.compact().unwrap();
    let mut dict = open(storage);
    let given: Vec<u32> = (0..6u8).map(|i| dict.number([i]).unwrap()).collect();
    assert_eq!(given, [3, 4, 5, 6, 8, 9], "nor the one of a deleted word that was moved in");

    let storage = Memory::new();
    let mut manifest = Manifest::new(StoreKind::Dict(Purpose::Numbers), Rolling::spec(0));
    manifest.taken.insert(1..=u32::MAX - 2);
    manifest.save(&storage).unwrap();
    let mut dict = open(storage.clone());
    assert_eq!(dict.number(b"d").unwrap(), u32::MAX - 1);
    assert_eq!(dict.number(b"d").unwrap(), u32::MAX - 1);
    assert_eq!(dict.number(b"last").unwrap(), 0);
    assert!(dict.number(b"e").unwrap_err().to_string().contains("2^32 - 1"));
    assert_eq!((dict.get(b"e").unwrap(), dict.next_id()), (None, u32::MAX));
    dict.sync().unwrap();
    dict.verify().unwrap();

    // A manifest that does not know a number as taken would let it be given again.
    manifest = dict.manifest().clone();
    manifest.taken = Default::default();
    manifest.taken.insert(0..=5);
    manifest.save(&storage).unwrap();
    assert_eq!(format_error(open(storage).verify()).problem, Problem::Invalid(NOT_KNOWN));
}

const NOT_KNOWN: &str = "a key has a number that the manifest does not list as assigned";

#[test]
fn a_dictionary_keeps_its_purpose_and_gives_numbers_only_for_it() {
    let of = |purpose| DictOptions { purpose: Some(purpose), ..SMALL };
    let numbers = [Purpose::Numbers, Purpose::Values, Purpose::Counts];
    for made in numbers {
        let storage = Memory::new();
        let mut dict = Dict::open_with(storage.clone(), of(made)).unwrap();
        dict.put("a", 7).unwrap();
        let given = dict.number("a");
        match given {
            Ok(7) => assert_eq!(made, Purpose::Numbers),
            Err(Error::Store(StoreError { problem: StoreProblem::OtherKind { found, expected }, .. })) => {
                assert_eq!((found, expected), (made.what(), Purpose::Numbers.what()));
            }
            other => panic!("{other:?}"),
        }
        dict.sync().unwrap();
        for asked in Purpose::ALL {
            let opened = match asked {
                Purpose::Bytes => Dict::open_bytes_with(storage.clone(), of(asked)).map(drop),
                _ => Dict::open_with(storage.clone(), of(asked)).map(drop),
            };
            assert_eq!(opened.is_ok(), asked == made, "{made} {asked} {opened:?}");
        }
        assert_eq!(open(storage.clone()).purpose(), made);
        open(storage).verify().unwrap();
    }
    assert!(Dict::open_with(Memory::new(), of(Purpose::Bytes)).is_err());
    assert!(Dict::open_bytes_with(Memory::new(), of(Purpose::Counts)).is_err());
}

#[test]
fn another_form_of_keys_is_refused() {
    let of = |form: &str| DictOptions { form: Some(form.parse().unwrap()), ..SMALL };
    let storage = Memory::new();
    Dict::open_with(storage.clone(), of("--csv --key url")).unwrap().sync().unwrap();
    assert_eq!(open(storage.clone()).manifest().form.as_str(), "--csv --key url");
    let error = Dict::open_with(storage, of("")).unwrap_err().to_string();
    assert!(error.contains("--csv --key url") && error.contains("whole records"), "{error}");
}

#[test]
fn an_empty_dictionary_is_one_once_it_is_synced() {
    for made in MADE {
        let storage = Memory::new();
        let mut dict = Dict::open_with(storage.clone(), made).unwrap();
        dict.verify().unwrap();
        dict.compact().unwrap();
        dict.sync().unwrap();
        assert_eq!(storage.list().unwrap(), [MANIFEST]);
        assert_eq!(open(storage.clone()).hash_spec(), dict.hash_spec());
        assert_eq!(open(storage.clone()).layout(), made.layout.unwrap_or_default());
        assert_eq!((dict.count().unwrap(), dict.get(b"").unwrap()), (0, None));
        assert_eq!(dict.longest_prefix(b"abc").unwrap(), None);
        dict.put(b"", 7).unwrap();
        dict.delete(b"").unwrap();
        dict.sync().unwrap();
        assert_eq!(storage.list().unwrap(), [MANIFEST], "a trie without keys is invalid");
    }
}

#[test]
fn another_hash_and_other_stores_are_refused_by_name() {
    let storage = Memory::new();
    let made = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: 7 };
    let mut dict = Dict::open_with(storage.clone(), DictOptions { hash: Some(made), ..SMALL }).unwrap();
    dict.put(b"a", 1).unwrap();
    dict.sync().unwrap();
    let other = DictOptions { hash: Some(HashSpec::default()), ..SMALL };
    let error = format_error(Dict::open_with(storage.clone(), other));
    assert_eq!(error.problem, Problem::OtherHash { found: made, expected: HashSpec::default() });
    let Err(error) = Seen::open_with(storage, SeenOptions::default()) else { panic!("accepted") };
    assert!(error.to_string().contains("this is a dictionary"), "{error}");

    let storage = Memory::new();
    Seen::open_with(storage.clone(), SeenOptions::default()).unwrap().sync().unwrap();
    let error = Dict::open_with(storage, SMALL).unwrap_err();
    assert!(error.to_string().contains("furui seen"), "{error}");
}

#[test]
fn another_layout_or_filter_hash_is_refused_by_both_names() {
    let [_, louds, polynomials] = MADE;
    for (made, other, names) in [
        (SMALL, louds, ["compact", "louds"]),
        (louds, DictOptions { layout: Some(Layout::Compact), ..SMALL }, ["louds", "compact"]),
        (louds, polynomials, ["one-state", "polynomials-4"]),
    ] {
        let storage = Memory::new();
        Dict::open_with(storage.clone(), made).unwrap().sync().unwrap();
        match Dict::open_with(storage.clone(), other) {
            Err(Error::Store(StoreError { problem: StoreProblem::OtherMade { found, expected, .. }, .. })) => {
                assert_eq!([found, expected], names);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(open(storage).layout(), made.layout.unwrap_or_default());
    }
    // A manifest and its tries must have one layout and one filter hash.
    for (made, layout, filter_hash) in [
        (louds, Layout::Compact, FilterHash::OneState),
        (SMALL, Layout::Louds, FilterHash::OneState),
        (polynomials, Layout::Louds, FilterHash::Polynomials2),
    ] {
        let (storage, _) = three_tries::<u32>(made);
        let mut manifest = open(storage.clone()).manifest().clone();
        (manifest.layout, manifest.filter_hash) = (layout, filter_hash);
        manifest.save(&storage).unwrap();
        assert!(matches!(format_error(Dict::open_with(storage, SMALL)).problem, Problem::Invalid(_)));
    }
    let none = Dict::open_with(Memory::new(), DictOptions { filter_hash: Some(FilterHash::Polynomials1), ..SMALL });
    assert!(none.unwrap_err().to_string().contains("layout compact has no filters of hash polynomials-1"));
}

#[test]
fn readers_in_threads_see_one_moment_while_a_writer_goes_on() {
    MADE.into_iter().for_each(readers_see_one_moment);
}

fn readers_see_one_moment(made: DictOptions) {
    let mut dict = Dict::open_with(Memory::new(), DictOptions { window: 50, ..made }).unwrap();
    thread::scope(|scope| {
        for round in 0..30u32 {
            for i in 0..40u32 {
                dict.put(format!("{}", i * 7 % 60).as_bytes(), round).unwrap();
            }
            // The snapshot is taken between rounds: the value of every key is the round's number or an earlier one, and
            // all keys of the round are there.
            let snapshot = dict.snapshot();
            scope.spawn(move || {
                for _ in 0..3 {
                    assert!(snapshot.iter().all(|entry| entry.unwrap().1 <= round));
                    for i in 0..40u32 {
                        assert_eq!(snapshot.get(format!("{}", i * 7 % 60).as_bytes()).unwrap(), Some(round));
                    }
                }
            });
            if let Some(job) = dict.job().unwrap() {
                let done = scope.spawn(move || job.run().unwrap());
                dict.put(b"meanwhile", round).unwrap();
                dict.install(done.join().unwrap()).unwrap();
            }
        }
    });
    assert_eq!(dict.count().unwrap(), 41);
}

#[test]
fn snapshots_and_jobs_go_to_other_threads() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    shared::<Snapshot>();
    sent::<Job<Directory>>();
    sent::<Done>();
    sent::<Dict<Directory>>();
}
