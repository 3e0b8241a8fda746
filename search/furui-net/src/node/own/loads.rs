//! Looks up, with few requests, the nodes that keep each of many keys.

use std::collections::HashMap;

use furui_search::{Peer, limits};
use futures::StreamExt;

use crate::net::Net;

/// The maximum number of keys for each of which the nodes that keep its list or record are looked up in one portion
/// without asking other nodes. The value is a choice, not a measurement.
const KEYS: usize = 1 << 10;
/// The maximum number of look-ups of nodes that keep a key in flight. Chosen: as many as the net has in flight.
const LOOKUPS: usize = 64;
/// The maximum number of look-ups in flight that each request many peers near a key at once. The value is a choice, not
/// a measurement.
const AREAS: usize = 8;
/// A look-up of many peers is made only if it answers at least this number of keys on average, because it takes as many
/// requests as five ordinary look-ups.
const WORTH: usize = 8;

/// Returns, for each node that should keep any of these keys, the indices of those keys in `keys`.
pub(in crate::node) async fn loads(net: &Net, keys: Vec<Vec<u8>>) -> HashMap<Peer, Vec<usize>> {
    let mut loads: HashMap<Peer, Vec<usize>> = HashMap::new();
    let mut unknown = add_known(net, keys.into_iter().enumerate().collect(), &mut loads).await;
    while unknown.len() > AREAS * WORTH {
        let before = unknown.len();
        let lookups = unknown[..AREAS].iter().map(|(_, key)| net.closest(key, Net::MOST_CLOSEST));
        futures::future::join_all(lookups).await;
        unknown = add_known(net, unknown, &mut loads).await;
        if before - unknown.len() < AREAS * WORTH {
            break;
        }
    }
    let lookups: Vec<_> = unknown.iter().map(|(_, key)| net.keepers(key, limits::REPLICAS)).collect();
    let found: Vec<Vec<Peer>> = futures::stream::iter(lookups).buffered(LOOKUPS).collect().await;
    unknown.into_iter().zip(found).for_each(|((number, _), keepers)| add(&mut loads, number, keepers));
    loads
}

/// Adds to `loads` the keys of which this node knows, without asking others, the nodes that keep them, and returns the
/// other keys. The work is done in small portions, so that it does not block other tasks of the network.
async fn add_known(
    net: &Net,
    keys: Vec<(usize, Vec<u8>)>,
    loads: &mut HashMap<Peer, Vec<usize>>,
) -> Vec<(usize, Vec<u8>)> {
    let mut unknown = Vec::new();
    for keys in keys.chunks(KEYS) {
        let known = net.known(keys.iter().map(|(_, key)| key.clone()).collect(), limits::REPLICAS).await;
        for ((number, key), keepers) in keys.iter().zip(known) {
            match keepers {
                Some(keepers) => add(loads, *number, keepers),
                None => unknown.push((*number, key.clone())),
            }
        }
    }
    unknown
}

fn add(loads: &mut HashMap<Peer, Vec<usize>>, number: usize, keepers: Vec<Peer>) {
    keepers.into_iter().for_each(|keeper| loads.entry(keeper).or_default().push(number));
}
