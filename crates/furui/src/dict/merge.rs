use super::entries::Entries;
use super::layer::Layer;
use super::{Found, Skeleton};
use crate::error::{Error, Result};
use crate::hash::{HashSpec, KeyHash};

/// What several parts of a dictionary are as one.
pub(super) struct Union {
    pub(super) skeleton: Skeleton,
    /// The hashes of its keys, in no order.
    pub(super) hashes: Vec<KeyHash>,
}

/// Makes one of several parts, oldest first: of equal keys the newest counts. `forget`: keys that are deleted are left
/// out, which is right if there is nothing older.
pub(super) fn merge(layers: &[Layer], hash: HashSpec, forget: bool) -> Result<Union> {
    if let [Layer::Window(window)] = layers {
        let records =
            (0..).map_while(|i| window.buffer.nth(i)).filter(|record| !forget || record.found != Found::Deleted);
        let (keys, hashes): (Vec<_>, Vec<_>) =
            records.map(|record| ((record.key, record.found.value()), record.hash)).unzip();
        return Ok(Union { skeleton: skeleton(keys)?, hashes });
    }
    let mut bytes = vec![];
    let mut ends = vec![];
    let mut hashes = vec![];
    let mut entries = Entries::new(layers, b"", None);
    while let Some((key, found)) = entries.next_found() {
        if forget && found == Found::Deleted {
            continue;
        }
        bytes.extend_from_slice(key);
        ends.push((bytes.len(), found.value()));
        hashes.push(hash.hash(key));
    }
    let mut start = 0;
    let keys = ends.into_iter().map(|(end, value)| (&bytes[std::mem::replace(&mut start, end)..end], value));
    Ok(Union { skeleton: skeleton(keys)?, hashes })
}

fn skeleton<'k>(keys: impl IntoIterator<Item = (&'k [u8], Option<u32>)>) -> Result<Skeleton> {
    Skeleton::from_sorted(keys).map_err(|error| Error::Config(error.to_string()))
}
