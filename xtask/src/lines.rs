//! Counts the lines of Rust of each crate: product code, documentation, comments, and code of tests.
//!
//! Code of tests is what lies in `tests`, `benches`, `examples` and `fuzz_targets`, every `#[test]` and `#[cfg(test)]`
//! item, and every file that is a module under `#[cfg(test)] mod x;`. Blank lines are not counted. The sources must be
//! formatted by `cargo fmt`, because an item ends at the first line of its own indentation that ends it.

use std::fs;
use std::path::{Path, PathBuf};

const TESTS: [&str; 4] = ["tests", "benches", "examples", "fuzz_targets"];

/// The numbers of files, and of lines of product code, documentation, comments, and code of tests.
type Counts = [usize; 5];

/// Prints a table of the crates below `root`, and their sum.
pub(crate) fn print(root: &Path) -> Result<(), String> {
    let mut crates = vec![];
    visit(root, &mut |file| {
        if file.ends_with("Cargo.toml") && fs::read_to_string(file).is_ok_and(|text| text.contains("[package]")) {
            crates.extend(file.parent().map(Path::to_owned));
        }
    })
    .map_err(|error| format!("cannot list {}: {error}", root.display()))?;
    println!("| crate | files | product code | documentation | comments | tests |\n|---|--:|--:|--:|--:|--:|");
    let mut sum = Counts::default();
    for one in crates {
        let counts = count_crate(&one).map_err(|error| format!("cannot read {}: {error}", one.display()))?;
        print_row(&one.strip_prefix(root).unwrap_or(&one).display().to_string(), counts);
        sum = std::array::from_fn(|i| sum[i] + counts[i]);
    }
    print_row("all", sum);
    Ok(())
}

fn print_row(name: &str, counts: Counts) {
    println!("| {name} | {} |", counts.map(|count| count.to_string()).join(" | "));
}

/// Calls `seen` with every file below `dir` that is not an output of a build, in the order of names.
fn visit(dir: &Path, seen: &mut dyn FnMut(&Path)) -> std::io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    for path in paths.iter().filter(|path| !path.is_symlink()) {
        match path.is_dir() {
            true if path.ends_with("target") || path.ends_with(".git") => {}
            true => visit(path, seen)?,
            false => seen(path),
        }
    }
    Ok(())
}

fn count_crate(root: &Path) -> std::io::Result<Counts> {
    let mut files = vec![];
    visit(root, &mut |file| files.extend(file.extension().is_some_and(|end| end == "rs").then(|| file.to_owned())))?;
    let texts = files.iter().map(fs::read_to_string).collect::<std::io::Result<Vec<_>>>()?;
    // The paths of test modules without their extension. The paths of the modules inside them begin with these paths.
    let tests: Vec<PathBuf> = files.iter().zip(&texts).flat_map(|(file, text)| test_modules(file, text)).collect();
    let mut counts = [files.len(), 0, 0, 0, 0];
    for (file, text) in files.iter().zip(&texts) {
        let inside = file.strip_prefix(root).unwrap_or(file);
        let is_test = TESTS.iter().any(|dir| inside.starts_with(dir))
            || tests.iter().any(|module| file.starts_with(module) || file.with_extension("") == *module);
        count(text, is_test, &mut counts);
    }
    Ok(counts)
}

/// The paths, without extension, of the modules that a file declares by `#[cfg(test)] mod x;`.
fn test_modules(file: &Path, text: &str) -> Vec<PathBuf> {
    let is_root = ["mod", "lib", "main"].iter().any(|stem| file.file_stem().is_some_and(|name| name == *stem));
    let dir = if is_root { file.with_file_name("") } else { file.with_extension("") };
    let after = text.split("#[cfg(test)]\n").skip(1).filter_map(|rest| rest.lines().next()?.strip_suffix(';'));
    after.filter_map(|item| Some(dir.join(item.rsplit_once("mod ")?.1))).collect()
}

/// Adds the numbers of lines of a file with this text to `counts`. `is_test` is true if all of it is code of tests.
fn count(text: &str, is_test: bool, counts: &mut Counts) {
    let mut test_item_at = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let statement = line.trim_start();
        let indentation = line.len() - statement.len();
        if ["#[test]", "#[cfg(test)]", "#[cfg(all(test"].iter().any(|start| statement.starts_with(start)) {
            test_item_at = test_item_at.or(Some(indentation));
        }
        let kind = match statement {
            _ if statement.starts_with("///") || statement.starts_with("//!") => 2,
            _ if statement.starts_with("//") => 3,
            _ if is_test || test_item_at.is_some() => 4,
            _ => 1,
        };
        counts[kind] += 1;
        if test_item_at == Some(indentation) && kind == 4 && statement.ends_with(['}', ';', ',']) {
            test_item_at = None;
        }
    }
}

#[test]
fn code_documentation_comments_and_tests_are_told_apart() {
    let text = "//! A.\nuse a;\n\n/// B.\nfn b() {\n    // Why.\n    c();\n}\n\n#[cfg(test)]\nmod tests {\n    d();\n}\nfn e() {}\n";
    let mut counts = Counts::default();
    count(text, false, &mut counts);
    assert_eq!(counts, [0, 5, 2, 1, 4]);
    let modules = test_modules(Path::new("src/a.rs"), "#[cfg(test)]\nmod tests;\n#[cfg(test)]\npub(crate) mod b;\n");
    assert_eq!(modules, [Path::new("src/a/tests"), Path::new("src/a/b")]);
}
