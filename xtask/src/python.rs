//! The tests of the Python module, which is built as a wheel and installed into a separate environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread::available_parallelism;

use crate::command::{Outcome, TESTED, cargo, install, is_there, root, system};

/// The maximum size of the wheel, in bytes.
const MAX_WHEEL: u64 = 1_600_000;

/// The command that runs pip without progress messages.
const PIP: &str = "pip --quiet --disable-pip-version-check";

/// Runs the tests of the Python module and a type checker over it, except for the tests in `engines`.
pub(crate) fn run() -> Result<Outcome, String> {
    let environment = match Environment::with_module() {
        Ok(environment) => environment,
        Err(outcome) => return outcome,
    };
    cargo(&format!("build {TESTED} --bin furui"), &[])?;
    let (module, tests) = (module(), tests());
    environment.run(&format!("mypy --config-file {module}/pyproject.toml {module}/python {tests}"), &[])?;
    let command = root().join("target").join("debug").join("furui").display().to_string();
    environment.test(&format!("--quiet {tests} --ignore={tests}/engines"), &[("FURUI", &command)])?;
    Ok(Outcome::Passed)
}

/// Runs the tests with Spark, each of which starts several processes of Java.
pub(crate) fn spark() -> Result<Outcome, String> {
    if !is_there("java") {
        // A failure is not reported here: the check below finds that it is still missing.
        let _installed = install("default-jre-headless");
    }
    if !is_there("java") {
        return Ok(Outcome::Skipped("there is no Java, and it could not be installed".to_owned()));
    }
    match Environment::with_module() {
        Ok(environment) => environment.run(&format!("pytest --quiet {}/engines/test_spark.py", tests()), &[])?,
        Err(outcome) => return outcome,
    }
    Ok(Outcome::Passed)
}

/// Runs, with many histories, kills and seeds, the tests of a set that many machines share, and those with Ray.
pub(crate) fn soak() -> Result<(), String> {
    let environment = Environment::with_module().map_err(|outcome| format!("{outcome:?}"))?;
    let tests = tests();
    let files = ["test_protocol.py", "test_cloud_kills.py", "test_cloud_requests.py", "engines/test_ray.py"];
    let files: String = files.map(|file| format!(" {tests}/{file}")).concat();
    let many = [("FURUI_HISTORIES", "100000"), ("FURUI_KILLS", "50"), ("FURUI_SEEDS", "50")];
    environment.test(&format!("--quiet{files}"), &many)
}

/// The directory of the module, and that of its tests.
fn module() -> String {
    root().join("doors").join("furui-py").display().to_string()
}

fn tests() -> String {
    format!("{}/tests", module())
}

/// Builds the wheel with the compression of a release, and returns an error if it is too large.
pub(crate) fn check_size() -> Result<(), String> {
    let wheel = Environment::make()?.wheel("--compression-level=9")?;
    let size = fs::metadata(&wheel).map_err(|error| format!("{wheel}: {error}"))?.len();
    if size > MAX_WHEEL { Err(format!("the wheel has {size} bytes, more than {MAX_WHEEL}")) } else { Ok(()) }
}

/// A virtual environment of Python at this path, in which the modules for Python and for Valkey are tested.
pub(crate) struct Environment(PathBuf);

impl Environment {
    /// Creates the environment, unless it exists.
    ///
    /// # Errors
    /// If the environment cannot be created on this system. The text is the reason.
    pub(crate) fn make() -> Result<Self, String> {
        let folder = root().join("target").join("tools").join("modules");
        if !is_there("python3") {
            return Err("there is no python3".to_owned());
        }
        let made = system(&format!("python3 -m venv {}", folder.display()), &[]);
        made.map(|()| Self(folder)).map_err(|_| "python3 cannot make a virtual environment".to_owned())
    }

    /// Creates the environment, builds the wheel, and installs it and what its tests need.
    ///
    /// # Errors
    /// The outcome of the step: skipped if something cannot be created or installed on this system.
    fn with_module() -> Result<Self, Result<Outcome, String>> {
        let environment = Self::make().map_err(|reason| Ok(Outcome::Skipped(reason)))?;
        if !environment.install(Path::new(&format!("{}/requirements.txt", tests()))) {
            let reason = "what the tests need could not be installed from PyPI".to_owned();
            return Err(Ok(Outcome::Skipped(reason)));
        }
        environment.install_wheel().map_err(Err)?;
        Ok(environment)
    }

    /// Runs a module of Python, as `python -m` does, with `variables` in its environment.
    pub(crate) fn run(&self, module: &str, variables: &[(&str, &str)]) -> Result<(), String> {
        system(&format!("{} -m {module}", self.0.join("bin").join("python").display()), variables)
    }

    /// Installs the packages that a requirements file names. Returns false if that fails.
    pub(crate) fn install(&self, requirements: &Path) -> bool {
        // Most modules of the packages are never imported, so Python compiles a module only when it is imported.
        self.run(&format!("{PIP} install --no-compile --requirement {}", requirements.display()), &[]).is_ok()
    }

    /// Builds the wheel, at most once in a run of this program, and installs it. It is built with the profile of all
    /// other tests, so that the crates that they share are built once.
    pub(crate) fn install_wheel(&self) -> Result<(), String> {
        static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
        let install = |wheel| self.run(&format!("{PIP} install --no-deps --force-reinstall {wheel}"), &[]);
        INSTALLED.get_or_init(|| self.wheel("--profile=dev").and_then(install)).clone()
    }

    /// Builds the wheel as `pip install` does, with the tools that pyproject.toml names. Returns the path of the wheel.
    fn wheel(&self, arguments: &str) -> Result<String, String> {
        let wheels = root().join("target").join("tools").join("wheels");
        // Wheels of earlier builds would be found, too.
        let _removed = fs::remove_dir_all(&wheels);
        let settings = format!("--no-deps --config-settings build-args={arguments}");
        self.run(&format!("{PIP} wheel {settings} --wheel-dir {} {}", wheels.display(), module()), &[])?;
        only_file(&wheels)
    }

    /// Runs tests in parallel. Many wait for a server or for a process, so more tests run at a time than there are
    /// processors.
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
