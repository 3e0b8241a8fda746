use std::fmt;

/// The purpose of a dictionary, which says what its values mean. It is fixed when the dictionary is made.
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
    /// The values are numbers that the dictionary itself gave to new keys, a different one to each, or that a caller
    /// put.
    Numbers,
    /// The values are any numbers below 2³² that the caller put.
    Values,
    /// The values are counts: the number of occurrences of each key.
    Counts,
    /// The values are byte strings that the caller put.
    Bytes,
}

impl Purpose {
    /// Each purpose once, in the order in which error messages list them.
    pub const ALL: [Self; 4] = [Self::Numbers, Self::Values, Self::Counts, Self::Bytes];

    /// The name of the purpose in options and output, such as `numbers`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Values => "values",
            Self::Counts => "counts",
            Self::Bytes => "bytes",
        }
    }

    /// The phrase by which error messages describe a dictionary with this purpose.
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
