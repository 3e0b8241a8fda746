//! What a user of crates.io gets.

use crate::command::{cargo, cargo_output};

/// The crates that are published, as they are packaged. The packages are not built here: a release does that (RELEASING.md).
const PACKAGE: &str = "package --workspace --exclude furui-lab --exclude xtask --no-verify --allow-dirty";

/// What every package contains.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Packages every crate that is published, and looks for the files above.
pub(crate) fn check() -> Result<(), String> {
    let list = cargo_output(&format!("{PACKAGE} --list"), &[])?;
    let count = |name: &str| list.lines().filter(|line| *line == name).count();
    let packages = count("Cargo.toml.orig");
    match FILES.into_iter().find(|file| count(file) != packages) {
        Some(file) => Err(format!("only {} of {packages} packages contain {file}", count(file))),
        None => cargo(PACKAGE, &[]),
    }
}
