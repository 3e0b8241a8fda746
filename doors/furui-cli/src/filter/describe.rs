//! The description of a filter that `furui info` prints.

use std::path::Path;

use furui::KeyForm;
use furui::filter::{AnyFilter, Filter};
use furui::format::Printable;

use super::compare::lines;
use crate::keys;
use crate::say::number::{figure, grouped};
use crate::say::report::Report;
use crate::say::size;
use crate::say::windows::{of_lines, said};

/// Describes a filter in the file at `path`, which has `bytes` bytes, as text.
pub fn details(path: &Path, filter: &AnyFilter, form: KeyForm, bytes: u64) -> String {
    let mut rows = vec![("hash", filter.hash_spec().to_string())];
    rows.push(("keys from", keys::said(form)));
    rows.push(("size", size::exact(bytes)));
    rows.extend(parameters(filter).into_iter().map(|(name, value)| (name, grouped(value))));
    if let Some(gamma) = gamma(filter) {
        rows.push(("gamma", format!("{} bits a line", (gamma * 1e4).round() / 1e4)));
    }
    if let Some(held) = filter.cardinality() {
        let holds = lines(held.value, held.error);
        rows.push((
            "holds",
            if may_be_intersection(filter) { holds + "; fewer if this is an intersection" } else { holds },
        ));
    }
    let rate = error_rate(filter);
    let intended = filter.intended_rate().map_or(String::new(), |rate| format!(" (made for {})", figure(rate)));
    rows.push(("errs", format!("says yes wrongly at a rate of {}{intended}", figure(rate))));
    if matches!(filter, AnyFilter::Quotient(filter) if !filter.is_counting()) {
        rows.push(("removal", "refused: lines with the same fingerprint share one copy".into()));
    }
    if matches!(filter, AnyFilter::Fuse(_)) {
        rows.push(("insertion", "refused: it was built for these lines alone".into()));
    }
    if let AnyFilter::Window(filter) = filter {
        rows.push(("forgets", format!("lines that did not come within {}", said(Some(filter.span())))));
    } else if filter.forgets() {
        rows.push(("forgets", "old lines are forgotten: a no proves nothing".into()));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = format!("{}: {}\n", Printable(path.display()), filter.kind());
    for (name, value) in rows {
        text += &format!("{:width$}  {value}\n", name.replace('_', " "));
    }
    text
}

/// Describes a filter in the file at `path`, which has `bytes` bytes, as JSON.
pub fn fields(path: &Path, filter: &AnyFilter, form: KeyForm, bytes: u64) -> String {
    let mut report = Report::default();
    report
        .path("path", "path_bytes", path)
        .text("kind", filter.kind().name())
        .hash(filter.hash_spec())
        .text("keys_from", form.as_str())
        .number("bytes", bytes);
    for (name, value) in parameters(filter) {
        report.number(name, value);
    }
    if let Some(gamma) = gamma(filter) {
        report.number("gamma", gamma);
    }
    if let AnyFilter::Window(filter) = filter {
        report.text("window", &of_lines(filter.span()));
    }
    if let Some(held) = filter.cardinality() {
        report.estimate("keys", "keys_error", held);
    }
    report.number("false_positive_rate", format!("{:e}", error_rate(filter)));
    if let Some(rate) = filter.intended_rate() {
        report.number("intended_rate", format!("{rate:e}"));
    }
    report.number("forgets", filter.forgets());
    report.number("removable", filter.check_removable().is_ok());
    report.json()
}

/// True if the filter may be an intersection by AND. In such a filter some bits are set by chance, and belong to no
/// line.
fn may_be_intersection(filter: &AnyFilter) -> bool {
    matches!(filter, AnyFilter::Bloom(_) | AnyFilter::Blocked(_) | AnyFilter::Ringed(_) | AnyFilter::SplitBlock(_))
}

/// The false-positive rate of a filter. It includes the chance that a line has the same 64-bit hash as one in the
/// filter.
fn error_rate(filter: &AnyFilter) -> f64 {
    let held = match filter {
        AnyFilter::Growing(filter) => filter.len() as f64,
        AnyFilter::Window(filter) => filter.len() as f64,
        _ => filter.cardinality().map_or(0.0, |held| held.value),
    };
    let by_hash = if held.is_finite() { held * 2f64.powi(-64) } else { 0.0 };
    (filter.false_positive_rate() + by_hash).min(1.0)
}

/// The number of bits that a ringed filter has for each line of its capacity; `None` for other filters.
fn gamma(filter: &AnyFilter) -> Option<f64> {
    if let AnyFilter::Ringed(filter) = filter { Some(filter.params().gamma()) } else { None }
}

/// The numbers that determine the size and the rate of a filter, such as `bits` and `probes`, each with the name that
/// it has in JSON. Each kind of filter has its own.
fn parameters(filter: &AnyFilter) -> Vec<(&'static str, u64)> {
    let mut numbers = match filter {
        AnyFilter::Bloom(filter) => vec![("bits", filter.bits()), ("probes", filter.probes().into())],
        AnyFilter::Blocked(filter) => vec![("cache_lines", filter.lines()), ("probes", filter.probes().into())],
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
            ("greatest_fingerprint", filter.last_fingerprint()),
        ],
        AnyFilter::SplitBlock(filter) => vec![("blocks", filter.blocks())],
        AnyFilter::Window(filter) => {
            vec![("tables", filter.parts() as u64), ("bits", filter.bits()), ("keys", filter.len())]
        }
        AnyFilter::Growing(filter) => {
            vec![("parts", filter.parts() as u64), ("bits", filter.bits()), ("keys", filter.len())]
        }
        AnyFilter::Fuse(filter) => {
            vec![("shards", filter.shards()), ("fingerprint_bits", filter.fingerprint_bits().into())]
        }
    };
    if filter.capacity() > 0 {
        numbers.push(("capacity", filter.capacity()));
    }
    numbers
}
