use std::fmt;
use std::num::NonZeroU64;

use furui::store::Window;
use furui::{HashAlgorithm, HashSpec, text};

/// The layout of a set, which its first user decides for all users: the number of server keys over which it is spread,
/// the seed of its hash, and its window. The server's key `NAME:shards` has it as text, such as
/// `1024 0x0123456789abcdef`, with ` 1000000` or ` 3600000ms` after it if the set has a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub shards: u32,
    /// The seed of the XXH3 of a member. See [`shard`](Self::shard).
    pub seed: u64,
    /// The window of the set: it remembers only this number of last lines, or the lines of this time. `None` if it
    /// remembers everything.
    pub window: Option<Window>,
}

impl Layout {
    /// The default number of keys of the server over which a set is spread.
    const SHARDS: u32 = 1024;
    /// The maximum number of the server's keys over which a set is spread.
    const MOST_SHARDS: u32 = 1 << 16;

    /// The layout of a set that this process begins, with a random seed.
    pub fn new(window: Option<Window>) -> Self {
        Self { shards: Self::SHARDS, seed: HashSpec::random().seed, window }
    }

    /// The hash of the set's members.
    pub fn hash(self) -> HashSpec {
        HashSpec { algorithm: HashAlgorithm::Xxh3, seed: self.seed }
    }

    /// Parses the text of a layout. `None` if it is not such a text.
    pub fn parse(layout: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(layout).ok()?.split(' ');
        let shards = words.next()?.parse().ok().filter(|shards| (1..=Self::MOST_SHARDS).contains(shards))?;
        let seed = words.next().filter(|word| word.starts_with("0x")).and_then(|word| text::seed(word).ok())?;
        let number = |digits: &str| digits.parse::<NonZeroU64>().ok();
        let window = match words.next() {
            None => None,
            Some(span) => Some(match span.strip_suffix("ms") {
                Some(time) => Window::Milliseconds(number(time)?),
                None => Window::Keys(number(span)?),
            }),
        };
        words.next().is_none().then_some(Self { shards, seed, window })
    }

    /// The number of the server's key to which the member with this hash belongs: the hashes, with their halves
    /// exchanged, are divided into `shards` equal ranges. By the first bits of the hash, the members of one key would
    /// crowd at one place of its table.
    pub fn shard(self, hash: u64) -> u32 {
        ((u128::from(hash.rotate_left(32)) * u128::from(self.shards)) >> 64) as u32
    }

    /// The names of the keys of the server that hold the set with this name.
    pub fn keys(self, name: &str) -> Vec<Vec<u8>> {
        let width = format!("{:x}", self.shards - 1).len();
        (0..self.shards).map(|shard| format!("{name}:{{{shard:0width$x}}}").into_bytes()).collect()
    }

    /// The part of the set's window that each key of the server has, in the syntax of `SEEN.RESERVE`. `None` if
    /// the set remembers everything.
    pub fn span(self) -> Option<String> {
        self.window.map(|window| match window {
            Window::Keys(keys) => keys.get().div_ceil(self.shards.into()).to_string(),
            Window::Milliseconds(time) => format!("{time}ms"),
        })
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#018x}", self.shards, self.seed)?;
        match self.window {
            None => Ok(()),
            Some(Window::Keys(keys)) => write!(f, " {keys}"),
            Some(Window::Milliseconds(time)) => write!(f, " {time}ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_a_text_that_is_read_again() {
        for text in [
            "1 0x0000000000000000",
            "1024 0x0123456789abcdef",
            "65536 0xffffffffffffffff 1",
            "16 0x0000000000000001 1000000",
            "1024 0x0123456789abcdef 3600000ms",
        ] {
            assert_eq!(Layout::parse(text.as_bytes()).map(|layout| layout.to_string()).as_deref(), Some(text));
        }
        for text in [
            "",
            " ",
            "0",
            "65537",
            "-1",
            "many",
            "1024",
            "1024 ",
            "1024 7",
            "1024 0x",
            "1024 0x10000000000000000",
            "65537 0x1",
            "1024 0x1 0",
            "1024 0x1 1h",
            "1024 0x1 1 1",
            "1024 0x1 ms",
            "1024 0x1 18446744073709551616",
        ] {
            assert_eq!(Layout::parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(Layout::parse(b"\xff"), None);
    }

    #[test]
    fn keys_have_as_many_digits_as_the_last_one_needs() {
        let last =
            |shards| String::from_utf8(Layout { shards, seed: 0, window: None }.keys("x").pop().unwrap()).unwrap();
        assert_eq!([last(1), last(16), last(17), last(1024)], ["x:{0}", "x:{f}", "x:{10}", "x:{3ff}"]);
        assert_eq!(Layout { shards: 17, seed: 0, window: None }.keys("x")[1], b"x:{01}");
        let of = |keys| Layout { shards: 1024, seed: 0, window: NonZeroU64::new(keys).map(Window::Keys) }.span();
        assert_eq!([of(1), of(1024), of(1025)], [Some("1".into()), Some("1".into()), Some("2".into())]);
    }
}
