use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::Inner;
use crate::net::Counters;

/// How long a [`Span`] is.
pub const SPAN: Duration = Duration::from_secs(10);
/// How many are remembered: those of half an hour.
pub const SPANS: usize = 180;

/// What went over the wire in one [`SPAN`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Bytes sent to other nodes.
    pub sent: u64,
    /// Bytes received from them.
    pub received: u64,
}

/// What went over the wire lately: the last [`SPANS`] spans, in memory only.
#[derive(Default)]
pub(super) struct History(Mutex<Spans>);

#[derive(Default)]
struct Spans {
    ring: VecDeque<Span>,
    before: Counters,
}

impl History {
    /// A span is over, and these are the counters now.
    fn end_span(&self, now: Counters) {
        let mut spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut spans.before, now);
        if spans.ring.len() == SPANS {
            spans.ring.pop_front();
        }
        // Counters only grow.
        let (sent, received) = (now.wire_out - before.wire_out, now.wire_in - before.wire_in);
        spans.ring.push_back(Span { sent, received });
    }

    /// The spans that are over, the latest last.
    pub(super) fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ring.iter().copied().collect()
    }
}

/// Remembers, as long as there is a node.
pub(super) async fn run(node: Weak<Inner>) {
    let mut ticks = interval_at(Instant::now() + SPAN, SPAN);
    // After a pause of the machine there is one long span, not many without traffic.
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
