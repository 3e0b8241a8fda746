//! The checksums of a file, computed from docs/format.md without furui's own code.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8] = b"FURUI\r\n\x1a";
const HEADER: usize = 64;
const FOOTER: usize = 64;
const ENTRY: usize = 32;
/// The size of a page of a run file, which is also the size of a region with its own checksum.
const PAGE: usize = 4096;
const RUN: u16 = 2;
const JOURNAL: u16 = 3;
/// The length of a journal's head.
const JOURNAL_HEAD: usize = 88;

/// The places of a file's sections, as far as its table states them.
struct Layout {
    table: Range<usize>,
    /// For each section: the place of its entry in the table, its tag, and the section's place.
    sections: Vec<(usize, [u8; 4], Range<usize>)>,
}

impl Layout {
    /// The layout of a file; `None` if its footer is invalid.
    fn of(file: &[u8]) -> Option<Self> {
        let footer = file.len().checked_sub(FOOTER).filter(|&footer| footer >= HEADER)?;
        let start = usize::try_from(u64_at(file, footer)).ok().filter(|&start| start <= footer)?;
        let entries = (start..footer).step_by(ENTRY).filter(|entry| entry + ENTRY <= footer);
        let sections = entries.filter_map(|entry| {
            let offset = usize::try_from(u64_at(file, entry + 8)).ok()?;
            let end = offset.checked_add(usize::try_from(u64_at(file, entry + 16)).ok()?)?;
            let tag = file[entry..entry + 4].try_into().ok()?;
            (end <= start).then_some((entry, tag, offset..end))
        });
        Some(Self { table: start..footer, sections: sections.collect() })
    }
}

/// Corrects the checksums of a changed file from the inside out: of the pages of a run, of files in sections, of
/// regions, of sections, of header and footer. Wrong values in the table or footer stay.
pub fn repair(file: &mut [u8]) {
    if is_journal(file) {
        return repair_journal(file);
    }
    let Some(Layout { table, sections }) = Layout::of(file) else { return };
    let is_run = file[10..12] == RUN.to_le_bytes();
    let bases = bases(file, &sections);
    for (entry, tag, section) in sections {
        match &tag {
            b"PAGE" if is_run => {
                for (index, page) in file[section.clone()].chunks_exact_mut(PAGE).enumerate() {
                    let base = bases.get(index).copied().unwrap_or(0);
                    let sum = (xxh3_64(&page[4..]) as u32).wrapping_add(base as u32);
                    put(page, 0, &sum.to_le_bytes());
                }
            }
            b"SUMS" => {
                let (levels, root) = region_sums(&file[..section.start]);
                if levels.len() == section.len() {
                    put(file, section.start, &levels);
                    put(file, table.end + 24, &root.to_le_bytes());
                }
            }
            _ if file[section.clone()].starts_with(MAGIC) => repair(&mut file[section.clone()]),
            _ => {}
        }
        let sum = xxh3_64(&file[section]);
        put(file, entry + 24, &sum.to_le_bytes());
    }
    let sum = xxh3_64(&file[..HEADER - 8]);
    put(file, HEADER - 8, &sum.to_le_bytes());
    let sealed = [&file[..HEADER], &file[table.start..table.end + 48]].concat();
    put(file, table.end + 48, &xxh3_64(&sealed).to_le_bytes());
}

/// True if a file begins as a journal does.
pub fn is_journal(file: &[u8]) -> bool {
    file.len() >= JOURNAL_HEAD && file.starts_with(MAGIC) && file[10..12] == JOURNAL.to_le_bytes()
}

/// Corrects the checksums of a journal's head and of its records, as far as their lengths lead.
fn repair_journal(file: &mut [u8]) {
    let sum = xxh3_64(&file[..HEADER - 8]);
    put(file, HEADER - 8, &sum.to_le_bytes());
    let salt = xxh3_64(&file[..JOURNAL_HEAD - 8]).to_le_bytes();
    put(file, JOURNAL_HEAD - 8, &salt);
    let mut at = JOURNAL_HEAD;
    while let Some(&count) = file.get(at..).and_then(|record| record.first_chunk::<4>()) {
        let end = at + 24 + 8 * u32::from_le_bytes(count) as usize;
        if end > file.len() || end == at + 24 {
            return;
        }
        let place = (at as u64).to_le_bytes();
        let check = xxh3_64(&[&salt[..], &place, &count].concat()) as u32;
        put(file, at + 4, &check.to_le_bytes());
        let keys = xxh3_64(&file[at + 16..end - 8]).to_le_bytes();
        let sum = xxh3_64(&[salt, place, keys].concat());
        put(file, at + 8, &sum.to_le_bytes());
        file.copy_within(at..at + 8, end - 8);
        at = end;
    }
}

/// The base of each page of a run: the page's fence (its first key) without the low bits, whose number is in `META`.
fn bases(file: &[u8], sections: &[(usize, [u8; 4], Range<usize>)]) -> Vec<u64> {
    let bytes = |wanted: &[u8; 4]| {
        let section = sections.iter().find(|(_, tag, _)| tag == wanted);
        section.map_or(&[][..], |(_, _, section)| &file[section.clone()])
    };
    let (fences, meta) = (bytes(b"FENC"), bytes(b"META"));
    let bits = if meta.len() > 16 { u32::from(meta[16]) } else { 0 };
    fences.as_chunks().0.iter().map(|fence| u64::from_le_bytes(*fence).checked_shr(bits).unwrap_or(0)).collect()
}

/// Updates a manifest to the present state of a run: its length, and the checksum in its footer.
pub fn rename_run(manifest: &mut [u8], number: u64, run: &[u8]) {
    let Some(layout) = Layout::of(manifest) else { return };
    let Some(checksum) = run.len().checked_sub(16).map(|at| u64_at(run, at)) else { return };
    for (_, _, section) in layout.sections.into_iter().filter(|(_, tag, _)| tag == b"RUNS") {
        for entry in section.step_by(32) {
            if u64_at(manifest, entry) == number {
                put(manifest, entry + 16, &(run.len() as u64).to_le_bytes());
                put(manifest, entry + 24, &checksum.to_le_bytes());
            }
        }
    }
    repair(manifest);
}

/// The places where a file states lengths and counts, also in files within sections: headers, tables, footers, short
/// sections, and heads of pages.
pub fn numbers(file: &[u8]) -> Vec<Range<usize>> {
    if is_journal(file) {
        return vec![0..JOURNAL_HEAD, JOURNAL_HEAD..JOURNAL_HEAD + 16];
    }
    let Some(Layout { table, sections }) = Layout::of(file) else { return vec![] };
    let mut all = vec![0..HEADER, table.clone(), table.end..file.len()];
    for (_, tag, section) in sections {
        let inner = if file[section.clone()].starts_with(MAGIC) { numbers(&file[section.clone()]) } else { vec![] };
        all.extend(inner.into_iter().map(|range| section.start + range.start..section.start + range.end));
        if section.len() <= 1024 {
            all.push(section);
        } else if &tag == b"PAGE" {
            all.extend([section.start..section.start + 16, section.end - PAGE..section.end - PAGE + 16]);
        } else {
            all.push(section.start..section.start + 128);
        }
    }
    all.retain(|range| range.len() >= 8);
    all
}

/// The levels of checksums over these bytes, and the checksum of the last level.
fn region_sums(bytes: &[u8]) -> (Vec<u8>, u64) {
    let level = |bytes: &[u8]| -> Vec<u8> {
        bytes.chunks(PAGE).flat_map(|region| (xxh3_64(region) as u32).to_le_bytes()).collect()
    };
    let mut last = level(bytes);
    let mut levels = last.clone();
    while last.len() > PAGE {
        last = level(&last);
        levels.extend_from_slice(&last);
    }
    (levels, xxh3_64(&last))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}
