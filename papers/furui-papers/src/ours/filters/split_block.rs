//! The split-block filter compared with a crate that implements the same filter.

use furui::Result;
use furui::filter::SplitBlockBloom;

use super::{both, report, rivals};

pub(super) fn run(n: usize) -> Result<()> {
    report("split-block, 10 bits a key", n, "sbbf, 10 bits", || {
        let filter = SplitBlockBloom::from_parts((n as u64 * 10).div_ceil(256))?;
        let names = ["SplitBlockBloom, batches", "SplitBlockBloom, single"];
        let mut rows = both(names, filter, |filter| 256 * filter.blocks());
        rows.extend(rivals::rows(&["sbbf, 10 bits"], n, 0.01));
        Ok(rows)
    })
}
