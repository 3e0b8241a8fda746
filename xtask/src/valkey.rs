//! The tests of the module for Valkey and Redis, in real servers.

use std::path::Path;

use crate::command::{Outcome, TESTED, cargo, install, is_there, root};
use crate::python::Environment;

/// The Debian packages of the server, and of the library with which the build reads the server's header.
const PACKAGES: &str = "redis-server libclang-dev";

/// Builds the module, and runs its tests in servers that they start.
pub(crate) fn run() -> Result<Outcome, String> {
    if !(is_there("redis-server") && has_libclang()) {
        // A failure is not reported here: the checks below find what is still missing.
        let _installed = install(PACKAGES);
    }
    if !is_there("redis-server") {
        return Ok(Outcome::Skipped("there is no redis-server, and it could not be installed".to_owned()));
    }
    if !has_libclang() {
        return Ok(Outcome::Skipped("there is no libclang, and it could not be installed".to_owned()));
    }
    let tests = root().join("doors").join("furui-valkey").join("tests");
    let environment = match Environment::make() {
        Ok(environment) => environment,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    if !environment.install(&tests.join("requirements.txt")) {
        return Ok(Outcome::Skipped("what the tests need could not be installed from PyPI".to_owned()));
    }
    // Without these packages, the tests of the Python package's clients and spiders are skipped, and pytest reports
    // that.
    if environment.install(&tests.join("requirements-clients.txt")) {
        environment.install_wheel()?;
    }
    cargo("clippy -p furui-valkey -- -D warnings", &[])?;
    cargo("build -p furui-valkey", &[])?;
    cargo(&format!("build {TESTED} --bin furui"), &[])?;
    let built = |name: &str| root().join("target").join("debug").join(name).display().to_string();
    let programs = [("FURUI_MODULE", &*built("libfurui_valkey.so")), ("FURUI_PROGRAM", &*built("furui"))];
    // The options print the reasons for skipped tests, and the measurements of the cluster's tests.
    environment.test(&format!("--quiet -rsP {}", tests.display()), &programs)?;
    Ok(Outcome::Passed)
}

/// True if libclang is installed, which the build uses to read C headers.
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
