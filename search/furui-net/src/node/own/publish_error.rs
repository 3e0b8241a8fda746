use std::fmt;

/// Why documents were not published or withdrawn, or not all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublishError {
    /// Some lists or records were not taken by any keeper.
    NotStored {
        /// The number of lists and records that no keeper took.
        missing: usize,
    },
    /// For some documents, no keeper answers.
    NotWithdrawn {
        /// The number of documents for which no keeper answers.
        missing: usize,
    },
    /// The storage of this node failed.
    Storage {
        /// The reason.
        why: String,
    },
}

impl PublishError {
    pub(in crate::node) fn storage(error: impl fmt::Display) -> Self {
        Self::Storage { why: error.to_string() }
    }
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStored { missing } => {
                write!(f, "no node took {missing} of the lists and records; publish again when more nodes answer")
            }
            Self::NotWithdrawn { missing } => {
                write!(
                    f,
                    "for {missing} of the documents, no node that keeps them answers; they are withdrawn when one does"
                )
            }
            Self::Storage { why } => why.fmt(f),
        }
    }
}

impl std::error::Error for PublishError {}
