//! The texts of a paper's page before its experiments: how to use the paper's methods and furui's own, what they cost,
//! and where furui deviates.
//!
//! The texts are files of Markdown. A figure in them is read from the tables of the pages, so that it agrees with the
//! tables: `{ringed-bloom-filters/fig6.csv; SHA-1: ringed, ms; k == 7}` stands for the number in the column `SHA-1:
//! ringed, ms` of the row where k is 7.

use std::path::Path;

use super::{Cell, Source, Table, brief};

/// The text in place of a figure that is missing in the results of the last run of all experiments.
pub(crate) const NO_FIGURE: &str = "(not measured yet)";

/// The text of a source's page; empty for the page that is about no paper.
pub(crate) fn text(source: Source) -> &'static str {
    match source {
        Source::RingedBloomFilters => include_str!("../ringed_bloom_filters/theirs.md"),
        Source::BloomFiltersExplained => include_str!("../bloom_filters_explained/theirs.md"),
        Source::DuplicateUrls => include_str!("../duplicate_urls/theirs.md"),
        Source::LoudsTries => include_str!("../louds_tries/theirs.md"),
        Source::QuotientFilters => include_str!("../quotient_filters/theirs.md"),
        Source::Ours => "",
    }
}

/// The text of a source's page, filled with the figures of the tables in `dir`.
pub(crate) fn filled(source: Source, dir: &Path) -> String {
    let mut parts = text(source).split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (place, rest) = part.split_once('}').expect("a figure ends");
        filled += &figure(place, dir).map_or_else(|_| NO_FIGURE.to_owned(), brief);
        filled += rest;
    }
    filled
}

/// The places of all figures in the texts of all sources: the texts between `{` and `}`.
#[cfg(test)]
pub(crate) fn places() -> impl Iterator<Item = &'static str> {
    let parts = Source::ALL.into_iter().flat_map(|source| text(source).split('{').skip(1));
    parts.map(|part| part.split_once('}').expect("a figure ends").0)
}

/// The reason why a figure is missing in the tables.
#[derive(Debug, PartialEq)]
pub(crate) enum Missing {
    /// There is no such table, or none with these columns.
    Column,
    /// The table has no row, or several rows, with these cells, or the cell in the row is not a number.
    Row,
}

/// The figure at `place`, which is written in the way that the documentation of this module describes.
pub(crate) fn figure(place: &str, dir: &Path) -> Result<f64, Missing> {
    let mut parts = place.split("; ");
    let [file, column] = [parts.next(), parts.next()].map(|part| part.expect("a file and a column"));
    let table = std::fs::read_to_string(dir.join(file)).map_err(|_| Missing::Column)?;
    let table = Table::from_csv(&table);
    let number_of = |name: &str| table.columns.iter().position(|one| one == name).ok_or(Missing::Column);
    let column = number_of(column)?;
    let mut rows: Vec<_> = table.rows.iter().collect();
    for condition in parts {
        let (name, value) = condition.split_once(" == ").expect("a column and a cell");
        let (name, value) = (number_of(name)?, value.parse().map_or_else(|_| Cell::from(value), Cell::Number));
        rows.retain(|row| row[name] == value);
    }
    match *rows {
        [row] => row[column].number().ok_or(Missing::Row),
        _ => Err(Missing::Row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_paper_has_both_tables() {
        for source in Source::ALL.into_iter().filter(|source| *source != Source::Ours) {
            let headings: Vec<_> = text(source).lines().filter(|line| line.starts_with("## ")).collect();
            assert_eq!(headings[..2], ["## Theirs, ours, what it costs", "## Where furui deviates"]);
            assert_eq!(text(source).matches("|\n|--").count(), headings.len(), "{}: a table each", source.page());
        }
    }

    #[test]
    fn a_figure_is_the_only_one_of_its_place() {
        let dir = std::env::temp_dir().join(format!("furui-theirs-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("a.csv"), "\"k\",\"what\",\"ms\"\n1,\"x, y\",2.5\n1,\"z\",3\n2,\"z\",\"none\"\n")
            .unwrap();
        let of = |place| figure(place, &dir);
        assert_eq!(of("a.csv; ms; k == 1; what == x, y"), Ok(2.5));
        assert_eq!(of("a.csv; ms; what == z; k == 1"), Ok(3.0));
        assert_eq!(
            [of("a.csv; ms; k == 1"), of("a.csv; ms; k == 3"), of("a.csv; ms; k == 2")],
            [const { Err(Missing::Row) }; 3]
        );
        assert_eq!([of("b.csv; ms"), of("a.csv; s"), of("a.csv; ms; l == 1")], [const { Err(Missing::Column) }; 3]);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
