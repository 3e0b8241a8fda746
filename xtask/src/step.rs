use std::thread::available_parallelism;
use std::time::Instant;

use crate::command::{Outcome, cargo, ensure_component};
use crate::{browser, deny, fuzz, package, pipelines, python, readme, toolchains, valkey};

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
    Library,
    Test,
    Pipelines,
    Python,
    Valkey,
    Browser,
    Readme,
    Soak,
}

impl Step {
    /// The steps of `cargo xtask test`, the cheapest first. The last ones build and run the tests.
    pub(crate) const ALL: [Self; 16] = [
        Self::Fmt,
        Self::Deny,
        Self::Package,
        Self::Clippy,
        Self::Doc,
        Self::Fuzz,
        Self::Msrv,
        Self::Targets,
        Self::Miri,
        Self::Library,
        Self::Test,
        Self::Pipelines,
        Self::Python,
        Self::Valkey,
        Self::Browser,
        Self::Readme,
    ];

    /// The step of `cargo xtask test` with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
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
            Self::Library => "library",
            Self::Test => "test",
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
            Self::Library => "the tests of the library by itself, as a user of it builds it",
            Self::Test => "the tests of all other crates",
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
            Self::Library => cargo("test -p furui", &[])?,
            Self::Test => {
                // Many tests of nodes wait for a time limit, so there are more at a time than processors.
                let threads = (available_parallelism().map_or(2, |processors| processors.get()) * 3).div_ceil(2);
                cargo(
                    "test --workspace --exclude furui --exclude furui-py --exclude furui-valkey --features furui-cli/node",
                    &[("RUST_TEST_THREADS", &threads.to_string())],
                )?;
            }
            Self::Pipelines => return pipelines::run(),
            Self::Python => return python::run(),
            Self::Valkey => return valkey::run(),
            Self::Browser => {
                let chromium = browser::ensure()?;
                let arguments = "test --workspace --exclude furui --exclude furui-py --exclude furui-valkey --features furui-cli/node --test browser -- --ignored";
                cargo(arguments, &[("CHROMIUM", chromium)])?;
            }
            Self::Readme => readme::run()?,
            // Doc tests are left out: there, "ignored" means "not meant to run".
            Self::Soak => {
                let others = pipelines::ensure();
                let arguments = "test --workspace --exclude furui-py --exclude furui-valkey --features furui-cli/node --release --lib --bins --tests -- --include-ignored";
                cargo(
                    &format!("{arguments}{}", others.skip),
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
    Step::ALL.iter().map(|step| format!("  {:9} {}\n", step.name(), step.about())).collect()
}

/// Runs `steps` in order, up to the first that fails.
pub(crate) fn run_all(steps: &[Step]) -> Result<(), String> {
    let start = Instant::now();
    let mut skipped = vec![];
    for step in steps {
        println!("=== {}: {}", step.name(), step.about());
        let step_start = Instant::now();
        let outcome = step
            .run()
            .map_err(|why| format!("step {} failed: {why}\nto run it alone: {}", step.name(), step.invocation()))?;
        match outcome {
            Outcome::Passed => println!("=== {}: passed in {:.1} s", step.name(), step_start.elapsed().as_secs_f64()),
            Outcome::Skipped(why) => {
                println!("=== {}: SKIPPED: {why}", step.name());
                skipped.push(step.name());
            }
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
