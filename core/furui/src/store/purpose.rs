use std::fmt;

/// What a dictionary is for, and so what its values are. It is fixed when the dictionary is made.
///
/// ```
/// use furui::dict::{Dict, DictOptions, Purpose};
/// use furui::store::Memory;
///
/// let memory = Memory::new();
/// let options = DictOptions { purpose: Some(Purpose::Counts), ..DictOptions::default() };
/// let mut counts = Dict::open_with(memory.clone(), options)?;
/// counts.put("seen", 2)?;
/// assert!(counts.number("before").is_err());
/// counts.sync()?;
/// // Whoever names no purpose opens the dictionary with its own.
/// let counts = Dict::open_with(memory, DictOptions::default())?;
/// assert_eq!(counts.purpose(), Purpose::Counts);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The values are numbers that were given to keys, one to each, and numbers that were moved in.
    Numbers,
    /// The values are any numbers below 2³².
    Values,
    /// The values say how often each key came.
    Counts,
    /// The values are any bytes.
    Bytes,
}

impl Purpose {
    /// Each purpose once, in the order in which messages list them.
    pub const ALL: [Self; 4] = [Self::Numbers, Self::Values, Self::Counts, Self::Bytes];

    /// The name of the values, as in `numbers`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Values => "values",
            Self::Counts => "counts",
            Self::Bytes => "bytes",
        }
    }

    /// The description of a dictionary with this purpose in errors.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Numbers => "a dictionary of numbers, which `furui dict number` gives",
            Self::Values => "a dictionary of values, which `furui dict build --values values` puts",
            Self::Counts => "a dictionary of counts, to which `furui dict count` adds",
            Self::Bytes => "a dictionary of bytes, which `furui dict build --values bytes` puts",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
