//! The summary that `--stats` prints on standard error.

use std::io::Write;

use furui::format::Printable;
use furui::seen::{Cache, Replacement, Seen, Start};

use super::by_file::ByFile;
use super::decider::Decider;
use super::judge::Judge;
use crate::cli::StatsFormat;
use crate::files::Files;
use crate::say::number::{counted, grouped};
use crate::say::report::Report;
use crate::say::size;

/// Prints the summary in this format, if there is one, and the counts of each file, if there are any. `fewer` is `None`
/// if the run had as many threads as `--threads` says; otherwise it is the pair of the threads that ran and of
/// `--threads`, because `--memory` had no room for more.
pub fn report(decider: &Decider, format: Option<StatsFormat>, by_file: Option<&ByFile>, fewer: Option<(usize, usize)>) {
    let fewer_text = |(threads, asked)| {
        format!("{} of {asked} worked: --memory has no room for more\n", counted(threads as u64, "thread"))
    };
    let by_file_text = || by_file.map(ByFile::text).unwrap_or_default();
    let report = match format {
        Some(StatsFormat::Text) => text(decider) + &fewer.map(fewer_text).unwrap_or_default() + &by_file_text(),
        Some(StatsFormat::Json) => json(decider, by_file, fewer),
        None => by_file_text(),
    };
    // If standard error cannot be written to, the lines are printed and recorded nevertheless.
    let _ = std::io::stderr().write_all(report.as_bytes());
}

fn text(decider: &Decider) -> String {
    let (Decider { keys, new, .. }, lacking) = (decider, decider.counts.lines());
    let without = if lacking > 0 { format!(", {} without a key", grouped(lacking)) } else { String::new() };
    let first = format!(
        "{} ({}), {} new, {}{without}\n",
        counted(keys + lacking, "line"),
        size::display(decider.bytes),
        grouped(*new),
        counted(keys - new, "repeat")
    );
    first
        + &match &decider.judge {
            Judge::Set(seen, _) => set_text(seen),
            Judge::Filter(filter) => format!("filter: {}\n", Printable(filter.path().display())),
            Judge::Server(server) => format!("exact set: {}\n", Printable(server.url())),
        }
}

/// What `--stats` prints on standard error for a set in this process.
fn set_text(seen: &Seen<Files>) -> String {
    let (c, set) = (seen.counters(), seen.set());
    let mut lines = vec![match seen.options().cache {
        Cache::Recent => format!("recent cache: {}", hits(c.recent_hits, c.keys)),
        Cache::Lru | Cache::LruStable { .. } => {
            let name = match seen.options().sizes.replacement {
                Replacement::Lru => "LRU",
                Replacement::Clock => "CLOCK",
            };
            format!("{name}: {}", hits(c.lru_hits, c.keys))
        }
        Cache::None => "no cache".into(),
    }];
    if let Some(rate) = seen.stable_rate() {
        lines.push(format!(
            "stable filter: {}, {} forgotten",
            hits(c.stable_hits, c.keys - c.lru_hits),
            grouped(c.stable_forgotten)
        ));
        lines.push(format!(
            "new lines taken for repeats: about {} times (of {} that the filter took for repeats and that were then \
             looked up in the set, {} were new); such a line counts again if it comes again, and may be printed then; \
             a full filter errs about {} times, at the rate {rate:.1e}",
            grouped(c.dropped_measured().round() as u64),
            counted(c.audited, "line"),
            grouped(c.audited_false),
            grouped(c.dropped_expected(rate).round() as u64)
        ));
        let start = match seen.start() {
            Start::Empty => "empty",
            Start::Outdated => "empty: the LRU and the filter in the store belong to an earlier state of the store",
            Start::Keys => "with the lines of the LRU; the filter in the store has other sizes",
            Start::Whole => "as the last run left them",
        };
        lines.push(format!("both began {start}"));
    }
    lines.push(format!(
        "exact set: {} looked up, {} of them known; {} in the set now, {} of memory",
        counted(c.set_repeats + c.new, "line"),
        grouped(c.set_repeats),
        counted(set.len(), "key"),
        size::display(set.resident_bytes())
    ));
    if !set.runs().is_empty() {
        lines.push(format!(
            "storage: {}, {}; {} written",
            counted(set.runs().len() as u64, "run"),
            size::display(stored(seen)),
            size::display(set.written())
        ));
    }
    lines.join("\n") + "\n"
}

fn json(decider: &Decider, by_file: Option<&ByFile>, fewer: Option<(usize, usize)>) -> String {
    let (Decider { keys, new, .. }, lacking) = (decider, decider.counts.lines());
    let mut report = Report::default();
    report
        .number("lines", keys + lacking)
        .number("bytes", decider.bytes)
        .number("new", new)
        .number("repeats", keys - new)
        .number("missing", lacking);
    if let Some(seen) = decider.judge.set() {
        add_set(&mut report, seen);
    }
    if let Some((threads, _)) = fewer {
        report.number("threads", threads);
    }
    if let Some(by_file) = by_file {
        report.list("files", &by_file.reports());
    }
    report.json()
}

/// Adds the figures of a set in this process to a report.
fn add_set(report: &mut Report, seen: &Seen<Files>) {
    let (c, set) = (seen.counters(), seen.set());
    report
        .number("recent_hits", c.recent_hits)
        .number("lru_hits", c.lru_hits)
        .number("stable_hits", c.stable_hits)
        .number("set_repeats", c.set_repeats)
        .number("set_keys", set.len())
        .number("memory", set.resident_bytes())
        .number("runs", set.runs().len())
        .number("stored", stored(seen))
        .number("written", set.written());
    if let Some(rate) = seen.stable_rate() {
        let start = match seen.start() {
            Start::Empty => "empty",
            Start::Outdated => "outdated",
            Start::Keys => "keys",
            Start::Whole => "whole",
        };
        report
            .text("start", start)
            .number("stable_forgotten", c.stable_forgotten)
            .number("audited", c.audited)
            .number("audited_false", c.audited_false)
            .number("dropped_measured", format!("{:.1}", c.dropped_measured()))
            .number("dropped_expected", format!("{:.1}", c.dropped_expected(rate)));
    }
}

/// The total size of all runs of a set, in bytes.
fn stored(seen: &Seen<Files>) -> u64 {
    seen.set().manifest().runs.iter().map(|run| run.seal.length).sum()
}

fn hits(hits: u64, of: u64) -> String {
    format!("{} of {} ({:.1} %)", grouped(hits), grouped(of), hits as f64 * 100.0 / of.max(1) as f64)
}
