//! The description of a dictionary that `furui info` prints.

use std::path::Path;

use furui::dict::Purpose;
use furui::format::Printable;

use super::values::Values;
use super::{has_bytes, open_to_read};
use crate::error::Error;
use crate::keys::said;
use crate::say::number::{counted, figure, grouped, shared};
use crate::say::report::Report;
use crate::say::size;

/// Describes a dictionary as text, or as JSON.
pub fn info(path: &Path, json: bool) -> Result<String, Error> {
    match has_bytes(path, None)? {
        true => describe::<[u8]>(path, json),
        false => describe::<u32>(path, json),
    }
}

fn describe<V: Values + ?Sized>(path: &Path, json: bool) -> Result<String, Error> {
    let dict = open_to_read::<V>(path, None)?;
    let tries: Vec<_> = dict.tries().collect();
    let stored: u64 = tries.iter().map(|trie| trie.entry().seal.length).sum();
    let keys = dict.len_at_most();
    let purpose = dict.purpose();
    let next_id = match purpose {
        Purpose::Numbers => dict.manifest().taken.next().unwrap_or(u32::MAX),
        _ => dict.manifest().next_id,
    };
    let value_bytes: u64 = tries.iter().filter_map(|trie| trie.value_bytes()).sum();
    if json {
        let mut report = Report::default();
        report
            .path("path", "path_bytes", path)
            .text("kind", "dict")
            .text("values", purpose.name())
            .text("keys_from", dict.manifest().form.as_str())
            .text("layout", dict.layout().name())
            .text("filter_hash", dict.filter_hash().name())
            .hash(dict.hash_spec())
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
        format!("{}: a dictionary of {purpose}", Printable(path.display())),
        format!("keys        {at_most}{}", grouped(keys)),
        format!("hash        {}", dict.hash_spec()),
        format!("keys from   {}", said(dict.manifest().form)),
        format!("layout      {}, filters of {}", dict.layout(), dict.filter_hash()),
        format!(
            "storage     {} in {}{}",
            size::display(stored),
            counted(tries.len() as u64, "trie"),
            shared(stored as f64, "bytes a key", keys as f64)
        ),
        format!("generation  {}", dict.manifest().generation()),
    ];
    if purpose == Purpose::Numbers {
        lines.insert(2, format!("next id     {next_id}"));
    }
    if purpose == Purpose::Bytes {
        let each = shared(value_bytes as f64, "bytes a key", keys as f64);
        lines.insert(2, format!("values      {}{each}", size::display(value_bytes)));
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
