//! The README's promises, kept: every `cargo run` it prints is run as printed.

use std::fs;

use crate::command::{cargo, root};

/// Runs each line of README.md's `sh` blocks that starts with `cargo run`.
pub(crate) fn run_commands() -> Result<(), String> {
    let readme =
        fs::read_to_string(root().join("README.md")).map_err(|error| format!("cannot read README.md: {error}"))?;
    let commands = cargo_runs(&readme)?;
    if commands.is_empty() {
        return Err("README.md prints no `cargo run` in an `sh` block".to_owned());
    }
    commands.iter().try_for_each(|arguments| cargo(arguments, &[]))
}

/// What follows `cargo` in each such line, without a comment at its end.
fn cargo_runs(readme: &str) -> Result<Vec<&str>, String> {
    let mut commands = Vec::new();
    let mut in_sh = false;
    for line in readme.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            in_sh = language.trim() == "sh";
        } else if in_sh && line.starts_with("cargo run") {
            let command = line.split(" #").next().unwrap_or(line).trim_end();
            // No shell runs them, so that the step works on every system.
            if command.contains(['|', '<', '>', '&', ';', '$', '\'', '"', '\\', '*', '`']) {
                return Err(format!("README.md: `{command}` needs a shell; print a plain command instead"));
            }
            commands.push(&command["cargo ".len()..]);
        }
    }
    Ok(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cargo_run_lines_of_sh_blocks_are_commands() {
        let readme = "cargo run in text\n```sh\ncargo run --release -- seen FILE   # prints\ncargo xtask test\n```\n\
                      ```text\ncargo run nothing\n```\n```sh\n$ no\ncargo run -- help\n```\n";
        assert_eq!(cargo_runs(readme).unwrap(), ["run --release -- seen FILE", "run -- help"]);
    }

    #[test]
    fn a_command_that_needs_a_shell_is_refused() {
        let error = cargo_runs("```sh\ncargo run -- seen a | wc\n```\n").unwrap_err();
        assert!(error.contains("cargo run -- seen a | wc"), "{error}");
    }
}
