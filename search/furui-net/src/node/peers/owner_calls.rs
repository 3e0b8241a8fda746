//! Blocks peers, networks, sites and words for the owner of a node, and removes their data.

use std::io;
use std::net::IpAddr;

use crate::node::{Block, Node, NodeError};

impl Node {
    /// Blocks peers, networks, sites and words permanently, even after a restart, or unblocks them if `add` is false.
    /// Data that is already stored is kept until [`purge`](Self::purge) removes it. Returns the number of entries that
    /// have changed.
    ///
    /// # Errors
    /// If the file `blocked` cannot be written.
    pub async fn block(&self, blocks: &[Block], add: bool) -> Result<u64, NodeError> {
        let changed = self.0.blocklist.change(blocks, add).map_err(failed)?;
        self.apply_blocked().await;
        Ok(changed)
    }

    /// Returns all blocked peers, networks, sites and words.
    pub fn blocked(&self) -> Vec<Block> {
        self.0.blocklist.all().into_iter().collect()
    }

    /// Reads the file `blocked` in the node's directory again, and replaces the list of blocks by its contents.
    ///
    /// # Errors
    /// If the file cannot be read or parsed. Then the list is not changed.
    pub async fn reload_blocked(&self) -> Result<(), NodeError> {
        self.0.blocklist.reload().map_err(failed)?;
        self.apply_blocked().await;
        Ok(())
    }

    /// Removes from this node the data that these peers and networks brought, the documents of these sites, and the
    /// lists of these words. Documents that this node publishes itself are kept, except in the lists of the words. The
    /// data of other nodes is not affected. Returns the number of documents and postings removed.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn purge(&self, blocks: &[Block]) -> Result<u64, NodeError> {
        let mut removed = 0;
        for block in blocks {
            let block = block.clone();
            let removing = self.0.keeper.ask(move |shelf| match &block {
                Block::Peer(name) => {
                    let identity = crate::net::identity_of(name);
                    shelf.remove_of(|origin| Some(&origin.peer) == identity.as_ref())
                }
                Block::Network(network) => shelf.remove_of(|origin| {
                    let ip = origin.prefix.split('/').next().and_then(|ip| ip.parse().ok());
                    ip.is_some_and(|ip: IpAddr| network.contains(&ip))
                }),
                Block::Word(word) if word.starts_with("site:") => shelf.remove_listed(word),
                Block::Word(word) => shelf.remove_list(word),
            });
            removed += removing.await.ok_or(NodeError::Stopped)??;
        }
        self.0.known.forget();
        Ok(removed)
    }

    /// Sends the blocked peers and networks to the network layer, which refuses connections with them.
    pub(in crate::node) async fn apply_blocked(&self) {
        let (mut peers, mut networks) = (vec![], vec![]);
        for block in self.0.blocklist.all() {
            match block {
                Block::Peer(name) => peers.push(name),
                Block::Network(network) => networks.push(network),
                Block::Word(_) => {}
            }
        }
        self.0.net.block(&peers, networks).await;
    }
}

fn failed(source: io::Error) -> NodeError {
    NodeError::Directory { file: "blocked".into(), source }
}
