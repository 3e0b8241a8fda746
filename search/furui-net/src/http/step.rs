use std::fmt::Write;
use std::time::Duration;

use furui_search::{Cost, Report, Round, WordReport};
use serde::{Deserialize, Serialize};

/// A step of a search: a line of its plan, or an exchange of messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The description of the step for people.
    pub step: String,
    /// The bytes sent in this step.
    pub sent: u64,
    /// The bytes received in this step.
    pub received: u64,
    /// The time from the beginning of the search to the end of the step, in milliseconds; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
}

impl Step {
    /// Makes a step that exchanged no messages.
    pub(super) fn new(step: String, done: Option<Duration>) -> Self {
        // Times are rounded to microseconds, because clocks are not more exact and the JSON becomes shorter.
        Self { step, sent: 0, received: 0, ms: done.map(|done| done.as_micros() as f64 / 1e3) }
    }

    fn bytes(self, sent: u64, received: u64) -> Self {
        Self { sent, received, ..self }
    }

    /// Describes a search for people as steps: first the plan, then each round with the bytes of its messages.
    pub(super) fn all(report: &Report) -> Vec<Self> {
        let mut plan = String::from("plan: smallest list first:");
        for WordReport { word, size, whole } in &report.words {
            let _ = write!(plan, " {word} ({size}{})", if *whole { "" } else { ", not whole" });
        }
        let Report { lookups, messages, failures, disputed, checked, .. } = report;
        let _ = write!(plan, "; {lookups} looked up, {messages} requests, {failures} of them failed");
        if *disputed > 0 {
            let _ = write!(plan, "; nodes differed about {disputed} parts of lists, and all were asked");
        }
        let mut steps = vec![Self::new(plan, report.planned)];
        if *checked > 0 {
            let step = format!("phrases: the text of {checked} candidates examined by the nodes that keep them");
            steps.push(Self::new(step, None));
        }
        for (number, round) in (1..).zip(&report.rounds) {
            let Round { words, most, seen, found, costs, at, .. } = round;
            let step =
                format!("round {number}: {seen} of at most {most} ids of `{}` examined, {found} found", words[0]);
            steps.push(Self::new(step, Some(*at)).bytes(round.sent_bytes, round.back_bytes));
            for Cost { term, coding, in_three, sent_bits, back_bits, sent_bytes, back_bytes } in costs {
                let word = words.get(*term as usize + 1).map_or("?", String::as_str);
                let third = if *in_three { ", in three messages" } else { "" };
                let step = format!(
                    "round {number}: `{word}` met by {coding}{third}, {sent_bits} bits there and {back_bits} back"
                );
                steps.push(Self::new(step, None).bytes(*sent_bytes, *back_bytes));
            }
        }
        let Report { show_messages, show_sent_bytes, show_back_bytes, fetched, .. } = *report;
        let step = format!(
            "results: shown by the nodes that keep them, in {show_messages} messages; {fetched} fetched whole to check"
        );
        steps.push(Self::new(step, None).bytes(show_sent_bytes, show_back_bytes));
        steps
    }
}
