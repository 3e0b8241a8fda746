use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use furui_net::net::{Invitation, InvitationError, Network, NetworkError, PeerAddress};

use crate::Error;
use crate::options::node::PrivateOptions;

/// The way in which a node comes into its network.
#[derive(Debug, PartialEq, Eq)]
pub enum Membership {
    /// The node stays in the network that its directory states.
    Stay,
    /// The node makes a network, whose key is written to a file.
    Make(Network, PathBuf),
    /// The node joins a network to which it was invited.
    Join(Invitation),
}

impl Membership {
    /// What the options say, and whether the documents may be taken along into another network.
    ///
    /// # Errors
    /// If a line or a name is not valid, or the file of the new key exists already.
    pub fn new(options: &PrivateOptions) -> Result<(Self, bool), Error> {
        let rekey = options.rekey.is_some();
        let line = options.join.as_ref().or(options.rekey.as_ref().and_then(Option::as_ref));
        let membership = match (&options.new_network, line) {
            (Some(_), Some(_)) => {
                return Err(Error::Message(
                    "--new-network makes a key; say --rekey without a line beside it".to_owned(),
                ));
            }
            (None, None) if rekey => {
                return Err(Error::Message(
                    "--rekey needs the line that `furui invite` prints, or --new-network beside it".to_owned(),
                ));
            }
            (None, None) => Self::Stay,
            (None, Some(line)) => Self::Join(invitation(line)?),
            (Some(file), None) => {
                if file.symlink_metadata().is_ok() {
                    return Err(failed(NetworkError::Exists { path: file.clone() }));
                }
                let name = options.network_name.as_deref().unwrap_or(Network::NAME);
                Self::Make(Network::generate(name).map_err(failed)?, file.clone())
            }
        };
        Ok((membership, rekey))
    }

    /// The network that the node is to be in; `None` for that of its directory.
    pub fn network(&self) -> Option<&Network> {
        match self {
            Self::Stay => None,
            Self::Make(network, _) => Some(network),
            Self::Join(invitation) => Some(&invitation.network),
        }
    }

    /// The addresses through which the node joins.
    pub fn addresses(&self) -> &[PeerAddress] {
        match self {
            Self::Join(invitation) => &invitation.addresses,
            Self::Stay | Self::Make(..) => &[],
        }
    }

    /// Writes the key of a network that the node has made to its file. The node must be in the network already.
    ///
    /// # Errors
    /// If the file exists, or cannot be written.
    pub fn write_key(&self) -> Result<(), Error> {
        match self {
            Self::Make(network, file) => network.create(file).map_err(failed),
            Self::Stay | Self::Join(_) => Ok(()),
        }
    }
}

fn failed(error: NetworkError) -> Error {
    Error::Message(error.to_string())
}

/// Parses an invitation, or the file `@FILE` with one. No error repeats the line, which may have a key.
fn invitation(text: &str) -> Result<Invitation, Error> {
    let invalid = |what: &str, error: InvitationError| Error::Message(format!("{what} is no invitation: {error}"));
    let Some(path) = text.strip_prefix('@') else {
        return text.trim().parse().map_err(|error| invalid("the line", error));
    };
    let mut line = String::new();
    let read = File::open(path).and_then(|file| file.take(Invitation::MAX as u64 + 3).read_to_string(&mut line));
    read.map_err(|source| Error::io("cannot read", path, source))?;
    line.trim().parse().map_err(|error| invalid(path, error))
}
