//! Tells the keepers of lists which of their postings turned out to be false.

use furui_search::ContentId;

use super::Inner;

/// Tells the keepers of each word that the document does not hold the word as their list claims.
pub(super) async fn tell(_inner: &Inner, _doubts: Vec<(String, ContentId)>) {}
