//! Checks the tables in the documents: their figures must be in the recorded runs to which the paragraph before the
//! table links.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

/// The documents with tables of figures.
const DOCUMENTS: [&str; 5] =
    ["README.md", "COMPARE.md", "docs/choosing.md", "docs/python.md", "docs/papers/duplicate-urls.md"];

/// The numbers in a text, as they are written.
fn numbers(text: &str) -> Vec<&str> {
    let parts = text.split(|c: char| !c.is_ascii_digit() && c != '.').map(|part| part.trim_matches('.'));
    parts.filter(|part| !part.is_empty()).collect()
}

/// True if a number is one of the recorded numbers, or a recorded number rounded to as many digits.
fn is_recorded(number: &str, recorded: &[&str]) -> bool {
    let digits = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    let rounded = |one: &str| one.parse::<f64>().is_ok_and(|value| format!("{value:.digits$}") == number);
    // The digits of a version are no numbers: 2.7.0 must not count as 2.7.
    recorded.iter().any(|one| one.starts_with(&format!("{number}.")) || *one == number || rounded(one))
}

/// The description of a run, and its raw output.
fn read(run: &Path) -> String {
    std::fs::read_to_string(run).unwrap() + &std::fs::read_to_string(run.with_file_name("raw.txt")).unwrap()
}

/// The paths of the recorded benchmark runs to which a paragraph links.
fn runs(paragraph: &str) -> impl Iterator<Item = &str> {
    paragraph
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(path, _)| path)
        .filter(|path| path.contains("bench/runs/") && path.ends_with("README.md"))
}

/// The tables of a document that follow a paragraph with links to runs, each table with the linked runs.
fn tables(document: &str) -> Vec<(String, Vec<&str>)> {
    let blocks: Vec<&str> = document.split("\n\n").collect();
    let is_table = |block: &str| block.trim_start().starts_with('|');
    let pairs = blocks.windows(2).filter(|pair| is_table(pair[1]) && !is_table(pair[0]));
    let tables = pairs.map(|pair| (pair[1].to_owned(), runs(pair[0]).collect::<Vec<_>>()));
    tables.filter(|(_, runs)| !runs.is_empty()).collect()
}

#[test]
fn figures_of_tables_are_of_the_runs_that_are_linked_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = 0;
    for name in DOCUMENTS {
        let path = root.join(name);
        let document = std::fs::read_to_string(&path).unwrap();
        for (table, runs) in tables(&document) {
            let recorded: String = runs.iter().map(|run| read(&path.with_file_name(run))).collect();
            let recorded = numbers(&recorded);
            for row in table.lines().skip(2) {
                for number in numbers(row) {
                    assert!(is_recorded(number, &recorded), "{name}: {number} of {row:?} is in none of {runs:?}");
                    found += 1;
                }
            }
        }
    }
    assert!(found > 10, "only {found} figures: have the tables been moved?");
}

#[test]
fn a_document_cites_every_recorded_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages =
        ["", "docs", "docs/papers"].iter().flat_map(|directory| std::fs::read_dir(root.join(directory)).unwrap());
    let pages = pages.map(|page| page.unwrap().path()).filter(|page| page.extension().is_some_and(|kind| kind == "md"));
    let cited: String = pages.map(|page| std::fs::read_to_string(page).unwrap()).collect();
    for run in std::fs::read_dir(root.join("bench/runs")).unwrap() {
        let run = run.unwrap().file_name().into_string().unwrap();
        let is_cited = ["/", ")"].iter().any(|end| cited.contains(&format!("bench/runs/{run}{end}")));
        assert!(is_cited, "no document cites bench/runs/{run}: its main figure belongs in bench/history.md");
    }
}

/// The texts of the other documents to which a cell links. That of a recorded run includes the run's raw output.
fn linked(page: &Path, cell: &str) -> String {
    let targets = cell.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let files = targets.filter(|path| path.ends_with(".md")).map(|path| page.with_file_name(path));
    files
        .map(|file| if file.ends_with("README.md") { read(&file) } else { std::fs::read_to_string(file).unwrap() })
        .collect()
}

/// A cell's text without the targets of its links.
fn said(cell: &str) -> String {
    let parts = cell.split("](").enumerate();
    parts.map(|(i, part)| if i == 0 { part } else { part.split_once(')').unwrap().1 }).collect()
}

/// Checks the figures in the tables "Theirs, ours, what it costs" that come from linked runs and documents, and not
/// from other tables of the same page.
#[test]
fn what_the_papers_ways_cost_is_of_the_runs_and_documents_that_are_linked() {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers");
    let mut found = 0;
    for name in ["ringed-bloom-filters", "bloom-filters-explained", "duplicate-urls", "louds-tries", "quotient-filters"]
    {
        let page = papers.join(name).with_extension("md");
        let text = std::fs::read_to_string(&page).unwrap();
        let table = text
            .lines()
            .skip_while(|line| !line.starts_with("## Theirs"))
            .take_while(|line| !line.starts_with("## Where"));
        let mut last = String::new();
        for cost in table
            .filter(|line| line.starts_with("| "))
            .filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next())
        {
            match linked(&page, cost) {
                text if !text.is_empty() => last = text,
                _ if cost.contains("(the same run)") => {}
                _ => continue,
            }
            let recorded = numbers(&last);
            for number in numbers(&said(cost)) {
                assert!(is_recorded(number, &recorded), "{}: {number} of {cost:?} is not recorded", page.display());
                found += 1;
            }
        }
    }
    assert!(found > 20, "only {found} figures: have the tables been moved?");
}

#[test]
fn a_figure_is_recorded_as_it_is_or_rounded() {
    let recorded = numbers("| **0.224** | 77.7 MiB | huniq 2.7.0. |");
    assert_eq!(recorded, ["0.224", "77.7", "2.7.0"]);
    assert!(["0.22", "78", "2.7"].iter().all(|number| is_recorded(number, &recorded)));
    assert!(["0.23", "7", "77.8"].iter().all(|number| !is_recorded(number, &recorded)));
}
