use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use furui::format::{Access, WriteError, publish};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::keeper::{LIFE, unix_seconds};
use super::{Inner, NodeError};
use crate::net::{Net, PeerAddress, with_port_of_before};

/// The name of the file in a node's directory with the addresses of nodes.
pub(super) const PEERS: &str = "peers";
/// The maximum number of addresses of other nodes in the file. The value is a choice, not a measurement.
const MAX_ADDRESSES: usize = 256;
/// The maximum size of the file, in bytes: room for the addresses of other nodes, and for the node's own.
const MAX_BYTES: u64 = 2 * MAX_ADDRESSES as u64 * (PeerAddress::MAX as u64 + 24);
/// The delay between a change of the neighbourhood and the writing of the file, because several nodes often come at
/// once. The value is a choice, not a measurement.
const PAUSE: Duration = Duration::from_secs(1);
/// The maximum age of the times in the file. The value is a choice, not a measurement.
const RENEWAL: Duration = Duration::from_secs(60 * 60);

/// The addresses of the nodes that this node has met, and its own, which it keeps in a file for its next start: so the
/// nodes of a network find each other again after all of them were off, without bootstrap addresses.
///
/// A node is forgotten when it was not met for [`LIFE`]: everything that it had has expired then.
pub(super) struct Remembered {
    /// `None` for a node in memory.
    file: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// For each address, the time at which its node was known last, in seconds since 1970.
    seen: BTreeMap<PeerAddress, u64>,
    /// The time at which the file was last written; `None` if it was not.
    written: Option<Instant>,
}

impl Remembered {
    /// Reads the file of a node's directory.
    ///
    /// # Errors
    /// If the file cannot be read, or has a line that is not an address with its time.
    pub(super) fn open(directory: Option<&Path>) -> Result<Self, NodeError> {
        let file = directory.map(|directory| directory.join(PEERS));
        let seen = match &file {
            Some(file) => read(file).map_err(|source| NodeError::Directory { file: file.clone(), source })?,
            None => BTreeMap::new(),
        };
        Ok(Self { file, state: Mutex::new(State { seen, written: None }) })
    }

    /// Adds addresses of nodes to which the owner was invited, so that they are tried at later starts too.
    pub(super) fn add(&self, addresses: &[PeerAddress]) {
        let now = unix_seconds();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.seen.extend(addresses.iter().map(|address| (address.clone(), now)));
        state.written = None;
    }

    /// The addresses of the other nodes, those met last first. `me` is the peer id of this node.
    pub(super) fn others(&self, me: &str) -> Vec<PeerAddress> {
        let oldest = unix_seconds().saturating_sub(LIFE.as_secs());
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known: Vec<(u64, &PeerAddress)> =
            state.seen.iter().filter(|(_, at)| **at > oldest).map(|(address, at)| (*at, address)).collect();
        known.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
        known.into_iter().map(|(_, address)| address.clone()).filter(|address| address.peer() != me).collect()
    }

    /// Replaces port 0 of the addresses to listen on by the ports on which the node has listened before, where they are
    /// free.
    pub(super) fn choose_ports(&self, me: &str, listen: &mut [String]) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let own: Vec<PeerAddress> = state.seen.keys().filter(|address| address.peer() == me).cloned().collect();
        let mut ports = crate::net::ports(&own);
        listen.iter_mut().for_each(|address| *address = with_port_of_before(address, &mut ports));
    }

    /// Writes the file, unless it has the same addresses already, with times that are not old.
    pub(super) async fn save(&self, net: &Net) {
        let Some(file) = self.file.clone() else { return };
        let Some(text) = self.update(&net.name(), &net.own_addresses(), net.known_addresses().await) else { return };
        let written = spawn_blocking(move || {
            publish(&file, Access::Owner, |out| {
                out.write_all(text.as_bytes()).map_err(WriteError::at("cannot write", &file))
            })
        });
        // If the disk is full, the file stays as it was until there is room.
        let is_written = matches!(written.await, Ok(Ok::<_, WriteError>(())));
        if is_written {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).written = Some(Instant::now());
        }
    }

    /// Adds the addresses of the nodes that are known now, and returns the text of the file if it is to be written.
    fn update(&self, me: &str, own: &[PeerAddress], known: Vec<PeerAddress>) -> Option<String> {
        let now = unix_seconds();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let before: Vec<PeerAddress> = state.seen.keys().cloned().collect();
        state.seen.retain(|address, at| address.peer() != me && *at > now.saturating_sub(LIFE.as_secs()));
        state.seen.extend(known.into_iter().filter(|address| address.peer() != me).map(|address| (address, now)));
        while state.seen.len() > MAX_ADDRESSES
            && let Some(oldest) = state.seen.iter().min_by_key(|(_, at)| **at).map(|(address, _)| address.clone())
        {
            state.seen.remove(&oldest);
        }
        state.seen.extend(own.iter().take(MAX_ADDRESSES).map(|address| (address.clone(), now)));
        let is_same = state.seen.keys().eq(&before);
        if is_same && state.written.is_some_and(|at| at.elapsed() < RENEWAL) {
            return None;
        }
        Some(state.seen.iter().map(|(address, at)| format!("{at} {address}\n")).collect())
    }
}

/// Reads the lines of the file; there are none if there is no file.
fn read(file: &Path) -> io::Result<BTreeMap<PeerAddress, u64>> {
    let mut bytes = Vec::new();
    match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        opened => opened?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?,
    };
    let invalid = |why: &str| {
        let what = format!("{why}; remove it: the node finds others by --bootstrap or --join then");
        io::Error::new(io::ErrorKind::InvalidData, what)
    };
    let text = String::from_utf8(bytes).map_err(|_| invalid("it is not text"))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(invalid(&format!("it has more than {MAX_BYTES} bytes")));
    }
    let entry = |line: &str| {
        let (at, address) = line.split_once(' ')?;
        Some((address.parse().ok()?, at.parse().ok()?))
    };
    let entries = text.lines().zip(1..).map(|(line, number)| {
        entry(line).ok_or_else(|| invalid(&format!("line {number} is not a time and a node's address")))
    });
    entries.collect()
}

/// Writes the file whenever nodes come or go, until the node is dropped.
pub(super) async fn run(node: Weak<Inner>) {
    while node.strong_count() == 0 {
        tokio::task::yield_now().await;
    }
    let Some(mut neighbourhood) = node.upgrade().map(|node| node.net.neighbourhood()) else { return };
    loop {
        neighbourhood.mark_unchanged();
        {
            let Some(node) = node.upgrade() else { return };
            node.remembered.save(&node.net).await;
        }
        tokio::select! {
            changed = neighbourhood.changed() => if changed.is_err() { return },
            () = sleep(RENEWAL) => {}
        }
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: &str = "12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";
    const OTHER: &str = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN";

    fn address(peer: &str, port: usize) -> PeerAddress {
        format!("/ip4/192.0.2.1/tcp/{port}/p2p/{peer}").parse().expect("an address")
    }

    #[test]
    fn addresses_are_remembered_as_long_as_what_their_nodes_had_and_not_without_end() {
        let directory = std::env::temp_dir().join(format!("furui-peers-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let file = directory.join(PEERS);
        let now = unix_seconds();
        let old = now - LIFE.as_secs() - 1;
        let text = format!("{now} {}\n{old} {}\n{now} {}\n", address(OTHER, 1), address(OTHER, 2), address(ME, 3));
        std::fs::write(&file, text).expect("a file");
        let remembered = Remembered::open(Some(&directory)).expect("it is right");
        assert_eq!(remembered.others(ME), [address(OTHER, 1)]);
        let mut listen = vec!["/ip4/127.0.0.1/tcp/0".to_owned()];
        remembered.choose_ports(OTHER, &mut listen);
        assert_ne!(listen[0], "/ip4/127.0.0.1/tcp/3");

        // Of many addresses, the newest stay; the own ones are replaced.
        let many = (1..=2 * MAX_ADDRESSES).map(|port| address(OTHER, port)).collect();
        let text = remembered.update(ME, &[address(ME, 4)], many).expect("it has changed");
        assert_eq!(text.lines().count(), MAX_ADDRESSES + 1);
        assert!(text.contains(&address(ME, 4).to_string()) && !text.contains(&address(ME, 3).to_string()));

        let good = format!("{now} {}\n", address(OTHER, 1));
        for bad in [
            format!("{good}{}\n", address(OTHER, 2)),
            format!("{good}x {}\n", address(OTHER, 2)),
            format!("{good}\n"),
            format!("{good}{now} /ip4/192.0.2.1/tcp/1\n"),
            format!("{good}{now} /ip4/192.0.2.1/tcp/0/p2p/{OTHER}\n"),
            good.repeat(MAX_BYTES as usize / good.len() + 1),
        ] {
            std::fs::write(&file, &bad).expect("a file");
            let error = Remembered::open(Some(&directory)).err().expect("it is bad").to_string();
            assert!(error.contains("peers") && error.contains("remove it"), "{error}");
        }
        std::fs::write(&file, b"\xff\n").expect("a file");
        assert!(Remembered::open(Some(&directory)).is_err());
        std::fs::remove_dir_all(directory).expect("a directory");
    }
}
