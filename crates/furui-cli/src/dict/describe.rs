//! The description of a dictionary that `furui info` prints.

use std::path::Path;

use furui::format::Printable;
use furui::store::StoreKind;

use super::values::Values;
use super::{kind_of, open_to_read};
use crate::error::Error;
use crate::report::{Report, counted, figure, grouped};
use crate::size;

/// Describes a dictionary as text, or as JSON.
pub fn info(path: &Path, json: bool) -> Result<String, Error> {
    match kind_of(path)? {
        StoreKind::ByteDict => describe::<[u8]>(path, json),
        _ => describe::<u32>(path, json),
    }
}

fn describe<V: Values + ?Sized>(path: &Path, json: bool) -> Result<String, Error> {
    let dict = open_to_read::<V>(path)?;
    let tries: Vec<_> = dict.tries().collect();
    let stored: u64 = tries.iter().map(|trie| trie.entry().seal.length).sum();
    let keys = dict.len_at_most();
    let next_id = dict.manifest().next_id;
    let has_bytes = dict.manifest().store == StoreKind::ByteDict;
    let value_bytes: u64 = tries.iter().filter_map(|trie| trie.value_bytes()).sum();
    if json {
        let mut report = Report::default();
        report
            .path("path", "path_bytes", path)
            .text("kind", "dict")
            .text("values", if has_bytes { "bytes" } else { "numbers" })
            .text("layout", dict.layout().name())
            .text("filter_hash", dict.filter_hash().name())
            .text("hash", dict.hash_spec().algorithm.name())
            .text("seed", &format!("{:#018x}", dict.hash_spec().seed))
            .number("keys_at_most", keys)
            .number("tries", tries.len())
            .number("bytes", stored)
            .number("value_bytes", value_bytes)
            .number("next_id", next_id)
            .number("generation", dict.manifest().generation());
        return Ok(report.json());
    }
    let at_most = if tries.len() > 1 { "at most " } else { "" };
    let mut lines = vec![
        format!("{}: a dictionary of {}", Printable(path.display()), if has_bytes { "bytes" } else { "numbers" }),
        format!("keys        {at_most}{}", grouped(keys)),
        format!("next id     {next_id}"),
        format!("hash        {}", dict.hash_spec()),
        format!("layout      {}, filters of {}", dict.layout(), dict.filter_hash()),
        format!(
            "storage     {} in {}, {:.2} bytes a key",
            size::display(stored),
            counted(tries.len() as u64, "trie"),
            stored as f64 / keys.max(1) as f64
        ),
        format!("generation  {}", dict.manifest().generation()),
    ];
    if has_bytes {
        let each = value_bytes as f64 / keys.max(1) as f64;
        lines.insert(2, format!("values      {}, {each:.2} bytes a key", size::display(value_bytes)));
    }
    for trie in tries {
        lines.push(format!(
            "trie {:016x}  keys {}, {}, nodes {}, filter errs at {}",
            trie.entry().number,
            grouped(trie.keys()),
            size::display(trie.entry().seal.length),
            grouped(trie.nodes()),
            figure(trie.filter().false_positive_rate()?)
        ));
    }
    Ok(lines.join("\n") + "\n")
}
