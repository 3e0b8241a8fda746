//! A table of figures, as Markdown and as CSV.

/// A table of an experiment's results: a name for its file, a title, the names of the columns, and rows.
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// A cell of a row of a table: a number or a text.
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
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) => None,
        }
    }

    /// Formats a cell for people: a number with four digits, or with all digits if it is whole.
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

    /// The rows that have the given cells, each of which is given with the name of its column.
    ///
    /// # Panics
    /// If there is no column of such a name.
    pub(crate) fn only<'a>(&'a self, cells: &'a [(&'a str, Cell)]) -> impl Iterator<Item = &'a [Cell]> {
        let cells: Vec<_> = cells.iter().map(|(column, cell)| (self.column(column), cell)).collect();
        self.rows.iter().map(Vec::as_slice).filter(move |row| cells.iter().all(|&(i, cell)| row[i] == *cell))
    }

    /// The points of a curve: columns `x` and `y` of the rows that have the given cells. Rows in which one of the two
    /// columns has no number are left out.
    ///
    /// # Panics
    /// If there is no column of such a name.
    pub(crate) fn points(&self, x: &str, y: &str, cells: &[(&str, Cell)]) -> Vec<(f64, f64)> {
        let (x, y) = (self.column(x), self.column(y));
        self.only(cells).filter_map(|row| Some((row[x].number()?, row[y].number()?))).collect()
    }

    /// The number in column `y` of the row that has the given cells in the given columns.
    ///
    /// # Panics
    /// If there is no such row, if there are several, or if its cell in column `y` has no number.
    pub(crate) fn number(&self, y: &str, cells: &[(&str, Cell)]) -> f64 {
        let mut rows = self.only(cells);
        let (row, other) = (rows.next(), rows.next());
        assert!(other.is_none(), "{}: more than one row with {cells:?}", self.name);
        let number = row.and_then(|row| row[self.column(y)].number());
        number.unwrap_or_else(|| panic!("{}: no number in {y} where {cells:?}", self.name))
    }

    /// The smallest and the largest number in column `y` of the rows that have the given cells. Without such rows,
    /// these are ∞ and -∞.
    ///
    /// # Panics
    /// If there is no column of such a name.
    pub(crate) fn range(&self, y: &str, cells: &[(&str, Cell)]) -> (f64, f64) {
        let y = self.column(y);
        let numbers = || self.only(cells).filter_map(|row| row[y].number());
        (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max))
    }

    fn column(&self, name: &str) -> usize {
        let found = self.columns.iter().position(|column| column == name);
        found.unwrap_or_else(|| panic!("{} has no column {name:?}, it has {:?}", self.name, self.columns))
    }

    /// Formats the table as Markdown.
    pub(crate) fn markdown(&self) -> String {
        // Columns of numbers are aligned to the right, even if a few of their cells are text.
        let texts = |i: usize| self.rows.iter().filter(|row| matches!(row[i], Cell::Text(_))).count();
        let align = |i: usize| if 2 * texts(i) > self.rows.len() { "---|" } else { "--:|" };
        let mut text = format!("| {} |\n|", self.columns.join(" | "));
        text.extend((0..self.columns.len()).map(align));
        text += "\n";
        for row in &self.rows {
            text += &format!("| {} |\n", row.iter().map(Cell::brief).collect::<Vec<_>>().join(" | "));
        }
        text
    }

    /// Formats the table as comma-separated values, with all digits.
    pub(crate) fn csv(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut csv = self.columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(",") + "\n";
        for row in &self.rows {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => quoted(text),
                Cell::Number(number) => number.to_string(),
            });
            csv += &(cells.collect::<Vec<_>>().join(",") + "\n");
        }
        csv
    }

    /// Reads a table from CSV. Its name and title are not in the CSV.
    pub(crate) fn from_csv(csv: &str) -> Self {
        let cells = |line: &str| -> Vec<Cell> {
            let mut cells = vec![];
            let mut rest = line;
            loop {
                let end = if let Some(text) = rest.strip_prefix('"') {
                    let ends = |&(i, _): &(usize, &str)| text[..i].matches('"').count() % 2 == 0;
                    let end =
                        text.match_indices("\",").chain([(text.len() - 1, "")]).find(ends).expect("a closing quote").0;
                    cells.push(text[..end].replace("\"\"", "\"").into());
                    end + 2
                } else {
                    let end = rest.find(',').unwrap_or(rest.len());
                    cells.push(rest[..end].parse::<f64>().expect("a number").into());
                    end
                };
                match rest[end..].strip_prefix(',') {
                    Some(more) => rest = more,
                    None => return cells,
                }
            }
        };
        let mut lines = csv.lines().map(cells);
        let columns = lines.next().expect("the names of columns").into_iter().map(|cell| cell.brief());
        let mut table = Self::new("", String::new(), columns);
        table.rows = lines.collect();
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_what_its_csv_says() {
        let mut table = Table::new("t", "T".to_owned(), ["corpus, \"name\"", "n", "rate"]);
        table.push(["a \"b\", c".into(), 7u64.into(), 1.234_567e-9.into()]);
        table.push(["".into(), 0.1.into(), "none".into()]);
        let read = Table::from_csv(&table.csv());
        assert_eq!((&read.columns, &read.rows), (&table.columns, &table.rows));
        assert_eq!(read.markdown(), table.markdown());
        assert!(table.markdown().contains("| a \"b\", c | 7 | 1.235e-9 |"));
        assert_eq!(table.points("n", "rate", &[]), [(7.0, 1.234_567e-9)]);
        assert_eq!(table.number("n", &[("rate", "none".into())]), 0.1);
    }
}
