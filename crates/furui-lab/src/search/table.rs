//! A table of figures, for people and for programs.

use std::io::{self, Write};
use std::path::Path;

/// What an experiment found: a name for its file, a title, columns, rows.
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// What stands in a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    Number(f64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Number(number as f64)
    }
}

impl Cell {
    /// As people read it: four digits, or all of a whole number.
    fn brief(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) if number.fract() == 0.0 => format!("{number}"),
            Self::Number(number) if number.abs() >= 1000.0 => format!("{number:.0}"),
            Self::Number(number) if number.abs() < 1e-3 => format!("{number:.3e}"),
            Self::Number(number) => {
                let digits = (3.0 - number.abs().log10().floor()) as usize;
                format!("{number:.digits$}")
            }
        }
    }
}

impl Table {
    pub(crate) fn new<S: Into<String>>(name: &str, title: String, columns: impl IntoIterator<Item = S>) -> Self {
        Self { name: name.to_owned(), title, columns: columns.into_iter().map(Into::into).collect(), rows: vec![] }
    }

    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.rows.push(row.into_iter().collect());
        debug_assert!(self.rows.iter().all(|row| row.len() == self.columns.len()), "{}: a cell a column", self.name);
    }

    /// Prints it as Markdown.
    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n## {}\n\n| {} |", self.title, self.columns.join(" | "))?;
        writeln!(out, "|---|{}", "--:|".repeat(self.columns.len() - 1))?;
        for row in &self.rows {
            writeln!(out, "| {} |", row.iter().map(Cell::brief).collect::<Vec<_>>().join(" | "))?;
        }
        Ok(())
    }

    /// Writes it to `NAME.csv` in `dir`, with all digits.
    pub(crate) fn write_csv(&self, dir: &Path) -> io::Result<()> {
        std::fs::create_dir_all(dir)?;
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut csv = self.columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(",") + "\n";
        for row in &self.rows {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => quoted(text),
                Cell::Number(number) => number.to_string(),
            });
            csv += &(cells.collect::<Vec<_>>().join(",") + "\n");
        }
        std::fs::write(dir.join(&self.name).with_extension("csv"), csv)
    }
}
