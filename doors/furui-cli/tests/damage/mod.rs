//! Tests the binary `furui` on damaged files: it answers correctly, or reports the damage.
//!
//! Each damage is one change of one file of a specimen: a filter of each kind, the store of `furui seen`, or one of the
//! dictionaries. Then all commands that read and write it run, within 1 GiB of address space and a time limit:
//!
//! - An answer with status 0 or 1 must equal that of the undamaged specimen, which is possible if no answer depends on
//!   the damaged bytes. With status 2, the error names the damaged file.
//! - A command that wrote with status 0, above all `compact`, must leave a specimen with correct answers, or with
//!   damage that `verify` finds.
//! - If the checksums were corrected, as only an enemy would do, answers may differ, but no command may crash or hang.
//!
//! `FURUI_DAMAGE_SEED` and `FURUI_DAMAGE_COUNT` choose the damages. `FURUI_DAMAGE_ONLY` chooses one of them by its
//! number, and keeps its files.

mod change;
mod judge;
mod process;
pub mod random;
mod repair;
mod script;
mod specimen;

use std::collections::BTreeMap;
use std::env;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::TempDir;
use change::Change;
use judge::{Fault, Finding, Target};
use random::Random;
use specimen::Specimen;

/// The maximum number of findings of one sort that are shown.
const SHOWN: usize = 3;

#[test]
fn a_few_damages_are_found_or_harmless() {
    damage(420);
}

#[test]
#[ignore = "takes minutes: cargo xtask soak"]
fn ten_thousand_damages_are_found_or_harmless() {
    damage(12_000);
}

fn damage(count: usize) {
    let number =
        |name| env::var(name).ok().map(|value| value.parse::<u64>().unwrap_or_else(|_| panic!("{name}={value}")));
    let seed = number("FURUI_DAMAGE_SEED").unwrap_or(1);
    let count = number("FURUI_DAMAGE_COUNT").map_or(count, |count| count as usize);
    let only = number("FURUI_DAMAGE_ONLY").map(|only| only as usize);
    let scratch = TempDir::new();
    let specimens = Specimen::all(&scratch);
    let files: Vec<_> =
        specimens.iter().flat_map(|specimen| specimen.files.iter().map(move |path| (specimen, path))).collect();
    let targets = in_parallel(0..files.len(), |index| {
        let (specimen, path) = files[index];
        Target::new(specimen, path, &scratch.path().join(format!("whole-{index}")))
    });

    let range = only.map_or(0..count, |only| only..only + 1);
    println!("{} damages of {} files with FURUI_DAMAGE_SEED={seed}", range.len(), targets.len());
    let judged = in_parallel(range.clone(), |index| {
        let mut random = Random::new(seed, index);
        let target = &targets[index % targets.len()];
        let other = random.pick(&targets);
        let change = Change::new(&mut random, index / targets.len(), &target.bytes, &other.bytes);
        let mut commands = 0;
        let place = scratch.path().join(index.to_string());
        let findings = target.judge(&change, &place, &mut commands);
        if only.is_some() {
            target.damage(&change, &place);
            println!("the damaged files are kept in {}", place.display());
        }
        (&target.specimen.name, format!("{target}: {change}"), findings, commands)
    });

    let commands: usize = judged.iter().map(|(.., commands)| commands).sum();
    let mut sorts: BTreeMap<(Fault, &str), usize> = BTreeMap::new();
    for (index, (specimen, damage, findings, _)) in range.zip(&judged) {
        for Finding { fault, text } in findings {
            let of_sort = sorts.entry((*fault, specimen)).or_default();
            *of_sort += 1;
            if *of_sort <= SHOWN {
                println!("FURUI_DAMAGE_SEED={seed} FURUI_DAMAGE_ONLY={index}: {damage}\n  {text}");
            }
        }
    }
    let damaged = judged.iter().filter(|(_, _, findings, _)| !findings.is_empty()).count();
    if only.is_some() {
        std::mem::forget(scratch);
    }
    println!("{commands} commands; faults after {damaged} damages: {sorts:?}");
    assert!(sorts.is_empty(), "damage was believed, lost or not survived; see above");
}

/// The results of `of` for each number, computed on all processors.
fn in_parallel<T: Send>(range: std::ops::Range<usize>, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(range.start), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if !range.contains(&index) {
                        return;
                    }
                    let value = of(index);
                    done.lock().unwrap().insert(index, value);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}
