//! What the owner of a node blocks, and removes.

use std::io;
use std::net::IpAddr;

use crate::node::{Block, Node, NodeError};

impl Node {
    /// Blocks peers, networks, sites and words, also after a restart. What is stored already stays:
    /// [`purge`](Self::purge) removes it. Returns the number of those that were not blocked before.
    ///
    /// # Errors
    /// If the file `blocked` cannot be written.
    pub async fn block(&self, blocks: &[Block]) -> Result<u64, NodeError> {
        self.change_blocks(blocks, true).await
    }

    /// Unblocks what was blocked. Returns the number of those that were blocked before.
    ///
    /// # Errors
    /// Those of [`block`](Self::block).
    pub async fn unblock(&self, blocks: &[Block]) -> Result<u64, NodeError> {
        self.change_blocks(blocks, false).await
    }

    /// What is blocked.
    pub fn blocked(&self) -> Vec<Block> {
        self.0.blocklist.all().into_iter().collect()
    }

    /// Reads the file `blocked` in the node's directory again.
    ///
    /// # Errors
    /// If the file cannot be read or understood. Then the list stays as it is.
    pub async fn reload_blocked(&self) -> Result<(), NodeError> {
        self.0.blocklist.reload().map_err(failed)?;
        self.apply_blocked().await;
        Ok(())
    }

    /// Removes from this node what these peers and networks brought, the documents of these sites, and the lists of
    /// these words. What this node publishes itself stays, apart from the lists of words. Other nodes keep what they
    /// have. Returns the number of documents and postings removed.
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
        self.0.survey.expire();
        Ok(removed)
    }

    async fn change_blocks(&self, blocks: &[Block], add: bool) -> Result<u64, NodeError> {
        let changed = self.0.blocklist.change(blocks, add).map_err(failed)?;
        self.apply_blocked().await;
        Ok(changed)
    }

    /// Tells the network with whom the node does not speak.
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
