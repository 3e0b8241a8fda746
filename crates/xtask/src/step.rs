use std::time::Instant;

use crate::command::{cargo, ensure_component};
use crate::{browser, readme};

/// How many cases a property test tries in a soak; the usual number is proptest's own, 256.
const SOAK_CASES: &str = "20000";

/// One check that can be run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Fmt,
    Clippy,
    Doc,
    Test,
    Browser,
    Readme,
    Soak,
}

impl Step {
    /// The steps of `cargo xtask test`, the cheapest first.
    pub(crate) const ALL: [Self; 6] = [Self::Fmt, Self::Clippy, Self::Doc, Self::Test, Self::Browser, Self::Readme];

    /// The step of `cargo xtask test` that a user means by `name`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Doc => "doc",
            Self::Test => "test",
            Self::Browser => "browser",
            Self::Readme => "readme",
            Self::Soak => "soak",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Fmt => "the sources are formatted",
            Self::Clippy => "no lint fires, in any target of any crate",
            Self::Doc => "the documentation builds without a warning",
            Self::Test => "unit, integration and doc tests of the workspace, without rival crates",
            Self::Browser => "the search page in a browser without a window",
            Self::Readme => "the commands printed in README.md work",
            Self::Soak => "property tests with many cases and ignored tests, in release",
        }
    }

    /// What a user types to run this step and nothing else.
    fn invocation(self) -> String {
        match self {
            Self::Soak => "cargo xtask soak".to_owned(),
            _ => format!("cargo xtask test {}", self.name()),
        }
    }

    fn run(self) -> Result<(), String> {
        match self {
            Self::Fmt => {
                ensure_component("rustfmt", "fmt")?;
                cargo("fmt --check", &[])
            }
            Self::Clippy => {
                ensure_component("clippy", "clippy")?;
                cargo("clippy --workspace --all-targets -- -D warnings", &[])
            }
            Self::Doc => cargo("doc --workspace --no-deps", &[("RUSTDOCFLAGS", "-D warnings")]),
            Self::Test => cargo("test --workspace", &[]),
            Self::Browser => {
                let chromium = browser::ensure()?;
                cargo("test --workspace --test browser -- --ignored", &[("CHROMIUM", chromium)])
            }
            Self::Readme => readme::run_commands(),
            // Doc tests are left out: there, "ignored" means "not meant to run".
            Self::Soak => cargo(
                "test --workspace --release --lib --bins --tests -- --include-ignored",
                &[("PROPTEST_CASES", SOAK_CASES), ("CHROMIUM", browser::ensure()?)],
            ),
        }
    }
}

/// One line per step of `cargo xtask test`.
pub(crate) fn list() -> String {
    Step::ALL.iter().map(|step| format!("  {:8} {}\n", step.name(), step.about())).collect()
}

/// Runs `steps` in order, up to the first that fails.
pub(crate) fn run_all(steps: &[Step]) -> Result<(), String> {
    let start = Instant::now();
    for step in steps {
        println!("=== {}: {}", step.name(), step.about());
        let step_start = Instant::now();
        step.run()
            .map_err(|why| format!("step {} failed: {why}\nto run it alone: {}", step.name(), step.invocation()))?;
        println!("=== {}: passed in {:.1} s", step.name(), step_start.elapsed().as_secs_f64());
    }
    println!("=== all passed in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
