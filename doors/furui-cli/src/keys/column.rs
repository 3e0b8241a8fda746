use crate::error::Error;

/// A column of a table, as a part of `--key` names it.
pub(super) enum Column {
    /// The column with this name, or with this number if no column has the name.
    Either(String),
    /// The column of this name, written `name:` and the name.
    Name(String),
    /// The column with this index, from 0 on, written `column:` and its number, or as a number where there is no
    /// header.
    Index(usize),
}

impl Column {
    /// Parses a part of `--key`. `has_header` is true if columns have names.
    pub(super) fn parse(text: &str, has_header: bool) -> Result<Self, Error> {
        let wrong = |reason: &str| Err(Error::Message(format!("--key {text}: {reason}")));
        if let Some(number) = text.strip_prefix("column:") {
            return match index(number) {
                Some(index) => Ok(Self::Index(index)),
                None => wrong("after column: comes a number, and columns are counted from 1"),
            };
        }
        match (text.strip_prefix("name:"), index(text)) {
            (Some(name), _) if has_header => Ok(Self::Name(name.to_owned())),
            (None, _) if has_header => Ok(Self::Either(text.to_owned())),
            (None, Some(index)) => Ok(Self::Index(index)),
            _ if text == "0" => wrong("columns are counted from 1"),
            _ => wrong("without a header columns have numbers, from 1 on, and no names"),
        }
    }

    /// The index of the column among columns with these names. The error says that there is no such column, or several.
    pub(super) fn find(&self, names: &[Vec<u8>]) -> Result<usize, String> {
        let named =
            |name: &str| -> Vec<usize> { (0..names.len()).filter(|&index| names[index] == name.as_bytes()).collect() };
        let (what, named, index) = match self {
            Self::Either(text) => (text.clone(), named(text), index(text)),
            Self::Name(name) => (name.clone(), named(name), None),
            Self::Index(index) => ((index + 1).to_string(), vec![], Some(*index)),
        };
        match (&named[..], index.filter(|&index| index < names.len())) {
            (&[named], None) => Ok(named),
            (&[named], Some(index)) if named == index => Ok(named),
            (&[], Some(index)) => Ok(index),
            (&[named], Some(index)) => Err(format!(
                "{what} is the name of column {} and the number of another: write name:{what} or column:{}",
                named + 1,
                index + 1
            )),
            (&[], None) if what == "0" => Err("there is no column 0, for columns are counted from 1".to_owned()),
            (&[], None) => Err(format!("there is no column {what}")),
            (&[first, second, ..], _) => Err(format!(
                "several columns have the name {what}: write column:{} or column:{}, as you mean it",
                first + 1,
                second + 1
            )),
        }
    }
}

/// The index of the column with this number, from 1 on, which has no sign and no leading zero.
fn index(text: &str) -> Option<usize> {
    let number = text.parse::<usize>().ok().filter(|number| number.to_string() == text)?;
    number.checked_sub(1)
}
