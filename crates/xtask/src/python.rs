//! The tests of the Python module, which is built as a wheel and installed into an environment of its own.

use std::fs;

use crate::command::{Outcome, cargo, is_there, root, system};

/// The maximum size of the wheel, in bytes.
const MAX_WHEEL: u64 = 1_500_000;

/// Builds the wheel, installs it and what its tests need, and runs the tests and a type checker over them.
pub(crate) fn run() -> Result<Outcome, String> {
    let module = root().join("crates").join("furui-py");
    let tools = root().join("target").join("tools");
    let (environment, wheels) = (tools.join("furui-py"), tools.join("wheels"));
    let python = environment.join("bin").join("python");
    let (python, module, wheels) = (python.display(), module.display(), wheels.display());
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
    cargo("build -p furui-cli", &[])?;
    // The wheels of earlier builds would be installed too.
    let _removed = fs::remove_dir_all(tools.join("wheels"));
    // As `pip install` does it, with the tools that pyproject.toml asks for.
    system(&format!("{python} -m pip wheel --quiet --no-deps --wheel-dir {wheels} {module}"), &[])?;
    let wheel = only_file(&tools.join("wheels"))?;
    let size = fs::metadata(&wheel).map_err(|error| format!("{wheel}: {error}"))?.len();
    if size > MAX_WHEEL {
        return Err(format!("the wheel has {size} bytes, more than {MAX_WHEEL}"));
    }
    system(&format!("{install} --no-deps --force-reinstall {wheel}"), &[])?;
    system(&format!("{python} -m mypy --config-file {module}/pyproject.toml {module}/python {module}/tests"), &[])?;
    let command = root().join("target").join("debug").join("furui").display().to_string();
    system(&format!("{python} -m pytest --quiet {module}/tests"), &[("FURUI", &command)])?;
    Ok(Outcome::Passed)
}

/// The path of the only file in a directory.
fn only_file(directory: &std::path::Path) -> Result<String, String> {
    let files = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let files: Vec<_> = files.flatten().map(|file| file.path().display().to_string()).collect();
    match &files[..] {
        [file] => Ok(file.clone()),
        _ => Err(format!("{}: one wheel expected, {} files found", directory.display(), files.len())),
    }
}
