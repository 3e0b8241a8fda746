use std::collections::{BTreeMap, BTreeSet, HashMap};

use redb::{ReadableTable, Table};

use super::fault::{Fault, Outcome};
use super::tables::Row;

/// The maximum number of publishers of one address prefix whose data is counted for each of them. Further ones are
/// counted together. The value is a choice, not a measurement.
const PER_PREFIX: usize = 64;
/// The maximum number of publishers whose data is counted for each of them. Further ones, whatever their prefix, are
/// counted together. The value is a choice, not a measurement.
const MOST: usize = 8192;
/// The origin number of this node itself, whose publications are never removed to make room.
pub(super) const OWN: u32 = 0;

/// The flag in the length byte of an encoded peer identity that marks an origin whose data was taken over.
const TAKEN_OVER: u8 = 0x80;

/// The origin of a document on this node: the publisher or, if the node took the document over, the neighbour that had
/// it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The identity of the peer. Empty for the publishers that are counted together.
    pub peer: Vec<u8>,
    /// The peer's address prefix, as text. Empty for the publishers that are counted together.
    pub prefix: String,
    /// True if this node took the document over from the peer, which may have received it from others.
    pub taken_over: bool,
}

/// The amount of data that a node keeps for one origin, which is a peer that sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The origin whose data is counted.
    pub origin: Origin,
    /// The number of documents that this origin has brought first.
    pub documents: u64,
    /// The approximate size of the data that the origin has brought for these documents, in bytes: postings, new words
    /// and records, before compression.
    pub bytes: u64,
}

/// All origins (the peers that sent data) of a shelf, by number. The entry of each document contains the number of the
/// origin that has brought it first.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins {
    numbers: HashMap<Origin, u32>,
    /// For each address prefix, the number of its origins that are counted separately.
    prefixes: HashMap<String, usize>,
    all: BTreeMap<u32, Usage>,
    /// The numbers of origins whose rows in the table differ from those in memory.
    changed: BTreeSet<u32>,
    /// The numbers of origins that have no row in the table yet.
    new: BTreeSet<u32>,
}

impl Origins {
    pub(super) fn read(table: &impl ReadableTable<u32, Row>) -> Outcome<Self> {
        let mut origins = Self::default();
        for row in table.iter()? {
            let (number, row) = row?;
            let usage = decode(row.value()).ok_or_else(|| Fault::damaged("origins", number.value()))?;
            origins.insert(number.value(), usage);
        }
        Ok(origins)
    }

    /// Writes the rows of new origins with the counts of documents and bytes at 0.
    pub(super) fn write_new(&mut self, table: &mut Table<'_, u32, Row>) -> Outcome<()> {
        for number in std::mem::take(&mut self.new) {
            if let Some(usage) = self.all.get(&number) {
                table.insert(number, encode(&Usage { documents: 0, bytes: 0, ..usage.clone() }).as_slice())?;
            }
        }
        Ok(())
    }

    /// Writes the rows of origins whose counts have changed. The journal must be empty, because its changes are counted
    /// again when it is replayed.
    pub(super) fn write(&mut self, table: &mut Table<'_, u32, Row>) -> Outcome<()> {
        self.write_new(table)?;
        for number in std::mem::take(&mut self.changed) {
            match self.all.get(&number) {
                Some(usage) => table.insert(number, encode(usage).as_slice())?,
                None => table.remove(number)?,
            };
        }
        Ok(())
    }

    fn insert(&mut self, number: u32, usage: Usage) {
        self.numbers.insert(usage.origin.clone(), number);
        *self.prefixes.entry(usage.origin.prefix.clone()).or_default() += 1;
        self.all.insert(number, usage);
    }

    /// Returns the number of an origin. A new origin gets a free number.
    pub(super) fn number(&mut self, origin: &Origin) -> u32 {
        if let Some(&number) = self.numbers.get(origin) {
            return number;
        }
        let mut origin = origin.clone();
        if self.prefixes.get(&origin.prefix).is_some_and(|&count| count >= PER_PREFIX) {
            origin.peer.clear();
        }
        if self.all.len() >= MOST && !self.numbers.contains_key(&origin) {
            origin = Origin { peer: vec![], prefix: String::new(), taken_over: origin.taken_over };
        }
        if let Some(&number) = self.numbers.get(&origin) {
            return number;
        }
        let after_all = self.all.last_key_value().map_or(Some(OWN + 1), |(last, _)| last.checked_add(1));
        let is_free = |number: &u32| !self.all.contains_key(number);
        let number = after_all.or_else(|| (OWN + 1..).find(is_free)).expect("there are few");
        self.insert(number, Usage { origin, documents: 0, bytes: 0 });
        self.new.insert(number);
        number
    }

    /// The number of an origin that is counted separately; `None` if it has none.
    pub(super) fn find(&self, origin: &Origin) -> Option<u32> {
        self.numbers.get(origin).copied()
    }

    /// The origin with this number; `None` for this node itself.
    pub(super) fn of(&self, number: u32) -> Option<&Origin> {
        self.all.get(&number).map(|usage| &usage.origin)
    }

    /// True if the data of the origin with this number was taken over.
    pub(super) fn is_taken_over(&self, number: u32) -> bool {
        self.of(number).is_some_and(|origin| origin.taken_over)
    }

    /// True if the origin with this number is a single publisher, not a group that is counted together.
    pub(super) fn is_one(&self, number: u32) -> bool {
        self.all.get(&number).is_some_and(|usage| !usage.origin.peer.is_empty())
    }

    pub(super) fn add(&mut self, number: u32, documents: u64, bytes: u64) {
        if let Some(usage) = self.all.get_mut(&number) {
            usage.documents += documents;
            usage.bytes += bytes;
            self.changed.insert(number);
        }
    }

    /// Subtracts documents and bytes that were removed, or that are counted for this node itself.
    pub(super) fn subtract(&mut self, number: u32, documents: u64, bytes: u64) {
        let Some(usage) = self.all.get_mut(&number) else { return };
        usage.documents = usage.documents.saturating_sub(documents);
        usage.bytes = usage.bytes.saturating_sub(bytes);
        self.changed.insert(number);
    }

    /// Removes the origins without documents. The journal must be empty, because its changes refer to origins by
    /// number.
    pub(super) fn forget_empty(&mut self) {
        let empty: Vec<u32> = self.all().filter(|(_, usage)| usage.documents == 0).map(|(number, _)| number).collect();
        for number in empty {
            if let Some(gone) = self.all.remove(&number) {
                self.numbers.remove(&gone.origin);
                if let Some(count) = self.prefixes.get_mut(&gone.origin.prefix) {
                    *count -= 1;
                    if *count == 0 {
                        self.prefixes.remove(&gone.origin.prefix);
                    }
                }
                self.changed.insert(number);
            }
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &Usage)> {
        self.all.iter().map(|(number, usage)| (*number, usage))
    }

    #[cfg(test)]
    fn get(&self, number: u32) -> Option<&Usage> {
        self.all.get(&number)
    }

    /// The total size of the data of all origins, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.all.values().map(|usage| usage.bytes).sum()
    }

    /// Chooses the origin whose documents are removed to make room for `bytes` bytes of a newcomer: the largest of the
    /// largest prefix. `None` if the newcomer's prefix, or then the newcomer itself, would be larger than that.
    pub(super) fn to_give_way(&self, newcomer: u32, bytes: u64) -> Option<u32> {
        let mut prefixes: HashMap<&str, u64> = HashMap::new();
        for usage in self.all.values() {
            *prefixes.entry(&usage.origin.prefix).or_default() += usage.bytes;
        }
        let (&prefix, &most) = prefixes.iter().max_by_key(|(prefix, bytes)| (**bytes, **prefix))?;
        let own = self.all.get(&newcomer)?;
        let own_prefix = own.origin.prefix.as_str();
        if own_prefix != prefix && prefixes[own_prefix] + bytes > most {
            return None;
        }
        let of_prefix = self.all.iter().filter(|(_, usage)| usage.origin.prefix == prefix);
        let (&largest, usage) = of_prefix.max_by_key(|(number, usage)| (usage.bytes, **number))?;
        let gives = largest != newcomer && (own_prefix != prefix || own.bytes + bytes <= usage.bytes);
        gives.then_some(largest)
    }
}

fn encode(usage: &Usage) -> Vec<u8> {
    let Usage { origin: Origin { peer, prefix, taken_over }, documents, bytes } = usage;
    let length = u8::try_from(peer.len()).ok().filter(|length| *length < TAKEN_OVER);
    let length = length.expect("identities of peers are shorter") | if *taken_over { TAKEN_OVER } else { 0 };
    [&documents.to_le_bytes()[..], &bytes.to_le_bytes(), &[length], peer, prefix.as_bytes()].concat()
}

fn decode(row: &[u8]) -> Option<Usage> {
    let (documents, row) = row.split_first_chunk()?;
    let (bytes, row) = row.split_first_chunk()?;
    let (&length, row) = row.split_first()?;
    let taken_over = length & TAKEN_OVER != 0;
    let (peer, prefix) = row.split_at_checked((length & !TAKEN_OVER).into())?;
    let origin = Origin { peer: peer.to_vec(), prefix: str::from_utf8(prefix).ok()?.to_owned(), taken_over };
    Some(Usage { origin, documents: u64::from_le_bytes(*documents), bytes: u64::from_le_bytes(*bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(host: u32, peer: u32) -> Origin {
        Origin { peer: peer.to_le_bytes().to_vec(), prefix: format!("{host}"), taken_over: false }
    }

    #[test]
    fn rows_come_back_and_parts_of_rows_do_not() {
        for taken_over in [false, true] {
            let usage = Usage { origin: Origin { taken_over, ..origin(1, 2) }, documents: 3, bytes: 1 << 40 };
            let row = encode(&usage);
            assert_eq!(decode(&row), Some(usage));
            assert!((0..21).all(|length| decode(&row[..length]).is_none()));
        }
    }

    #[test]
    fn crowds_are_counted_together() {
        let mut origins = Origins::default();
        let numbers: BTreeSet<u32> = (0..1000).map(|peer| origins.number(&origin(1, peer))).collect();
        assert_eq!(numbers.len(), PER_PREFIX + 1);
        (0..2 * MOST as u32).for_each(|host| assert_ne!(origins.number(&origin(host, 1)), OWN));
        assert_eq!(origins.all.len(), MOST + 1);
    }

    #[test]
    fn the_largest_gives_way_first_as_a_prefix_then_as_a_publisher() {
        let mut origins = Origins::default();
        // Three identities at one address, and two identities at others.
        let [a, b, c, d, e] =
            [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1)].map(|(host, peer)| origins.number(&origin(host, peer)));
        for (number, bytes) in [(a, 40), (b, 30), (c, 5), (d, 50), (e, 10)] {
            origins.add(number, 1, bytes);
        }
        assert_eq!(origins.to_give_way(e, 10), Some(a));
        assert_eq!(origins.to_give_way(d, 10), Some(a));
        assert_eq!(origins.to_give_way(d, 30), None);
        assert_eq!(origins.to_give_way(c, 10), Some(a));
        assert_eq!(origins.to_give_way(c, 36), None);
        assert_eq!(origins.to_give_way(a, 1), None);
        origins.subtract(a, 1, 40);
        origins.forget_empty();
        assert_eq!((origins.get(a), origins.bytes()), (None, 95));
        assert_eq!(origins.to_give_way(e, 10), Some(d));
    }
}
