use crate::damage::random::Random;
use crate::support::TempDir;

/// Fields that the rows of random tables share.
const FIELDS: [&str; 20] = [
    "",
    "a",
    "A",
    " a",
    "a ",
    "é",
    "日本",
    "1",
    "1.0",
    "01",
    "1e0",
    "-",
    "NULL",
    "true",
    "x,y",
    "say \"a\"",
    "\"",
    "\"\"",
    "two\nlines",
    "\n",
];

/// The number of fields at the beginning of [`FIELDS`] that have no comma, quote or newline.
const PLAIN: usize = 14;

/// The names of the columns. The first one numbers the rows of all files.
pub const NAMES: [&str; 5] = ["id", "url", "lang", "the text", "said \"so\", once"];

/// A file of random rows: some hundreds, one, or none.
#[derive(Debug)]
pub struct Table {
    pub rows: Vec<Vec<String>>,
    /// The style in which the file is written.
    pub style: Style,
}

/// The style of a CSV file.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub crlf: bool,
    pub mark: bool,
    /// True if some fields are quoted that need not be.
    pub quotes: bool,
    /// True if the last line ends with a line break.
    pub ends: bool,
}

impl Table {
    /// One to three tables, whose rows are numbered in one sequence, and which share keys.
    pub fn some(random: &mut Random) -> Vec<Self> {
        let mut id = 0;
        let count = 1 + random.below(3);
        let plain = random.below(3) == 0;
        (0..count)
            .map(|_| {
                let most = *random.pick(&[0, 1, 2, 20, 200]);
                let rows = (0..random.below(most + 1) + usize::from(most == 1)).map(|_| {
                    id += 1;
                    let mut field = || match random.below(12) {
                        0 => format!("x{}", random.below(30)),
                        1 => "long ".repeat(random.below(60)),
                        _ => (*random.pick(if plain { &FIELDS[..PLAIN] } else { &FIELDS })).to_owned(),
                    };
                    [id.to_string()].into_iter().chain(NAMES[1..].iter().map(|_| field())).collect()
                });
                let rows = rows.collect();
                let mut coin = || random.below(2) == 0;
                Self { rows, style: Style { crlf: coin(), mark: coin(), quotes: coin(), ends: coin() } }
            })
            .collect()
    }

    /// The table as CSV, with these columns.
    pub fn csv(&self, columns: &[usize], random: &mut Random) -> Vec<u8> {
        let names: Vec<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
        let mut out = if self.style.mark { b"\xEF\xBB\xBF".to_vec() } else { vec![] };
        for (row, fields) in std::iter::once(&names).chain(&self.rows).enumerate() {
            for (nth, &column) in columns.iter().enumerate() {
                let Some(field) = fields.get(column) else { break };
                let needs = field.contains([',', '"', '\n']) || columns.len() == 1 && field.is_empty();
                // Readers treat quotes around a name differently, so names are quoted only if necessary.
                let quoted = needs || self.style.quotes && row > 0 && random.below(2) == 0;
                let field = if quoted { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.clone() };
                out.extend_from_slice(format!("{}{field}", if nth > 0 { "," } else { "" }).as_bytes());
            }
            out.extend_from_slice(if self.style.crlf { b"\r\n" } else { b"\n" });
        }
        if !self.style.ends {
            out.truncate(out.len() - if self.style.crlf { 2 } else { 1 });
        }
        out
    }
}

/// The rows of these CSV files without headers, as a third reader, csv_core, finds them. Empty lines are no rows.
pub fn rows_of(csv: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let (mut reader, mut at, mut rows) = (csv_core::Reader::new(), 0, vec![]);
    let (mut fields, mut ends) = (vec![0; csv.len() + 1], [0; 20]);
    loop {
        let (state, read, _, count) = reader.read_record(&csv[at..], &mut fields, &mut ends);
        at += read;
        match state {
            csv_core::ReadRecordResult::Record => {
                let mut start = 0;
                rows.push(
                    ends[..count].iter().map(|&end| fields[std::mem::replace(&mut start, end)..end].to_vec()).collect(),
                );
            }
            csv_core::ReadRecordResult::End => break,
            csv_core::ReadRecordResult::InputEmpty => {}
            state => panic!("{state:?}"),
        }
    }
    rows.into_iter().skip(1).collect()
}

/// The first fields of rows, which number them.
pub fn ids(rows: &[Vec<Vec<u8>>]) -> Vec<u32> {
    rows.iter().map(|row| std::str::from_utf8(&row[0]).unwrap().parse().unwrap()).collect()
}

/// Writes files, and returns their paths.
pub fn write(dir: &TempDir, case: usize, files: &[Vec<u8>]) -> Vec<String> {
    files.iter().enumerate().map(|(nth, bytes)| dir.file(&format!("{case}-{nth}"), bytes)).collect()
}
