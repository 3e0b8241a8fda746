use std::num::NonZeroU64;
use std::path::Path;

use furui::KeyHash;
use furui::store::cascade::{Cascade, CascadeOptions};
use furui::store::{Directory, Window};

use super::{Specimen, input, text};
use crate::damage::script::Effect::{Reads, ReadsSettled, Verifies, Writes};
use crate::damage::script::Step;
use crate::support::{TempDir, stdout};

/// Tiers that forget nothing of these few lines.
const TIERS: &str = "seen -q --cache lru+stable --lru 300 --counters 40K --fpr 1e-9 --store";

fn numbered(head: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{head}{i}")).collect()
}

fn command(words: &str, more: &[&str], lines: &[String]) {
    stdout(&[&words.split(' ').collect::<Vec<_>>()[..], more].concat(), &text(lines));
}

/// Records lines in the journal, as a process does that is killed afterwards: in many records, of which the last one
/// more than doubles the journal. So the manifest knows how long the journal is.
fn record(mut set: Cascade<Directory>, lines: &[String]) {
    let hasher = set.hash_spec().hasher();
    let (small, last) = lines.split_at(lines.len() / 3);
    for record in small.chunks(20).chain([last]) {
        let keys: Vec<KeyHash> = record.iter().map(|line| hasher.hash(line.as_bytes())).collect();
        set.insert_all(&keys, &mut vec![]).unwrap();
        set.sync().unwrap();
    }
}

/// The store of a `furui seen` that was killed: with a run from which lines were removed, tiers, and a journal of many
/// records. Beside it there is an undamaged store that can be combined with it.
pub fn specimen(scratch: &TempDir) -> Specimen {
    let (old, recent, fresh) = (numbered("old", 3000), numbered("recent", 900), numbered("fresh", 300));
    let (removed, other, absent) = (numbered("removed", 200), numbered("other", 500), numbered("absent", 300));
    let inputs = scratch.path().join("killed-inputs");
    let known = [&old[..], &recent].concat();
    input(&inputs, "removed", &removed);
    input(&inputs, "gone", &old[..50]);
    input(&inputs, "asked", &[&absent[..], &known, &removed].concat());
    input(&inputs, "coming", &[&fresh[..], &known[2500..]].concat());
    input(&inputs, "fresh", &fresh);
    input(&inputs, "others", &[&other[..], &known, &absent].concat());
    let inputs = inputs.to_str().unwrap();

    let directory = scratch.path().join("killed");
    std::fs::create_dir(&directory).unwrap();
    let [store, beside] = ["store", "other"].map(|name| directory.join(name).to_str().unwrap().to_owned());
    command("seen -q --hash-seed 7 --store", &[&store], &[&old[..2000], &removed].concat());
    command("seen --store", &[&store, "--remove", &format!("{inputs}/removed")], &[]);
    command(TIERS, &[&store], &old);
    command("seen -q --like", &[&store, "--store", &beside], &[&other[..], &old[..100]].concat());
    stdout(&["export", &beside, "--u64", "-o", &format!("{inputs}/hashes")], b"");
    let options = CascadeOptions { journal: true, ..CascadeOptions::default() };
    record(Cascade::open(Directory::open(&store).unwrap(), options).unwrap(), &recent);

    let not_there = text(&[&absent[..], &removed].concat());
    let step = |effect, words| Step::new(effect, words, inputs);
    let chapters = vec![
        vec![
            step(Verifies, "verify store"),
            step(Reads, "info store"),
            step(ReadsSettled, "has store @asked").printing(text(&known)),
            step(Reads, "export store --u64"),
            step(Writes, "seen --store store @coming").printing(text(&fresh)),
            step(Verifies, "verify store"),
            step(ReadsSettled, "has -v store @asked").printing(not_there.clone()),
            step(Reads, "has store @fresh").printing(text(&fresh)),
        ],
        vec![
            step(Writes, "snapshot store copy").printing(""),
            step(Verifies, "verify copy"),
            step(Reads, "has -v copy @asked").printing(not_there.clone()),
            step(Writes, "union store other -o both").printing(""),
            step(Verifies, "verify both"),
            step(Reads, "has -v both @others").printing(text(&absent)),
        ],
        vec![
            step(Writes, "seen --store store --remove @gone").printing(""),
            step(Verifies, "verify store"),
            step(Reads, "has store @asked").printing(text(&known[50..])),
            step(Writes, "import store @hashes").printing(""),
            step(Verifies, "verify store"),
            step(Reads, "has -v store @others").printing(text(&absent)),
            step(Writes, "compact store").printing(""),
            step(Verifies, "verify store"),
            step(Reads, "has -v store @others").printing(text(&absent)),
        ],
    ];
    let specimen = Specimen::new(&directory, "killed", &["store"], chapters);
    assert!(specimen.files.len() == 4, "a manifest, a run, a journal, and tiers: {:?}", specimen.files);
    specimen
}

/// The store of a killed `furui seen --window`, with runs of three slices and a journal.
pub fn window(scratch: &TempDir) -> Specimen {
    let directory = scratch.path().join("window");
    let store = directory.join("store");
    std::fs::create_dir(&directory).unwrap();
    let lines = numbered("line", 900);
    make_window(&store, &lines);

    let (fresh, absent) = (numbered("fresh", 100), numbered("absent", 300));
    let inputs = scratch.path().join("window-inputs");
    input(&inputs, "asked", &[&absent[..], &lines].concat());
    input(&inputs, "coming", &[&fresh[..], &lines[..200]].concat());
    let step = |effect, words| Step::new(effect, words, inputs.to_str().unwrap());
    let chapters = vec![
        vec![
            step(Verifies, "verify store"),
            step(Reads, "info --json store"),
            step(ReadsSettled, "has -v store @asked").printing(text(&absent)),
            step(Reads, "seen -n --window 16000 --store store @asked").printing(text(&absent)),
            step(Writes, "seen --window 16000 --store store @coming").printing(text(&fresh)),
            step(Verifies, "verify store"),
            step(ReadsSettled, "has -v store @asked").printing(text(&absent)),
        ],
        vec![
            step(Writes, "compact store").printing(""),
            step(Verifies, "verify store"),
            step(ReadsSettled, "has store @asked").printing(text(&lines)),
        ],
    ];
    let specimen = Specimen::new(&directory, "window", &["store"], chapters);
    assert!(specimen.files.len() == 5, "a manifest, three runs, and a journal: {:?}", specimen.files);
    specimen
}

/// A third of the lines comes in each of three slices of the window, and the lines of the journal in the last slice.
fn make_window(store: &Path, lines: &[String]) {
    let window = Window::Keys(NonZeroU64::new(16_000).unwrap());
    let hash = Some(furui::HashSpec { algorithm: furui::HashAlgorithm::Xxh3, seed: 7 });
    let options = CascadeOptions { journal: true, hash, ..CascadeOptions::default() };
    let mut set = Cascade::open_window(Directory::open(store).unwrap(), options, window).unwrap();
    let hasher = set.hash_spec().hasher();
    let (runs, journal) = lines.split_at(600);
    for (slice, lines) in runs.chunks(200).enumerate() {
        set.advance_to(1000 * slice as u64 + 1).unwrap();
        let keys: Vec<KeyHash> = lines.iter().map(|line| hasher.hash(line.as_bytes())).collect();
        set.insert_all(&keys, &mut vec![]).unwrap();
        set.publish().unwrap();
    }
    record(set, journal);
}
