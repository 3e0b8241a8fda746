use std::collections::HashMap;
use std::time::Duration;

use super::super::{Peer, Session, limits};

/// The time for which a session (the state of an exchange) waits for the third message.
const TIME_TO_LIVE: Duration = Duration::from_secs(10);

/// The sessions: the state that is kept between the first and the third message of exchanges.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    kept: HashMap<u64, Kept>,
    next: u64,
}

#[derive(Debug)]
struct Kept {
    from: Peer,
    session: Session,
    until: Duration,
}

impl Sessions {
    /// True if the limits allow another session (the state of an exchange) with `ids` ids for the peer.
    pub(super) fn has_room(&self, from: &Peer, ids: usize) -> bool {
        let of_peer = || self.kept.values().filter(|kept| kept.from == *from);
        self.kept.len() < limits::SESSIONS
            && of_peer().count() < limits::SESSIONS_A_PEER
            && self.ids_held() + ids <= limits::SESSION_IDS
            && of_peer().map(|kept| kept.session.len()).sum::<usize>() + ids <= limits::SESSION_IDS_A_PEER
    }

    /// Stores the state of an exchange until its third message, and returns the number that names it. `None` if the
    /// limits do not allow it.
    pub(super) fn keep(&mut self, from: &Peer, session: Session, now: Duration) -> Option<u64> {
        if !self.has_room(from, session.len()) {
            return None;
        }
        let name = self.next;
        self.next += 1;
        self.kept.insert(name, Kept { from: from.clone(), session, until: now + TIME_TO_LIVE });
        Some(name)
    }

    /// Removes and returns the state of an exchange with the number `name`, if it belongs to the peer `from`.
    pub(super) fn take(&mut self, name: u64, from: &Peer) -> Option<Session> {
        self.kept.get(&name).filter(|kept| kept.from == *from)?;
        self.kept.remove(&name).map(|kept| kept.session)
    }

    pub(super) fn expire(&mut self, now: Duration) {
        self.kept.retain(|_, kept| kept.until > now);
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.kept.values().map(|kept| kept.until).min()
    }

    pub(super) fn ids_held(&self) -> usize {
        self.kept.values().map(|kept| kept.session.len()).sum()
    }
}
