//! An exact set of any size, which says for each key of a stream whether it is new.

pub(crate) mod clock;
mod counters;
mod index;
mod kept_tiers;
pub(crate) mod lru;
mod observed;
mod pending;
mod pipeline;
pub(crate) mod recent;
mod remove;
mod replacement;
mod run;
mod sizes;
mod split;
mod thread_caches;
mod tiers;
mod tiers_file;
mod window;

pub use counters::SeenCounters;
pub use kept_tiers::KeptTiers;
pub use observed::Observed;
pub use pending::Pending;
pub use pipeline::{Seen, SeenOptions};
pub use recent::Recent;
pub use replacement::Replacement;
pub use run::Run;
pub use sizes::TierSizes;
pub use tiers::Cache;
pub use tiers_file::Start;

/// The verdict of a set on a key that was observed.
///
/// ```
/// use furui::seen::{Seen, SeenOptions, Verdict};
/// use furui::store::Memory;
///
/// let mut seen = Seen::open_with(Memory::new(), SeenOptions::default())?;
/// let lines = ["a", "b", "a"];
/// let keys = seen.hash_spec().hasher().hash_all(lines);
/// let mut verdicts = vec![];
/// seen.observe_all(&keys, &mut verdicts)?;
/// let new = lines.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == Verdict::New);
/// assert_eq!(new.map(|(line, _)| *line).collect::<Vec<_>>(), ["a", "b"]);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The key was not seen before. It is recorded.
    New,
    /// The key was seen before. With [`Cache::LruStable`] it may also be a new key that was dropped.
    Repeat,
}
