//! TLS to a server, by the crate rustls.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::uninterrupted::Uninterrupted;

/// A connection to a server that is encrypted by TLS.
pub type Encrypted = StreamOwned<ClientConnection, Uninterrupted<TcpStream>>;

/// Encrypts a connection to a server, whose certificate must be for this host name or address.
///
/// # Errors
/// If the certificate is not that of the host, or is signed by none of the authorities that the system trusts, or that
/// the environment variables `SSL_CERT_FILE` and `SSL_CERT_DIR` name. If the server begins with no TLS within the time
/// limit of a connection.
pub fn encrypt(stream: TcpStream, host: &str) -> io::Result<Encrypted> {
    let name = ServerName::try_from(host.to_owned()).map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
    let connection = ClientConnection::new(config()?, name).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, Uninterrupted(stream));
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::UnexpectedEof => {
                io::Error::new(ErrorKind::InvalidData, "the server does not begin with TLS: is this its TLS port?")
            }
            _ => error,
        })?;
    }
    Ok(stream)
}

/// The settings of all connections: the trusted authorities, which are read once.
fn config() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reason = found.errors.first().map_or("there is none".to_owned(), ToString::to_string);
        let what = format!("no certificate of an authority: {reason}: name a file of them in SSL_CERT_FILE");
        return Err(io::Error::new(ErrorKind::NotFound, what));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}
