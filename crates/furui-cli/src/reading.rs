use crate::split::Split;

/// How inputs are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub split: Split,
    /// True if the first line of each input is a header, which is then read as a block by itself.
    pub header: bool,
    /// The maximum length of a line without its separator. A longer line is an error, or is cut.
    pub max_line: usize,
    /// True if compressed inputs are decoded.
    pub decodes: bool,
}

impl Reading {
    /// Reads plain lines.
    #[cfg(any(test, feature = "node"))]
    pub fn lines(max_line: usize) -> Self {
        Self { split: Split::Lines(b'\n'), header: false, max_line, decodes: false }
    }
}
