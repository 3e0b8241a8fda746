use std::fmt::Write;

use furui_search::{Cost, Report, Round, Wants};
use tokio::sync::mpsc;

use super::{Asked, Blocking, Call, Event, Refused, Status, Step, Summary};
use crate::node::{Node, NodeError, SearchEvent, SearchOptions};

/// The maximum number of events on their way to the HTTP interface.
const EVENTS: usize = 16;

impl Node {
    /// Answers the calls of the [HTTP interface](crate::http) until it closes. `usual` is the coding of sets for
    /// searches that do not state one.
    pub async fn answer(self, mut calls: mpsc::Receiver<Call>, usual: Wants) {
        while let Some(call) = calls.recv().await {
            let node = self.clone();
            // The HTTP interface bounds the number of concurrent calls.
            tokio::spawn(async move {
                match call {
                    Call::Publish { documents, again, answer } => {
                        let published = node.publish(documents, again).await;
                        // Sending fails, here and below, if the caller has gone.
                        let _ = answer.send(published.map_err(|error| Refused { error: error.to_string() }));
                    }
                    Call::Unpublish { urls, answer } => {
                        let withdrawn = node.withdraw(&urls).await;
                        let _ = answer.send(withdrawn.map_err(|error| Refused { error: error.to_string() }));
                    }
                    Call::UnpublishSome { answer } => {
                        let withdrawn = node.withdraw_some().await;
                        let _ = answer.send(withdrawn.map_err(|error| Refused { error: error.to_string() }));
                    }
                    Call::Wanted { ids, answer } => {
                        let wanted = node.wanted(&ids);
                        let _ = answer.send(wanted.map_err(|error| Refused { error: error.to_string() }));
                    }
                    Call::Block { what, blocks, answer } => {
                        let changed = match what {
                            Blocking::Block => node.block(&blocks).await,
                            Blocking::Unblock => node.unblock(&blocks).await,
                            Blocking::Purge => node.purge(&blocks).await,
                        };
                        let _ = answer.send(changed.map_err(|error| Refused { error: error.to_string() }));
                    }
                    Call::Blocked { answer } => {
                        let _ = answer.send(node.blocked());
                    }
                    Call::Search { asked, events } => node.search_for_face(asked, usual, events).await,
                    Call::Status { answer } => {
                        if let Ok(status) = node.status_for_face().await {
                            let _ = answer.send(status);
                        }
                    }
                }
            });
        }
    }

    async fn search_for_face(&self, asked: Asked, usual: Wants, to: mpsc::Sender<Event>) {
        let options = SearchOptions {
            limit: asked.limit.into(),
            after: asked.cursor,
            wants: asked.wants.unwrap_or(usual),
            explain: asked.explain,
        };
        let (events, mut found) = mpsc::channel(EVENTS);
        let search = self.search(&asked.query, options, events);
        let pass_on = async {
            while let Some(event) = found.recv().await {
                match event {
                    SearchEvent::Hits(hits) => {
                        for hit in hits {
                            to.send(Event::Hit(hit.into())).await.ok()?;
                        }
                    }
                    SearchEvent::Done { found, cursor, whole, report } => {
                        if asked.explain {
                            for step in steps(&report) {
                                to.send(Event::Step(step)).await.ok()?;
                            }
                        }
                        let bytes = report.sent_bytes
                            + report.back_bytes
                            + report.exchanged.sent_bytes
                            + report.exchanged.back_bytes
                            + report.show_sent_bytes
                            + report.show_back_bytes;
                        to.send(Event::End(Summary { total: found, bytes, cursor, whole })).await.ok()?;
                    }
                }
            }
            Some(())
        };
        if let (Err(error), _) = tokio::join!(search, pass_on) {
            let _ = to.send(Event::Refused(Refused { error: error.to_string() })).await;
        }
    }

    async fn status_for_face(&self) -> Result<Status, NodeError> {
        let status = self.status().await?;
        Ok(Status {
            peer: status.peer,
            addresses: status.addresses,
            whole: status.whole,
            rounds: status.repair.rounds,
            settled: status.repair.settled,
            taken: status.repair.taken,
            peers: status.peers,
            words: status.shelf.words,
            postings: status.shelf.postings,
            documents: status.shelf.records,
            disk: status.shelf.disk_bytes,
            searches: status.searches,
            published: status.published,
            answered: status.answered,
            refused: status.refused,
            refusals: status.refusals.into_iter().map(Into::into).collect(),
            sent: status.traffic.wire_out,
            received: status.traffic.wire_in,
            lately: status.lately,
        })
    }
}

/// Describes a search for people: first the plan, then each round with the bytes of its messages.
fn steps(report: &Report) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut plan = String::from("plan: smallest list first:");
    for word in &report.words {
        let _ = write!(plan, " {} ({}{})", word.word, word.size, if word.whole { "" } else { ", not whole" });
    }
    let _ = write!(
        plan,
        "; {} looked up, {} requests, {} of them failed",
        report.lookups, report.messages, report.failures
    );
    if report.disputed > 0 {
        let _ = write!(plan, "; nodes differed about {} parts of lists, and all were asked", report.disputed);
    }
    steps.push(Step { step: plan, sent: 0, received: 0, done: report.planned });
    if report.checked > 0 {
        let step = format!("phrases: the text of {} candidates examined by the nodes that keep them", report.checked);
        steps.push(Step { step, sent: 0, received: 0, done: None });
    }
    for (number, round) in report.rounds.iter().enumerate() {
        let Round { words, most, seen, found, costs, at, .. } = round;
        let step =
            format!("round {}: {seen} of at most {most} ids of `{}` examined, {found} found", number + 1, words[0]);
        steps.push(Step { step, sent: round.sent_bytes, received: round.back_bytes, done: Some(*at) });
        for cost in costs {
            let Cost { coding, in_three, sent_bits, back_bits, .. } = cost;
            let word = words.get(cost.term as usize + 1).map_or("?", String::as_str);
            let third = if *in_three { ", in three messages" } else { "" };
            let step = format!(
                "round {}: `{word}` met by {coding}{third}, {sent_bits} bits there and {back_bits} back",
                number + 1
            );
            steps.push(Step { step, sent: cost.sent_bytes, received: cost.back_bytes, done: None });
        }
    }
    let Report { show_messages, show_sent_bytes, show_back_bytes, fetched, .. } = *report;
    let step = format!(
        "results: shown by the nodes that keep them, in {show_messages} messages; {fetched} fetched whole to check"
    );
    steps.push(Step { step, sent: show_sent_bytes, received: show_back_bytes, done: None });
    steps
}
