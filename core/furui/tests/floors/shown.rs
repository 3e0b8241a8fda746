//! Every public type shows how it is used: its documentation has a block of Rust, which is run as a doc test.
//!
//! A type is a `pub struct` or a `pub enum`. A type that no caller can name must be `pub(crate)`, which a lint checks.

/// Types that occur only in bounds and sealed traits, and that no caller names.
const BOUNDS: [&str; 3] = ["Layers", "Place", "Trusted"];

/// A message for each type in a file whose documentation has no example.
pub fn types_without_example(file: &str, text: &str) -> Vec<String> {
    let (mut found, mut documentation) = (Vec::new(), Vec::new());
    for (i, line) in text.lines().map(str::trim_start).enumerate() {
        if let Some(line) = line.strip_prefix("///") {
            documentation.push(line.trim());
        } else if !line.starts_with("#[") {
            let item = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
            let name = item.and_then(|item| item.split(|c: char| !c.is_alphanumeric()).next());
            if let Some(name) = name.filter(|name| !BOUNDS.contains(name) && !has_example(&documentation)) {
                found.push(format!("src/{file}:{}: {name} has no example in its documentation", i + 1));
            }
            documentation.clear();
        }
    }
    found
}

/// True if `documentation` has a block of Rust. Every second fence ends a block, and is skipped.
fn has_example(documentation: &[&str]) -> bool {
    let fences = documentation.iter().filter_map(|line| line.strip_prefix("```"));
    fences.step_by(2).any(|language| ["", "no_run"].contains(&language))
}

#[test]
fn a_type_without_a_block_of_rust_is_named() {
    let shown = "/// A.\n///\n/// ```text\n/// x\n/// ```\n///\n/// ```\n/// use x;\n/// ```\n#[derive(Debug)]\npub struct A;\n";
    let others =
        "/// B.\n///\n/// ```text\n/// x\n/// ```\npub enum B {}\n\npub(crate) struct C;\nstruct D;\npub fn e() {}\n";
    let found = types_without_example("a.rs", &format!("{shown}{others}"));
    assert_eq!(found, ["src/a.rs:17: B has no example in its documentation"]);
}
