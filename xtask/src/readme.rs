//! Runs the Rust program and every `cargo run` that README.md prints, as they are printed.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::command::{Outcome, cargo, cargo_command, cargo_output, root, succeed, system};

/// Variables for a release build that takes a third of the time: this step tests what the commands do, not how fast
/// they are.
const QUICK_BUILD: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "64"),
];

/// The arguments that build the search engine too.
const NODE: &str = "--features node";

/// The manifest of the crate for the program that README.md prints. It is like the manifest of a user who has added
/// furui by its path.
const MANIFEST: &str = r#"[package]
name = "readme"
edition = "2024"

[[bin]]
name = "readme"
path = "main.rs"

[dependencies]
furui.path = "../../core/furui"

[workspace]
"#;

/// Runs everything in README.md that can be run: the Rust program, and the `cargo run` commands.
pub(crate) fn run() -> Result<Outcome, String> {
    let readme =
        fs::read_to_string(root().join("README.md")).map_err(|error| format!("cannot read README.md: {error}"))?;
    run_program(&readme)?;
    run_commands(&readme).map(|()| Outcome::Passed)
}

/// Builds the program in the `rust` blocks as a separate crate, and runs it in an empty directory.
fn run_program(readme: &str) -> Result<(), String> {
    let dir = root().join("target").join("readme");
    let (files, target) = (dir.join("files"), dir.join("target"));
    let write = || {
        let _none_yet = fs::remove_dir_all(&files);
        fs::create_dir_all(&files)?;
        fs::write(dir.join("Cargo.toml"), MANIFEST)?;
        // The crate gets the same versions of dependencies as the workspace, so that nothing is looked up or
        // downloaded.
        fs::copy(root().join("Cargo.lock"), dir.join("Cargo.lock"))?;
        fs::write(dir.join("main.rs"), program(readme))
    };
    write().map_err(|error| format!("cannot write a crate to {}: {error}", dir.display()))?;
    println!("$ cargo run   # the program of README.md");
    let mut command = cargo_command();
    command
        .args(["run", "--quiet", "--manifest-path", "../Cargo.toml"])
        .current_dir(files)
        .env("CARGO_TARGET_DIR", target);
    succeed(&mut command, "cargo run, with the program of README.md,")
}

/// Runs each line of README.md's `sh` blocks that starts with `cargo run`. The demo is ended when it has shown a
/// result. In a build without the search engine, the demo must say how to get a build with it.
fn run_commands(readme: &str) -> Result<(), String> {
    let commands = cargo_runs(readme)?;
    if commands.is_empty() {
        return Err("README.md prints no `cargo run` in an `sh` block".to_owned());
    }
    commands.iter().try_for_each(|arguments| match arguments.ends_with("-- demo") {
        true => refused(&arguments.replace(NODE, "")).and_then(|()| demo(arguments)),
        false => cargo(arguments, &QUICK_BUILD).map(drop),
    })
}

/// Checks the error message of the demo in a build without the search engine.
fn refused(arguments: &str) -> Result<(), String> {
    println!("$ cargo {arguments}");
    match cargo_output(arguments, &QUICK_BUILD) {
        Err(message) if message.contains(&format!("cargo install --path doors/furui-cli {NODE}")) => Ok(()),
        Err(message) => Err(format!("a build without the search engine does not say how to get it: {message}")),
        Ok(_) => Err(format!("README.md prints the demo without `{NODE}`, or the feature is a default one")),
    }
}

/// Runs the demo as a newcomer would: gets the first page of results that it suggests, then ends it by ^C.
fn demo(arguments: &str) -> Result<(), String> {
    println!("$ cargo {arguments}");
    let failed = |why: &str| format!("`cargo {arguments}` {why}");
    let mut command = cargo_command();
    // Without a display, the demo does not open the browser of the person who runs the tests.
    command.args(arguments.split_whitespace()).envs(QUICK_BUILD).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|error| failed(&format!("cannot start: {error}")))?;
    let output = child.stdout.take().map(BufReader::new);
    let mut lines = output.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
    let suggested = lines.find_map(|line| {
        line.split_once("http://")?.1.split_once("/?").map(|(address, query)| (address.to_owned(), query.to_owned()))
    });
    let answer = suggested.map(|(address, query)| page(&address, &query));
    // On systems where ^C cannot be sent, the process is killed.
    let ended = system(&format!("kill -s INT {}", child.id()), &[])
        .or_else(|_| child.kill().map_err(|error| error.to_string()));
    let status = child.wait().map_err(|error| failed(&error.to_string()))?;
    match answer {
        None => Err(failed(&format!("ends with {status} and suggests nothing"))),
        Some(Err(error)) => Err(failed(&format!("does not serve its search page: {error}"))),
        Some(Ok(page)) if !page.contains("<mark>") => Err(failed(&format!("shows no result: {page}"))),
        Some(Ok(_)) if ended.is_err() || !status.success() => Err(failed(&format!("ends with {status} after ^C"))),
        Some(Ok(_)) => Ok(()),
    }
}

/// Requests the page of the search engine at this address for this query, and returns the response.
fn page(address: &str, query: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /?{query} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut page = Vec::new();
    stream.read_to_end(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// The text of the `rust` blocks. If there is no such block, the text is empty, and cannot be compiled.
fn program(readme: &str) -> String {
    let blocks = readme.split("```rust\n").skip(1);
    blocks.filter_map(|rest| rest.split("```").next()).collect()
}

/// The arguments of cargo in each `cargo run` line of the `sh` blocks, without the comment at the end of the line.
fn cargo_runs(readme: &str) -> Result<Vec<&str>, String> {
    let mut commands = Vec::new();
    let mut in_sh = false;
    for line in readme.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            in_sh = language.trim() == "sh";
        } else if in_sh && line.starts_with("cargo run") {
            let command = line.split(" #").next().unwrap_or(line).trim_end();
            // The commands run without a shell, so that the step works on every system.
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
    fn a_program_is_what_stands_in_rust_blocks() {
        assert_eq!(program("text\n```sh\nls\n```\n```rust\nfn main() {}\n```\ntext\n"), "fn main() {}\n");
    }

    #[test]
    fn a_command_that_needs_a_shell_is_refused() {
        let error = cargo_runs("```sh\ncargo run -- seen a | wc\n```\n").unwrap_err();
        assert!(error.contains("cargo run -- seen a | wc"), "{error}");
    }
}
