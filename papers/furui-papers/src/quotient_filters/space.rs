//! Measures the number of bits a key of filters at each false-positive rate.

use furui::filter::{Bloom, QuotientFilter};

use crate::report::{Axis, Cell, Context, Finding, Mark, Plot, Result, Table, Verdict, brief};

const KEYS: u64 = 1_000_000;
/// The exponents e of the false-positive rates 2^-e that are measured.
const EXPONENTS: std::ops::RangeInclusive<i32> = 2..=24;

const COLUMNS: [&str; 3] = ["quotient filter", "Bloom filter", "least possible"];

pub(super) fn run(_: &Context) -> Result<Finding> {
    let mut table =
        Table::new("space", format!("Bits a key for {KEYS} keys"), ["log2 of 1 / rate"].into_iter().chain(COLUMNS));
    let (mut from, mut larger) = (None, 0);
    for exponent in EXPONENTS {
        let rate = 0.5f64.powi(exponent);
        let quotient = QuotientFilter::with_rate(KEYS, rate)?.bits() as f64 / KEYS as f64;
        let bloom = Bloom::with_rate(KEYS, rate)?.bits() as f64 / KEYS as f64;
        from = from.or((quotient < bloom).then_some(rate));
        larger += usize::from(quotient >= bloom);
        table.push([f64::from(exponent), quotient, bloom, f64::from(exponent)].map(Cell::from));
    }
    let plot = Plot::new("space", "Bits a key", Axis::linear("log2 of 1 / rate"), Axis::linear("bits a key"));
    let plot = COLUMNS.iter().fold(plot, |plot, column| {
        let mark = if *column == COLUMNS[2] { Mark::Formula } else { Mark::Line };
        plot.with(mark, *column, table.points("log2 of 1 / rate", column, &[]))
    });
    let hundredth = [QuotientFilter::with_rate(KEYS, 0.01)?.bits(), Bloom::with_rate(KEYS, 0.01)?.bits()];
    let [quotient, bloom] = hundredth.map(|bits| brief(bits as f64 / KEYS as f64));
    let below =
        from.map_or("never smaller".into(), |rate| format!("the smaller one at rates of {} and below", brief(rate)));
    let verdict = Verdict::all([
        Verdict::holds(
            larger == 0,
            format!(
                "Not at high rates: at {larger} of the {} rates the quotient filter is larger. At 1 % it takes {quotient} bits a key, \
                 and a Bloom filter {bloom}.",
                EXPONENTS.count()
            ),
        ),
        Verdict::holds(
            from.is_some(),
            format!(
                "At low rates: it is {below}, for a bit more of remainder halves the rate where a Bloom filter needs 1.44 bits."
            ),
        ),
    ]);
    Ok(Finding::new("no keys; sizes follow from the number of keys and the rate.", verdict, [table], [plot]))
}
