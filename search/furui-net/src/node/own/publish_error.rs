use std::fmt;

use thiserror::Error;

/// The reason that documents were not published or withdrawn, or not all of them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PublishError {
    /// Some lists or records were not accepted by any of the nodes that should keep them.
    #[error("no node took {missing} of the lists and records; publish again when more nodes answer")]
    NotStored {
        /// The number of lists and records that none of the nodes that should keep them accepted.
        missing: usize,
    },
    /// For some documents, none of the nodes that keep them answered.
    #[error("for {missing} of the documents, no node that keeps them answers; they are withdrawn when one does")]
    NotWithdrawn {
        /// The number of documents for which none of the nodes that keep them answered.
        missing: usize,
    },
    /// The storage of this node failed.
    #[error("{why}")]
    Storage {
        /// The error message of the storage.
        why: String,
    },
}

impl PublishError {
    pub(in crate::node) fn storage(error: impl fmt::Display) -> Self {
        Self::Storage { why: error.to_string() }
    }
}
