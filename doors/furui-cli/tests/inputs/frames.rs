//! Frames, members and streams as other tools write and read them.

use std::io::Write;

use super::{compressed, next_line, start, text_of};
use crate::support::{TempDir, failure, run, stdout};

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

fn lz4(text: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(vec![]);
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A frame as `lz4 -l` writes it, with a block for each text.
fn legacy(texts: &[&[u8]]) -> Vec<u8> {
    let mut frame = b"\x02\x21\x4C\x18".to_vec();
    for block in texts.iter().map(|text| lz4_flex::block::compress(text)) {
        frame.extend(u32::try_from(block.len()).unwrap().to_le_bytes());
        frame.extend(block);
    }
    frame
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(vec![], bzip2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A frame without data, with one of the 16 numbers that such a frame may have.
fn skipped(number: u8, bytes: &[u8]) -> Vec<u8> {
    let size = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    [&[0x50 + number, 0x2A, 0x4D, 0x18], &size, bytes].concat()
}

#[test]
fn frames_without_data_hold_no_text_wherever_they_stand() {
    let dir = TempDir::new();
    let pack = [zstd, lz4, |text: &[u8]| legacy(&[text])];
    let (a, b) = (b"a\nb\na\n", b"c\nb\nd");
    for frame in pack {
        // As pzstd writes it: each frame after the size that it has.
        let sized = |text: &[u8]| [skipped(0, &[7, 0, 0, 0]), frame(text)].concat();
        let mut inputs = vec![
            [sized(a), sized(b)].concat(),
            [skipped(1, b""), skipped(2, &[b'\n'; 200_000]), frame(a), skipped(3, b"x"), skipped(4, b""), frame(b)]
                .concat(),
            [frame(a), frame(b), skipped(15, b"an index at the end, as in seekable zstd")].concat(),
        ];
        inputs.extend((0..16).map(|number| [skipped(number, b"abc"), frame(a), frame(b"c\nd\n")].concat()));
        let files: Vec<_> = (0..).zip(&inputs).map(|(n, bytes)| dir.file(&format!("{n}"), bytes)).collect();
        for file in &files[..4] {
            assert_eq!(text_of(&stdout(&["seen", file], b"")), "a\nb\nc\nd\n");
        }
        let all: Vec<&str> =
            ["has", "--count", &files[0]].into_iter().chain(files.iter().map(|file| &**file)).collect();
        assert_eq!(text_of(&stdout(&all, b"")), "98\n", "6 lines in each of 3 files, 5 in each of 16");
        assert_eq!(text_of(&stdout(&["seen"], &inputs[1])), "a\nb\nc\nd\n", "in pieces from a pipe");
    }
    assert!(stdout(&["seen"], &[skipped(0, b"abc"), skipped(9, b"")].concat()).is_empty());
    let message = failure(&["seen"], &[skipped(0, b"abc"), b"hello\n".to_vec()].concat());
    assert!(message.contains("standard input: damaged zstd or lz4 data at byte 11"), "{message}");
}

#[test]
fn a_stream_that_arrives_byte_by_byte_is_the_same() {
    for frames in [
        [skipped(0, &[1, 2, 3, 4]), zstd(b"first\n")].concat(),
        [skipped(0, b""), skipped(1, b"x"), lz4(b"first\n")].concat(),
        [legacy(&[b"first\n"]), lz4(b"first\n")].concat(),
        [gzip(b""), gzip(b"first\n"), vec![0; 9]].concat(),
        [bzip2(b""), bzip2(b"first\n"), vec![0; 9]].concat(),
    ] {
        let (mut child, mut input, mut output) = start(crate::support::furui(), &["seen"]);
        for byte in &frames {
            input.write_all(&[*byte]).and_then(|()| input.flush()).unwrap();
        }
        assert_eq!(next_line(&mut output), "first\n");
        drop(input);
        assert!(next_line(&mut output).is_empty() && child.wait().unwrap().success());
    }
}

#[test]
fn what_is_cut_off_anywhere_is_an_error_unless_it_ends_with_a_frame() {
    let (a, b, extra) = (b"one\ntwo\n", b"three\n", skipped(5, b"123456789"));
    // Whole frames, after each of which the input may end.
    let streams = [
        vec![extra.clone(), zstd(a), extra.clone(), zstd(b)],
        vec![extra.clone(), lz4(a), extra.clone(), lz4(b), extra.clone()],
        // The end of a legacy frame is that of the input, so it may end after each block.
        vec![extra.clone(), legacy(&[a]), legacy(&[a, b])[4 + legacy(&[a]).len() - 4..].to_vec(), lz4(b)],
        vec![gzip(a), gzip(b)],
        vec![bzip2(a), bzip2(b""), bzip2(b)],
    ];
    let dir = TempDir::new();
    for frames in streams {
        let whole = frames.concat();
        let ends: Vec<usize> = frames
            .iter()
            .scan(0, |end, frame| {
                *end += frame.len();
                Some(*end)
            })
            .collect();
        let lengths = || 10..=whole.len();
        let names: Vec<_> = lengths().map(|length| dir.file(&format!("{length}."), &whole[..length])).collect();
        let args: Vec<&str> = ["seen", "--keep-going"].into_iter().chain(names.iter().map(|name| &**name)).collect();
        let output = run(&args, b"");
        assert_eq!((text_of(&output.stdout), output.status.code()), ("one\ntwo\nthree\n", Some(2)));
        let told = text_of(&output.stderr);
        let mut begins_a_legacy_frame = lengths().filter(|&length| {
            // Nothing but its first bytes is an empty frame.
            whole[..length].ends_with(b"\x02\x21\x4C\x18")
        });
        let empty = begins_a_legacy_frame.next();
        for length in lengths() {
            let is_bad = told.contains(&format!("/{length}.: damaged"));
            assert_eq!(is_bad, !ends.contains(&length) && empty != Some(length), "{length} of {ends:?}: {told}");
        }
    }
}

#[test]
fn zeros_after_the_data_do_not_matter_where_they_do_not_matter_to_other_tools() {
    let dir = TempDir::new();
    let other = dir.file("other", b"z\n");
    for (name, packed) in [("gzip", gzip(b"a\n")), ("bzip2", bzip2(b"a\n"))] {
        for zeros in [1, 2, 512, 70_000] {
            let padded = [&packed[..], &vec![0; zeros]].concat();
            let file = dir.file("padded", &padded);
            assert_eq!(stdout(&["seen", &file, &other], b""), b"a\nz\n", "{name}, {zeros} zeros");
            assert_eq!(stdout(&["seen", "-", &other], &padded), b"a\nz\n", "{name}, {zeros} zeros from a pipe");
        }
        for rest in [&b"x"[..], b"\0x", b"\0\0\0\n", &[0x1F], b"B", &[&[0; 66_000][..], b"x"].concat()] {
            let output = run(&["seen"], &[&packed[..], rest].concat());
            assert_eq!((&*output.stdout, output.status.code()), (&b"a\n"[..], Some(2)), "{name}");
            assert!(text_of(&output.stderr).contains(&format!("damaged {name} data at byte ")), "{output:?}");
        }
    }
    for frame in [zstd(b"a\n"), lz4(b"a\n"), legacy(&[b"a\n"])] {
        for rest in [&b"\0"[..], &[0; 512], b"garbage"] {
            let output = run(&["seen"], &[&frame[..], rest].concat());
            assert_eq!((&*output.stdout, output.status.code()), (&b"a\n"[..], Some(2)), "as zstd and lz4 have it");
        }
    }
    if let Some(packed) = compressed("xz", b"a\n") {
        let padded = |zeros| run(&["seen"], &[&packed[..], &vec![0; zeros], &packed].concat()).status.code();
        assert_eq!([0, 4, 512, 3, 1].map(padded), [Some(0), Some(0), Some(0), Some(2), Some(2)]);
    }
}

#[test]
fn blocks_of_legacy_lz4_may_be_larger_than_their_text_and_no_larger_than_allowed() {
    // A block of literals only: its text takes more bytes than it has.
    let literals = |length: usize| {
        let rest = length - 15;
        let mut block = vec![0xF0];
        block.extend(vec![0xFF; rest / 255]);
        block.push((rest % 255) as u8);
        block.extend((0..length).map(|at| if at % 4096 == 4095 { b'\n' } else { b'x' }));
        [&u32::try_from(block.len()).unwrap().to_le_bytes()[..], &block].concat()
    };
    let magic = b"\x02\x21\x4C\x18";
    let frame = |blocks: &[Vec<u8>]| [&magic[..], &blocks.concat()].concat();
    let packed = frame(&[literals(8 << 20), literals(4096), literals(100)]);
    let expected = [vec![b'x'; 4095], vec![b'x'; 100]].map(|line| [line, b"\n".to_vec()].concat()).concat();
    assert!(stdout(&["seen"], &packed) == expected);
    // More text than a block may have, a block without bytes, and a size that is neither of a block nor the beginning
    // of a frame.
    for bad in [literals((8 << 20) + 1), vec![0; 4], vec![0xFF; 8]] {
        assert!(failure(&["seen"], &frame(&[bad])).contains("damaged lz4 data at byte"));
    }
}

#[test]
fn windows_that_are_too_large_are_named_with_a_way_to_read_them() {
    let dir = TempDir::new();
    // A frame of zstd with a window of 2^(10 + log) + eighths / 8 * 2^(10 + log) bytes, and one block of two bytes.
    let frame = |log: u8, eighths: u8| [&b"\x28\xB5\x2F\xFD\x00"[..], &[log << 3 | eighths], b"\x11\0\0a\n"].concat();
    assert_eq!(stdout(&["seen"], &frame(18, 0)), b"a\n");
    let large = dir.file("large file.zst", &[frame(0, 0), frame(18, 1)].concat());
    let output = run(&["seen", &large], b"");
    assert_eq!((&*output.stdout, output.status.code()), (&b"a\n"[..], Some(2)), "what comes before it is printed");
    let message = text_of(&output.stderr);
    assert!(message.contains("zstd data with a window of 288.0 MiB, and 256.0 MiB are allowed"), "{message}");
    assert!(
        message.contains("--decode-memory 288MiB") && message.contains(&format!("`zstd -dc --long=29 '{large}'`")),
        "{message}"
    );
    assert!(!message.contains("damaged"), "{message}");
    assert_eq!(stdout(&["seen", "--decode-memory", "288MiB", &large], b""), b"a\n");
    assert!(failure(&["has", "--decode-memory", "287MiB", &large, "-"], b"").contains("288.0 MiB"));
    let piped = failure(&["seen"], &frame(21, 0));
    assert!(piped.contains("a window of 2.0 GiB") && piped.contains("`zstd -dc --long=31`"), "{piped}");
    assert!(failure(&["seen", "--decode-memory", "1TiB"], &frame(31, 0)).contains("damaged zstd data"));
    let with_dictionary = [&b"\x28\xB5\x2F\xFD\x01"[..], &[0, 77], b"\x11\0\0a\n"].concat();
    let message = failure(&["seen"], &with_dictionary);
    assert!(message.contains("number 77") && message.contains("zstd -dc -D DICTIONARY"), "{message}");
    let Some(mut packed) = compressed("xz", b"a\n") else { return };
    // The header of the first block: the filter, its size, and the size of the dictionary. Then a checksum.
    let end = 12 + (usize::from(packed[12]) + 1) * 4 - 4;
    let at = packed[..end].windows(2).rposition(|filter| filter == [0x21, 1]).unwrap() + 2;
    packed[at] = 33;
    let mut sum = flate2::Crc::new();
    sum.update(&packed[12..end]);
    packed.splice(end..end + 4, sum.sum().to_le_bytes());
    let message = failure(&["seen"], &packed);
    assert!(message.contains("xz data with a window of 384.0 MiB") && message.contains("`xz -dc`"), "{message}");
    assert_eq!(stdout(&["seen", "--decode-memory", "384MiB"], &packed), b"a\n");
}

#[test]
fn empty_streams_of_bzip2_are_nothing() {
    let input = [bzip2(b"a\n"), bzip2(b"").repeat(20_000), bzip2(b"a\nb\n"), bzip2(b"").repeat(3)].concat();
    assert_eq!(stdout(&["seen"], &input), b"a\nb\n");
    assert!(stdout(&["seen"], &bzip2(b"").repeat(20_000)).is_empty());
}
