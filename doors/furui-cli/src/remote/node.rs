use std::fmt;
use std::path::PathBuf;

/// The address of a server, alone or in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    Tcp {
        host: String,
        port: u16,
    },
    /// The path of a socket of this machine.
    Unix(PathBuf),
}

impl Node {
    /// The server with this host name and port of which this server tells. Without a name, it is on the same machine.
    pub fn other(&self, host: &str, port: u16) -> Self {
        let own = match self {
            Self::Tcp { host, .. } => host,
            Self::Unix(_) => "localhost",
        };
        Self::Tcp { host: if host.is_empty() { own } else { host }.to_owned(), port }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}
