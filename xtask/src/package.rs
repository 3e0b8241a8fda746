//! The check of the packages that are published on crates.io.

use crate::command::{Outcome, cargo, cargo_output};

/// The arguments that package all published crates. The packages are not built here: that is part of a release
/// (RELEASING.md).
const PACKAGE: &str = "package --workspace --exclude furui-papers --exclude furui-py --exclude furui-valkey --exclude xtask --no-verify --allow-dirty";

/// The files that every package must contain.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Packages every published crate, and checks that each package contains [`FILES`].
pub(crate) fn check() -> Result<Outcome, String> {
    let list = cargo_output(&format!("{PACKAGE} --list"), &[])?;
    let count = |name: &str| list.lines().filter(|line| *line == name).count();
    let packages = count("Cargo.toml.orig");
    match FILES.into_iter().find(|file| count(file) != packages) {
        Some(file) => Err(format!("only {} of {packages} packages contain {file}", count(file))),
        None => cargo(PACKAGE, &[]),
    }
}
