//! What is no text is told, and not read as lines.

use std::io::Write;

use crate::inputs::text_of;
use crate::support::{TempDir, failure, run, stdout};

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn utf32(text: &str) -> Vec<u8> {
    text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect()
}

/// The two bytes of each unit the other way round.
fn swapped(bytes: &[u8], size: usize) -> Vec<u8> {
    bytes.chunks(size).flat_map(|unit| unit.iter().rev()).copied().collect()
}

/// Names of files, their contents, and what the message says and advises.
fn foreign() -> Vec<(&'static str, Vec<u8>, &'static str, &'static str)> {
    let table = "id,name\n1,Zoë\n2,李\n";
    let tar = [&b"name"[..], &[0; 253], b"ustar\x0000", &[0; 300], b"a\n"].concat();
    vec![
        ("a.zip", b"PK\x03\x04\x14\0\0\0\x08\0a\n".to_vec(), "a zip archive", "unzip -p"),
        ("empty.zip", [&b"PK\x05\x06"[..], &[0; 18]].concat(), "a zip archive", "unzip -p"),
        ("a.7z", b"7z\xBC\xAF\x27\x1C\0\x04".to_vec(), "a 7z archive", "7z x -so"),
        ("a.rar", b"Rar!\x1A\x07\x01\0a\n".to_vec(), "a rar archive", "unrar p"),
        ("a.tar", tar, "a tar archive", "tar -xOf"),
        ("a.lzma", b"\x5D\0\0\x80\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\x30".to_vec(), "lzma", "xz --format=lzma -dc"),
        ("a.lz", b"LZIP\x01\x0C\0".to_vec(), "lzip", "lzip -dc"),
        ("a.Z", b"\x1F\x9D\x90\x61\x14".to_vec(), "compress (.Z)", "zcat"),
        ("a.br", b"\x0B\x02\x80hello\n\x03".to_vec(), "brotli", "brotli -dc"),
        ("a.parquet", b"PAR1\x15\x04\x15\x10".to_vec(), "Parquet", "duckdb"),
        ("mark16", [b"\xFF\xFE".to_vec(), utf16("текст\n")].concat(), "UTF-16", "iconv -f UTF-16 -t UTF-8"),
        ("mark16be", [b"\xFE\xFF".to_vec(), swapped(&utf16("текст\n"), 2)].concat(), "UTF-16", "iconv -f UTF-16 "),
        ("mark", b"\xFF\xFE".to_vec(), "UTF-16", "iconv"),
        ("mark32", [b"\xFF\xFE\0\0".to_vec(), utf32("текст\n")].concat(), "UTF-32", "iconv -f UTF-32 "),
        ("le16", utf16(table), "UTF-16LE", "iconv -f UTF-16LE"),
        ("be16", swapped(&utf16(table), 2), "UTF-16BE", "iconv -f UTF-16BE"),
        ("le32", utf32(table), "UTF-32LE", "iconv -f UTF-32LE"),
        ("be32", swapped(&utf32(table), 4), "UTF-32BE", "iconv -f UTF-32BE"),
        ("short", utf16("a\n"), "UTF-16LE", "iconv"),
    ]
}

#[test]
fn what_is_no_text_is_named_with_a_command_that_makes_it_one() {
    let dir = TempDir::new();
    let all = foreign();
    let files: Vec<_> = all.iter().map(|(name, bytes, ..)| dir.file(name, bytes)).collect();
    let args = |first: &[&'static str]| -> Vec<String> {
        first.iter().map(|arg| (*arg).to_string()).chain(files.iter().cloned()).collect()
    };
    let of = |first: &[&'static str]| {
        let args = args(first);
        run(&args.iter().map(|arg| &**arg).collect::<Vec<_>>(), b"")
    };
    let output = of(&["seen", "--keep-going"]);
    assert_eq!((&*output.stdout, output.status.code()), (&b""[..], Some(2)));
    let told: Vec<&str> = text_of(&output.stderr).lines().collect();
    assert_eq!(told.len(), all.len(), "{told:?}");
    for ((line, file), (_, _, what, command)) in told.iter().zip(&files).zip(&all) {
        assert!(line.starts_with(&format!("furui: {file}: this looks like")), "{line}");
        assert!(line.contains(what) && line.contains(&format!("`{command}")) && line.contains(&**file), "{line}");
    }
    // With --csv they are no tables with strange columns.
    assert_eq!(of(&["seen", "--keep-going", "--csv", "--key", "id"]).stderr, output.stderr);
    // Meant as it is.
    for option in ["--binary", "--no-decompress"] {
        let output = of(&["seen", option]);
        assert_eq!(output.status.code(), Some(0), "{option}: {output:?}");
        assert!(output.stdout.starts_with(b"PK\x03\x04") && text_of(&output.stderr).is_empty());
    }
    // From standard input, and within compressed data.
    for (name, bytes, what, _) in all.iter().filter(|(name, ..)| !name.ends_with(".br")) {
        let message = failure(&["seen"], bytes);
        assert!(message.contains("standard input: this looks like") && message.contains(what), "{name}: {message}");
        let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        let packed = packed.finish().unwrap();
        let message = failure(&["seen", &dir.file("packed", &packed)], b"");
        let within = message.contains("within gzip data") && message.contains("`gzip -dc ");
        assert!(message.contains(what) && within && message.contains("packed | "), "{name}: {message}");
        assert!(run(&["seen", "--binary"], &packed).stdout.starts_with(&bytes[..2]), "{name}");
    }
}

#[test]
fn every_command_that_reads_lines_tells_what_is_no_text_and_records_nothing() {
    let dir = TempDir::new();
    let zip = dir.file("a.zip", b"PK\x03\x04\x14\0\0\0\x08\0a\n");
    let (text, store, filter, dict) =
        (dir.file("text", b"a\n"), dir.join("store"), dir.join("filter"), dir.join("dict"));
    stdout(&["filter", "build", "--kind", "counting", "-c", "9", "-o", &filter, &text], b"");
    stdout(&["dict", "build", "--store", &dict, &text], b"");
    let commands: [&[&str]; 11] = [
        &["seen", "--store", &store, &zip],
        &["seen", "--filter", &filter, &zip],
        &["seen", "--store", &store, "--remove", &zip],
        &["has", &zip, &text],
        &["has", &text, &zip],
        &["filter", "build", "-c", "9", "-o", &dir.join("new"), &zip],
        &["filter", "insert", &filter, &zip],
        &["filter", "remove", &filter, &zip],
        &["dict", "build", "--store", &dict, &zip],
        &["dict", "get", "--store", &dict, &zip],
        &["dict", "delete", "--store", &dict, &zip],
    ];
    for command in commands {
        assert!(failure(command, b"").contains("a.zip: this looks like a zip archive"), "{command:?}");
    }
    assert!(failure(&["dict", "key", "--store", &dict], &utf16("0\n")).contains("UTF-16LE"));
    assert!(!std::path::Path::new(&dir.join("new")).exists());
    assert_eq!(run(&["has", "--count", &store, "--binary", &zip], b"").stdout, b"0\n");
    assert_eq!(stdout(&["has", &filter], b"a\nb\n"), b"a\n");
}

#[test]
fn compressed_data_within_compressed_data_is_told() {
    let dir = TempDir::new();
    let inner = zstd::encode_all(&b"a\n"[..], 1).unwrap();
    let twice = dir.file("twice", &zstd::encode_all(&inner[..], 1).unwrap());
    let message = failure(&["seen", &twice], b"");
    assert!(
        message.contains("zstd data within zstd data") && message.contains(&format!("`zstd -dc {twice}`")),
        "{message}"
    );
    assert!(stdout(&["seen", "--binary", &twice], b"").starts_with(&inner));
}

#[test]
fn texts_and_data_with_nuls_are_read_as_before() {
    let texts: [&[u8]; 9] =
        [b"PK\n", b"PK is a country\n", b"7z\n", b"Rar!\n", b"PAR1\n", b"LZIP\n", b"]\n", b"a\0b\nc\0\n", b"\0\0\0\n"];
    for text in texts {
        assert_eq!(stdout(&["seen"], text), text, "{}", text.escape_ascii());
    }
    // Lists of file names, which end in NUL.
    let (mut listed, separated) = (utf16("abcdefghijklmnop"), b"a\0./b\0a\0");
    assert_eq!(stdout(&["seen", "-0"], &listed), listed);
    listed.extend(b"a\0");
    assert_eq!(stdout(&["seen", "-0"], &listed), listed[..32]);
    assert_eq!(stdout(&["seen", "-0"], b"\xFF\xFE\0\0x\0"), b"\xFF\xFE\0\0x\0");
    assert_eq!(stdout(&["seen", "-0"], b"]\0\0x\0"), b"]\0\0x\0");
    assert_eq!(stdout(&["seen", "--null"], separated), b"a\0./b\0");
    let br = TempDir::new();
    assert_eq!(stdout(&["seen", &br.file("sites.com.br", "açaí\n".as_bytes())], b""), "açaí\n".as_bytes());
}
