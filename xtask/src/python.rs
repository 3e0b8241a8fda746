//! The tests of the Python module, which is built as a wheel and installed into an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread::available_parallelism;

use crate::command::{Outcome, TESTED, cargo, is_there, root, system};

/// The maximum size of the wheel, in bytes.
const MAX_WHEEL: u64 = 1_500_000;

/// The package manager, without what it says of itself.
const PIP: &str = "pip --quiet --disable-pip-version-check";

/// Builds the wheel, installs it and what its tests need, and runs the tests and a type checker over them.
pub(crate) fn run() -> Result<Outcome, String> {
    let module = root().join("doors").join("furui-py");
    let environment = match Environment::make() {
        Ok(environment) => environment,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    if !environment.install(&module.join("tests").join("requirements.txt")) {
        return Ok(Outcome::Skipped("what the tests need could not be installed from PyPI".to_owned()));
    }
    cargo(&format!("build {TESTED} --bin furui"), &[])?;
    environment.install_wheel()?;
    let module = module.display();
    environment.run(&format!("mypy --config-file {module}/pyproject.toml {module}/python {module}/tests"), &[])?;
    let command = root().join("target").join("debug").join("furui").display().to_string();
    environment.test(&format!("--quiet {module}/tests"), &[("FURUI", &command)])?;
    Ok(Outcome::Passed)
}

/// Builds the wheel as for a release, and checks its size.
pub(crate) fn check_size() -> Result<(), String> {
    let wheel = Environment::make()?.wheel("--compression-level=9")?;
    let size = fs::metadata(&wheel).map_err(|error| format!("{wheel}: {error}"))?.len();
    if size > MAX_WHEEL { Err(format!("the wheel has {size} bytes, more than {MAX_WHEEL}")) } else { Ok(()) }
}

/// An environment of Python, in which the modules for Python and for Valkey are tested.
pub(crate) struct Environment(PathBuf);

impl Environment {
    /// Makes the environment, unless it is there.
    ///
    /// # Errors
    /// Why that is not possible here.
    pub(crate) fn make() -> Result<Self, String> {
        let folder = root().join("target").join("tools").join("modules");
        if !is_there("python3") {
            return Err("there is no python3".to_owned());
        }
        let made = system(&format!("python3 -m venv {}", folder.display()), &[]);
        made.map(|()| Self(folder)).map_err(|_| "python3 cannot make a virtual environment".to_owned())
    }

    /// Runs a module of Python.
    pub(crate) fn run(&self, module: &str, variables: &[(&str, &str)]) -> Result<(), String> {
        system(&format!("{} -m {module}", self.0.join("bin").join("python").display()), variables)
    }

    /// Installs the packages that a file names. False if that is not possible.
    pub(crate) fn install(&self, requirements: &Path) -> bool {
        // Most of the packages' modules are never imported, so they are compiled when they are.
        self.run(&format!("{PIP} install --no-compile --requirement {}", requirements.display()), &[]).is_ok()
    }

    /// Builds the wheel, once in a run of this program, and installs it. It has the profile of all other tests, so that
    /// the crates that they share are built once.
    pub(crate) fn install_wheel(&self) -> Result<(), String> {
        static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
        let install = |wheel| self.run(&format!("{PIP} install --no-deps --force-reinstall {wheel}"), &[]);
        INSTALLED.get_or_init(|| self.wheel("--profile=dev").and_then(install)).clone()
    }

    /// Builds the wheel as `pip install` does it, with the tools that pyproject.toml asks for. Returns its path.
    fn wheel(&self, arguments: &str) -> Result<String, String> {
        let (module, wheels) =
            (root().join("doors").join("furui-py"), root().join("target").join("tools").join("wheels"));
        // The wheels of earlier builds would be found too.
        let _removed = fs::remove_dir_all(&wheels);
        let settings = format!("--no-deps --config-settings build-args={arguments}");
        self.run(&format!("{PIP} wheel {settings} --wheel-dir {} {}", wheels.display(), module.display()), &[])?;
        only_file(&wheels)
    }

    /// Runs tests side by side. Many wait for a server or for a process, so there are more at a time than processors.
    pub(crate) fn test(&self, arguments: &str, variables: &[(&str, &str)]) -> Result<(), String> {
        let workers = (available_parallelism().map_or(2, |processors| processors.get()) * 3).div_ceil(2);
        self.run(&format!("pytest --numprocesses {workers} --dist loadgroup {arguments}"), variables)
    }
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
