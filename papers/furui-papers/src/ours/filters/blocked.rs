//! The blocked filter at the numbers of bits a key and the false-positive rates for which this project has set targets
//! of speed.

use furui::Result;
use furui::filter::BlockedBloom;

use super::floor::Floor;
use super::{Batched, Row, Single, report};

pub(super) fn run(n: usize) -> Result<()> {
    report("10 bits a key", n, "sbbf, 10 bits", || {
        let filter = BlockedBloom::from_parts((n as u64 * 10).div_ceil(512), 8)?;
        #[cfg_attr(not(feature = "rivals"), expect(unused_mut, reason = "rivals are added"))]
        let mut rows = rows(filter);
        #[cfg(feature = "rivals")]
        {
            rows.push(("sbbf, 10 bits", Box::new(sbbf_rs_safe::Filter::new(10, n))));
            rows.push(("fastbloom, 1 %", Box::new(fastbloom::BloomFilter::with_false_pos(0.01).expected_items(n))));
        }
        Ok(rows)
    })?;
    report("1 %", n, "sbbf, 10 bits", || {
        #[cfg_attr(not(feature = "rivals"), expect(unused_mut, reason = "rivals are added"))]
        let mut rows = rows(BlockedBloom::with_rate(n as u64, 0.01)?);
        #[cfg(feature = "rivals")]
        rows.push(("sbbf, 10 bits", Box::new(sbbf_rs_safe::Filter::new(10, n))));
        Ok(rows)
    })?;
    report("0.1 %", n, "sbbf, 17 bits", || {
        let mut rows = rows(BlockedBloom::with_rate(n as u64, 0.001)?);
        let eight = BlockedBloom::from_parts((n as f64 * 15.75 / 512.0).ceil() as u64, 8)?;
        rows.push(("BlockedBloom, 8 probes, batches", Box::new(Batched { bits: eight.bits(), filter: eight })));
        #[cfg(feature = "rivals")]
        {
            rows.push(("sbbf, 15 bits", Box::new(sbbf_rs_safe::Filter::new(15, n))));
            rows.push(("sbbf, 17 bits", Box::new(sbbf_rs_safe::Filter::new(17, n))));
            rows.push(("fastbloom, 0.1 %", Box::new(fastbloom::BloomFilter::with_false_pos(0.001).expected_items(n))));
        }
        Ok(rows)
    })?;
    Ok(())
}

/// The rows of the [`Floor`], and of this project's filter in batches and key by key.
fn rows(filter: BlockedBloom) -> Vec<Row> {
    let bits = filter.bits();
    vec![
        ("floor, loads", Box::new(Floor::new(bits, false))),
        ("floor, prefetches", Box::new(Floor::new(bits, true))),
        ("BlockedBloom, batches", Box::new(Batched { bits, filter: filter.clone() })),
        ("BlockedBloom, single", Box::new(Single { bits, filter })),
    ]
}
