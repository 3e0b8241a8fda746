use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{PoisonError, RwLock};

use furui::format::{Access, WriteError, publish};
use furui_search::{PublisherKey, Query, Record};
use ipnet::IpNet;
use thiserror::Error;

use crate::net::peer_of;
use crate::node::NodeError;

/// The name of the file in a node's directory that has the list of what the node blocks.
pub(in crate::node) const BLOCKED: &str = "blocked";
/// The name of the file in a node's directory that has the list of the publishers whom its owner trusts.
pub(in crate::node) const TRUSTED: &str = "trusted";
/// The maximum number of entries of such a file. The value is a choice, not a measurement.
const MAX_BLOCKS: usize = 10_000;
/// The maximum size of such a file, in bytes. Chosen: some hundred bytes an entry.
const MAX_BYTES: u64 = 4 << 20;

/// An entry of a list of a node's owner: one line of the file `blocked` or, if it is a peer, of the file `trusted`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Block {
    /// A peer, by its peer id as text. The node has no connections with it.
    Peer(String),
    /// A network in CIDR notation (`192.0.2.0/24`, `2001:db8::/32`), or one address. The node has no connections with
    /// peers there. The bits after the prefix are 0.
    Network(IpNet),
    /// A word, or a site as the word that represents it (`site:example.org`). The node stores no postings of it, and
    /// does not show documents of a blocked site.
    Word(String),
}

/// The error for a text that names nothing that can be blocked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{text}` cannot be blocked; name a peer (12D3…), a network (192.0.2.0/24), a site (site:example.org) or one word"
)]
pub struct NoBlock {
    /// The text that is neither a peer, a network, a site nor a word.
    pub text: String,
}

impl FromStr for Block {
    type Err = NoBlock;

    /// Parses the text as a peer or a network if it has that form, as a site if it contains a dot, and otherwise as a
    /// word.
    fn from_str(text: &str) -> Result<Self, NoBlock> {
        let text = text.trim();
        if let Ok(network) = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)) {
            return Ok(Self::Network(network.trunc()));
        }
        if let Some(peer) = peer_of(text) {
            return Ok(Self::Peer(peer));
        }
        let is_host = text.contains('.') && !text.contains(':');
        let query = Query::parse(&if is_host { format!("site:{text}") } else { text.to_owned() });
        let clauses = query.as_ref().map(Query::clauses).unwrap_or_default();
        match clauses {
            [clause] if clause.without.is_empty() && !clause.has_phrases() && clause.must.len() == 1 => {
                Ok(Self::Word(clause.must[0].clone()))
            }
            _ => Err(NoBlock { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peer(text) | Self::Word(text) => f.write_str(text),
            Self::Network(network) => network.fmt(f),
        }
    }
}

/// A list of the node's owner: of blocked peers, networks, sites and words, or of trusted peers; in memory and in a
/// file of the node's directory.
pub(in crate::node) struct OwnerList {
    file: Option<PathBuf>,
    blocks: RwLock<BTreeSet<Block>>,
}

impl OwnerList {
    /// Reads the list from this file in `directory`. The list is empty if there is no such file, or `directory` is
    /// `None`.
    pub(in crate::node) fn open(directory: Option<&Path>, file: &str) -> Result<Self, NodeError> {
        let list = Self { file: directory.map(|directory| directory.join(file)), blocks: RwLock::default() };
        list.reload()?;
        Ok(list)
    }

    /// Reads the file again. If it cannot be read or parsed, the list in memory is not changed.
    pub(in crate::node) fn reload(&self) -> Result<(), NodeError> {
        let Some(path) = &self.file else { return Ok(()) };
        self.replace(read(path).map_err(|source| self.failed(source))?);
        Ok(())
    }

    fn failed(&self, source: io::Error) -> NodeError {
        NodeError::Directory { file: self.file.clone().unwrap_or_else(|| "the list".into()), source }
    }

    /// Adds the entries if `add` is true, removes them otherwise, and writes the file. Returns the number of changed
    /// entries.
    pub(in crate::node) fn change(&self, blocks: &[Block], add: bool) -> Result<u64, NodeError> {
        let mut all = self.all();
        let mut changed = 0;
        for block in blocks {
            let is_new = if add { all.insert(block.clone()) } else { all.remove(block) };
            changed += u64::from(is_new);
        }
        if all.len() > MAX_BLOCKS {
            return Err(self.failed(io::Error::other(format!("at most {MAX_BLOCKS} are allowed"))));
        }
        if changed > 0
            && let Some(path) = &self.file
        {
            let text: String = all.iter().map(|block| format!("{block}\n")).collect();
            let write =
                |out: &mut dyn io::Write| out.write_all(text.as_bytes()).map_err(WriteError::at("cannot write", path));
            publish(path, Access::Owner, write).map_err(|error| self.failed(error.source))?;
        }
        self.replace(all);
        Ok(changed)
    }

    fn replace(&self, blocks: BTreeSet<Block>) {
        *self.blocks.write().unwrap_or_else(PoisonError::into_inner) = blocks;
    }

    pub(in crate::node) fn all(&self) -> BTreeSet<Block> {
        self.blocks.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The public keys of the peers on the list, under which they publish. Networks, sites and words have none.
    pub(in crate::node) fn publishers(&self) -> HashSet<PublisherKey> {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        let keys = blocks.iter().filter_map(|block| match block {
            Block::Peer(name) => name.parse().ok(),
            _ => None,
        });
        keys.collect()
    }

    /// True if the word, or the site that it represents, is blocked.
    pub(in crate::node) fn has_word(&self, word: &str) -> bool {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        blocks.contains(&Block::Word(word.to_owned()))
    }

    /// Returns a filter for documents of blocked sites.
    pub(in crate::node) fn sites(&self) -> Sites {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        let sites = blocks.iter().filter_map(|block| match block {
            Block::Word(word) if word.starts_with("site:") => Some(word.clone()),
            _ => None,
        });
        Sites(sites.collect())
    }
}

/// Reads the entries in a file; there are none if there is no file.
fn read(path: &Path) -> io::Result<BTreeSet<Block>> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        opened => opened?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?,
    };
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let text = str::from_utf8(&bytes).map_err(|_| invalid("it is not text".into()))?;
    let mut blocks = BTreeSet::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            let block = line.parse().map_err(|why: NoBlock| invalid(format!("line {number}: {why}")))?;
            if path.ends_with(TRUSTED) && !matches!(block, Block::Peer(_)) {
                return Err(invalid(format!("line {number}: {line:?} is not the name of a peer (12D3…)")));
            }
            blocks.insert(block);
        }
    }
    if bytes.len() as u64 > MAX_BYTES || blocks.len() > MAX_BLOCKS {
        return Err(invalid(format!("more than {MAX_BLOCKS} lines, or {MAX_BYTES} bytes")));
    }
    Ok(blocks)
}

/// The blocked sites, each as the word that represents it.
pub(in crate::node) struct Sites(HashSet<String>);

impl Sites {
    /// True if the URL is on a blocked site.
    pub(in crate::node) fn have(&self, url: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        // The only words of a record without a title and a text are those of its URL's host.
        let publisher = PublisherKey::new([0; PublisherKey::BYTES]);
        let bare = Record { url: url.to_owned(), title: String::new(), text: String::new(), publisher };
        bare.postings().into_iter().any(|(word, _)| self.0.contains(&word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        text.parse::<Block>().expect("it can be blocked").to_string()
    }

    #[test]
    fn what_is_blocked_is_understood_and_kept() {
        let directory = std::env::temp_dir().join(format!("furui-blocked-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let list = OwnerList::open(Some(&directory), BLOCKED).expect("there is no file");
        let texts = ["12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA", "192.0.2.9/24", "example.org", "Spam"];
        let blocks: Vec<Block> = texts.iter().map(|text| text.parse().expect("it can be blocked")).collect();
        assert_eq!(list.change(&blocks, true).expect("it is written"), 4);
        assert_eq!(list.change(&blocks[..2], false).expect("it is written"), 2);
        let again = OwnerList::open(Some(&directory), BLOCKED).expect("it was written");
        assert_eq!(again.all(), list.all());
        assert!(again.has_word("spam") && again.has_word("site:example.org") && !again.has_word("ham"));
        let networks = ["192.0.2.77", "2001:db8::1/32", "0.0.0.0/0"].map(shown);
        assert_eq!(networks, ["192.0.2.77/32", "2001:db8::/32", "0.0.0.0/0"]);
        for text in ["", "192.0.2.0/33", "192.0.2.0/x", "2001:db8::/129"] {
            assert!(text.parse::<Block>().map_or(true, |block| !matches!(block, Block::Network(_))), "{text}");
        }
        assert!(again.sites().have("https://www.example.org/a"));
        assert!(!again.sites().have("https://example.com/"));
        std::fs::write(directory.join(BLOCKED), "# mine\nham # and eggs\n\ntwo words\n").expect("it is written");
        let error = again.reload().expect_err("two words are not one").to_string();
        assert!(error.contains("line 4") && error.contains("two words"), "{error}");
        assert!(again.has_word("spam"), "it stays as it was");
        for (file, bytes) in [(BLOCKED, &b"\xff\n"[..]), (TRUSTED, b"spam\n"), (TRUSTED, b"192.0.2.1\n")] {
            std::fs::write(directory.join(file), bytes).expect("it is written");
            let error = OwnerList::open(Some(&directory), file).err().expect("it is none").to_string();
            assert!(error.starts_with(&format!("cannot use {}", directory.join(file).display())), "{error}");
        }
        std::fs::remove_dir_all(&directory).expect("it is there");
    }
}
