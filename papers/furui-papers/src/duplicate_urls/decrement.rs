//! Table 1 of the paper of Kubota, Ueda and Yamana: the time to decrement counters of a stable filter.

use std::hint::black_box;

use furui::filter::{StableBloom, StableBloomLight};
use furui::raw::Cells;

use crate::clock::{median, ns_each};
use crate::report::{Axis, Context, Finding, Plot, Result, Source, Table, Verdict, brief};

/// The times of 2 billion decrements in Table 1 of the paper of Kubota et al., in seconds, in the order of the ways
/// that are measured.
const PAPER: [f64; 3] = [320.7, 9.435, 0.9672];
const PAPER_SECONDS: &str = "paper, s";
const NS: &str = "here, ns each";
const BILLIONS: f64 = 2.0;

/// One way to decrement counters: its name, the time that Kubota et al. state for 2 billion decrements in seconds, the
/// number of decrements in a round, and the function that does one round.
type Way<'a> = (&'static str, Option<f64>, usize, Box<dyn FnMut() + 'a>);

pub(super) fn table1(context: &Context) -> Result<Finding> {
    let rounds = context.size(9, 1);
    let [table] = context.tables(Source::DuplicateUrls, ["table1"], || measure(context, rounds))?;
    let column = |name: &str| -> Vec<f64> {
        let at = table.columns.iter().position(|column| column == name);
        table.rows.iter().map(|row| at.and_then(|at| row[at].number()).unwrap_or(f64::NAN)).collect()
    };
    let ns = column(NS);
    let names = table.rows.iter().filter_map(|row| row[0].text());
    let plot = Plot::new("table1", "2 billion decrements", Axis::log("seconds"), Axis::names("", names))
        .bars("here", ns.iter().map(|ns| BILLIONS * ns))
        .bars("the paper", column(PAPER_SECONDS));
    let verdict = Verdict::all([
        Verdict::near("Random against one by one", PAPER[0] / PAPER[1], ns[0] / ns[2], 0.2, 0.7),
        Verdict::near("Random against 32 at once", PAPER[0] / PAPER[2], ns[0] / ns[3], 0.2, 0.7),
    ])
    .and(format!(
        "A whole round in one call, with 256 counters in a vector, is {} times as fast as random \
            decrements.",
        brief(ns[0] / ns[4])
    ));
    let notes = vec![format!(
        "Processor time of the thread, medians of {rounds} rounds. In a round, each way in turn does a few \
                 million decrements; the seconds are scaled to the paper's 2 billion."
    )];
    Ok(Finding::new("no keys; positions are random numbers from the seed, or consecutive.", verdict, [table], [plot])
        .with_notes(notes))
}

/// Measures the ways to decrement counters, each in `rounds` rounds.
fn measure(context: &Context, rounds: usize) -> Result<[Table; 1]> {
    let counters: usize = context.size(1 << 30, 1 << 16);
    let [random, single] = [context.size(4_000_000, 1000), context.size(40_000_000, 1000)];

    let mut cells = [full_cells(counters)?, full_cells(counters)?];
    let [by_chance, in_a_row] = &mut cells;
    let mut twister = rand_mt::Mt::new(context.seed as u32);
    let mut mixed = StableBloom::from_parts(counters, 2, 1, 1)?;
    // Touch the memory first; otherwise the first decrements would take the page faults.
    let mut words = StableBloomLight::from_parts(counters, 1, 1)?;
    words.decrement(counters);
    mixed.decrement(counters / 64);
    let mut at = 0;
    let mut whole = words.clone();
    let mut ways: Vec<Way<'_>> = vec![
        (
            "at random, Mersenne Twister",
            Some(PAPER[0]),
            random,
            Box::new(|| {
                for _ in 0..random {
                    by_chance.decrement(twister.next_u32() as usize & (counters - 1));
                }
            }),
        ),
        ("at random, SplitMix64", None, random, Box::new(|| mixed.decrement(black_box(random)))),
        (
            "in a row, one by one",
            Some(PAPER[1]),
            single,
            Box::new(|| {
                for _ in 0..single {
                    in_a_row.decrement(black_box(at));
                    at = (at + 1) & (counters - 1);
                }
            }),
        ),
        (
            "in a row, 32 a call",
            Some(PAPER[2]),
            single / 32 * 32,
            Box::new(|| (0..single / 32).for_each(|_| words.decrement(black_box(32)))),
        ),
        ("in a row, a whole round a call", None, counters, Box::new(|| whole.decrement(black_box(counters)))),
    ];
    let mut samples = vec![vec![]; ways.len()];
    let bar = context.bar((rounds * ways.len()) as u64, "decrements");
    for _ in 0..rounds {
        for ((_, _, count, work), samples) in ways.iter_mut().zip(&mut samples) {
            samples.push(ns_each(*count, work));
            bar.inc(1);
        }
    }

    let mut table = Table::new(
        "table1",
        format!("A decrement of {counters} counters of 2 bits"),
        ["decrements", PAPER_SECONDS, "here, s for 2 billion", NS, "paper: times the first", "here: times the first"],
    );
    let ns: Vec<f64> = samples.iter_mut().map(|samples| median(samples)).collect();
    for ((name, paper, ..), ns_here) in ways.iter().zip(&ns) {
        let text = || "".into();
        table.push([
            (*name).into(),
            paper.map_or_else(text, Into::into),
            (BILLIONS * ns_here).into(),
            (*ns_here).into(),
            paper.map_or_else(text, |paper| (PAPER[0] / paper).into()),
            (ns[0] / ns_here).into(),
        ]);
    }
    Ok([table])
}

fn full_cells(counters: usize) -> Result<Cells> {
    let mut cells = Cells::new(counters, 2)?;
    (0..counters).for_each(|i| {
        cells.fill(i);
    });
    Ok(cells)
}
