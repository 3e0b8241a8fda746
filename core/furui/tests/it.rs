//! The tests of this crate, in one program: a program for each file would take several times as long to build.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod blocked;
mod bloom;
mod cascade;
mod cascade_filter;
mod combinations;
mod commits;
mod counting;
mod dict;
mod dict_attack;
mod dict_golden;
mod door;
mod dump;
mod envelope;
mod examples;
mod filter_files;
mod floors;
mod growing;
mod journal;
mod key_set;
mod laws;
mod louds;
mod louds_oracle;
mod manifest;
mod merge_tries;
mod merges;
mod pages;
mod quotient;
mod quotient_oracle;
mod readers;
mod remove;
mod ringed;
mod runs;
mod seen;
mod shared;
mod shares;
mod split_block;
mod storage;
mod support;
mod tiers;
mod trie;
mod window_filter;
mod window_runs;
mod windows;
mod write_buffer;
