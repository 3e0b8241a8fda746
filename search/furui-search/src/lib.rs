#![doc = include_str!("../README.md")]
#![warn(missing_debug_implementations, unreachable_pub)]

mod answerer;
#[cfg(feature = "serde")]
mod as_text;
mod asked;
mod clause;
mod codec;
mod first;
mod fit;
mod id;
mod index;
pub mod limits;
mod message;
mod neighbours;
mod pattern;
mod peer;
mod phrase;
pub mod plan;
mod publisher;
mod querier;
mod query;
mod ranking;
mod record;
mod record_error;
mod showing;
mod shunned;
mod signature;
mod simhash;
mod site;
mod snippet;
mod spelling;
pub mod varint;
mod weight;
mod words;

pub use answerer::{AnswerEvent, Answerer};
pub use asked::{Asked, Grade, list_of};
pub use clause::Clause;
pub use codec::{
    Claim, CodecError, Coded, CodedSet, Coding, Golomb, MAX_FILTER_BYTES, MAX_MATCHES, MAX_PER_CELL, MAX_SET, Matcher,
    Matches, Session, Settlement, settle,
};
pub use first::First;
pub use fit::Fit;
pub use id::{ContentId, IdRange, NoContentId};
pub use index::{Index, ListPart, Listing, WordPostings};
pub use message::{
    Cost, Listed, Meet, MessageError, Met, Part, Ranked, Ranking, Refusal, Request, Response, Search, Settle, Shown,
    ShownDocument, Term, Wants, WantsError, WordSize,
};
pub use peer::Peer;
pub use phrase::{Phrase, PhraseWord};
pub use publisher::{NoPublisherKey, PublisherKey};
pub use querier::{KnownWord, Querier, QueryEvent, QueryOptions, QueryRefused, Report, Round, WordReport};
pub use query::{Query, QueryError, QueryFault};
pub use ranking::{Place, Scale, Score, idf};
pub use record::{MAX_TEXT, MAX_TITLE, MAX_URL, Record, RecordHead};
pub use record_error::RecordError;
pub use showing::{Showing, Showings};
pub use shunned::Shunned;
pub use signature::{Act, Publication, Signature, Withdrawal};
pub use simhash::SimHash;
pub use snippet::Snippet;
pub use spelling::Spelling;
pub use weight::Weight;
pub use words::{in_parts, words};
