//! Runs the commands of docs/gallery.md, and compares what they print with what the page shows.

use std::path::Path;
use std::process::Command;

use crate::support::TempDir;

const PAGE: &str = include_str!("../../../docs/gallery.md");

/// The commands of the page, each with the output that the page shows.
fn commands(page: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = vec![];
    for block in page.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match line.strip_prefix("$ ") {
                Some(command) => commands.push((command.to_owned(), String::new())),
                None => commands.last_mut().expect("a command comes first").1 += &format!("{line}\n"),
            }
        }
    }
    commands
}

#[test]
fn the_gallery_prints_what_its_page_shows() {
    let dir = TempDir::new();
    dir.file("urls.txt", include_bytes!("../../../examples/urls.txt"));
    let binary = Path::new(env!("CARGO_BIN_EXE_furui")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let commands = commands(PAGE);
    assert_eq!(PAGE.matches("\n## ").count(), 10);
    assert!(commands.len() > 20, "only {} commands", commands.len());
    for (command, shown) in commands {
        // As on a terminal, errors stand among the output.
        let script = format!("exec 2>&1\n{command}");
        let output =
            Command::new("sh").args(["-c", &script]).current_dir(dir.path()).env("PATH", &path).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), shown, "{command}");
    }
}
