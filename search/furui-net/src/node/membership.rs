//! Decides in which network a node is, and keeps that in the node's directory.

use std::path::Path;

use super::{Node, NodeError};
use crate::net::{Invitation, Network};

/// The name of the file with the key of the private network that a node is in.
pub(super) const NETWORK: &str = "network";

/// Returns the network of the node with this directory: the private network `wanted` or, if none is wanted, that of the
/// directory; `None` for the open one. The directory then states it.
///
/// # Errors
/// If the node has documents and was in another network, unless `rekey` allows to take them along; or if the file of
/// the network cannot be used.
pub(super) fn settle(
    directory: Option<&Path>,
    wanted: Option<Network>,
    has_documents: bool,
    rekey: bool,
) -> Result<Option<Network>, NodeError> {
    let Some(directory) = directory else { return Ok(wanted) };
    let file = directory.join(NETWORK);
    // A file that is damaged is replaced by what the owner wants to have there.
    let before = match Network::load(&file) {
        Err(_) if rekey && wanted.is_some() => None,
        before => before?,
    };
    let Some(wanted) = wanted else { return Ok(before) };
    let is_same = before.as_ref().is_some_and(|before| before.has_key_of(&wanted));
    if !is_same && has_documents && !rekey {
        return Err(NodeError::OtherNetwork {
            directory: directory.to_owned(),
            had: before
                .map_or_else(|| "the open network".to_owned(), |before| format!("the network {}", before.name())),
            wanted: wanted.name().to_owned(),
        });
    }
    if before.as_ref() != Some(&wanted) {
        wanted.save(&file)?;
    }
    Ok(Some(wanted))
}

impl Node {
    /// The private network that the node is in; `None` for the open one.
    pub fn network(&self) -> Option<&Network> {
        self.0.network.as_ref()
    }

    /// The line that invites others into the node's private network, with the addresses of this node; `None` in the
    /// open network. It has the network's key.
    pub fn invitation(&self) -> Option<Invitation> {
        let network = self.0.network.clone()?;
        let mut addresses = self.0.net.addresses_for_others();
        addresses.truncate(Invitation::MAX_ADDRESSES);
        Some(Invitation { network, addresses })
    }
}
