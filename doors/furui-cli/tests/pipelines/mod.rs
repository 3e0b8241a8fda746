//! Tests that the command prints the same rows as other programs: Miller, jq, DuckDB, the tools of the shell, real
//! compressors, and datatrove.
//!
//! Inputs are random. Each test prints its seed, and `FURUI_PIPELINES_SEED` repeats a run with that seed. Where the
//! other programs differ from furui, or from each other, a test asserts what docs/inputs.md says and names the
//! difference.

mod compressed;
mod coreutils;
mod datatrove;
mod duckdb;
mod jq;
mod miller;
mod table;

use std::process::Command;
use std::time::SystemTime;

use crate::damage::random::Random;
use crate::support;

/// The standard output of another program, which must succeed.
fn other(program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C");
    let output = support::feed(command, input);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {message}; `cargo xtask test pipelines` installs what is missing"
    );
    output.stdout
}

/// The standard output of `furui`, which must succeed. It may say how many lines had no key.
fn furui(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let output = support::run(arguments, input);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
    assert!(message.is_empty() || message.contains("had no key"), "{arguments:?}: {message}");
    output.stdout
}

/// Random numbers from a seed, which is printed.
fn random() -> Random {
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos().into();
    let seed = std::env::var("FURUI_PIPELINES_SEED").map_or_else(|_| clock(), |seed| seed.parse().unwrap());
    println!("FURUI_PIPELINES_SEED={seed}");
    Random::new(seed, 0)
}
