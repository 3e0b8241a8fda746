//! The tests of the module for Valkey and Redis, in real servers.

use std::path::Path;

use crate::command::{Outcome, cargo, is_there, root, system};
use crate::python;

/// Debian's packages with the server, and with what the build reads the server's header by.
const PACKAGES: &str = "redis-server libclang-dev";

/// Builds the module, and runs its tests in servers that they start.
pub(crate) fn run() -> Result<Outcome, String> {
    if !(is_there("redis-server") && has_libclang()) && is_there("apt-get") {
        let install = format!("apt-get install --yes --no-install-recommends {PACKAGES}");
        // A failure is not reported here: the checks below find what is still missing.
        let _installed =
            system("apt-get update", &[]).and_then(|()| system(&install, &[("DEBIAN_FRONTEND", "noninteractive")]));
    }
    if !is_there("redis-server") {
        return Ok(Outcome::Skipped("there is no redis-server, and it could not be installed".to_owned()));
    }
    if !has_libclang() {
        return Ok(Outcome::Skipped("there is no libclang, and it could not be installed".to_owned()));
    }
    let tests = root().join("doors").join("furui-valkey").join("tests");
    let (environment, tests) = (root().join("target").join("tools").join("furui-valkey"), tests.display());
    let python = environment.join("bin").join("python");
    let python = python.display();
    if system(&format!("python3 -m venv --clear {}", environment.display()), &[]).is_err() {
        return Ok(Outcome::Skipped("python3 cannot make a virtual environment".to_owned()));
    }
    let install = format!("{python} -m pip install --quiet --disable-pip-version-check");
    if system(&format!("{install} --requirement {tests}/requirements.txt"), &[]).is_err() {
        return Ok(Outcome::Skipped("what the tests need could not be installed from PyPI".to_owned()));
    }
    // Without them, the tests of the Python package's clients and spiders are skipped, and pytest says so.
    if system(&format!("{install} --requirement {tests}/requirements-clients.txt"), &[]).is_ok() {
        python::install_wheel(&environment)?;
    }
    cargo("clippy -p furui-valkey -- -D warnings", &[])?;
    cargo("build -p furui-valkey", &[])?;
    cargo("build -p furui-cli --features net", &[])?;
    let built = |name: &str| root().join("target").join("debug").join(name).display().to_string();
    let programs = [("FURUI_MODULE", &*built("libfurui_valkey.so")), ("FURUI_PROGRAM", &*built("furui"))];
    // What is skipped is told, and the tests of the cluster print what they have measured.
    system(&format!("{python} -m pytest --quiet -rs --capture=no {tests}"), &programs)?;
    Ok(Outcome::Passed)
}

/// Whether the library is there that reads C headers.
fn has_libclang() -> bool {
    let folders =
        ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
    let holds = |folder: &Path| {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        // libclang-cpp is another library, and comes without this one.
        let mut names = names.filter(|name| !name.starts_with("libclang-cpp"));
        names.any(|name| name.starts_with("libclang.so") || name.starts_with("libclang-"))
    };
    let llvm = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let llvm =
        llvm.filter(|file| file.file_name().to_string_lossy().starts_with("llvm-")).map(|file| file.path().join("lib"));
    std::env::var_os("LIBCLANG_PATH").is_some()
        || folders.iter().any(|folder| holds(Path::new(folder)))
        || llvm.into_iter().any(|folder| holds(&folder))
}
