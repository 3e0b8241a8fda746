//! Verifies the signatures of publishers.

use furui_search::{Act, ContentId, PublisherKey, Signature, Withdrawal};
use libp2p::identity::ed25519;

/// True if this publisher has signed that the record with this id is published or withdrawn.
pub(crate) fn is_signed(publisher: &PublisherKey, act: Act, id: ContentId, signature: &Signature) -> bool {
    let key = ed25519::PublicKey::try_from_bytes(publisher.as_bytes());
    key.is_ok_and(|key| key.verify(&act.signed(id, signature.at), &signature.bytes))
}

/// True if the stated publisher has signed the withdrawal.
pub(crate) fn is_withdrawn(withdrawal: &Withdrawal) -> bool {
    let Withdrawal { id, publisher, signature } = withdrawal;
    is_signed(publisher, Act::Withdraw, *id, signature)
}
