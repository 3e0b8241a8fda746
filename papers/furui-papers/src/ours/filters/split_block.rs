//! The split-block filter compared with a crate that implements the same filter.

use furui::Result;
use furui::filter::SplitBlockBloom;

use super::{Batched, Row, Single, report};

pub(super) fn run(n: usize) -> Result<()> {
    report("split-block, 10 bits a key", n, "sbbf, 10 bits", || {
        let filter = SplitBlockBloom::from_parts((n as u64 * 10).div_ceil(256))?;
        let bits = 256 * filter.blocks();
        #[cfg_attr(not(feature = "rivals"), expect(unused_mut, reason = "rivals join"))]
        let mut rows: Vec<Row> = vec![
            ("SplitBlockBloom, batches", Box::new(Batched { bits, filter: filter.clone() })),
            ("SplitBlockBloom, single", Box::new(Single { bits, filter })),
        ];
        #[cfg(feature = "rivals")]
        rows.push(("sbbf, 10 bits", Box::new(sbbf_rs_safe::Filter::new(10, n))));
        Ok(rows)
    })
}
