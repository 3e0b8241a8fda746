//! Input from real compressors, run with many options. Most inputs are several compressed pieces, one after the other.

use super::{furui, other, random};
use crate::support::{self, TempDir, distinct, text};

/// Commands that compress standard input.
const COMMANDS: [&[&str]; 25] = [
    &["gzip", "-1"],
    &["gzip", "-9", "--no-name"],
    &["gzip", "--rsyncable"],
    &["zstd", "-1"],
    &["zstd", "-19"],
    &["zstd", "--fast=5"],
    &["zstd", "--no-check"],
    &["zstd", "--check", "-T2"],
    &["zstd", "--long=27", "-3"],
    &["pzstd", "-q", "-1"],
    &["xz", "-0"],
    &["xz", "-6", "--check=none"],
    &["xz", "--check=crc32"],
    &["xz", "--check=sha256"],
    &["xz", "--block-size=65536", "-T2"],
    &["xz", "--delta=dist=2", "--lzma2=preset=1,lc=1,lp=2,pb=0"],
    &["xz", "--x86", "--lzma2=preset=0"],
    &["bzip2", "-1"],
    &["bzip2", "-9"],
    &["lz4", "-1"],
    &["lz4", "-9", "-B4", "-BD"],
    &["lz4", "-B7", "-BX"],
    &["lz4", "--no-frame-crc"],
    &["lz4", "--content-size", "-BI"],
    &["lz4", "-l"],
];

/// Returns `bytes`, compressed by a command of [`COMMANDS`].
fn compressed(command: &[&str], bytes: &[u8]) -> Vec<u8> {
    other(command[0], &[&command[1..], &["-c"]].concat(), bytes)
}

#[test]
#[ignore = "needs compressors: cargo xtask test pipelines"]
fn what_any_compressor_makes_is_read() {
    let (mut random, dir) = (random(), TempDir::new());
    let lines = support::lines(8_000, random.next());
    let (plain, expected) = (text(&lines), text(&distinct(&lines)));
    for command in COMMANDS {
        // Pieces of any length, some of which are empty, one after another.
        let mut cuts: Vec<usize> = (0..3).map(|_| random.below(plain.len())).collect();
        cuts.extend([0, 0, plain.len()]);
        cuts.sort_unstable();
        let packed: Vec<u8> = cuts.windows(2).flat_map(|cut| compressed(command, &plain[cut[0]..cut[1]])).collect();
        let file = dir.file("packed", &packed);
        assert!(furui(&["seen", &file], b"") == expected, "{command:?} cut at {cuts:?}");
        assert!(furui(&["seen"], &packed) == expected, "{command:?} cut at {cuts:?}, from a pipe");
    }
}

#[test]
#[ignore = "needs compressors: cargo xtask test pipelines"]
fn a_compressed_table_is_a_table() {
    let dir = TempDir::new();
    let csv = b"\xEF\xBB\xBFid,a\r\n1,\"x\r\ny\"\r\n2,\"x\r\ny\"\r\n3,z\r\n";
    let json = b"\xEF\xBB\xBF{\"a\":1}\r\n{\"a\":1.0}\r\n{\"a\":\"1\"}\r\n";
    for program in ["gzip", "zstd", "xz", "bzip2", "lz4"] {
        let [one, two] = [("one", 7), ("two", csv.len())].map(|(name, cut)| {
            dir.file(name, &[compressed(&[program], &csv[..cut]), compressed(&[program], &csv[cut..])].concat())
        });
        let rows = furui(&["seen", "--csv", "--key", "a", &one, &two], b"");
        assert_eq!(String::from_utf8(rows).unwrap(), "\u{FEFF}id,a\r\n1,\"x\r\ny\"\r\n3,z\r\n", "{program}");
        let records = furui(&["seen", "--json", "--key", "/a"], &compressed(&[program], json));
        assert_eq!(String::from_utf8(records).unwrap(), "\u{FEFF}{\"a\":1}\r\n{\"a\":\"1\"}\r\n", "{program}");
    }
}
