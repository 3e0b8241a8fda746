//! The growing chain of filters: its time and its size compared with those of a filter sized for the keys.

use furui::Result;
use furui::filter::{Bloom, GrowingBloom};

use super::{Ours, Row, both, report, rivals};

pub(super) fn run(n: usize) -> Result<()> {
    let base = if cfg!(feature = "rivals") { "growable-bloom-filter" } else { "Bloom, sized, batches" };
    report("growing, 1 %", n, base, || {
        let sized = Ours::in_batches(Bloom::with_rate(n as u64, 0.01)?, Bloom::bits);
        let mut rows: Vec<Row> = vec![("Bloom, sized, batches", Box::new(sized))];
        let names = ["GrowingBloom, batches", "GrowingBloom, single"];
        rows.extend(both(names, GrowingBloom::with_rate(0.01)?, GrowingBloom::bits));
        rows.extend(rivals::rows(&["growable-bloom-filter"], n, 0.01));
        Ok(rows)
    })
}
