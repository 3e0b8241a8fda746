use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use crate::text::{self, InvalidText};

/// The part of a stream that a set remembers: the last keys, or the keys of the last period of time.
///
/// This is the jumping window of Metwally, Agrawal and El Abbadi ("Duplicate Detection in Click Streams", WWW 2005).
/// Time is a count of *ticks*: the keys of the stream, or milliseconds. It is cut into *slices* of a sixteenth of the
/// window. A set keeps the keys of the current slice and of the 16 slices before it, each slice in runs of its own, and
/// forgets a slice as a whole.
///
/// So with a window of W ticks, a key is always known if its latest occurrence is at most W ticks ago, and never known
/// if its latest occurrence is at least 17/16 W ticks ago. Difference from the paper: a slice is an exact set and not a
/// Bloom filter, and a repeat counts as an occurrence.
///
/// ```
/// use std::num::NonZeroU64;
///
/// use furui::store::Window;
///
/// let hour = Window::Milliseconds(NonZeroU64::new(3_600_000).unwrap());
/// assert_eq!(hour.to_string(), "1h");
/// assert_eq!("1h".parse(), Ok(hour));
/// assert_eq!(hour.slice_of(3_600_000), 16);
/// assert_eq!(hour.end_of(0), 225_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// The last keys of the stream: this many, repeats included.
    Keys(NonZeroU64),
    /// This many milliseconds, by the clock of the caller.
    Milliseconds(NonZeroU64),
}

impl Window {
    /// The number of slices in a window. More slices would forget a key sooner after the window has passed, and would
    /// cost more runs on storage.
    pub const SLICES: u64 = 16;

    /// The length of the window in ticks (keys or milliseconds).
    pub fn ticks(self) -> u64 {
        match self {
            Self::Keys(ticks) | Self::Milliseconds(ticks) => ticks.get(),
        }
    }

    /// The slice that contains a tick (a key or a millisecond): ⌊16 tick / W⌋ for a window of W ticks, but at most 2⁶⁴
    /// - 1.
    pub fn slice_of(self, tick: u64) -> u64 {
        let slice = u128::from(tick) * u128::from(Self::SLICES) / u128::from(self.ticks());
        u64::try_from(slice).unwrap_or(u64::MAX)
    }

    /// The first tick (key or millisecond) that is in a later slice than `slice`, but at most 2⁶⁴ - 1.
    pub fn end_of(self, slice: u64) -> u64 {
        let end = ((u128::from(slice) + 1) * u128::from(self.ticks())).div_ceil(u128::from(Self::SLICES));
        u64::try_from(end).unwrap_or(u64::MAX)
    }

    /// The oldest slice that a set remembers while `slice` is the present slice.
    pub(crate) fn oldest(slice: u64) -> u64 {
        slice.saturating_sub(Self::SLICES)
    }

    /// The number that stands for the unit (keys or milliseconds) in a file.
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Keys(_) => 0,
            Self::Milliseconds(_) => 1,
        }
    }

    pub(crate) fn from_code(code: u32, ticks: u64) -> Option<Self> {
        match (code, NonZeroU64::new(ticks)?) {
            (0, ticks) => Some(Self::Keys(ticks)),
            (1, ticks) => Some(Self::Milliseconds(ticks)),
            _ => None,
        }
    }
}

impl FromStr for Window {
    type Err = InvalidText;

    /// Reads a time in one of the units `ms`, `s`, `m`, `h` and `d`, or a number of keys.
    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let mut is_time = true;
        let ticks = text::scaled(text, |unit| match unit {
            "" => {
                is_time = false;
                Some(1)
            }
            "ms" => Some(1),
            _ => UNITS.into_iter().find(|(_, name)| *name == unit).map(|(milliseconds, _)| milliseconds),
        });
        let window = ticks.and_then(NonZeroU64::new).map(if is_time { Self::Milliseconds } else { Self::Keys });
        window.ok_or_else(|| {
            InvalidText::new(
                text,
                "window: write a time as in 500ms, 90s, 30m, 1h or 7d, or a number of lines or keys as in 1000000",
            )
        })
    }
}

/// The units of time that are more than a millisecond: the length of each in milliseconds, and its letter.
const UNITS: [(u64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")];

impl fmt::Display for Window {
    /// Writes the window in the largest unit that divides it: `1000 keys`, `90m`, `1h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keys(keys) => write!(f, "{keys} keys"),
            Self::Milliseconds(ticks) => {
                let fits = UNITS.into_iter().find(|(unit, _)| ticks.get().is_multiple_of(*unit));
                let (unit, name) = fits.unwrap_or((1, "ms"));
                write!(f, "{}{name}", ticks.get() / unit)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_window_is_exact_to_a_sixteenth(ticks in 1u64..1 << 40, tick in 0u64..1 << 50, age in 0u64..1 << 41) {
            let window = Window::Keys(NonZeroU64::new(ticks).unwrap());
            let remembered = window.slice_of(tick) >= Window::oldest(window.slice_of(tick + age));
            if age <= ticks {
                prop_assert!(remembered);
            } else if u128::from(age) * 16 >= u128::from(ticks) * 17 {
                prop_assert!(!remembered);
            }
            let slice = window.slice_of(tick);
            prop_assert!(window.end_of(slice) > tick);
            prop_assert!(window.slice_of(window.end_of(slice)) > slice);
            prop_assert!(window.slice_of(window.end_of(slice) - 1) <= slice);
        }
    }

    #[test]
    fn windows_are_read_as_written() {
        let time = |milliseconds| Window::Milliseconds(NonZeroU64::new(milliseconds).unwrap());
        for (text, window) in [
            ("500ms", time(500)),
            ("90s", time(90_000)),
            ("30m", time(1_800_000)),
            ("1.5h", time(5_400_000)),
            ("7d", time(604_800_000)),
            ("1000000", Window::Keys(NonZeroU64::new(1_000_000).unwrap())),
        ] {
            assert_eq!(text.parse(), Ok(window), "{text}");
        }
        for bad in ["", "0", "0s", "h", "1M", "1w", "-1h", "300000000000d"] {
            assert!(bad.parse::<Window>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ends_of_time_are_no_overflow() {
        let window = Window::Keys(NonZeroU64::MIN);
        assert_eq!(window.slice_of(u64::MAX), u64::MAX);
        assert_eq!(window.end_of(u64::MAX), u64::MAX / 16 + 1);
        let window = Window::Milliseconds(NonZeroU64::MAX);
        assert_eq!((window.slice_of(u64::MAX), window.end_of(16)), (16, u64::MAX));
    }
}
