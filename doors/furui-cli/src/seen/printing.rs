//! The forms in which the lines of a block are printed.

use furui::seen::Verdict;

use crate::cli::{MarkForm, SeenOptions};
use crate::input::block::Block;
use crate::keys::Fate;
use crate::output::keep;

/// The choice of what is printed for each line.
#[derive(Clone, Copy)]
pub enum Printing {
    /// The line itself, if it has this verdict; otherwise nothing.
    Lines(Verdict),
    /// A `1` if the line is new or a `0` if it is not, and the separator of lines, which is this byte.
    Marks(u8),
    /// A `1` if the line is new or a `0` if it is not, a tab, and the line.
    MarkedLines,
}

impl Printing {
    /// Returns the form of printing that the options request.
    pub fn of(options: &SeenOptions) -> Self {
        match options.outputs.mark {
            Some(MarkForm::Alone) => Self::Marks(options.input.separator()),
            Some(MarkForm::Line) => Self::MarkedLines,
            None if options.invert => Self::Lines(Verdict::Repeat),
            None => Self::Lines(Verdict::New),
        }
    }

    /// The verdict of the lines that `--limit` counts.
    pub fn wanted(self) -> Verdict {
        match self {
            Self::Lines(wanted) => wanted,
            Self::Marks(_) | Self::MarkedLines => Verdict::New,
        }
    }

    /// True if this form prints something for a new line.
    pub fn tells_new(self) -> bool {
        !matches!(self, Self::Lines(Verdict::Repeat))
    }

    /// Makes the text to print for the lines of a block. Returns the length of the text if it is at the beginning of
    /// the block, and `None` if it is in `marked`.
    pub fn text(self, block: &mut Block, fates: &[Fate], marked: &mut Vec<u8>) -> Option<usize> {
        if let Self::Lines(wanted) = self {
            return Some(keep(block, fates.iter().map(|&fate| is_printed(fate, wanted))));
        }
        marked.clear();
        for (index, &fate) in fates.iter().enumerate() {
            let line = &block.bytes()[block.start(index)..block.next_line(index)];
            self.mark(is_printed(fate, Verdict::New), line, marked);
        }
        None
    }

    /// Makes the text to print for a header, which depends on whether it is the first header of the run. Returns the
    /// length of the text if it is at the beginning of the block, and `None` if it is in `marked`.
    pub fn header(self, header: &Block, is_first: bool, marked: &mut Vec<u8>) -> Option<usize> {
        match self {
            Self::Lines(_) if is_first => Some(header.bytes().len()),
            Self::Lines(_) => Some(0),
            Self::Marks(_) | Self::MarkedLines => {
                marked.clear();
                self.mark(is_first, header.bytes(), marked);
                None
            }
        }
    }

    /// The offsets in the output at which the answers for the new lines of a block end, if `printed` bytes precede the
    /// block.
    pub fn ends(self, block: &Block, fates: &[Fate], printed: u64) -> impl Iterator<Item = u64> {
        let (mut printed, mut start) = (printed, 0);
        fates.iter().enumerate().filter_map(move |(index, &fate)| {
            let end = block.next_line(index);
            let length = (end - std::mem::replace(&mut start, end)) as u64;
            printed += match self {
                Self::Lines(wanted) => length * u64::from(is_printed(fate, wanted)),
                Self::Marks(_) => 2,
                Self::MarkedLines => 2 + length,
            };
            (fate == Fate::Observed(Verdict::New)).then_some(printed)
        })
    }

    /// Appends the answer for a line, which ends in its separator.
    fn mark(self, is_new: bool, line: &[u8], out: &mut Vec<u8>) {
        out.push(if is_new { b'1' } else { b'0' });
        match self {
            Self::Marks(separator) => out.push(separator),
            Self::Lines(_) | Self::MarkedLines => {
                out.push(b'\t');
                out.extend_from_slice(line);
            }
        }
    }
}

/// True if a line is printed when the lines with the verdict `wanted` are printed. A line that is kept without a key
/// counts as new.
fn is_printed(fate: Fate, wanted: Verdict) -> bool {
    fate == Fate::Observed(wanted) || wanted == Verdict::New && fate == Fate::Kept
}
