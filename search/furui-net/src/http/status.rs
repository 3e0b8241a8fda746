//! The handlers of `/status` and `/metrics`, which report the state of the node.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::lines::json;
use super::{ApiError, Backend, Face, page, run};
use crate::node::NodeStatus;

pub(super) async fn status<N: Backend>(State(face): State<Face<N>>, headers: HeaderMap) -> Result<Response, ApiError> {
    let status = run(async move { face.node.status().await }).await?;
    Ok(if page::is_wanted(&headers) { page::status(&status) } else { json(&status) })
}

pub(super) async fn metrics<N: Backend>(State(face): State<Face<N>>) -> Result<Response, ApiError> {
    let status = run(async move { face.node.status().await }).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], figures(&status)).into_response())
}

/// Formats the node's state as metrics in Prometheus' text format, version 0.0.4.
fn figures(status: &NodeStatus) -> String {
    let NodeStatus { repair, shelf, traffic, .. } = status;
    let mut text = String::new();
    for (name, kind, help, value) in [
        ("whole", "gauge", "Whether the node has been given everything that it should hold.", status.whole.into()),
        ("rounds_total", "counter", "Rounds in which the node compared its lists with its neighbours.", repair.rounds),
        ("settled", "gauge", "Whether the last round brought nothing new.", repair.settled.into()),
        ("taken_total", "counter", "Postings and records that the node took over from neighbours.", repair.taken),
        ("peers", "gauge", "Other nodes that the node knows.", status.peers),
        ("words", "gauge", "Words whose lists the node keeps.", shelf.words),
        ("postings", "gauge", "Ids in the lists that the node keeps.", shelf.postings),
        ("documents", "gauge", "Documents whose records the node keeps.", shelf.records),
        ("disk_bytes", "gauge", "Bytes of the node's files.", shelf.disk_bytes),
        ("searches_total", "counter", "Searches that the node has done for its users.", status.searches),
        ("published_total", "counter", "Documents that the node has published for its users.", status.published),
        ("answered_total", "counter", "Requests of other nodes that the node has answered.", status.answered),
        ("refused_total", "counter", "Requests of other nodes that the node has refused.", status.refused),
        ("sent_bytes_total", "counter", "Bytes sent to other nodes.", traffic.wire_out),
        ("received_bytes_total", "counter", "Bytes received from other nodes.", traffic.wire_in),
    ] {
        text += &format!("# HELP furui_{name} {help}\n# TYPE furui_{name} {kind}\nfurui_{name} {value}\n");
    }
    text
}
