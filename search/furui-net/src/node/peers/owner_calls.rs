//! Blocks peers, networks, sites and words for the owner of a node, and removes their data.

use std::net::IpAddr;

use furui_search::PublisherKey;

use crate::node::{Block, Node, NodeError};

impl Node {
    /// Blocks peers, networks, sites and words permanently, even after a restart, or unblocks them if `add` is false.
    /// Data that is already stored is kept until [`purge`](Self::purge) removes it. Returns the number of entries that
    /// have changed.
    ///
    /// # Errors
    /// If the file `blocked` cannot be written.
    pub async fn block(&self, blocks: &[Block], add: bool) -> Result<u64, NodeError> {
        let changed = self.0.blocklist.change(blocks, add)?;
        self.apply_blocked().await;
        Ok(changed)
    }

    /// Adds these publishers to those whose texts this node shows before others under one URL, permanently, or removes
    /// them if `add` is false. Returns the number of entries that have changed.
    ///
    /// # Errors
    /// If the file `trusted` cannot be written.
    pub fn trust(&self, publishers: &[PublisherKey], add: bool) -> Result<u64, NodeError> {
        let peers: Vec<Block> = publishers.iter().map(|publisher| Block::Peer(publisher.to_string())).collect();
        self.0.trusted.change(&peers, add)
    }

    /// Returns the publishers whom the owner trusts.
    pub fn trusted(&self) -> Vec<PublisherKey> {
        let mut trusted: Vec<PublisherKey> = self.0.trusted.publishers().into_iter().collect();
        trusted.sort_unstable();
        trusted
    }

    /// Returns all blocked peers, networks, sites and words.
    pub fn blocked(&self) -> Vec<Block> {
        self.0.blocklist.all().into_iter().collect()
    }

    /// Reads the files `blocked` and `trusted` in the node's directory again, and replaces the lists by their contents.
    ///
    /// # Errors
    /// If a file cannot be read or parsed. Then its list is not changed.
    pub async fn reload_lists(&self) -> Result<(), NodeError> {
        self.0.trusted.reload()?;
        self.0.blocklist.reload()?;
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
