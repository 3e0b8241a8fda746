use crate::input::split::Split;

/// How inputs are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub split: Split,
    /// True if the first line of each input is a header, which is then read as a block by itself.
    pub header: bool,
    /// The maximum length of a line without its separator. A longer line is an error, or is cut.
    pub max_line: usize,
    /// How inputs are looked into, if they are: compressed ones are decoded then, and what is no text is an error.
    /// Otherwise their bytes are read as they are.
    pub looks: Option<Looks>,
    /// Whether the command reports an input that it fails to open or to read, and goes on with the next one. Otherwise
    /// it ends there.
    pub keeps_going: bool,
}

/// What an input may hold besides a text.
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    /// The memory that a decoder may take for the window of zstd or xz, in bytes.
    pub memory: u64,
    /// True if the text may be any bytes.
    pub binary: bool,
}

impl Looks {
    /// What is allowed unless an option says otherwise. Files that were made with the usual options of zstd and xz have
    /// windows of at most 65 MiB, or 128 MiB with --ultra and --long.
    pub const USUAL: Self = Self { memory: 256 << 20, binary: false };
}

impl Reading {
    /// Splits at line feeds, takes bytes as they are, and stops at the first input that fails.
    #[cfg(any(test, feature = "node"))]
    pub fn lines(max_line: usize) -> Self {
        Self { split: Split::Lines(b'\n'), header: false, max_line, looks: None, keeps_going: false }
    }
}
