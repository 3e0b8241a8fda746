//! The tests of nodes, of the shelf, and of the HTTP interface. They are one program, because linking takes longer than
//! most of them.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

mod answer;
mod bounds;
mod churn;
mod claims;
mod codings;
mod common;
mod disk_bounds;
mod face;
mod hostile;
mod http;
mod http_bounds;
mod local;
mod net;
mod network;
mod node;
mod page;
mod phrases;
#[path = "../../../furui-search/tests/predict/mod.rs"]
mod predict;
mod private;
mod publishers;
mod ranking;
mod relaxing;
mod searxng;
mod shelf;
mod shelf_claims;
mod showing;
mod siege;
mod strangers;
mod token;
mod truth;
mod versions;
mod withdraw;
