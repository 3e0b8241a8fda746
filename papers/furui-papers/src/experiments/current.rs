//! Tests that the committed pages were measured by the current program. After a change of the measured code they fail
//! until the pages are measured again. Because that takes hours, the tests are ignored by default; `cargo xtask soak`
//! runs them before each release.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{chosen, experiments};
use crate::report::page::{self, Pages};
use crate::report::{Cell, Context, Source, Table, theirs};

/// The names of the experiments that measure no time and take less than three seconds. Their figures follow from the
/// program and the seed.
const DETERMINISTIC: [&str; 6] =
    ["ringed-fig4", "ringed-fig5", "explained-similarity", "explained-or", "quotient-space", "ours-coded-sets"];

/// The seed with which the pages in the repository are made.
const SEED: u64 = 1;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The git pathspec that excludes the small sets of a server: the part of the stores that no experiment uses.
const UNMEASURED: &str = ":(exclude)core/furui/src/store/cascade/key_set.rs";

/// The paths of the code that the experiments of a source measure, and of the experiments themselves.
fn measured(source: Source) -> &'static [&'static str] {
    match source {
        Source::RingedBloomFilters => {
            &["core/furui/src/filter", "search/furui-search/src", "papers/furui-papers/src/ringed_bloom_filters"]
        }
        Source::BloomFiltersExplained => {
            &["core/furui/src/filter", "core/furui/src/hash", "papers/furui-papers/src/bloom_filters_explained"]
        }
        Source::DuplicateUrls => &[
            "core/furui/src/filter",
            "core/furui/src/seen",
            "core/furui/src/store",
            UNMEASURED,
            "papers/furui-papers/src/duplicate_urls",
        ],
        Source::LoudsTries => &[
            "core/furui/src/bits",
            "core/furui/src/dict",
            "core/furui/src/hash",
            "papers/furui-papers/src/louds_tries",
        ],
        Source::QuotientFilters => &[
            "core/furui/src/filter/bloom",
            "core/furui/src/filter/quotient",
            "core/furui/src/store",
            UNMEASURED,
            "papers/furui-papers/src/quotient_filters",
            "papers/furui-papers/src/store",
        ],
        Source::Ours => &[
            "core/furui/src/filter",
            "search/furui-search/src",
            "papers/furui-papers/src/duplicate_urls",
            "papers/furui-papers/src/ours/codings.rs",
            "papers/furui-papers/src/ours/filters",
            "papers/furui-papers/src/ringed_bloom_filters",
        ],
    }
}

/// Runs git in the repository. Returns what it printed, or `None` if it failed.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
#[ignore = "fails after a change of the measured code, until the pages are measured again"]
fn no_page_is_older_than_what_it_measures() {
    match git(&["rev-parse", "--is-shallow-repository"]).as_deref() {
        Some("false") => {}
        Some(_) => return println!("SKIPPED: the clone is shallow, so the commits of the pages are not there"),
        None => return println!("SKIPPED: there is no git, or this is no repository"),
    }
    let mut stale = vec![];
    for source in Source::ALL {
        let paths = measured(source);
        let mut names = paths.iter().map(|path| path.trim_start_matches(":(exclude)"));
        assert!(names.all(|path| root().join(path).exists()), "{paths:?}: one of them was renamed");
        let file = root().join("docs/papers").join(source.page()).with_extension("md");
        let text = std::fs::read_to_string(file).unwrap();
        let mut commits = page::commits(&text);
        // Figures in the table of costs may come from recorded runs instead of the sections of the page, and each
        // recorded run names its own commit.
        let costs = theirs::text(source).split("\n## Where furui deviates").next().unwrap_or_default();
        let runs = page::links(costs, "md").into_iter().filter(|path| path.contains("bench/runs/"));
        let runs = runs.map(|path| std::fs::read_to_string(root().join(path.trim_start_matches("../"))).unwrap());
        let runs: String = runs.collect();
        commits.extend(commits_of_runs(&runs));
        commits.sort_unstable();
        commits.dedup();
        for commit in commits {
            // Changes of comments and blank lines are ignored, because they do not affect a measurement.
            let args = [&["diff", "-U0", "-I", r"^\s*//", "-I", r"^\s*$", commit, "HEAD", "--"], paths].concat();
            match git(&args) {
                Some(changes) if changes.is_empty() => {}
                Some(_) => stale.push(format!("{}: of {commit}, and what it measures has changed", source.page())),
                None => stale.push(format!("{}: {commit} is no commit of this repository", source.page())),
            }
        }
    }
    assert!(stale.is_empty(), "RELEASING.md says how to measure these pages again: {stale:#?}");
}

/// The commits that descriptions of recorded runs name, in words such as `at 32cb435` or `commit 5bf8967`.
fn commits_of_runs(readme: &str) -> impl Iterator<Item = &str> {
    let words: Vec<&str> = readme.split_whitespace().collect();
    let is_commit = |word: &str| word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit());
    let pairs: Vec<_> = words.windows(2).map(|pair| (pair[0], pair[1].trim_end_matches([',', ';', '.']))).collect();
    pairs
        .into_iter()
        .filter(move |&(before, word)| ["at", "commit"].contains(&before) && is_commit(word))
        .map(|pair| pair.1)
}

/// Checks that each recorded run that a table of costs cites names its commit, so that a change of the measured code
/// after that commit can be found.
#[test]
fn runs_that_tables_of_costs_cite_name_their_commits() {
    for source in Source::ALL {
        let costs = theirs::text(source).split("\n## Where furui deviates").next().unwrap_or_default();
        for path in page::links(costs, "md") {
            assert!(
                !path.contains("choosing"),
                "{}: cite the run, which names its commit, and not {path}",
                source.page()
            );
            if path.contains("bench/runs/") {
                let run = std::fs::read_to_string(root().join(path.trim_start_matches("../"))).unwrap();
                assert!(commits_of_runs(&run).next().is_some(), "{path} names no commit");
            }
        }
    }
}

/// True if two tables have equal texts, and numbers that differ only by rounding, which depends on the processor.
fn equal(a: &Table, b: &Table) -> bool {
    let near = |a: &Cell, b: &Cell| match (a.number(), b.number()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        _ => a == b,
    };
    let rows = |a: &[Cell], b: &[Cell]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b));
    a.columns == b.columns && a.rows.len() == b.rows.len() && a.rows.iter().zip(&b.rows).all(|(a, b)| rows(a, b))
}

#[test]
#[ignore = "fails after a change of the measured code, until the pages are measured again"]
fn what_is_deterministic_is_measured_again_with_the_same_figures() {
    let context =
        Context { data: None, quick: false, full: false, seed: SEED, recorded: None, progress: Default::default() };
    let mut other = vec![];
    for experiment in chosen(&DETERMINISTIC.map(str::to_owned)).unwrap() {
        for table in (experiment.run)(&context).unwrap().tables {
            let file = Path::new(experiment.source.page()).join(&table.name).with_extension("csv");
            let committed = std::fs::read_to_string(root().join("docs/papers").join(&file)).unwrap();
            // A text that has only digits becomes a number when it is read from CSV, so both tables are read from CSV.
            if !equal(&Table::from_csv(&table.csv()), &Table::from_csv(&committed)) {
                other.push(file);
            }
        }
    }
    assert!(other.is_empty(), "RELEASING.md says how to measure these pages again: {other:?}");
}

/// Writes the committed index, and on each page the text before the experiments. Run this after a change of such a
/// text.
#[test]
#[ignore = "writes"]
fn write_the_index() {
    for (path, text) in Pages::new(root().join("docs/papers")).texts(&experiments()).unwrap() {
        if std::fs::read_to_string(&path).unwrap() != text {
            std::fs::write(path, text).unwrap();
        }
    }
}

/// Tests that every experiment that the texts about the papers name exists.
#[test]
fn what_the_texts_about_papers_name_are_experiments_that_exist() {
    let texts = Source::ALL.map(theirs::text).join("\n") + page::OPEN;
    let names = texts.split(|c: char| !c.is_alphanumeric() && c != '-');
    let prefixes = Source::ALL.map(|source| format!("{}-", source.prefix()));
    let names = names.filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)));
    let names = names.filter(|name| Source::ALL.iter().all(|source| source.page() != *name));
    let names: Vec<_> = names.map(str::to_owned).collect();
    assert!(names.len() > 5);
    chosen(&names).unwrap();
}
