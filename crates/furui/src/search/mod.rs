//! Search over a distributed hash table: which documents hold all these words, asked of nodes that each keep a few
//! words' lists, with little traffic.
//!
//! ```text
//!  querier ── Sizes ──▶ the nodes closest to h(w₁), h(w₂), …       one round trip, kept for the next query
//!     │
//!     └─ Search ──▶ holder of the smallest list C₁ ── Meet: C₁ as a filter ──▶ holder of C₂
//!                        C₁ ∩ C₂ (then C₃, …)    ◀── Matches ──
//!     ◀── Found ──  false positives are gone: C₁'s owner knows its own ids
//! ```
//!
//! Everything here is sans-IO: messages and the time are arguments, what is to be sent is taken out. A network drives it
//! (`furui-net`), a simulator does in the tests.
//!
//! **Source.** Sei, Matsuzaki and Honiden, "Using Ringed Bloom Filters to Reduce the Communication Traffic on a
//! Distributed Hash Table", sections 2.1, 5 and 6. What differs is said where it differs: the smaller list is sent,
//! the rate is chosen for each pair of lists, and the default coding is a Golomb-Rice coded set with
//! ranks and short checks back.

mod answerer;
mod clause;
mod codec;
mod first;
mod fit;
mod id;
mod index;
pub mod limits;
mod lock;
mod message;
mod pattern;
mod peer;
mod phrase;
pub mod plan;
mod querier;
mod query;
mod ranking;
mod record;
mod shunned;
mod site;
mod snippet;
mod weight;
mod words;

pub use answerer::{AnswerEvent, Answerer};
pub use clause::Clause;
pub use codec::{
    Claim, CodecError, Coded, CodedSet, Coding, Golomb, MAX_FILTER_BYTES, MAX_MATCHES, MAX_PER_CELL, MAX_SET, Matcher,
    Matches, Prediction, Session, Settlement, Size, decode_steps, encode_steps, predict, settle,
};
pub use first::First;
pub use fit::Fit;
pub use id::{ContentId, IdRange, NoContentId};
pub use index::{Index, Listing, WordPostings};
pub use lock::{Lock, LockKey};
pub use message::{
    CodingKind, Cost, Fetched, Found, Listed, Meet, MessageError, Met, Ranked, Ranking, Refusal, Request, Response,
    Search, Settle, Term, Wants, WordSize,
};
pub use peer::Peer;
pub use phrase::{Phrase, PhraseWord};
pub use querier::{Querier, QueryEvent, QueryOptions, QueryRefused, Report, Round, WordReport};
pub use query::{MAX_CLAUSES, MAX_NESTING, MAX_QUERY, MAX_WORDS, Query, QueryError, QueryFault};
pub use ranking::{Place, SAMPLE, SURVEYED, Scale, Survey, is_sampled};
pub use record::{MAX_TEXT, MAX_TITLE, MAX_URL, Record, RecordError};
pub use shunned::Shunned;
pub use site::MAX_SITES;
pub use snippet::{Snippet, Snippets};
pub use weight::Weight;
pub use words::{MAX_WORD, words};
