//! Nodes that keep to the protocol, and lie about what they have been given.

use furui_search::{ContentId, Request, Weight};

use crate::node::weight as true_weight;
use crate::random::Random;

/// What a hostile node does. All hostile nodes of a kind lie alike, so that they confirm each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Villain {
    /// The node leaves out three quarters of each list, and tells its true size.
    Hides,
    /// The node adds made-up documents that come first, and states false weights and sizes.
    Forges,
    /// The node repeats the first answer that it gave.
    Replays,
    /// The node never answers.
    Silent,
    /// The node is honest until it has been asked [`PATIENT`] times, and then hides and forges.
    Waits,
    /// The node hides and forges where at least two keepers of the word are hostile, and is honest otherwise.
    Together,
}

/// The number of requests that [`Villain::Waits`] answers honestly.
pub const PATIENT: usize = 4;
/// The number of made-up documents in a forged list.
const MADE_UP: u64 = 40;
/// The end of the ids of made-up documents.
const MARK: [u8; 4] = *b"fake";

impl Villain {
    pub const ALL: [Self; 6] = [Self::Hides, Self::Forges, Self::Replays, Self::Silent, Self::Waits, Self::Together];

    /// The size that the node tells of a list that it shows with `shown` ids, where the true list has `ids`.
    pub fn size(self, shown: u64, ids: u64) -> u64 {
        match self {
            Self::Hides => ids,
            Self::Forges => 30 * shown,
            _ => shown,
        }
    }

    /// The list that the node shows instead of the true one.
    pub fn bend(self, word: &str, list: &[ContentId]) -> Vec<ContentId> {
        let mut shown = list.to_vec();
        if self != Self::Forges {
            shown.retain(|id| id.as_bytes()[10].is_multiple_of(4));
        }
        if self != Self::Hides {
            shown.extend((0..MADE_UP).map(|number| made_up(word, number)));
            shown.sort_unstable();
        }
        shown
    }
}

/// The weight of a posting in a false list.
pub fn weight(word: &str, id: ContentId) -> Weight {
    match id.as_bytes().ends_with(&MARK) || id.as_bytes()[9].is_multiple_of(4) {
        true => Weight::of_bits(u16::from(Weight::STEPS - 1) | 1 << 4, 1).expect("it has a form"),
        false => true_weight(word, id),
    }
}

/// The kind of the messages that answer a request.
pub fn answer_kind(request: &Request) -> u8 {
    match request {
        Request::Size { .. } => 0x81,
        Request::Search(_) => 0x8a,
        Request::List { .. } => 0x88,
        Request::Meet(_) => 0x83,
        _ => 0x84,
    }
}

fn made_up(word: &str, number: u64) -> ContentId {
    let mut random = Random(word.bytes().fold(number, |hash, byte| Random(hash ^ u64::from(byte)).next()));
    let mut bytes = [0; ContentId::BYTES];
    bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]));
    bytes[ContentId::BYTES - MARK.len()..].copy_from_slice(&MARK);
    ContentId::new(bytes)
}
