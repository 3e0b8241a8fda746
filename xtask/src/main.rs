//! The project's chores: `cargo xtask test`, `cargo xtask test STEP`, `cargo xtask soak`, `cargo xtask
//! docs`, `cargo xtask bench`, `cargo xtask lines`.
//!
//! It is plain Rust with no dependencies, so that it runs on every machine with Rust. A chore is a list of steps; a
//! step is a list of cargo commands. The first command that fails ends the chore, with a hint on how to run its step
//! alone.

mod bench;
mod book;
mod browser;
mod command;
mod deny;
mod fuzz;
mod lines;
mod package;
mod pipelines;
mod python;
mod readme;
mod step;
mod tag;
mod toolchains;
mod valkey;
mod workflows;

use std::process::ExitCode;

use step::Step;

const HELP: &str = "\
usage: cargo xtask test [STEP]   every check, or one of them
       cargo xtask test quick    what to run before each commit; needs no other program
       cargo xtask soak          the property tests with many cases, and the ignored tests; takes long
       cargo xtask docs          the pages as a book, in target/book
       cargo xtask bench [ROW]   the rows of README's table of ratios, or one of them measured again
       cargo xtask tag TAG       fails unless TAG is the version of the crates
       cargo xtask lines [DIR]   the lines of each crate here, or below DIR: product code, documentation, tests
       cargo xtask help          this text
";

/// Variables for the builds of the whole of `cargo xtask test`. Incremental compilation and debug information would
/// take a fifth of the processor time and half of the disk.
const BUILT_ONCE: [(&str, &str); 2] = [("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "false")];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["help" | "--help" | "-h"] => {
            print!("{HELP}\nsteps of `cargo xtask test`:\n{}", step::list());
            Ok(())
        }
        ["test"] => command::within(&BUILT_ONCE).unwrap_or_else(|| step::run_all(&Step::STAGES)),
        ["test", "quick"] => step::run_all(&Step::QUICK),
        ["test", name] => match Step::named(name) {
            Some(step) => step::run_all(&[&[step]]),
            None => Err(format!("there is no step `{name}`; the steps are\n{}", step::list())),
        },
        ["soak"] => step::run_all(&Step::SOAK),
        ["docs"] => book::print(),
        ["bench", ref rows @ ..] => bench::run(rows),
        ["tag", tag] => tag::check(tag),
        ["lines"] => lines::print(command::root()),
        ["lines", dir] => lines::print(dir.as_ref()),
        _ => Err(HELP.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {}", message.trim_end());
            ExitCode::FAILURE
        }
    }
}
