//! The assignment of hash slots to the servers of a cluster.

use redis::Value;

use super::node::Node;

/// The servers of a cluster, each with the ranges of hash slots that it owns.
#[derive(Default)]
pub struct Slots {
    /// The ranges of slots: the first slot, the last slot, and the server that owns them.
    ranges: Vec<(u16, u16, Node)>,
}

impl Slots {
    /// Reads an answer to `CLUSTER SLOTS`. An entry without a host name stands for the server `asked`, which gave the
    /// answer. `None` if it is not such an answer.
    pub fn read(answer: &Value, asked: &Node) -> Option<Self> {
        let Value::Array(entries) = answer else { return None };
        let range = |entry: &Value| {
            let Value::Array(fields) = entry else { return None };
            let [Value::Int(first), Value::Int(last), Value::Array(master), ..] = &fields[..] else { return None };
            let [host, Value::Int(port), ..] = &master[..] else { return None };
            let host = match host {
                Value::BulkString(name) => std::str::from_utf8(name).ok()?,
                Value::SimpleString(name) => name,
                _ => "",
            };
            let node = asked.other(if host == "?" { "" } else { host }, u16::try_from(*port).ok()?);
            Some((u16::try_from(*first).ok()?, u16::try_from(*last).ok()?, node))
        };
        let mut ranges = entries.iter().map(range).collect::<Option<Vec<_>>>()?;
        ranges.sort_by_key(|range| range.0);
        Some(Self { ranges })
    }

    /// The server that owns a hash slot. `None` if no server owns it.
    pub fn owner(&self, slot: u16) -> Option<&Node> {
        let after = self.ranges.partition_point(|range| range.0 <= slot);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        (slot <= range.1).then_some(&range.2)
    }

    /// The servers that own slots. A server with several ranges occurs several times.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.ranges.iter().map(|range| &range.2)
    }
}

/// The number of hash slots into which a cluster divides its keys.
const SLOTS: u16 = 1 << 14;

/// The hash slot of a key. If the key has a hash tag in braces that is not empty, only the tag is hashed.
pub fn slot_of(key: &[u8]) -> u16 {
    let tag = || {
        let (_, after) = key.split_at(key.iter().position(|&byte| byte == b'{')? + 1);
        let tag = &after[..after.iter().position(|&byte| byte == b'}')?];
        (!tag.is_empty()).then_some(tag)
    };
    crc16(tag().unwrap_or(key)) % SLOTS
}

/// The checksum CRC-16/XMODEM, from which a cluster computes the hash slot of a key.
fn crc16(bytes: &[u8]) -> u16 {
    const POLYNOMIAL: u16 = 0x1021;
    bytes.iter().fold(0, |sum, &byte| {
        (0..8).fold(sum ^ u16::from(byte) << 8, |sum, _| (sum << 1) ^ if sum >> 15 == 1 { POLYNOMIAL } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_servers() {
        // `CLUSTER KEYSLOT` of Redis 7.0.15.
        for (key, slot) in [
            ("123456789", 12739),
            ("", 0),
            ("urls:{3ff}", 12569),
            ("a{}b", 13694),
            ("{user}.x", 5474),
            ("a{b", 13340),
            ("x{y}{z}", 12222),
        ] {
            assert_eq!(slot_of(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn a_slot_has_an_owner_or_none() {
        let text = |text: &str| Value::BulkString(text.into());
        let range = |first, last, host: Value, port| {
            let master = Value::Array(vec![host, Value::Int(port), text("id")]);
            Value::Array(vec![Value::Int(first), Value::Int(last), master])
        };
        let asked = Node::Tcp { host: "asked".into(), port: 1 };
        let answer = Value::Array(vec![range(100, 200, text("b"), 7), range(0, 50, Value::Nil, 8)]);
        let slots = Slots::read(&answer, &asked).unwrap();
        let owner = |slot| slots.owner(slot).map(ToString::to_string);
        assert_eq!((owner(0), owner(50)), (Some("asked:8".into()), Some("asked:8".into())));
        assert_eq!((owner(51), owner(99), owner(201)), (None, None, None));
        assert_eq!(owner(100), Some("b:7".into()));
        assert!(Slots::read(&Value::Okay, &asked).is_none());
        assert!(Slots::default().owner(3).is_none());
    }
}
