//! Runs the fuzz targets. Each runs for some seconds, first on its seed inputs and then on mutations of them.
//!
//! This needs no `cargo fuzz`, no nightly toolchain and no sanitizer: the code is built with libFuzzer's coverage,
//! debug assertions and checks of overflow, which the stable compiler can do, too.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::available_parallelism;

use crate::command::{Outcome, cargo, is_there, output_of, root};

/// The compiler flags that report to libFuzzer which edges were taken, and which numbers were compared.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

/// The directory of the build. It is separate, so that builds of `cargo check` and `cargo fuzz` do not replace it.
const TARGET: &str = "fuzz/target/seconds";

/// Builds all targets, and runs each for `seconds`.
pub(crate) fn run(seconds: u32) -> Result<Outcome, String> {
    if !cfg!(target_os = "linux") || !is_there("c++") {
        cargo("check --manifest-path fuzz/Cargo.toml", &[])?;
        let why = "the targets type-check, but were not run: that needs Linux and a C++ compiler, for libFuzzer";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    let host = host()?;
    cargo(
        &format!("build --manifest-path fuzz/Cargo.toml --target {host} --target-dir {TARGET}"),
        &[("RUSTFLAGS", FLAGS)],
    )?;
    let programs = root().join(TARGET).join(&host).join("debug");
    let targets = targets()?;
    let at_once = available_parallelism().map_or(2, |processors| processors.get());
    for group in targets.chunks(at_once) {
        println!("fuzzing {} for {seconds} s", group.join(", "));
        let runs: Vec<(&String, Run)> = group
            .iter()
            .map(|name| Ok((name, Run::start(&programs, name, seconds)?)))
            .collect::<Result<_, String>>()?;
        let failed: Vec<String> = runs.into_iter().filter_map(|(name, run)| run.finish(name).err()).collect();
        if !failed.is_empty() {
            return Err(failed.join("\n"));
        }
    }
    Ok(Outcome::Passed)
}

/// A fuzz target whose process is running.
struct Run {
    process: Child,
    log: PathBuf,
}

impl Run {
    fn start(programs: &Path, name: &str, seconds: u32) -> Result<Self, String> {
        let work = root().join(TARGET).join("work").join(name);
        // Only the seeds of the repository are kept between runs. The inputs that a run adds go to a separate folder.
        let found = work.join("found");
        let _ = std::fs::remove_dir_all(&found);
        std::fs::create_dir_all(&found).map_err(|error| format!("cannot make {}: {error}", found.display()))?;
        let log = work.join("log");
        let file = std::fs::File::create(&log).map_err(|error| format!("cannot make {}: {error}", log.display()))?;
        let mut command = Command::new(programs.join(name));
        command.args([&found, &root().join("fuzz").join("seeds").join(name)]);
        command.args([&format!("-max_total_time={seconds}"), "-timeout=20", "-rss_limit_mb=1024", "-max_len=65536"]);
        command.arg(format!("-artifact_prefix={}/", work.display()));
        command.env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).current_dir(&work);
        let process = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        Ok(Self { process, log })
    }

    /// Waits for the end of the process, and prints the number of inputs that were tried. If an input fails, the error
    /// names the file with it.
    fn finish(mut self, name: &str) -> Result<(), String> {
        let status = self.process.wait().map_err(|error| format!("cannot wait for {name}: {error}"))?;
        let log = std::fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        if !status.success() {
            let end: Vec<&str> = log.lines().rev().take(40).collect();
            let end: Vec<&str> = end.into_iter().rev().collect();
            return Err(format!("the fuzz target {name} failed; its log ends so:\n{}", end.join("\n")));
        }
        println!("  {name}: {}", log.lines().last().unwrap_or("nothing was said"));
        Ok(())
    }
}

/// The names of the fuzz targets, which are the names of their files without the extension `.rs`.
fn targets() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz").join("fuzz_targets");
    let files = std::fs::read_dir(&folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let names = files.flatten().filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    Ok(names)
}

/// The target triple for which the compiler builds by default.
fn host() -> Result<String, String> {
    let said = output_of(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| format!("rustc -vV names no host: {said}"))
}
