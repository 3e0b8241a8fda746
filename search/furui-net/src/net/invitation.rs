use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::network::key_of;
use super::{Network, PeerAddress};

/// The line of text by which a node invites others into its private network: the key, the name, and some addresses of
/// nodes, all that a newcomer needs.
///
/// ```text
/// furui-network:NAME,KEY,ADDRESS,ADDRESS…
/// ```
///
/// No character of it has a meaning for a shell, so that it can be pasted without quotes. Whoever has the line is in
/// the network.
#[derive(Clone, PartialEq, Eq)]
pub struct Invitation {
    /// The private network into which the line invites, with its name and its key.
    pub network: Network,
    /// Addresses of nodes in the network, at most [`MAX_ADDRESSES`](Self::MAX_ADDRESSES). There may be none in a
    /// network whose nodes find each other by mDNS.
    pub addresses: Vec<PeerAddress>,
}

impl Invitation {
    /// The maximum number of addresses. Chosen: the line fits in a QR code that a phone reads from a screen.
    pub const MAX_ADDRESSES: usize = 8;
    /// The maximum length of the line, in bytes.
    pub const MAX: usize = 4096;
    /// The beginning of the line.
    const SCHEME: &str = "furui-network:";
}

impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{},{}", Self::SCHEME, self.network.name(), self.network.hex())?;
        self.addresses.iter().try_for_each(|address| write!(f, ",{address}"))
    }
}

impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invitation into {:?}", self.network)
    }
}

impl FromStr for Invitation {
    type Err = InvitationError;

    fn from_str(text: &str) -> Result<Self, InvitationError> {
        use InvitationError::{Address, Addresses, Key, Length, Scheme};
        if text.len() > Self::MAX {
            return Err(Length);
        }
        let mut fields = text.strip_prefix(Self::SCHEME).ok_or(Scheme)?.split(',');
        let name = fields.next().unwrap_or_default();
        let key = fields.next().and_then(key_of).ok_or(Key)?;
        let network = Network::new(name, key).map_err(|error| InvitationError::Name { why: error.to_string() })?;
        let addresses: Vec<&str> = fields.collect();
        if addresses.len() > Self::MAX_ADDRESSES {
            return Err(Addresses);
        }
        let address = |(at, text): (usize, &str)| text.parse().map_err(|_| Address { number: at + 1 });
        let addresses = addresses.into_iter().enumerate().map(address).collect::<Result<_, _>>()?;
        Ok(Self { network, addresses })
    }
}

/// The reason that a text is not an [`Invitation`]. The messages never repeat the text, because it may have the key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvitationError {
    /// The text does not begin as an invitation does.
    #[error("an invitation begins with {}; paste the whole line that `furui invite` prints", Invitation::SCHEME)]
    Scheme,
    /// The text is longer than every invitation.
    #[error("an invitation has at most {} bytes; paste one line that `furui invite` prints", Invitation::MAX)]
    Length,
    /// The name of the network is not valid.
    #[error("{why}; paste the whole line that `furui invite` prints")]
    Name {
        /// What is wrong with the name.
        why: String,
    },
    /// The second field is not a key.
    #[error("its key is not 64 hexadecimal digits; paste the whole line that `furui invite` prints")]
    Key,
    /// There are too many addresses.
    #[error("an invitation has at most {} addresses", Invitation::MAX_ADDRESSES)]
    Addresses,
    /// An address is not one of a node.
    #[error("its address {number} is not like /ip4/192.0.2.1/tcp/4001/p2p/12D3…; paste the whole line")]
    Address {
        /// The number of the address, from 1.
        number: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: &str = "12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";

    #[test]
    fn a_line_comes_back_and_bad_ones_are_refused_without_their_key() {
        let key = "00ff".repeat(16);
        let at = format!("/ip4/192.0.2.1/tcp/4001/p2p/{PEER}");
        let other = format!("/ip6/fd00::1/tcp/4001/p2p/{PEER}");
        let named = format!("/dns4/node.example/tcp/4001/p2p/{PEER}");
        for line in [
            format!("furui-network:lab,{key},{at},{other},{named}"),
            format!("furui-network:lab,{key}"),
            format!("furui-network:a.b-c_9,{key}{}", format!(",{at}").repeat(Invitation::MAX_ADDRESSES)),
        ] {
            let invitation: Invitation = line.parse().expect("an invitation");
            assert_eq!(invitation.to_string(), line);
            assert!(!format!("{invitation:?}").contains(&key));
            assert!(line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":,./-_".contains(&byte)), "{line}");
        }
        let many = format!(",{at}").repeat(Invitation::MAX_ADDRESSES + 1);
        for (line, expected) in [
            (String::new(), InvitationError::Scheme),
            (format!("furui:lab,{key},{at}"), InvitationError::Scheme),
            (format!(" furui-network:lab,{key},{at}"), InvitationError::Scheme),
            ("furui-network:".to_owned(), InvitationError::Key),
            ("furui-network:lab".to_owned(), InvitationError::Key),
            (format!("furui-network:lab,{},{at}", &key[1..]), InvitationError::Key),
            (format!("furui-network:lab,{key}0,{at}"), InvitationError::Key),
            (format!("furui-network:lab,+f{},{at}", &key[2..]), InvitationError::Key),
            (format!("furui-network:lab,{key},"), InvitationError::Address { number: 1 }),
            (format!("furui-network:lab,{key},{at},/ip4/192.0.2.1/tcp/1"), InvitationError::Address { number: 2 }),
            (format!("furui-network:lab,{key},{at}\n"), InvitationError::Address { number: 1 }),
            (
                format!("furui-network:lab,{key},/ip4/192.0.2.1/udp/1/p2p/{PEER}"),
                InvitationError::Address { number: 1 },
            ),
            (format!("furui-network:lab,{key},/ip4/1.2.3.4/tcp/0/p2p/{PEER}"), InvitationError::Address { number: 1 }),
            (format!("furui-network:lab,{key}{many}"), InvitationError::Addresses),
            (format!("furui-network:lab,{key}{}", ",".repeat(5000)), InvitationError::Length),
        ] {
            let error = line.parse::<Invitation>().expect_err("it is none");
            assert_eq!(error, expected, "{line}");
            assert!(!error.to_string().contains(&key[4..]));
        }
        for name in ["", "a b", "%41", &"a".repeat(65)] {
            let error = format!("furui-network:{name},{key}").parse::<Invitation>().expect_err("no name");
            assert!(matches!(error, InvitationError::Name { .. }), "{error}");
        }
    }
}
