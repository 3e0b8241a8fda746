//! The check of the workflows by zizmor: pinned actions, least permissions, no text of strangers in scripts.

use std::process::{Command, Stdio};

use crate::command::{Outcome, root, succeed, tool};

/// The PyPI package of zizmor, which is compiled.
const PACKAGE: &str = "zizmor==1.32.0";

/// The arguments of zizmor. What needs a network is left out.
const CHECK: &str = "--offline --quiet --persona regular .github";

/// Checks all files below `.github`.
pub(crate) fn check() -> Result<Outcome, String> {
    let Some(zizmor) = tool("zizmor", PACKAGE) else {
        return Ok(Outcome::Skipped("there is no zizmor; to get it: cargo install --locked zizmor".to_owned()));
    };
    println!("$ zizmor {CHECK}");
    let mut command = Command::new(zizmor);
    command.args(CHECK.split(' ')).current_dir(root()).stdin(Stdio::null());
    succeed(&mut command, &format!("zizmor {CHECK}"))?;
    Ok(Outcome::Passed)
}
