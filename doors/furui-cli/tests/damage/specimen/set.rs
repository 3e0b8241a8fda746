use super::{Specimen, input, text};
use crate::damage::script::Effect::{Reads, ReadsSettled, Verifies, Writes};
use crate::damage::script::Step;
use crate::support::{TempDir, run, stdout};

/// The number of old lines: enough that their run is not merged with smaller ones.
const OLD: usize = 260_000;
const RECENT: usize = 12_000;

/// The store of `furui seen`, with two run files.
pub fn specimen(scratch: &TempDir) -> Specimen {
    let numbered = |head: &str, count: usize| (0..count).map(|i| format!("{head}{i}")).collect::<Vec<_>>();
    let (old, recent, fresh) = (numbered("old", OLD), numbered("recent", RECENT), numbered("fresh", 2000));
    let absent = numbered("absent", 300);
    let directory = scratch.path().join("seen");
    let store = directory.join("store");
    let inputs = scratch.path().join("seen-inputs");
    std::fs::create_dir_all(&inputs).unwrap();
    let keys = inputs.join("keys");
    let (store_path, keys_path) = (store.to_str().unwrap(), keys.to_str().unwrap());
    let seen = ["seen", "--memory", "16MiB", "--hash-seed", "7", "-q", "--store", store_path];
    stdout(&seen, &text(&old));
    // The newer run is committed, with a note.
    let pending = [&seen[..], &["--pending", keys_path]].concat();
    stdout(&pending, &text(&recent));
    let done = run(&["commit", store_path, keys_path, "--note", "the second day"], b"");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    stdout(&pending, &text(&fresh));

    // The sample has lines of every page.
    let sample: Vec<String> = old.iter().step_by(16).chain(recent.iter().step_by(4)).cloned().collect();
    input(&inputs, "asked", &[&absent[..], &sample].concat());
    input(&inputs, "fresh", &fresh);
    input(&inputs, "coming", &[&fresh[..], &sample[..500]].concat());
    input(&inputs, "all", &[&old[..], &recent, &absent].concat());
    let step = |effect, words| Step::new(effect, words, inputs.to_str().unwrap());
    let chapters = vec![
        vec![
            step(Verifies, "verify store"),
            step(Verifies, "verify {}"),
            step(Reads, "info store"),
            step(Reads, "info --json store"),
            step(Reads, "info {}"),
            step(Reads, "info --json {}"),
            step(ReadsSettled, "seen -n --memory 1MiB --store store @asked").printing(text(&absent)),
            step(Reads, "seen -n -v --memory 1MiB --store store @asked").printing(text(&sample)),
            step(Writes, "seen --memory 1MiB --store store @coming").printing(text(&fresh)),
            step(Verifies, "verify store"),
            step(ReadsSettled, "seen -n --memory 1MiB --store store @asked").printing(text(&absent)),
            step(Reads, "seen -n --memory 1MiB --store store @fresh").printing(""),
        ],
        vec![
            step(Writes, "compact store").printing(""),
            step(Verifies, "verify store"),
            step(Reads, "info --json store"),
            step(ReadsSettled, "seen -n --memory 1MiB --store store @all").printing(text(&absent)),
        ],
        vec![
            step(Writes, "commit store @keys --note later").printing(""),
            step(Verifies, "verify store"),
            step(Reads, "info --json store"),
            step(Reads, "seen -n --memory 1MiB --store store @fresh").printing(""),
            step(ReadsSettled, "seen -n --memory 1MiB --store store @asked").printing(text(&absent)),
        ],
    ];
    let specimen = Specimen::new(&directory, "seen", &["store"], chapters);
    assert!(specimen.files.len() >= 3, "the set should have several runs: {:?}", specimen.files);
    specimen
}
