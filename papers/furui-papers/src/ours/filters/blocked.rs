//! The blocked filter at the numbers of bits a key and the false-positive rates for which this project has set targets
//! of speed.

use furui::Result;
use furui::filter::BlockedBloom;

use super::floor::Floor;
use super::{Ours, Row, both, report, rivals};

pub(super) fn run(n: usize) -> Result<()> {
    let sized = |rate| BlockedBloom::with_rate(n as u64, rate);
    report("10 bits a key", n, "sbbf, 10 bits", || {
        let mut rows = rows(BlockedBloom::from_parts((n as u64 * 10).div_ceil(512), 8)?);
        rows.extend(rivals::rows(&["sbbf, 10 bits", "fastbloom, 1 %"], n, 0.01));
        Ok(rows)
    })?;
    report("1 %", n, "sbbf, 10 bits", || {
        let mut rows = rows(sized(0.01)?);
        rows.extend(rivals::rows(&["sbbf, 10 bits"], n, 0.01));
        Ok(rows)
    })?;
    report("0.1 %", n, "sbbf, 17 bits", || {
        let mut rows = rows(sized(0.001)?);
        let eight = BlockedBloom::from_parts((n as f64 * 15.75 / 512.0).ceil() as u64, 8)?;
        rows.push(("BlockedBloom, 8 probes, batches", Box::new(Ours::in_batches(eight, BlockedBloom::bits))));
        rows.extend(rivals::rows(&["sbbf, 15 bits", "sbbf, 17 bits", "fastbloom, 0.1 %"], n, 0.001));
        Ok(rows)
    })
}

/// The rows of the [`Floor`], and of this project's filter in batches and key by key.
fn rows(filter: BlockedBloom) -> Vec<Row> {
    let bits = filter.bits();
    let floors: [Row; 2] =
        [("floor, loads", Box::new(Floor::new(bits, false))), ("floor, prefetches", Box::new(Floor::new(bits, true)))];
    let ours = both(["BlockedBloom, batches", "BlockedBloom, single"], filter, BlockedBloom::bits);
    floors.into_iter().chain(ours).collect()
}
