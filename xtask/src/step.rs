use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::thread::{self, available_parallelism};
use std::time::Instant;

use crate::command::{Outcome, TESTED, cargo, ensure_component};
use crate::{book, browser, deny, fuzz, package, pipelines, python, readme, toolchains, valkey, workflows};

/// The number of cases that a property test tries before a commit.
const QUICK_CASES: &str = "8";
/// The number of cases that a property test tries in a soak. The usual number is proptest's default, 256.
const SOAK_CASES: &str = "20000";
/// The number of seconds for which each fuzz target runs before a commit.
const FUZZ_SECONDS: u32 = 2;
/// The number of seconds for which each fuzz target runs in a soak.
const SOAK_FUZZ_SECONDS: u32 = 120;

/// One check that can be run alone.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<Outcome, String>,
}

impl Step {
    /// The steps of `cargo xtask test`, the cheapest first, in stages. The steps of a stage run at the same time,
    /// because each of them leaves processors idle while it waits for other programs, or while it ends with one long
    /// job.
    pub(crate) const STAGES: [&[Self]; 11] = [
        &[Self::new("fmt", "the sources are formatted", fmt)],
        &[Self::new("deny", "dependencies have allowed licences and sources, and come in one version", deny::check)],
        &[Self::new("workflows", "zizmor finds nothing in the workflows", workflows::check)],
        &[Self::new("package", "every crate that is published can be packaged, with its licences", package::check)],
        &[Self::new(
            "book",
            "every link of the pages leads somewhere, and the book of them builds without a warning",
            book::check,
        )],
        &[
            Self::new(
                "clippy",
                "no lint reports anything, in any target of any crate with all features, and in the command without the \
                 node",
                clippy,
            ),
            Self::new("fuzz", "the fuzz targets find nothing within seconds, from their seeds on", || {
                fuzz::run(FUZZ_SECONDS)
            }),
            Self::new(
                "msrv",
                "the library and the command type-check with the oldest supported Rust",
                toolchains::oldest,
            ),
        ],
        &[
            Self::new("doc", "the documentation builds without a warning", doc),
            Self::new(
                "targets",
                "the library type-checks for 64-bit ARM, 32-bit x86 and a big-endian processor",
                toolchains::targets,
            ),
            Self::new("miri", "Miri finds no undefined behaviour in the portable code", toolchains::miri),
        ],
        &[Self::new("test", "the tests of all crates, except for those of the modules", test)],
        &[
            Self::new(
                "pipelines",
                "the command gives the rows that Miller, jq, DuckDB, datatrove and others give, and a node what SearXNG, \
                 schemathesis and clients of the Model Context Protocol expect",
                pipelines::run,
            ),
            Self::new("browser", "the search page in a browser without a window", browser),
            Self::new(
                "python",
                "the Python module, with Scrapy, Arrow, Polars, pandas, DuckDB, datatrove, dlt, Delta and Iceberg",
                python::run,
            ),
        ],
        &[
            Self::new("readme", "the program and the commands printed in README.md work", readme::run),
            Self::new("valkey", "the module for Valkey and Redis, in real servers", valkey::run),
        ],
        &[Self::new(
            "spark",
            "a set that Spark's workers share: failed tasks, killed drivers, rollbacks",
            python::spark,
        )],
    ];

    /// The stages that a developer runs before each commit. They need no other program.
    pub(crate) const QUICK: [&[Self]; 2] = [
        Self::STAGES[0],
        &[Self::new(
            "quick",
            "the tests of the library, the command and the search engine, with few random cases",
            || cargo(&format!("test {TESTED} --lib --bins --tests"), &[("PROPTEST_CASES", QUICK_CASES)]),
        )],
    ];

    pub(crate) const SOAK: [&[Self]; 1] = [&[Self::new(
        "soak",
        "property tests with many cases and ignored tests, in release, the size of the wheel, and minutes of each \
         fuzz target",
        soak,
    )]];

    const fn new(name: &'static str, about: &'static str, run: fn() -> Result<Outcome, String>) -> Self {
        Self { name, about, run }
    }

    /// The step with this name; `None` if there is no such step.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::STAGES.concat().into_iter().find(|step| step.name == name)
    }

    /// The command that runs this step and nothing else.
    fn invocation(self) -> String {
        match self.name {
            "soak" => "cargo xtask soak".to_owned(),
            name => format!("cargo xtask test {name}"),
        }
    }
}

fn fmt() -> Result<Outcome, String> {
    ensure_component("rustfmt", "fmt")?;
    cargo("fmt --check", &[])
}

fn clippy() -> Result<Outcome, String> {
    ensure_component("clippy", "clippy")?;
    cargo("clippy --workspace --exclude furui-valkey --all-targets --all-features -- -D warnings", &[])?;
    cargo("clippy -p furui-cli --all-targets -- -D warnings", &[])
}

/// Builds the documentation. All features are on, so that the dependencies need not be type-checked again for another
/// set of features.
fn doc() -> Result<Outcome, String> {
    let arguments = "doc --workspace --exclude furui-valkey --no-deps --all-features";
    cargo(arguments, &[("RUSTDOCFLAGS", "-D warnings")])
}

fn test() -> Result<Outcome, String> {
    // Many tests of nodes wait for a time limit, so there are more at a time than processors.
    let threads = (available_parallelism().map_or(2, |processors| processors.get()) * 3).div_ceil(2);
    cargo(&format!("test {TESTED}"), &[("RUST_TEST_THREADS", &threads.to_string())])
}

fn browser() -> Result<Outcome, String> {
    let chromium = browser::ensure()?;
    cargo(&format!("test {TESTED} --test it browser:: -- --ignored"), &[("CHROMIUM", chromium)])
}

fn soak() -> Result<Outcome, String> {
    let others = pipelines::ensure();
    // Doc tests are left out: there, "ignored" means "not meant to run".
    cargo(
        &format!("test {TESTED} --release --lib --bins --tests -- --include-ignored{}", others.skip),
        &[("PROPTEST_CASES", SOAK_CASES), ("CHROMIUM", browser::ensure()?), ("PYTHONPATH", &others.python)],
    )?;
    python::check_size()?;
    python::soak()?;
    fuzz::run(SOAK_FUZZ_SECONDS)
}

/// One line per step of `cargo xtask test`.
pub(crate) fn list() -> String {
    Step::STAGES.concat().iter().map(|step| format!("  {:9} {}\n", step.name, step.about)).collect()
}

/// Runs a step in this process. Returns true if it was skipped.
fn run_alone(step: Step) -> Result<bool, String> {
    println!("=== {}: {}", step.name, step.about);
    let start = Instant::now();
    let outcome = (step.run)()
        .map_err(|why| format!("step {} failed: {why}\nto run it alone: {}", step.name, step.invocation()))?;
    match outcome {
        Outcome::Passed => println!("=== {}: passed in {:.1} s", step.name, start.elapsed().as_secs_f64()),
        Outcome::Skipped(ref why) => println!("=== {}: SKIPPED: {why}", step.name),
    }
    Ok(outcome != Outcome::Passed)
}

/// Runs steps at the same time, each in a separate process, and prints the output of each when it has ended. Returns
/// the names of the steps that were skipped.
fn run_beside(steps: &[Step]) -> Result<Vec<&'static str>, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let run = |step: &Step| {
        let mut command = Command::new(&program);
        command.args(["test", step.name]).stdin(Stdio::null());
        // Both streams go to one pipe, so that errors appear where they happened.
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
        let (is_passed, text) = ended.map_err(|error| format!("cannot run step {}: {error}", step.name))?;
        if !is_passed {
            return Err(format!("step {} failed; to run it alone: {}", step.name, step.invocation()));
        }
        if text.contains(&format!("=== {}: SKIPPED", step.name)) {
            skipped.push(step.name);
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
            [step] => skipped.extend(run_alone(*step)?.then_some(step.name)),
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
