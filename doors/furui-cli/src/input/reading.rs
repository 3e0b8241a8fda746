use crate::input::split::Split;

/// How inputs are read: how they are cut into lines, and what becomes of those that are compressed, no text, or
/// unreadable.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub split: Split,
    /// True if the first line of each input is a header, which is then read as a block by itself.
    pub header: bool,
    /// The maximum length of a line in bytes, without its separator. A longer line is an error, or is cut.
    pub max_line: usize,
    /// The limits for an input whose first bytes are examined: a compressed input is decoded, and one that is not text
    /// is an error. `None` if bytes are read as they are, without an examination.
    pub looks: Option<Looks>,
    /// True if the command reports an input that it fails to open or to read, and continues with the next one. False if
    /// the command ends there.
    pub keeps_going: bool,
}

/// The limits for inputs that are compressed or not text.
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    /// The maximum memory of the window of zstd or of the dictionary of xz, in bytes.
    pub memory: u64,
    /// True if an input that is not text is accepted.
    pub binary: bool,
}

impl Looks {
    /// The default limits. Files that were made with the usual options of zstd and xz have windows of at most 65 MiB,
    /// or 128 MiB with --ultra and --long.
    pub const USUAL: Self = Self { memory: 256 << 20, binary: false };
}

impl Reading {
    /// Options that split at line feeds, read bytes as they are, and stop at the first input that fails.
    #[cfg(any(test, feature = "node"))]
    pub fn lines(max_line: usize) -> Self {
        Self { split: Split::Lines(b'\n'), header: false, max_line, looks: None, keeps_going: false }
    }
}
