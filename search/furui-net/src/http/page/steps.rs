use std::time::Duration;

use maud::{Markup, html};

use super::figures::{bytes, time};
use crate::http::Step;

/// The height of a row of the chart, in SVG user units. The page scales the chart to the available width.
const ROW: usize = 22;
/// The width of each of the two columns of the chart (times and bytes), in SVG user units.
const COLUMN: f64 = 270.0;
/// The horizontal position of the column of times in the chart, in SVG user units.
const TIME: f64 = 28.0;
/// The horizontal position of the column of bytes in the chart, in SVG user units.
const BYTES: f64 = TIME + COLUMN + 24.0;
/// The maximum number of steps of a search in the chart. The table under it contains all of them.
const DRAWN: usize = 24;

/// Renders the steps of a search with their times and bytes, in a collapsible element that is closed at first.
pub(super) fn details(steps: &[Step], took: Duration) -> Markup {
    html! {
        details.steps {
            summary { "What it took, step by step" }
            (picture(steps, took))
            table {
                caption { "The bytes of the messages of each step, and the time from the beginning to its end" }
                thead {
                    tr {
                        @for name in ["Step", "What was done", "Sent", "Received", "Done after"] {
                            th scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for (number, step) in steps.iter().enumerate() {
                        tr {
                            th scope="row" { (number + 1) }
                            td { (step.step) }
                            td { @if step.sent > 0 { (bytes(step.sent)) } }
                            td { @if step.received > 0 { (bytes(step.received)) } }
                            td { @if let Some(done) = done(step) { (time(done)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The time from the beginning of the search to the end of a step; `None` if it is unknown.
fn done(step: &Step) -> Option<Duration> {
    step.ms.map(|ms| Duration::from_secs_f64(ms / 1e3))
}

/// Renders the chart of a search, with one row per step: its time, and the bytes sent and received.
fn picture(steps: &[Step], took: Duration) -> Markup {
    let drawn = &steps[..steps.len().min(DRAWN)];
    let height = ROW * (drawn.len() + 1);
    let most = drawn.iter().map(|step| step.sent.max(step.received)).max().unwrap_or(0).max(1);
    let x = |at: Duration| ((at.as_secs_f64() / took.as_secs_f64().max(1e-9)).min(1.0) * COLUMN).round();
    let length = |bytes: u64| (bytes as f64 / most as f64 * COLUMN).round();
    let foot = height - 7;
    html! {
        svg.plan viewBox={ "0 0 " (BYTES + COLUMN) " " (height) } role="img" aria-labelledby="plan" {
            title #plan { "When each step was done, and how many bytes it took: the figures of the table below" }
            @for (row, step) in drawn.iter().enumerate() {
                @let y = row * ROW;
                text x="0" y=(y + 15) { (row + 1) }
                @if let Some(done) = done(step) {
                    rect.time x=(TIME) y=(y + 5) width=(x(done).max(1.0)) height=(ROW - 10) {}
                }
                rect.sent x=(BYTES) y=(y + 4) width=(length(step.sent)) height="6" {}
                rect.received x=(BYTES) y=(y + 12) width=(length(step.received)) height="6" {}
            }
            text x=(TIME) y=(foot) { "0" }
            text.end x=(TIME + COLUMN) y=(foot) { (time(took)) }
            text x=(BYTES) y=(foot) { "0" }
            text.end x=(BYTES + COLUMN) y=(foot) { (bytes(most)) }
        }
        p.key aria-hidden="true" { span.time {} " done after " span.sent {} " bytes sent " span.received {} " bytes received" }
    }
}
