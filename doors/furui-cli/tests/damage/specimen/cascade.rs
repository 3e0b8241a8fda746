use super::{Specimen, input, text};
use crate::damage::script::Effect::{Reads, ReadsSettled, Verifies, Writes};
use crate::damage::script::Step;
use crate::support::{TempDir, stdout};

/// A cascade filter with two runs. The first run has so many lines that it is not merged with the second. At the
/// filter's rate no absent line is in it by chance.
pub fn specimen(scratch: &TempDir) -> Specimen {
    let numbered = |head: &str, count: usize| (0..count).map(|i| format!("{head}{i}")).collect::<Vec<_>>();
    let (old, recent, fresh) = (numbered("old", 210_000), numbered("recent", 9000), numbered("fresh", 2000));
    let absent = numbered("absent", 300);
    let directory = scratch.path().join("cascade");
    std::fs::create_dir(&directory).unwrap();
    let store = directory.join("store").to_str().unwrap().to_owned();
    let build = "filter build -k cascade -c 250000 --rate 1e-9 --memory 16MiB --hash-seed 7 -o";
    stdout(&[&build.split(' ').collect::<Vec<_>>()[..], &[&store]].concat(), &text(&old));
    stdout(&["filter", "insert", "--memory", "16MiB", &store], &text(&recent));

    let inputs = scratch.path().join("cascade-inputs");
    // The sample has lines of every page.
    let sample: Vec<String> = old.iter().step_by(16).chain(recent.iter().step_by(4)).cloned().collect();
    input(&inputs, "asked", &[&absent[..], &sample].concat());
    input(&inputs, "fresh", &fresh);
    input(&inputs, "all", &[&old[..], &recent, &absent].concat());
    let step = |effect, words| Step::new(effect, words, inputs.to_str().unwrap());
    let chapters = vec![
        vec![
            step(Verifies, "verify store"),
            step(Verifies, "verify {}"),
            step(Reads, "info store"),
            step(Reads, "info --json store"),
            step(Reads, "info {}"),
            step(ReadsSettled, "has store @asked").printing(text(&sample)),
            step(Reads, "has -v store @asked").printing(text(&absent)),
            step(Writes, "filter insert --memory 1MiB store @fresh").printing(""),
            step(Verifies, "verify store"),
            step(ReadsSettled, "has store @asked").printing(text(&sample)),
            step(Reads, "has store @fresh").printing(text(&fresh)),
        ],
        vec![
            step(Writes, "compact store").printing(""),
            step(Verifies, "verify store"),
            step(ReadsSettled, "has -v store @all").printing(text(&absent)),
        ],
    ];
    let specimen = Specimen::new(&directory, "cascade", &["store"], chapters);
    assert!(specimen.files.len() >= 3, "the cascade filter should have several runs: {:?}", specimen.files);
    specimen
}
