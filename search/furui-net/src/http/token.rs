use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use furui::format::{Access, WriteError, publish};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use thiserror::Error;

use crate::net::{Identity, is_open_to_others};

/// The minimum length of a token in bytes. Chosen: that of 64 random bits in hexadecimal digits.
const LEAST: usize = 16;
/// The maximum length of a token in bytes. The value is a choice, not a measurement.
const MOST: usize = 1024;

/// The secret that clients of a node's HTTP interface must know. It is compared in a time that does not depend on what
/// is offered.
#[derive(Clone)]
pub struct Token {
    text: String,
    digest: [u8; 32],
    cookie: String,
}

impl Token {
    /// Makes a token of a text.
    ///
    /// # Errors
    /// If it is too short or too long, or has other characters than the visible ones of ASCII.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        if !(LEAST..=MOST).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Invalid);
        }
        let digest = Sha256::digest(text).into();
        // A cookie does not give the token away, by which programs are known, too.
        let cookie = hexadecimal(&Sha256::new().chain_update("furui cookie/").chain_update(text).finalize());
        Ok(Self { text: text.to_owned(), digest, cookie })
    }

    /// Reads the token in a file. If there is no file, one is made that only its owner can read, with a random token.
    ///
    /// # Errors
    /// If the file cannot be read or created, others can read it, or it has no token.
    pub fn load_or_create(path: &Path) -> Result<Self, TokenError> {
        let failed = |error| TokenError::File { path: path.to_owned(), error };
        match Self::load(path) {
            Err(TokenError::File { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                let text = hexadecimal(&Sha256::digest(Identity::generate().secret()));
                publish(path, Access::Owner, |out| {
                    writeln!(out, "{text}").map_err(WriteError::at("cannot write", path))
                })
                .map_err(|error| failed(error.source))?;
                Self::new(&text)
            }
            loaded => loaded,
        }
    }

    /// Reads the token in a file.
    ///
    /// # Errors
    /// If the file cannot be read, others can read it, or it has no token.
    pub fn load(path: &Path) -> Result<Self, TokenError> {
        let failed = |error| TokenError::File { path: path.to_owned(), error };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if is_open_to_others(&metadata) {
            return Err(TokenError::Exposed { path: path.to_owned() });
        }
        let mut bytes = Vec::new();
        file.take(MOST as u64 + 2).read_to_end(&mut bytes).map_err(failed)?;
        Self::new(String::from_utf8_lossy(&bytes).trim_end()).map_err(|_| TokenError::NoToken { path: path.to_owned() })
    }

    /// The token itself.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The cookie by which a browser shows that its user knows the token.
    pub(super) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// True if the offered bytes are the token. The time that this takes does not depend on how much of it is right.
    pub(super) fn is(&self, offered: &[u8]) -> bool {
        let offered: [u8; 32] = Sha256::digest(offered).into();
        offered.ct_eq(&self.digest).into()
    }

    /// True if the offered bytes are the [`cookie`](Self::cookie). The time that this takes does not depend on how much
    /// of it is right.
    pub(super) fn is_cookie(&self, offered: &[u8]) -> bool {
        offered.ct_eq(self.cookie.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The reason that there is no token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// The text is no token.
    #[error("a token has {LEAST} to {MOST} visible characters of ASCII")]
    Invalid,
    /// The file cannot be read or created.
    #[error("cannot use the token's file {}: {error}", .path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Users other than the owner may read the file.
    #[error("other users may read the token in {0}; run `chmod 600 {0}` if it can still be trusted", .path.display())]
    Exposed {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file does not have a token, and nothing else.
    #[error(
        "{} has no token of {LEAST} to {MOST} visible characters of ASCII; put one into it, or remove the file, and \
         start the node to make one",
        .path.display()
    )]
    NoToken {
        /// The path of the file.
        path: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_itself_and_nothing_else() {
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(token.is(b"0123456789abcdef") && token.is_cookie(token.cookie().as_bytes()));
        for other in [&b""[..], b"0123456789abcdeF", b"0123456789abcdef0", token.cookie().as_bytes()] {
            assert!(!token.is(other));
        }
        assert!(!token.is_cookie(b"0123456789abcdef") && !token.is_cookie(b"") && token.cookie().len() == 64);
        assert!(!format!("{token:?}").contains("0123"));
        for text in ["", "0123456789abcde", "0123456789abc ef", "0123456789abcdéf", &"a".repeat(1025)] {
            assert!(Token::new(text).is_err(), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_the_token_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("furui-token-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        assert!(matches!(Token::load(&path), Err(TokenError::File { .. })));
        let made = Token::load_or_create(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Token::load_or_create(&path).unwrap().text(), made.text());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let why = Token::load(&path).unwrap_err().to_string();
        assert!(why.contains("chmod 600"), "{why}");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        for none in [&b"short"[..], b"", b"0123456789abcdef\xff", &[0; 100]] {
            std::fs::write(&path, none).unwrap();
            assert!(matches!(Token::load_or_create(&path), Err(TokenError::NoToken { .. })), "{none:?}");
        }
        let why = Token::load_or_create(&std::env::temp_dir()).unwrap_err().to_string();
        assert!(why.contains("is a directory"), "{why}");
        std::fs::remove_file(path).unwrap();
    }
}
