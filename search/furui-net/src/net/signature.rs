//! Verifies the signatures of publishers.

use furui_search::{ContentId, Lock};
use libp2p::identity::ed25519;

/// True if the lock has a valid signature by the publisher that it states, for the record with this id.
pub(crate) fn is_signed(lock: &Lock, id: ContentId) -> bool {
    let key = ed25519::PublicKey::try_from_bytes(lock.publisher().as_bytes());
    key.is_ok_and(|key| key.verify(&lock.signed(id), lock.signature()))
}
