//! Chooses the nodes that keep a key (its keepers) among the nodes nearest to it with different address prefixes, so
//! that no owner of one address controls all of them.

use std::collections::HashSet;

use furui_search::{Peer, limits};
use libp2p::kad::K_VALUE;

use super::Prefix;

/// The number of nodes nearest to a key among which those that keep it are chosen: the maximum that a look-up finds.
pub const WINDOW: usize = K_VALUE.get();

/// The nodes that keep a key, chosen among the nodes nearest to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen<T> {
    /// The chosen nodes: first the nearest with different address prefixes, and then, if there are too few prefixes,
    /// the nearest of the other nodes.
    pub keepers: Vec<T>,
    /// True if there are as many chosen nodes as wanted and all have different prefixes, so that more distant nodes
    /// would not change the choice.
    pub is_final: bool,
}

/// Chooses `wanted` nodes to keep a key among `nearest`, the nodes nearest to a key in ascending distance: at most one
/// per address prefix as long as there are enough prefixes. A node whose prefix is not [counted](Prefix::is_counted) is
/// treated as having one of its own.
pub fn choose<T>(nearest: Vec<T>, wanted: usize, prefix: impl Fn(&T) -> Prefix) -> Chosen<T> {
    let mut taken = HashSet::new();
    let (mut keepers, mut others) = (Vec::with_capacity(wanted), Vec::new());
    for node in nearest {
        if keepers.len() == wanted {
            break;
        }
        let prefix = prefix(&node);
        let list = if !prefix.is_counted() || taken.insert(prefix) { &mut keepers } else { &mut others };
        list.push(node);
    }
    let is_final = keepers.len() == wanted;
    keepers.extend(others.into_iter().take(wanted - keepers.len()));
    Chosen { keepers, is_final }
}

/// The increasing numbers of nearest nodes among which [`choose`] is tried, until it has found `wanted` nodes with
/// different prefixes.
pub(super) fn widths(wanted: usize) -> impl Iterator<Item = usize> {
    let wanted = wanted.min(WINDOW);
    let wider = [limits::HOLDERS, WINDOW].into_iter().filter(move |&wide| wide > wanted);
    std::iter::once(wanted).chain(wider)
}

/// Chooses `wanted` nodes to keep a key among `nearest`, the first `wide` nodes nearest to the key. `None` if more
/// nodes must be considered.
pub(super) fn choose_among(
    nearest: Vec<Peer>,
    wanted: usize,
    wide: usize,
    prefix: impl Fn(&Peer) -> Prefix,
) -> Option<Vec<Peer>> {
    let are_all = nearest.len() < wide || wide >= WINDOW;
    let chosen = choose(nearest, wanted, prefix);
    (chosen.is_final || are_all).then_some(chosen.keepers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chooses keepers among nodes with these address prefixes. Returns the indices of the keepers, and whether the
    /// choice is final.
    fn chosen(prefixes: &[u8], wanted: usize) -> (Vec<usize>, bool) {
        let prefix = |&node: &usize| match prefixes[node] {
            0 => Prefix::Local,
            127 => Prefix::V4([127, 0, 0, 1]),
            last => Prefix::V4([192, 0, 2, last]),
        };
        let Chosen { keepers, is_final } = choose((0..prefixes.len()).collect(), wanted, prefix);
        (keepers, is_final)
    }

    #[test]
    fn of_one_prefix_one_node_is_chosen_as_long_as_there_are_others() {
        assert_eq!(chosen(&[1, 2, 3, 4], 3), (vec![0, 1, 2], true));
        assert_eq!(chosen(&[1, 1, 1, 1, 2, 3], 3), (vec![0, 4, 5], true));
        assert_eq!(chosen(&[1, 1, 2, 2, 1], 3), (vec![0, 2, 1], false));
        assert_eq!(chosen(&[1, 1], 3), (vec![0, 1], false));
        assert_eq!(chosen(&[], 3), (vec![], false));
    }

    #[test]
    fn nodes_of_one_process_or_one_machine_stand_for_themselves() {
        assert_eq!(chosen(&[0, 0, 0, 0], 3), (vec![0, 1, 2], true));
        assert_eq!(chosen(&[127, 127, 127], 3), (vec![0, 1, 2], true));
    }

    #[test]
    fn a_wider_look_at_the_same_nodes_does_not_change_a_final_choice() {
        let prefixes = [1, 1, 2, 1, 2, 3, 4, 5, 1, 6];
        for wanted in 1..=5 {
            let all = chosen(&prefixes, wanted);
            for wide in wanted..=prefixes.len() {
                let some = chosen(&prefixes[..wide], wanted);
                assert!(!some.1 || some == all, "{wanted} of {wide}");
            }
        }
        assert_eq!(widths(3).collect::<Vec<_>>(), [3, 8, 20]);
        assert_eq!(widths(20).collect::<Vec<_>>(), [20]);
    }
}
