//! `cargo xtask bench ROW`: measures a row of README's table "What it costs" again, both sides in turn.
//!
//! What measures is `bench/pipelines.py` for whole programs and `furui-papers` for libraries; here stands which figures
//! of their tables make a row. The inputs are made up, and smaller than those of the recorded runs, so a figure may
//! differ from README's; both are printed.

use std::collections::hash_map::{Entry, HashMap};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Command;

use crate::command::{cargo, is_there, output_of, root};
use crate::pipelines::{has_module, python_path};

/// A command for one row of README's table.
struct Row {
    name: &'static str,
    /// Texts in the first two cells of the row, which no other row has together.
    cells: [&'static str; 2],
    run: Run,
    /// The places of our figure and the rival's in the table that is measured: the beginnings of their rows' first
    /// cells, and of the title of their column.
    figures: [&'static str; 2],
    column: &'static str,
}

/// What measures a row: `bench/pipelines.py` with one of these rivals, or one of these experiments of `furui-papers`.
/// Rows with the same one share a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Run {
    /// And `sort`, which every system has.
    Huniq,
    Duckdb,
    Polars,
    Xan,
    Store,
    Bloom,
    Blocked,
    Trie,
}

/// The commands, in the order of README's rows.
#[rustfmt::skip]
const ROWS: [Row; 15] = [
    row("seen", ["`furui seen`", "huniq"], Run::Huniq, ["into a pipe, one", "huniq"], "CPU s"),
    row("sort", ["`sort -u`", "huniq"], Run::Huniq, ["sort -u", "huniq"], "CPU s"),
    row("seen-duckdb", ["`furui seen`", "DuckDB"], Run::Duckdb, ["two threads", "DuckDB, distinct, no"], "wall s"),
    row("seen-polars", ["`furui seen`", "Polars"], Run::Polars, ["two threads", "Polars"], "wall s"),
    row("csv", ["`furui seen --csv`", "xan"], Run::Xan, ["CSV", "xan"], "wall s"),
    row("json", ["`furui seen --json`", "DuckDB"], Run::Duckdb, ["JSON", "DuckDB, distinct on"], "wall s"),
    row("store-lmdb", ["a new key", "LMDB"], Run::Store, ["furui, the command line's", "LMDB"], "ns of CPU"),
    row("store-sort", ["a new key", "sorting"], Run::Store, ["furui, the command line's", "sort-merge"], "ns of CPU"),
    row("lookup-lmdb", ["lookup", "LMDB"], Run::Store, ["furui, 2 run(s), read, single", "LMDB"], "ns of CPU"),
    row("bloom-miss", ["that is not there", "fastbloom"], Run::Bloom, ["Bloom, batches", "fastbloom"], "miss, ns"),
    row("bloom-hit", ["that is there", "fastbloom"], Run::Bloom, ["Bloom, batches", "fastbloom"], "hit, ns"),
    row("blocked-insert", ["insertion", "sbbf"], Run::Blocked, ["BlockedBloom, batches", "sbbf"], "insert, ns"),
    row("blocked-single", ["one key at", "sbbf"], Run::Blocked, ["BlockedBloom, single", "sbbf"], "hit, ns"),
    row("trie-lookup", ["lookup", "fst"], Run::Trie, ["one at a time", "fst"], "hit ns"),
    row("trie-bytes", ["bytes a key", "fst"], Run::Trie, ["one at a time", "fst"], "bytes a key"),
];

const fn row(
    name: &'static str,
    cells: [&'static str; 2],
    run: Run,
    figures: [&'static str; 2],
    column: &'static str,
) -> Row {
    Row { name, cells, run, figures, column }
}

/// Measures the rows of these names, or all of them for the name `all`. Without a name, prints a list of the rows.
pub(crate) fn run(names: &[&str]) -> Result<(), String> {
    let readme =
        fs::read_to_string(root().join("README.md")).map_err(|error| format!("cannot read README.md: {error}"))?;
    if names.is_empty() {
        println!("the rows of README's table, for `cargo xtask bench ROW...`; `all` stands for every row");
        ROWS.iter().for_each(|row| println!("  {:15} {}", row.name, row.of_readme(&readme).join(" | ")));
        return Ok(());
    }
    if let Some(name) = names.iter().find(|name| **name != "all" && ROWS.iter().all(|row| row.name != **name)) {
        return Err(format!("README has no row `{name}`; `cargo xtask bench` lists the rows"));
    }
    let directory = root().join("target").join("bench");
    fs::create_dir_all(&directory).map_err(|error| format!("cannot create {}: {error}", directory.display()))?;
    let mut outputs = HashMap::new();
    for row in ROWS.iter().filter(|row| names.contains(&"all") || names.contains(&row.name)) {
        let cells = row.of_readme(&readme);
        println!("=== {}: {}", row.name, cells.join(" | "));
        let output = match outputs.entry(row.run) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(row.run.output()?),
        };
        match output {
            Err(why) => println!("=== {}: SKIPPED: {why}", row.name),
            Ok(output) => {
                let figures = figures(output, row.figures, row.column);
                let figures = figures.ok_or_else(|| format!("no {} of {:?} was measured", row.column, row.figures))?;
                record(row, figures, cells.last().unwrap_or(&"nothing"))?;
            }
        }
    }
    Ok(())
}

impl Run {
    /// Installs the rival, builds our side and measures both. Returns what is printed, or why it cannot be measured
    /// here.
    fn output(self) -> Result<Result<String, String>, String> {
        let (is_there, arguments) = match self {
            Self::Huniq => (has_crate("huniq", "2.7.0"), "huniq sort"),
            Self::Duckdb => (has_module("duckdb", "duckdb==2.0.1"), "duckdb"),
            Self::Polars => (has_module("polars", "polars==2.1.0"), "polars"),
            Self::Xan => (has_crate("xan", "0.61.0"), "xan"),
            Self::Store => (true, "store small target/bench"),
            Self::Bloom => (true, "filters 1000000 bloom"),
            Self::Blocked => (true, "filters 1000000 blocked"),
            Self::Trie => (true, "dict trie made-up 1000000"),
        };
        if !is_there {
            return Ok(Err(format!("there is no {self:?}, and it could not be installed")));
        }
        let command = match self {
            Self::Huniq | Self::Duckdb | Self::Polars | Self::Xan => {
                cargo("build --release --quiet -p furui-cli", &[])?;
                format!(
                    "python3 bench/pipelines.py target/release/furui target/bench/stream.txt target/bench 5 {arguments}"
                )
            }
            Self::Store | Self::Bloom | Self::Blocked | Self::Trie => {
                cargo("build --release --quiet -p furui-papers --features rivals", &[])?;
                format!("target/release/furui-papers {arguments}")
            }
        };
        println!("$ {command}");
        let path = root().join("target").join("tools").join("bin").display().to_string();
        let path = format!("{path}:{}", std::env::var("PATH").unwrap_or_default());
        let mut words = command.split(' ');
        let mut program = Command::new(words.next().unwrap_or_default());
        program.args(words).current_dir(root()).env("PATH", path).env("PYTHONPATH", python_path());
        let output = output_of(&mut program)?;
        println!("{}", output.trim());
        Ok(Ok(output))
    }
}

/// True if this program of a crate is in `target/tools`, if need be after it was installed there.
fn has_crate(name: &str, version: &str) -> bool {
    let path = root().join("target").join("tools").join("bin").join(name);
    let has = || path.to_str().is_some_and(is_there);
    let install = format!("install --quiet --locked --root target/tools --version {version} {name}");
    has() || cargo(&install, &[]).is_ok() && has()
}

impl Row {
    /// The cells of this row of README's table; none if there is no such row, or more than one.
    fn of_readme<'a>(&self, readme: &'a str) -> Vec<&'a str> {
        let rows = table_of_readme(readme).filter(|row| row.iter().zip(self.cells).all(|(cell, of)| cell.contains(of)));
        let mut rows: Vec<_> = rows.collect();
        if rows.len() == 1 { rows.remove(0) } else { vec![] }
    }
}

/// The rows of README's table.
fn table_of_readme(readme: &str) -> impl Iterator<Item = Vec<&str>> {
    readme.lines().skip_while(|line| *line != "| what | against | ratio |").skip(2).map_while(cells)
}

/// The cells of a row of a Markdown table.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect())
}

/// The two figures in the first table with a row that begins with the first of `rows`.
fn figures(output: &str, rows: [&str; 2], column: &str) -> Option<[f64; 2]> {
    let lines: Vec<_> = output.lines().map(|line| cells(line).unwrap_or_default()).collect();
    let mut tables = lines.split(|cells| cells.is_empty());
    let begins = |row: &Vec<&str>, with: &str| row.first().is_some_and(|cell| cell.starts_with(with));
    let table = tables.find(|table| table.iter().any(|row| begins(row, rows[0])))?;
    let at = table[0].iter().position(|title| title.starts_with(column))?;
    let figure = |name| table.iter().find(|row| begins(row, name))?.get(at)?.parse().ok();
    Some([figure(rows[0])?, figure(rows[1])?])
}

/// Prints the figures beside README's, and appends them to `target/bench/runs.tsv`.
fn record(row: &Row, [ours, theirs]: [f64; 2], readme: &str) -> Result<(), String> {
    let Row { name, column, .. } = row;
    let ratio = ours / theirs;
    println!("=== {name}: {ours:.2} to {theirs:.2} ({column}): ratio {ratio:.3}; README says {readme}");
    let line = |command: &str| {
        let mut words = command.split(' ');
        let output = output_of(Command::new(words.next().unwrap_or_default()).args(words).current_dir(root()));
        output.map_or("unknown".to_owned(), |output| output.trim().to_owned())
    };
    let (date, commit) = (line("date -u +%Y-%m-%dT%H:%M:%SZ"), line("git describe --always --dirty --exclude *"));
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processor = processor.map_or(std::env::consts::ARCH, |(_, model)| model);
    let path = root().join("target").join("bench").join("runs.tsv");
    let append = || {
        let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
        if file.metadata()?.len() == 0 {
            writeln!(file, "date\trow\tcommit\tprocessor\tours\ttheirs\tcolumn\tratio\treadme")?;
        }
        let figures = format!("{ours:.3}\t{theirs:.3}\t{column}\t{ratio:.4}\t{readme}");
        writeln!(file, "{date}\t{name}\t{commit}\t{processor}\t{figures}")
    };
    append().map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_of_readme_has_one_command_and_each_command_one_row() {
        let readme = fs::read_to_string(root().join("README.md")).unwrap();
        let mut measured: Vec<_> = ROWS.iter().map(|row| row.of_readme(&readme)).collect();
        let unknown = measured.iter().position(Vec::is_empty).map(|at| ROWS[at].name);
        assert_eq!(unknown, None, "this command is for no row of README's table, or for several");
        let mut rows: Vec<_> = table_of_readme(&readme).collect();
        rows.sort();
        measured.sort();
        assert_eq!(measured, rows, "a row of README's table has no command, or two");
        assert!(rows.iter().all(|row| row[2].parse::<f64>().is_ok()), "a ratio is no number");
    }

    #[test]
    fn figures_are_those_of_the_first_table_with_our_row() {
        let output = "# A\n\n| what | ns | x |\n|---|--:|--:|\n| theirs | 1 | |\n\n\
                      | what | x | ns of CPU |\n|---|--:|--:|\n| ours, in batches | 7 | 2.5 |\n| theirs | 7 | 10 |\n";
        assert_eq!(figures(output, ["ours", "theirs"], "ns"), Some([2.5, 10.0]));
        assert_eq!(figures(output, ["nobody", "theirs"], "ns"), None);
        assert_eq!(figures(output, ["ours", "theirs"], "bytes"), None);
    }
}
