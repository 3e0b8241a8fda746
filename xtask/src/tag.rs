//! The check of a release's tag: it is the version of all crates, and the changelog has a section for it.

use std::fs;

use crate::command::root;

/// Fails unless `tag` is `v` and the version that the workspace, its dependencies on itself, and the newest section of
/// the changelog have.
pub(crate) fn check(tag: &str) -> Result<(), String> {
    let read =
        |name: &str| fs::read_to_string(root().join(name)).map_err(|error| format!("cannot read {name}: {error}"));
    differences(tag, &read("Cargo.toml")?, &read("CHANGELOG.md")?)
}

fn differences(tag: &str, manifest: &str, changelog: &str) -> Result<(), String> {
    let version = tag.strip_prefix('v').ok_or(format!("the tag is `{tag}`, and not `v` with a version"))?;
    let mut wrong = vec![];
    // The version of the workspace is a line of its own; that of each of its crates is on the line of a dependency.
    for line in manifest.lines().filter(|line| line.starts_with("version = ") || line.contains("{ path = ")) {
        let found = line.split_once("version = \"").and_then(|(_, rest)| rest.split_once('"')).map(|(found, _)| found);
        if found != Some(version) {
            wrong.push(format!("Cargo.toml has `{line}`"));
        }
    }
    let section = changelog.lines().find_map(|line| line.strip_prefix("## [")?.split_once(']'));
    match section {
        Some((newest, _)) if newest == version => {}
        Some((newest, _)) => wrong.push(format!("the newest section of CHANGELOG.md is [{newest}]")),
        None => wrong.push("CHANGELOG.md has no section".to_owned()),
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("the tag is `{tag}`, but {}; see RELEASING.md", wrong.join("; "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[workspace.package]\nversion = \"1.2.3\"\n\n[workspace.dependencies]\n\
                            a = { path = \"core/a\", version = \"1.2.3\" }\nserde = \"9\"\n";

    #[test]
    fn a_tag_is_the_version_of_every_crate_and_of_the_changelog() {
        differences("v1.2.3", MANIFEST, "# Changelog\n\n## [1.2.3] - 2026-12-01\n\n## [1.2.2]\n").unwrap();
        let error = differences("v1.2.4", MANIFEST, "## [Unreleased]\n").unwrap_err();
        assert_eq!(error.matches("Cargo.toml has").count(), 2, "{error}");
        assert!(error.contains("[Unreleased]"), "{error}");
        let one = MANIFEST.replace("a\", version = \"1.2.3", "a\", version = \"1.2.2");
        assert!(differences("v1.2.3", &one, "## [1.2.3]\n").unwrap_err().contains("a = { path"));
        assert!(differences("1.2.3", MANIFEST, "## [1.2.3]\n").unwrap_err().contains("and not `v`"));
    }
}
