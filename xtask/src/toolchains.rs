//! Checks that need a Rust toolchain other than the one in use. They are skipped if it is not installed.

use std::path::Path;
use std::process::Command;

use crate::command::{Outcome, output_of, root, succeed};

/// The oldest supported version of Rust, which is the `rust-version` of the workspace.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

/// Targets that differ from most developers' machines: in their vector instructions, the size of `usize` or the byte
/// order.
const TARGETS: [&str; 3] = ["aarch64-unknown-linux-gnu", "i686-unknown-linux-gnu", "s390x-unknown-linux-gnu"];

/// The tests that Miri runs, by parts of their names: those of code with `unsafe`, except for files and memory maps,
/// and those of decoders. Miri supports no vector instructions beyond the baseline, so the portable code runs.
const MIRI: &str = "bits:: hash:: format::bytes format::header format::layout filter::concurrent:: dict::trie::";

/// Type-checks the published crates with the oldest supported Rust.
pub(crate) fn oldest() -> Result<Outcome, String> {
    if sysroot(OLDEST).is_none() {
        return Ok(Outcome::Skipped(format!("needs Rust {OLDEST}; to get it: rustup toolchain install {OLDEST}")));
    }
    run(
        OLDEST,
        "check --workspace --exclude furui-papers --exclude furui-py --exclude furui-valkey --features furui-cli/node",
        &[],
    )
}

/// Type-checks the library for other processors, with a standard library that is built for each.
pub(crate) fn targets() -> Result<Outcome, String> {
    if let Some(why) = nightly_lacks("rust-src") {
        return Ok(Outcome::Skipped(why));
    }
    for target in TARGETS {
        run("nightly", &format!("check -p furui -Zbuild-std --target {target}"), &[])?;
    }
    Ok(Outcome::Passed)
}

/// Runs some tests of the library in Miri, with few cases each: Miri is hundreds of times slower than a processor.
pub(crate) fn miri() -> Result<Outcome, String> {
    if let Some(why) = nightly_lacks("rust-src").or_else(|| nightly_lacks("miri")) {
        return Ok(Outcome::Skipped(why));
    }
    let variables = [("MIRIFLAGS", "-Zmiri-disable-isolation"), ("PROPTEST_CASES", "2")];
    run("nightly", &format!("miri test -p furui --lib -- {MIRI}"), &variables)
}

/// Returns the reason why a check that needs this component of the nightly toolchain cannot run. `None` if it can run.
fn nightly_lacks(component: &str) -> Option<String> {
    let is_there = sysroot("nightly").is_some_and(|sysroot| match component {
        "rust-src" => Path::new(&sysroot).join("lib/rustlib/src/rust/library").is_dir(),
        _ => output_of(rustup("nightly").args(["cargo", component, "--version"])).is_ok(),
    });
    let get = "rustup toolchain install nightly --component rust-src,miri";
    (!is_there).then(|| format!("needs a nightly Rust with {component}; to get it: {get}"))
}

/// The root directory of a toolchain; `None` if the toolchain is not installed.
fn sysroot(toolchain: &str) -> Option<String> {
    output_of(rustup(toolchain).args(["rustc", "--print", "sysroot"])).ok().map(|path| path.trim().to_owned())
}

/// Runs cargo of another toolchain at the root with `arguments`, which are separated by spaces and have no quotes.
fn run(toolchain: &str, arguments: &str, variables: &[(&str, &str)]) -> Result<Outcome, String> {
    let printed = format!("cargo +{toolchain} {arguments}");
    println!("$ {}{printed}", variables.iter().map(|(k, v)| format!("{k}='{v}' ")).collect::<String>());
    let mut command = rustup(toolchain);
    command.arg("cargo").args(arguments.split_whitespace()).envs(variables.iter().copied());
    succeed(&mut command, &printed)?;
    Ok(Outcome::Passed)
}

/// A command that runs a toolchain, without the variables that cargo has set for this program.
fn rustup(toolchain: &str) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", toolchain]).current_dir(root());
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}
