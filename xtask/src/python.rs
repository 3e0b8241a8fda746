//! The tests of the Python module, which is built as a wheel and installed into an environment of its own.

use std::fs;
use std::path::Path;

use crate::command::{Outcome, TESTED, cargo, is_there, root, system, turn};

/// The maximum size of the wheel, in bytes.
const MAX_WHEEL: u64 = 1_500_000;

/// Builds the wheel, installs it and what its tests need, and runs the tests and a type checker over them.
pub(crate) fn run() -> Result<Outcome, String> {
    let module = root().join("doors").join("furui-py");
    let environment = root().join("target").join("tools").join("furui-py");
    let python = environment.join("bin").join("python");
    let (python, module) = (python.display(), module.display());
    if !is_there("python3") {
        return Ok(Outcome::Skipped("there is no python3".to_owned()));
    }
    if system(&format!("python3 -m venv --clear {}", environment.display()), &[]).is_err() {
        return Ok(Outcome::Skipped("python3 cannot make a virtual environment".to_owned()));
    }
    let install = format!("{python} -m pip install --quiet --disable-pip-version-check");
    if system(&format!("{install} --requirement {module}/tests/requirements.txt"), &[]).is_err() {
        return Ok(Outcome::Skipped("what the tests need could not be installed from PyPI".to_owned()));
    }
    cargo(&format!("build {TESTED} --bin furui"), &[])?;
    install_wheel(&environment)?;
    system(&format!("{python} -m mypy --config-file {module}/pyproject.toml {module}/python {module}/tests"), &[])?;
    let command = root().join("target").join("debug").join("furui").display().to_string();
    system(&format!("{python} -m pytest --quiet {module}/tests"), &[("FURUI", &command)])?;
    Ok(Outcome::Passed)
}

/// Builds the wheel, and installs it into an environment.
pub(crate) fn install_wheel(environment: &Path) -> Result<(), String> {
    let (module, wheels) = (root().join("doors").join("furui-py"), root().join("target").join("tools").join("wheels"));
    let python = environment.join("bin").join("python");
    let pip = format!("{} -m pip --quiet --disable-pip-version-check", python.display());
    let _turn = turn()?;
    // The wheels of earlier builds would be installed too.
    let _removed = fs::remove_dir_all(&wheels);
    // As `pip install` does it, with the tools that pyproject.toml asks for, and compressed as for a release.
    let settings = "--no-deps --config-settings build-args=--compression-level=9";
    system(&format!("{pip} wheel {settings} --wheel-dir {} {}", wheels.display(), module.display()), &[])?;
    let wheel = only_file(&wheels)?;
    let size = fs::metadata(&wheel).map_err(|error| format!("{wheel}: {error}"))?.len();
    if size > MAX_WHEEL {
        return Err(format!("the wheel has {size} bytes, more than {MAX_WHEEL}"));
    }
    system(&format!("{pip} install --no-deps --force-reinstall {wheel}"), &[])
}

/// The path of the only file in a directory.
fn only_file(directory: &Path) -> Result<String, String> {
    let files = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let files: Vec<_> = files.flatten().map(|file| file.path().display().to_string()).collect();
    match &files[..] {
        [file] => Ok(file.clone()),
        _ => Err(format!("{}: one wheel expected, {} files found", directory.display(), files.len())),
    }
}
