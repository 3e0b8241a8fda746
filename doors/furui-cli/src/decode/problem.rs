//! The errors that end the decoding of compressed data.

use std::io::{self, ErrorKind};

use super::Compression;
use crate::say::quote::with;
use crate::say::size;

/// The reason why compressed data could not be decoded to its end.
pub enum Problem {
    Damaged(io::Error),
    /// The data needs a larger window than is allowed. `window` is its size in bytes, which is known for zstd, and
    /// nearly always for xz.
    Window {
        window: Option<u64>,
        allowed: u64,
    },
    /// The zstd data needs the dictionary with this number.
    Dictionary(u32),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Damaged(error)
    }
}

impl Problem {
    /// Describes the problem at a position in the data. `file` is the name of the input as a word of the shell, if it
    /// is not standard input.
    pub fn describe(&self, compression: Compression, position: u64, file: Option<&str>) -> String {
        match self {
            Self::Damaged(error) => {
                let reason = match error.kind() {
                    ErrorKind::UnexpectedEof => "it is cut off".into(),
                    _ => error.to_string(),
                };
                format!(
                    "damaged {compression} data at byte {position}, of which no more can be decoded: {reason}; with --no-decompress \
                     the bytes are read as they are"
                )
            }
            Self::Window { window, allowed } => {
                let needed = window.map_or_else(
                    || "a larger window".into(),
                    |window| format!("a window of {}", size::display(window)),
                );
                let mebibytes = |window: u64| format!("give --decode-memory {}MiB, or ", window.div_ceil(1 << 20));
                let command = match (compression, window) {
                    (Compression::Xz, _) => with("xz -dc", file),
                    (_, window) => {
                        let window = window.unwrap_or(u64::MAX);
                        with(
                            &format!(
                                "zstd -dc --long={}",
                                window.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1)
                            ),
                            file,
                        )
                    }
                };
                format!(
                    "{compression} data with {needed}, and {} are allowed: {}pipe what `{command}` prints into furui",
                    size::display(*allowed),
                    window.map(mebibytes).unwrap_or_default(),
                )
            }
            Self::Dictionary(id) => format!(
                "zstd data that needs the dictionary with the number {id}: pipe what `{}` prints into furui",
                with("zstd -dc -D DICTIONARY", file)
            ),
        }
    }
}
