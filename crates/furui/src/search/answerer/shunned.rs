use std::collections::HashMap;
use std::time::Duration;

use super::super::{Peer, limits};

/// How long a peer that failed is asked after others.
const SHUNNED_FOR: Duration = Duration::from_secs(30);

/// Peers that failed a while ago: they are asked only if no other can be.
#[derive(Debug, Default)]
pub(super) struct Shunned(HashMap<Peer, Duration>);

impl Shunned {
    pub(super) fn add(&mut self, peer: Peer, now: Duration) {
        if self.0.len() >= limits::SHUNNED {
            self.0.retain(|_, until| *until > now);
        }
        if self.0.len() < limits::SHUNNED {
            self.0.insert(peer, now + SHUNNED_FOR);
        }
    }

    pub(super) fn has(&self, peer: &Peer, now: Duration) -> bool {
        self.0.get(peer).is_some_and(|&until| until > now)
    }
}
