//! The dumps of bytes in docs/format.md.

use std::ops::Range;

/// Checks the dumps on the page from the line `from` up to the line `to`, and returns the number of their lines: every
/// line shows bytes of the file, and the bytes in the range `shown` that no line shows are zero.
pub(crate) fn check(from: &str, to: &str, file: &[u8], shown: Range<usize>) -> usize {
    let page = include_str!("../../../../docs/format.md");
    let (mut rest, mut lines) = (file.to_vec(), 0);
    for line in page.lines().skip_while(|line| *line != from).take_while(|line| *line != to) {
        let Some((offset, bytes)) = line.strip_prefix("    ").and_then(|line| line.split_once("  ")) else { continue };
        let Some(offset) = usize::from_str_radix(offset, 16).ok().filter(|_| offset.len() == 4) else { continue };
        let digits = bytes.split("  ").next().unwrap().replace(' ', "");
        let bytes: Vec<u8> = digits
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect();
        assert_eq!(file[offset..][..bytes.len()], bytes, "{line}");
        rest[offset..][..bytes.len()].fill(0);
        lines += 1;
    }
    let left = rest[shown.clone()].iter().position(|&byte| byte != 0).map(|at| shown.start + at);
    assert!(lines > 0 && left.is_none(), "{from}: {lines} lines; the byte at {left:#x?} is not shown");
    lines
}
