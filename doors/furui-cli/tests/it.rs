//! The tests of this crate, in one program: a program for each file would take several times as long to build.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[cfg(all(unix, feature = "node"))]
mod browser;
mod cascade_filter;
#[cfg(all(unix, feature = "node"))]
mod clients;
mod combine;
mod commit;
#[cfg(unix)]
mod damage;
#[cfg(all(unix, feature = "node"))]
mod demo;
mod dict;
mod dict_bytes;
mod dict_count;
#[cfg(unix)]
mod disk;
#[cfg(unix)]
mod faults;
mod filter;
#[cfg(unix)]
mod gallery;
mod guarantees;
mod has;
mod inputs;
#[cfg(unix)]
mod journal;
mod manual;
mod mark;
#[cfg(unix)]
mod memory;
#[cfg(all(unix, feature = "node"))]
mod network;
#[cfg(all(unix, feature = "node"))]
mod node;
#[cfg(all(unix, feature = "node"))]
mod node_bounds;
mod options;
mod outputs;
#[cfg(unix)]
mod pipelines;
#[cfg(unix)]
mod power;
#[cfg(all(unix, feature = "node"))]
mod private;
#[cfg(feature = "node")]
mod publish;
mod remove;
#[cfg(feature = "node")]
mod search;
mod seen;
#[cfg(all(unix, feature = "node"))]
mod service;
mod store;
#[cfg(unix)]
mod streams;
mod support;
mod threads;
mod tiers;
#[cfg(all(unix, feature = "node"))]
mod watch;
mod windows;
