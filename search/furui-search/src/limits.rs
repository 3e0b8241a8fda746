//! The maximum sizes of messages and of a node's memory. Data from a peer is checked against these limits first.

/// The maximum length of a query, in bytes.
pub const QUERY_BYTES: usize = 4 << 10;
/// The maximum depth of nested parentheses in a query.
pub const NESTING: usize = 16;
/// The maximum length of a word, in bytes.
pub const WORD_BYTES: usize = 128;
/// The maximum length of a word in a message, in bytes: it may have the mark of an [exact](super::Asked) word.
pub const ASKED_BYTES: usize = WORD_BYTES + 1;
/// The maximum number of words in a conjunction, in a request for sizes of lists, and in a query, where a repeated word
/// counts several times.
pub const WORDS: usize = 64;
/// The maximum number of conjunctions (alternatives joined by OR) to which a query is converted.
pub const CLAUSES: usize = 16;
/// The maximum number of different phrases of a query. A phrase has at least two of the query's words.
pub const PHRASES: usize = WORDS / 2;
/// The maximum number of different words of a query.
pub const QUERY_WORDS: usize = CLAUSES * WORDS;
/// The maximum number of characters of a document's text in a snippet, not counting ellipses.
pub const SNIPPET: usize = 200;
/// The maximum length of a snippet, in bytes. It suffices for any characters, and an ellipsis at each end.
pub const SNIPPET_BYTES: usize = 4 * SNIPPET + 2 * '…'.len_utf8();

/// The maximum size of a message between nodes, in bytes.
pub const MESSAGE_BYTES: usize = 1 << 20;
/// The maximum number of peers that a message names as those that keep the list of a word.
pub const HOLDERS: usize = 8;
/// The maximum number of ids in a message, and in the slice of a list that one search examines.
pub const IDS: usize = 1 << 15;
/// The maximum number of documents whose contents one message requests.
pub const FETCHED: usize = 256;
/// The maximum number of words whose postings are in one message.
pub const POSTINGS: usize = 1 << 14;
/// The maximum number of documents whose records are in one message.
pub const RECORDS: usize = 1 << 12;
/// The maximum number of words' lists whose sizes and fingerprints are in the answer to a comparison of lists.
pub const LISTS: usize = 1 << 14;
/// The maximum number of words' lists that one message transfers.
pub const LISTED: usize = 1 << 12;
/// The maximum number of other records of a URL that a message names with one of them.
pub const VERSIONS: usize = 16;
/// The maximum number of withdrawals in a message.
pub const WITHDRAWALS: usize = 1 << 13;
/// The maximum number of postings, reported as possibly false, in a message.
pub const DOUBTS: usize = 256;
/// The maximum number of words that a node names at a time, because they are spelled like another one or begin alike.
pub const NEAR: usize = 32;
/// The maximum number of exchanges whose costs are stated in the answer to a search.
pub const COSTS: usize = WORDS;

/// The maximum inverse document frequency (idf) of a word, in units of 1/1024.
pub const IDF: u32 = 1 << 15;
/// The maximum number of document ids on a page of a query's results.
pub const PAGE: usize = 1 << 12;
/// The maximum number of rounds (requests for a slice of a list) that the report of a query describes.
pub const ROUNDS: usize = 256;

/// The number of nodes that keep each list and each document: those nearest to its key.
pub const REPLICAS: usize = 3;
/// The number of answers to a search that are requested at once and compared. In a search for one word, each answer
/// comes from another node that keeps the word's list; in a search for several words, each of three such nodes gives
/// two answers, for which it asks different nodes about the other words. If a fifth of the nodes leaves out documents,
/// three answers would lack them for 3 % of the pairs of words; six do for 0.3 %.
pub const HOSTS: usize = 2 * REPLICAS;

/// The maximum number of searches that a node hosts at a time.
pub const MEETINGS: usize = 256;
/// The maximum number of searches that a node hosts for one peer at a time.
pub const MEETINGS_A_PEER: usize = 2 * CLAUSES;
/// The maximum number of ids that all searches hosted by a node (carried out for others) hold together: 20 MiB.
pub const MEETING_IDS: usize = 1 << 20;
/// The maximum number of ids that the searches hosted for one peer hold together.
pub const MEETING_IDS_A_PEER: usize = 4 * IDS;
/// The maximum number of sessions of a node: exchanges whose third message it is waiting for.
pub const SESSIONS: usize = 256;
/// The maximum number of exchanges with one peer whose third message a node is waiting for.
pub const SESSIONS_A_PEER: usize = 2 * CLAUSES;
/// The maximum number of ids that all sessions (exchanges waiting for a third message) of a node keep together: 20 MiB.
pub const SESSION_IDS: usize = 1 << 20;
/// The maximum number of ids that the sessions with one peer keep together, and that one answer contains.
pub const SESSION_IDS_A_PEER: usize = 1 << 18;
/// The maximum number of entries, one for each part of a list, in a node's cache of precomputed keys for ringed
/// filters.
pub const KEYED: usize = 1 << 10;
/// The maximum size of all cached keys for ringed filters, in bytes.
pub const KEY_BYTES: usize = 1 << 24;
/// The maximum number of recently failed peers that a node remembers.
pub const SHUNNED: usize = 1 << 10;
