//! What `furui info` says of a filter.

use std::path::Path;

use furui::filter::{AnyFilter, Filter};

use super::compare::lines;
use crate::report::{Report, grouped};
use crate::size;

/// A filter as a text.
pub fn details(path: &Path, filter: &AnyFilter, bytes: u64) -> String {
    let mut rows = vec![("hash", filter.hash_spec().to_string())];
    rows.push(("size", format!("{} ({bytes} bytes)", size::display(bytes))));
    rows.extend(parameters(filter).into_iter().map(|(name, value)| (name, grouped(value))));
    if let Some(held) = filter.cardinality() {
        rows.push(("holds", lines(held.value, held.error)));
    }
    let rate = filter.false_positive_rate();
    let intended = filter.intended_rate().map_or(String::new(), |rate| format!(" (made for {rate:.3e})"));
    rows.push(("errs", format!("says yes wrongly at a rate of {rate:.3e}{intended}")));
    if filter.forgets() {
        rows.push(("forgets", "old lines fade: a no is no proof".into()));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = format!("{}: {}\n", path.display(), filter.kind());
    for (name, value) in rows {
        text += &format!("{name:width$}  {value}\n");
    }
    text
}

/// A filter as JSON.
pub fn fields(filter: &AnyFilter, bytes: u64) -> String {
    let mut report = Report::default();
    report
        .text("kind", filter.kind().name())
        .text("hash", filter.hash_spec().algorithm.name())
        .text("seed", &format!("{:#018x}", filter.hash_spec().seed))
        .number("bytes", bytes);
    for (name, value) in parameters(filter) {
        report.number(name, value);
    }
    if let Some(held) = filter.cardinality() {
        report.estimate("keys", "keys_error", held);
    }
    report.number("false_positive_rate", format!("{:e}", filter.false_positive_rate()));
    if let Some(rate) = filter.intended_rate() {
        report.number("intended_rate", format!("{rate:e}"));
    }
    report.number("forgets", filter.forgets());
    report.json()
}

/// The numbers that a kind of filter is made by.
fn parameters(filter: &AnyFilter) -> Vec<(&'static str, u64)> {
    let mut numbers = match filter {
        AnyFilter::Bloom(filter) => vec![("bits", filter.bits()), ("probes", filter.probes().into())],
        AnyFilter::Blocked(filter) => vec![
            ("lines", filter.lines()),
            ("probes", filter.probes().into()),
            ("straddling", filter.straddles().into()),
        ],
        AnyFilter::Counting(filter) => {
            vec![("counters", filter.counters() as u64), ("probes", filter.probes().into())]
        }
        AnyFilter::Stable(filter) => vec![
            ("counters", filter.counters() as u64),
            ("probes", filter.probes().into()),
            ("decrements", filter.decrements() as u64),
        ],
        AnyFilter::StableLight(filter) => vec![
            ("counters", filter.counters() as u64),
            ("probes", filter.probes().into()),
            ("decrements", filter.decrements() as u64),
        ],
        AnyFilter::Ringed(filter) => {
            vec![("bits", filter.bits()), ("probes", filter.probes().into()), ("delta", filter.params().delta().into())]
        }
        AnyFilter::Quotient(filter) => vec![
            ("slots", filter.slots()),
            ("remainder_bits", filter.remainder_bits().into()),
            ("fingerprints", filter.len()),
        ],
        AnyFilter::SplitBlock(filter) => vec![("blocks", filter.blocks())],
        AnyFilter::Growing(filter) => {
            vec![("parts", filter.parts() as u64), ("bits", filter.bits()), ("keys", filter.len())]
        }
    };
    if filter.capacity() > 0 {
        numbers.push(("capacity", filter.capacity()));
    }
    numbers
}
