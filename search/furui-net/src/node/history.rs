use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::Inner;
use crate::net::Counters;

/// The length of a [`Span`], the interval in which traffic is added up. The value is a choice, not a measurement.
pub const SPAN: Duration = Duration::from_secs(10);
/// The number of [`Span`]s that are remembered: half an hour. The value is a choice, not a measurement.
pub const SPANS: usize = 180;

/// The traffic with other nodes in an interval of the length [`SPAN`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The number of bytes sent to other nodes.
    pub sent: u64,
    /// The number of bytes received from other nodes.
    pub received: u64,
}

/// The traffic of the last [`SPANS`] intervals of the length [`SPAN`], kept in memory only.
#[derive(Default)]
pub(super) struct History(Mutex<Spans>);

#[derive(Default)]
struct Spans {
    ring: VecDeque<Span>,
    before: Counters,
}

impl History {
    /// Ends the current [`Span`]: its traffic is the difference between `now` and the counters at its start.
    fn end_span(&self, now: Counters) {
        let mut spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut spans.before, now);
        if spans.ring.len() == SPANS {
            spans.ring.pop_front();
        }
        // Counters never decrease.
        let (sent, received) = (now.wire_out - before.wire_out, now.wire_in - before.wire_in);
        spans.ring.push_back(Span { sent, received });
    }

    /// The traffic of the [`SPAN`]s (intervals) that have ended, oldest first.
    pub(super) fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ring.iter().copied().collect()
    }
}

/// Records the traffic of each [`SPAN`] until the node is dropped.
pub(super) async fn run(node: Weak<Inner>) {
    let mut ticks = interval_at(Instant::now() + SPAN, SPAN);
    // After a suspension of the machine, one long span is recorded instead of many empty ones.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(node) = node.upgrade() else { return };
        node.history.end_span(node.net.counters());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_spans_are_remembered_and_no_more() {
        let history = History::default();
        let spans = SPANS as u64 + 3;
        for number in 1..=spans {
            let sum = number * (number + 1) / 2;
            history.end_span(Counters { wire_out: sum, wire_in: 2 * sum, ..Counters::default() });
        }
        let expected: Vec<Span> = (4..=spans).map(|number| Span { sent: number, received: 2 * number }).collect();
        assert_eq!(history.spans(), expected);
    }
}
