use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The bytes that precede the key in the identity of a node: the header of a multihash that contains the node's encoded
/// Ed25519 key.
const BEFORE_KEY: [u8; 6] = [0x00, 0x24, 0x08, 0x01, 0x12, 0x20];

/// The public Ed25519 key of a node that publishes documents. Its text form is the name of the node, `12D3KooW…`.
///
/// See docs/protocol.md, "Records" and "Signatures".
///
/// ```
/// use furui_search::PublisherKey;
///
/// let name = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN";
/// let key: PublisherKey = name.parse()?;
/// assert_eq!(key.to_string(), name);
/// assert!("12D3KooW".parse::<PublisherKey>().is_err());
/// # Ok::<(), furui_search::NoPublisherKey>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublisherKey([u8; Self::BYTES]);

/// The error for a text that is not a [`PublisherKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("not the key of a publisher; write the name of a node, which begins with 12D3KooW")]
pub struct NoPublisherKey;

impl PublisherKey {
    /// The length of a key in bytes.
    pub const BYTES: usize = 32;

    /// Makes a key from its bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The key that the identity of a node contains; `None` if the identity contains none.
    pub fn of_identity(identity: &[u8]) -> Option<Self> {
        identity.strip_prefix(&BEFORE_KEY)?.try_into().ok().map(Self)
    }

    /// The short name of the publisher, for people: the end of its name. Two publishers may have the same one, by
    /// chance or because somebody has made many keys.
    pub fn short(&self) -> String {
        let name = self.to_string();
        format!("…{}", &name[name.len().saturating_sub(8)..])
    }

    /// The bytes of the key.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl fmt::Display for PublisherKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bs58::encode([&BEFORE_KEY[..], &self.0].concat()).into_string())
    }
}

impl fmt::Debug for PublisherKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublisherKey {
    type Err = NoPublisherKey;

    fn from_str(text: &str) -> Result<Self, NoPublisherKey> {
        let mut identity = [0; BEFORE_KEY.len() + Self::BYTES];
        match bs58::decode(text).onto(&mut identity) {
            Ok(length) if length == identity.len() => Self::of_identity(&identity).ok_or(NoPublisherKey),
            _ => Err(NoPublisherKey),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_key_has_one_text(bytes: [u8; 32], junk in "12D3KooW[1-9A-Za-z]{40,50}|\\PC{0,80}") {
            let key = PublisherKey::new(bytes);
            prop_assert!(key.to_string().starts_with("12D3KooW"));
            prop_assert_eq!(key.to_string().parse(), Ok(key));
            if let Ok(key) = junk.parse::<PublisherKey>() {
                prop_assert_eq!(key.to_string(), junk);
            }
        }
    }
}
