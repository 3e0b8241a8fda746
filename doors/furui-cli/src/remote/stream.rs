use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

#[cfg(feature = "tls")]
use super::encrypted::{self, Encrypted};
use super::node::Node;

/// An open connection to a server as a stream of bytes: by TCP, by a socket of this machine, or by TLS.
pub enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    #[cfg(feature = "tls")]
    Encrypted(Box<Encrypted>),
}

/// The time limit for making a connection to a server.
const CONNECT: Duration = Duration::from_secs(5);
/// The time limit for an answer of a server.
const ANSWER: Duration = Duration::from_secs(30);

impl Stream {
    /// Connects to a server. `encrypts` is true for TLS.
    pub fn open(node: &Node, encrypts: bool) -> io::Result<Self> {
        match node {
            Node::Tcp { host, port } => {
                let stream = open(host, *port)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(if encrypts { CONNECT } else { ANSWER }))?;
                stream.set_write_timeout(Some(ANSWER))?;
                if encrypts { encrypt(stream, host) } else { Ok(Self::Tcp(stream)) }
            }
            Node::Unix(path) => open_unix(path),
        }
    }

    /// Sends all of these bytes.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.write_all(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => stream.write_all(bytes),
            #[cfg(feature = "tls")]
            Self::Encrypted(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            #[cfg(unix)]
            Self::Unix(stream) => stream.read(buffer),
            #[cfg(feature = "tls")]
            Self::Encrypted(stream) => stream.read(buffer),
        }
    }
}

/// Connects to the first address of a server that accepts a connection.
fn open(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(ErrorKind::AddrNotAvailable, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

#[cfg(unix)]
fn open_unix(path: &Path) -> io::Result<Stream> {
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    Ok(Stream::Unix(stream))
}

#[cfg(not(unix))]
fn open_unix(_: &Path) -> io::Result<Stream> {
    Err(io::Error::new(ErrorKind::Unsupported, "this system has no sockets with paths"))
}

#[cfg(feature = "tls")]
fn encrypt(stream: TcpStream, host: &str) -> io::Result<Stream> {
    let stream = encrypted::encrypt(stream, host)?;
    stream.sock.0.set_read_timeout(Some(ANSWER))?;
    Ok(Stream::Encrypted(stream.into()))
}

#[cfg(not(feature = "tls"))]
fn encrypt(_: TcpStream, _: &str) -> io::Result<Stream> {
    Err(io::Error::new(ErrorKind::Unsupported, "this build of furui has no TLS"))
}
