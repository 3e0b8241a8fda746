//! What a message and a node's memory may at most hold. Whatever comes from a peer is measured against these first.

/// Bytes of a message.
pub const MESSAGE_BYTES: usize = 1 << 20;
/// Bytes of a word.
pub const WORD_BYTES: usize = super::MAX_WORD;
/// Words of a conjunction, and of a question for sizes.
pub const WORDS: usize = super::MAX_WORDS;
/// Conjunctions of a query.
pub const CLAUSES: usize = super::MAX_CLAUSES;
/// Different phrases of a query: each has two of its words at least.
pub const PHRASES: usize = WORDS / 2;
/// Peers named as keepers of one word.
pub const HOLDERS: usize = 8;
/// Ids in a message, and in the slice of a list that one search looks at.
pub const IDS: usize = 1 << 15;
/// Documents asked for in one message.
pub const FETCHED: usize = 256;
/// Words whose postings one message brings.
pub const POSTINGS: usize = 1 << 14;
/// Documents that one message brings.
pub const RECORDS: usize = 1 << 12;
/// Lists that an answer to a comparison names.
pub const LISTS: usize = 1 << 14;
/// Lists that are handed over in one message.
pub const LISTED: usize = 1 << 12;
/// Locks of a record.
pub const LOCKS: usize = 4;
/// Keys of locks in a message.
pub const KEYS: usize = 1 << 13;
/// Exchanges that the answer to a search tells the cost of.
pub const COSTS: usize = WORDS;

/// The greatest idf of a word.
pub const IDF: u32 = 1 << 15;
/// Ids of a page.
pub const PAGE: usize = 1 << 12;
/// Rounds that the report of a query tells of.
pub const ROUNDS: usize = 256;

/// How many nodes keep each list and each document: those closest to its key.
pub const REPLICAS: usize = 3;

/// Searches that a node hosts at a time.
pub const MEETINGS: usize = 256;
/// Of these, for one peer.
pub const MEETINGS_A_PEER: usize = 2 * CLAUSES;
/// Ids that those searches may hold together: 20 MiB.
pub const MEETING_IDS: usize = 1 << 20;
/// Of these, for one peer.
pub const MEETING_IDS_A_PEER: usize = 4 * IDS;
/// Exchanges of three messages that a node waits for the third of.
pub const SESSIONS: usize = 256;
/// Of these, with one peer.
pub const SESSIONS_A_PEER: usize = 2 * CLAUSES;
/// Ids that those exchanges may hold together: 20 MiB.
pub const SESSION_IDS: usize = 1 << 20;
/// Of these, with one peer: as many as one answer may have.
pub const SESSION_IDS_A_PEER: usize = super::MAX_MATCHES;
/// Pieces of lists whose keys for ringed filters a node keeps.
pub const KEYED: usize = 1 << 10;
/// Bytes of these keys.
pub const KEY_BYTES: usize = 1 << 24;
/// Failed peers that a node remembers.
pub const SHUNNED: usize = 1 << 10;
