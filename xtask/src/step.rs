use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::thread::{self, available_parallelism};
use std::time::Instant;

use crate::command::{Outcome, TESTED, cargo, ensure_component};
use crate::{browser, deny, fuzz, package, pipelines, python, readme, toolchains, valkey};

/// The number of cases that a property test tries before a commit.
const QUICK_CASES: &str = "8";
/// The number of cases that a property test tries in a soak. The usual number is proptest's default, 256.
const SOAK_CASES: &str = "20000";
/// For how many seconds each fuzz target runs.
const FUZZ_SECONDS: u32 = 2;
/// For how many seconds each fuzz target runs in a soak.
const SOAK_FUZZ_SECONDS: u32 = 120;

/// One check that can be run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Fmt,
    Deny,
    Package,
    Clippy,
    Doc,
    Fuzz,
    Msrv,
    Targets,
    Miri,
    Test,
    Quick,
    Pipelines,
    Python,
    Valkey,
    Browser,
    Readme,
    Soak,
}

impl Step {
    /// The steps of `cargo xtask test`, the cheapest first, in stages. The steps of a stage run at the same time: each
    /// of them leaves processors idle, since it waits for other programs or ends with one long job.
    pub(crate) const STAGES: [&[Self]; 8] = [
        &[Self::Fmt],
        &[Self::Deny],
        &[Self::Package],
        &[Self::Clippy, Self::Fuzz, Self::Msrv],
        &[Self::Doc, Self::Targets, Self::Miri],
        &[Self::Test],
        &[Self::Pipelines, Self::Browser, Self::Python],
        &[Self::Readme, Self::Valkey],
    ];

    /// What a developer runs before each commit: it needs no other program.
    pub(crate) const QUICK: [&[Self]; 2] = [&[Self::Fmt], &[Self::Quick]];

    /// The step with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::STAGES.concat().into_iter().find(|step| step.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Deny => "deny",
            Self::Package => "package",
            Self::Clippy => "clippy",
            Self::Doc => "doc",
            Self::Fuzz => "fuzz",
            Self::Msrv => "msrv",
            Self::Targets => "targets",
            Self::Miri => "miri",
            Self::Test => "test",
            Self::Quick => "quick",
            Self::Pipelines => "pipelines",
            Self::Python => "python",
            Self::Valkey => "valkey",
            Self::Browser => "browser",
            Self::Readme => "readme",
            Self::Soak => "soak",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Fmt => "the sources are formatted",
            Self::Deny => "dependencies have allowed licences and sources, and come in one version",
            Self::Package => "every crate that is published can be packaged, with its licences",
            Self::Clippy => {
                "no lint reports anything, in any target of any crate with all features, and in the command without the node"
            }
            Self::Doc => "the documentation builds without a warning",
            Self::Fuzz => "the fuzz targets find nothing within seconds, from their seeds on",
            Self::Msrv => "the library and the command type-check with the oldest supported Rust",
            Self::Targets => "the library type-checks for 64-bit ARM, 32-bit x86 and a big-endian processor",
            Self::Miri => "Miri finds no undefined behaviour in the portable code",
            Self::Test => "the tests of all crates, except for those of the modules",
            Self::Quick => "the tests of the library, the command and the search engine, with few random cases",
            Self::Pipelines => "the command gives the rows that Miller, jq, DuckDB, datatrove and others give",
            Self::Python => "the Python module, with Scrapy, Arrow, Polars, pandas, DuckDB, datatrove, Ray and dlt",
            Self::Valkey => "the module for Valkey and Redis, in real servers",
            Self::Browser => "the search page in a browser without a window",
            Self::Readme => "the program and the commands printed in README.md work",
            Self::Soak => {
                "property tests with many cases and ignored tests, in release, the size of the wheel, and minutes of each fuzz target"
            }
        }
    }

    /// The command that runs this step and nothing else.
    fn invocation(self) -> String {
        match self {
            Self::Soak => "cargo xtask soak".to_owned(),
            _ => format!("cargo xtask test {}", self.name()),
        }
    }

    fn run(self) -> Result<Outcome, String> {
        match self {
            Self::Fmt => {
                ensure_component("rustfmt", "fmt")?;
                cargo("fmt --check", &[])?;
            }
            Self::Deny => return deny::check(),
            Self::Package => package::check()?,
            Self::Clippy => {
                ensure_component("clippy", "clippy")?;
                cargo("clippy --workspace --exclude furui-valkey --all-targets --all-features -- -D warnings", &[])?;
                cargo("clippy -p furui-cli --all-targets -- -D warnings", &[])?;
            }
            // All features are on, so that the dependencies need not be type-checked again for another set of features.
            Self::Doc => cargo(
                "doc --workspace --exclude furui-valkey --no-deps --all-features",
                &[("RUSTDOCFLAGS", "-D warnings")],
            )?,
            Self::Fuzz => return fuzz::run(FUZZ_SECONDS),
            Self::Msrv => return toolchains::oldest(),
            Self::Targets => return toolchains::targets(),
            Self::Miri => return toolchains::miri(),
            Self::Test => {
                // Many tests of nodes wait for a time limit, so there are more at a time than processors.
                let threads = (available_parallelism().map_or(2, |processors| processors.get()) * 3).div_ceil(2);
                cargo(&format!("test {TESTED}"), &[("RUST_TEST_THREADS", &threads.to_string())])?;
            }
            Self::Quick => cargo(&format!("test {TESTED} --lib --bins --tests"), &[("PROPTEST_CASES", QUICK_CASES)])?,
            Self::Pipelines => return pipelines::run(),
            Self::Python => return python::run(),
            Self::Valkey => return valkey::run(),
            Self::Browser => {
                let chromium = browser::ensure()?;
                cargo(&format!("test {TESTED} --test it browser:: -- --ignored"), &[("CHROMIUM", chromium)])?;
            }
            Self::Readme => readme::run()?,
            // Doc tests are left out: there, "ignored" means "not meant to run".
            Self::Soak => {
                let others = pipelines::ensure();
                cargo(
                    &format!("test {TESTED} --release --lib --bins --tests -- --include-ignored{}", others.skip),
                    &[("PROPTEST_CASES", SOAK_CASES), ("CHROMIUM", browser::ensure()?), ("PYTHONPATH", &others.python)],
                )?;
                python::check_size()?;
                return fuzz::run(SOAK_FUZZ_SECONDS);
            }
        }
        Ok(Outcome::Passed)
    }
}

/// One line per step of `cargo xtask test`.
pub(crate) fn list() -> String {
    Step::STAGES.concat().iter().map(|step| format!("  {:9} {}\n", step.name(), step.about())).collect()
}

/// Runs a step in this process. Returns true if it was skipped.
fn run_alone(step: Step) -> Result<bool, String> {
    println!("=== {}: {}", step.name(), step.about());
    let start = Instant::now();
    let outcome = step
        .run()
        .map_err(|why| format!("step {} failed: {why}\nto run it alone: {}", step.name(), step.invocation()))?;
    match outcome {
        Outcome::Passed => println!("=== {}: passed in {:.1} s", step.name(), start.elapsed().as_secs_f64()),
        Outcome::Skipped(ref why) => println!("=== {}: SKIPPED: {why}", step.name()),
    }
    Ok(outcome != Outcome::Passed)
}

/// Runs steps at the same time, each in a process of its own, and prints what each has said when it has ended. Returns
/// those that were skipped.
fn run_beside(steps: &[Step]) -> Result<Vec<&'static str>, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let run = |step: &Step| {
        let mut command = Command::new(&program);
        command.args(["test", step.name()]).stdin(Stdio::null());
        // Both streams in one, so that errors stand where they happened.
        let (mut output, input) = io::pipe()?;
        command.stdout(input.try_clone()?).stderr(input);
        let mut process = command.spawn()?;
        drop(command);
        let mut text = vec![];
        output.read_to_end(&mut text)?;
        Ok((process.wait()?.success(), String::from_utf8_lossy(&text).into_owned()))
    };
    let ended: Vec<io::Result<(bool, String)>> = thread::scope(|scope| {
        let show = |step: &Step| {
            let ended = run(step);
            if let Ok((_, text)) = &ended {
                print!("{text}");
            }
            ended
        };
        let threads: Vec<_> = steps.iter().map(|step| scope.spawn(move || show(step))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut skipped = vec![];
    for (step, ended) in steps.iter().zip(ended) {
        let (is_passed, text) = ended.map_err(|error| format!("cannot run step {}: {error}", step.name()))?;
        if !is_passed {
            return Err(format!("step {} failed; to run it alone: {}", step.name(), step.invocation()));
        }
        if text.contains(&format!("=== {}: SKIPPED", step.name())) {
            skipped.push(step.name());
        }
    }
    Ok(skipped)
}

/// Runs stages in order, up to the first in which a step fails.
pub(crate) fn run_all(stages: &[&[Step]]) -> Result<(), String> {
    let start = Instant::now();
    let mut skipped = vec![];
    for stage in stages {
        match stage {
            [step] => skipped.extend(run_alone(*step)?.then(|| step.name())),
            steps => skipped.extend(run_beside(steps)?),
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    match skipped.is_empty() {
        true => println!("=== all passed in {seconds:.1} s"),
        false => {
            println!("=== all passed in {seconds:.1} s, except for steps that were SKIPPED: {}", skipped.join(", "))
        }
    }
    Ok(())
}
