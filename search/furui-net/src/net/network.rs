use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use furui::format::{Access, WriteError, publish, sync_name};
use libp2p::pnet::PreSharedKey;
use thiserror::Error;

use super::is_open_to_others;

/// A private network: a name for people, and the key without which nobody exchanges a byte with its nodes.
///
/// The key is a secret. It is in the text of an [`Invitation`](super::Invitation) and in the files of a network, and
/// nowhere else; the debug output leaves it out.
#[derive(Clone, PartialEq, Eq)]
pub struct Network {
    name: String,
    key: [u8; Self::KEY],
}

impl Network {
    /// The name of a network whose maker gives it none.
    pub const NAME: &str = "furui";
    /// The maximum length of a name, in bytes.
    pub const MAX_NAME: usize = 64;
    /// The length of the key, in bytes.
    const KEY: usize = 32;
    /// The maximum length of the file of a network, in bytes: its lines have fewer.
    const MAX_FILE: u64 = 256;
    /// The first two lines of the file, by which libp2p's programs recognise a key of this kind.
    const HEAD: [&str; 2] = ["/key/swarm/psk/1.0.0/", "/base16/"];

    /// Makes a network with a random key.
    ///
    /// # Errors
    /// If the name is not valid, or the system has no random bytes.
    pub fn generate(name: &str) -> Result<Self, NetworkError> {
        let mut key = [0; Self::KEY];
        getrandom::fill(&mut key).map_err(|error| NetworkError::Random { why: error.to_string() })?;
        Self::new(name, key)
    }

    /// Makes a network of a name (1 to [`MAX_NAME`](Self::MAX_NAME) ASCII letters, digits, `.`, `_` and `-`) and 32
    /// random bytes.
    ///
    /// # Errors
    /// If the name is not valid.
    pub fn new(name: &str, key: [u8; 32]) -> Result<Self, NetworkError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.len() > Self::MAX_NAME || !name.bytes().all(fits) {
            return Err(NetworkError::Name { name: name.chars().take(Self::MAX_NAME).collect() });
        }
        Ok(Self { name: name.to_owned(), key })
    }

    /// The name by which people know the network. Two networks may have one name; only the key tells them apart.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if nodes of the two networks can speak with each other, whatever the names.
    pub fn has_key_of(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// Loads the network from its file; `None` if there is no such file.
    ///
    /// # Errors
    /// If the file cannot be read, if other users may read it, or if it is not that of a network.
    pub fn load(path: &Path) -> Result<Option<Self>, NetworkError> {
        let failed = |error| NetworkError::File { path: path.to_owned(), error };
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(failed)?,
        };
        if is_open_to_others(&file.metadata().map_err(failed)?) {
            return Err(NetworkError::Exposed { path: path.to_owned() });
        }
        let mut text = Vec::new();
        file.take(Self::MAX_FILE + 1).read_to_end(&mut text).map_err(failed)?;
        let network = str::from_utf8(&text).ok().and_then(Self::from_file);
        network.map(Some).ok_or_else(|| NetworkError::Damaged { path: path.to_owned() })
    }

    /// Writes the file of the network, readable only by the owner, in place of the one that was there. It is durable
    /// when this returns.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), NetworkError> {
        let text = self.to_file();
        publish(path, Access::Owner, |out| out.write_all(text.as_bytes()).map_err(WriteError::at("cannot write", path)))
            .map_err(|error: WriteError| NetworkError::File { path: path.to_owned(), error: error.source })
    }

    /// Writes the file of the network as [`save`](Self::save) does, but never in place of another file.
    ///
    /// # Errors
    /// If there is a file of this name, or it cannot be written.
    pub fn create(&self, path: &Path) -> Result<(), NetworkError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => NetworkError::Exists { path: path.to_owned() },
            _ => NetworkError::File { path: path.to_owned(), error },
        };
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed)?;
        let written = file.write_all(self.to_file().as_bytes()).and_then(|()| file.sync_all());
        let written = written.and_then(|()| sync_name(path).map_err(|error| error.source));
        written.inspect_err(|_| drop(std::fs::remove_file(path))).map_err(failed)
    }

    /// The lines of the file of a network: libp2p's form of a key, and then the name.
    fn to_file(&self) -> String {
        format!("{}{}\n", self.secret().to_key_file(), self.name)
    }

    fn from_file(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.strip_suffix('\n')?.split('\n').collect();
        let [tag, coding, key, name] = lines[..] else { return None };
        ([tag, coding] == Self::HEAD).then(|| Self::new(name, key_of(key)?).ok()).flatten()
    }

    /// The key as 64 hexadecimal digits.
    pub(super) fn hex(&self) -> String {
        self.key.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn secret(&self) -> PreSharedKey {
        PreSharedKey::new(self.key)
    }
}

/// The key that 64 hexadecimal digits state; `None` if they are not that.
pub(super) fn key_of(hex: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> =
        hex.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| 16 * pair[0] + pair[1]).collect();
    bytes.try_into().ok().filter(|_| digits.len() == 2 * Network::KEY)
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "network {}", self.name)
    }
}

/// The reason that a private network cannot be made, or its file cannot be used.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// The name has no characters, too many, or others than letters, digits, `.`, `_` and `-`.
    #[error("`{name}` is no name of a network; one has 1 to {} letters, digits, dots, _ and -", Network::MAX_NAME)]
    Name {
        /// The beginning of the name.
        name: String,
    },
    /// The system has no random bytes for a key.
    #[error("cannot make a key: {why}")]
    Random {
        /// The error message of the system.
        why: String,
    },
    /// The file cannot be read or written.
    #[error("cannot keep the network's key in {}: {error}", .path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// There is a file where a new one was to be written.
    #[error(
        "{} exists, and a key is not overwritten; give another name for the new key, or start the node without \
         --new-network if it is in this network already",
        .path.display()
    )]
    Exists {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is not the four lines of a network.
    #[error(
        "{} is not the key and name of a network; put it back from a copy, or remove it and join again: `furui node \
         --rekey LINE` with the line that `furui invite` prints at another node",
        .path.display()
    )]
    Damaged {
        /// The path of the file.
        path: PathBuf,
    },
    /// Users other than the owner may read the file.
    #[error(
        "other users may read the network's key in {0}; run `chmod 600 {0}` if the key can still be trusted",
        .path.display()
    )]
    Exposed {
        /// The path of the file.
        path: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_comes_back_from_its_file_and_nothing_else_does() {
        let network = Network::generate("lab").expect("a name");
        let text = network.to_file();
        assert!(text.starts_with("/key/swarm/psk/1.0.0/\n/base16/\n"), "{text}");
        assert_eq!(Network::from_file(&text).as_ref(), Some(&network));
        // The libraries of libp2p read the same key from the file.
        assert_eq!(text.parse::<PreSharedKey>().expect("a key"), network.secret());
        for bad in [
            text.trim_end().to_owned(),
            format!("{text}\n"),
            text.replace("/base16/", "/base64/"),
            text.replace("psk", "psl"),
            text.replace("lab", "l b"),
            text.replace("lab", ""),
            text.replace(&network.hex(), &network.hex()[1..]),
            text.replace(&network.hex(), &format!("{}é", &network.hex()[2..])),
            text.replace('\n', "\r\n"),
            String::new(),
        ] {
            assert_eq!(Network::from_file(&bad), None, "{bad:?}");
        }
        assert!(!format!("{network:?}").contains(&network.hex()));
        for name in ["", "a b", "a,b", "a/b", "ü", &"a".repeat(65)] {
            assert!(Network::generate(name).is_err(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners_alone_and_is_not_overwritten() {
        use std::os::unix::fs::PermissionsExt;

        let directory = std::env::temp_dir().join(format!("furui-network-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("lab.key");
        let network = Network::generate("lab").expect("a name");
        network.create(&path).expect("a new file");
        assert_eq!(path.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
        assert!(matches!(network.create(&path), Err(NetworkError::Exists { .. })));
        assert_eq!(Network::load(&path).expect("a network"), Some(network));
        assert_eq!(Network::load(&directory.join("other")).expect("nothing"), None);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("a file");
        let refused = Network::load(&path).expect_err("others may read it").to_string();
        assert!(refused.contains("chmod 600"), "{refused}");
        std::fs::remove_dir_all(directory).expect("a directory");
    }
}
