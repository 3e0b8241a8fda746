use axum::http::header;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::figures::{bytes, count, counted};
use super::layout::{HTML, Layout};
use crate::net::Refusal;
use crate::node::{NodeStatus, SPAN, Span};

/// The width of the traffic chart, in SVG user units.
const WIDTH: f64 = 600.0;
/// The height of the traffic chart, in SVG user units.
const HEIGHT: f64 = 80.0;
/// The number of [`SPAN`]s in a minute. Each row of the traffic table covers a minute.
const MINUTE: usize = (60 / SPAN.as_secs()) as usize;

/// Renders the status page of a node.
pub(in crate::http) fn status(status: &NodeStatus) -> Response {
    let NodeStatus { repair, shelf, traffic, .. } = status;
    let page = Layout::new("Status").page(html! {
        h1 { "Status of this node" }
        p.note[!status.whole] { (standing(status)) }
        dl.figures {
            (figure("Peers", count(status.peers), "other nodes that it knows"))
            (figure("Words", count(shelf.words), "whose lists it keeps"))
            (figure("Postings", count(shelf.postings), "ids in these lists"))
            (figure("Documents", count(shelf.records), "whose records it keeps"))
            (figure("Disk", bytes(shelf.disk_bytes), "its files"))
            (figure("Searches", count(status.searches), "done for its users"))
            (figure("Published", count(status.published), "documents, for its users"))
            (figure("Answered", count(status.answered), "requests of other nodes"))
            (figure("Refused", count(status.refused), "requests of other nodes"))
            (figure("Taken over", count(repair.taken), "postings and records, from neighbours"))
            (figure("Sent", bytes(traffic.wire_out), "to other nodes"))
            (figure("Received", bytes(traffic.wire_in), "from other nodes"))
        }
        (lately(&status.lately))
        (refused(&status.refusals))
        section aria-labelledby="identity" {
            h2 #identity { "Who it is" }
            p { "Version " (env!("CARGO_PKG_VERSION")) ", identity " code.long { (status.peer) } }
            @if !status.addresses.is_empty() {
                p { "Other nodes reach it at" }
                ul { @for address in &status.addresses { li { code.long { (address) } } } }
            }
            @if let Some(network) = &status.network {
                p { "It is in the network " strong { (network) } ", which only those enter who have its key." }
                form method="post" action="/invite" { button { "Invite others" } }
            }
            p { "For programs: " a href="/metrics" { "/metrics" } " for Prometheus, and this page's address, asked without "
                code { "Accept: text/html" } ", for JSON." }
        }
    });
    ([(header::CONTENT_TYPE, HTML), (header::VARY, "accept")], page).into_response()
}

/// A sentence that says whether the node has been given all data that it should hold.
fn standing(status: &NodeStatus) -> &'static str {
    match (status.whole, status.repair.settled) {
        _ if status.cut_off => {
            "It has lost all nodes that it knew, and goes on trying them. What they keep is not found meanwhile."
        }
        _ if status.peers == 0 => "It is alone: it has no other node to ask.",
        (false, _) => "It is not whole yet: its neighbours are still handing over what it should keep.",
        (true, true) => "It is whole: it has been given all that it should keep, and its neighbours say the same.",
        (true, false) => "It is whole, and is checking whether its neighbours have something new for it.",
    }
}

fn figure(name: &str, value: String, meaning: &str) -> Markup {
    html! { div { dt { (name) } dd { strong { (value) } " " (meaning) } } }
}

/// Renders the recent traffic as a chart, and as a table with one row per minute.
fn lately(spans: &[Span]) -> Markup {
    let seconds = SPAN.as_secs();
    let minutes = spans.len().div_ceil(MINUTE) as u64;
    html! {
        section aria-labelledby="traffic" {
            h2 #traffic { "Traffic" }
            @if spans.is_empty() {
                p { "It is measured every " (seconds) " seconds; look again then." }
            } @else {
                p { "The last " (counted(minutes, "minute")) ", by " (seconds) " seconds; the maximum is "
                    (bytes(most(spans))) "." }
                (picture(spans))
                p.key aria-hidden="true" { span.sent {} " sent " span.received {} " received" }
                details {
                    summary { "As a table" }
                    table {
                        caption { "Bytes sent to other nodes and received from them, the latest first" }
                        thead { tr { th scope="col" { "Minutes ago" } th scope="col" { "Sent" } th scope="col" { "Received" } } }
                        tbody {
                            @for (minute, spans) in spans.rchunks(MINUTE).enumerate() {
                                tr {
                                    th scope="row" { (minute) }
                                    td { (bytes(spans.iter().map(|span| span.sent).sum())) }
                                    td { (bytes(spans.iter().map(|span| span.received).sum())) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the table of peers that were refused recently, with the reasons.
fn refused(refusals: &[Refusal]) -> Markup {
    html! {
        section aria-labelledby="refused" {
            h2 #refused { "Refused" }
            @if refusals.is_empty() {
                p { "Nobody was refused." }
            } @else {
                table {
                    caption { "Peers and addresses that were refused, the latest first" }
                    thead { tr { th scope="col" { "Who" } th scope="col" { "Because" } th scope="col" { "How often" } } }
                    tbody {
                        @for refusal in refusals {
                            tr {
                                th scope="row" { code.long { (refusal.who) } }
                                td { (refusal.why) }
                                td { (count(refusal.count)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn most(spans: &[Span]) -> u64 {
    spans.iter().map(|span| span.sent.max(span.received)).max().unwrap_or(0)
}

/// Renders the traffic chart: one curve for bytes sent and one for bytes received, with the latest minute at the right.
fn picture(spans: &[Span]) -> Markup {
    let most = most(spans).max(1) as f64;
    let line = |value: fn(&Span) -> u64| {
        let place = |(at, span): (usize, &Span)| {
            let x = WIDTH - (spans.len() - 1 - at) as f64 * WIDTH / (crate::node::SPANS - 1) as f64;
            format!("{x:.1},{:.1}", HEIGHT - 1.0 - value(span) as f64 / most * (HEIGHT - 2.0))
        };
        spans.iter().enumerate().map(place).collect::<Vec<_>>().join(" ")
    };
    html! {
        svg.traffic viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-labelledby="lines" {
            title #lines { "Bytes sent and received over time: the figures of the table below" }
            polyline.sent points=(line(|span| span.sent)) {}
            polyline.received points=(line(|span| span.received)) {}
        }
    }
}
