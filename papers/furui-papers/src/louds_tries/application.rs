//! Table 3 and Fig. 4 of the paper of Koyanagi et al.: a dictionary that grows with a stream. Each word of the stream
//! is looked up, and inserted if it is unknown.

use super::online::{Cost, FilterBuild, Online};
use super::scale;
use super::words::{WordList, stream};
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Source, Table, Verdict, brief};
use crate::side_by_side::side_by_side;

const PAPER_KEYS: usize = 6_500_000;
const PAPER_LOOKUPS: usize = 240_000_000;
const DEFAULT_KEYS: usize = PAPER_KEYS / 100;
const QUICK_KEYS: usize = 200;

/// The rows of Table 3 of Koyanagi et al.: the maximum number of tries, and two pairs of times in seconds. The first
/// pair is for filters that are built after the tries, the second for filters that are built at once with the tries. A
/// pair has the time of building and the total time.
const PAPER: [(usize, [f64; 2], [f64; 2]); 4] = [
    (1, [5151.0, 12691.0], [3624.0, 11281.0]),
    (3, [1815.0, 9656.0], [1296.0, 9140.0]),
    (5, [1114.0, 9294.0], [838.0, 8986.0]),
    (7, [840.0, 9266.0], [633.0, 8977.0]),
];

/// The number of windows (write buffers) into which the distinct words are divided. The paper of Koyanagi et al. does
/// not give it.
const WINDOWS: usize = 50;

/// Further numbers of windows, with which one trie is measured.
const WINDOWS_TRIED: [usize; 5] = [10, 20, 50, 100, 200];

/// A saving of time is reproduced if it differs from the saving of Koyanagi et al. by at most this share of it.
const CLOSE: f64 = 0.15;
/// A saving of time is within a band if it differs from the saving of Koyanagi et al. by at most this share of it.
const BAND: f64 = 0.5;

const TRIES: &str = "tries at most";
const FILTERS: &str = "filters";
const SAVED_BUILDING: &str = "at once saves of building %";
const SAVED: &str = "at once saves of all %";
const PAPER_SAVED_BUILDING: &str = "the paper saves of building %";
const PAPER_SAVED: &str = "the paper saves of all %";
const SAVED_BY_WINDOW: &str = "saved of all % (second walk)";

/// The number of look-ups for this many distinct words, in the proportion of the paper of Koyanagi et al.
fn lookups(words: usize) -> usize {
    words * PAPER_LOOKUPS / PAPER_KEYS
}

fn window(words: usize, windows: usize) -> usize {
    (words / windows).max(1)
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let (mut data, mut notes) = (String::new(), vec![]);
    let [table, windows] = context.tables(Source::LoudsTries, ["table3", "windows"], || {
        let (tables, about, remarks) = measure(context)?;
        (data, notes) = (about, remarks);
        Ok(tables)
    })?;
    let (plots, verdict) = (vec![plot(&table), saved_plot(&table)], verdict(&table, &windows));
    Ok(Finding::new(data, verdict, [table, windows], plots).with_notes(notes))
}

/// Measures the growing dictionary. Returns the tables, a description of the data, and remarks.
fn measure(context: &Context) -> Result<([Table; 2], String, Vec<String>)> {
    let WordList { words, data } = WordList::phrases(context, scale(context, PAPER_KEYS, DEFAULT_KEYS, QUICK_KEYS))?;
    let few = &words[..words.len().min(context.size(DEFAULT_KEYS, QUICK_KEYS))];
    let bar = context.bar((PAPER.len() + WINDOWS_TRIED.len()) as u64, "the dictionary");
    let words = words.as_slice();

    let some = stream(few, context.seed, lookups(few.len()));
    let by_window = WINDOWS_TRIED.map(|windows| {
        let cost = Online::measure(few, &some, window(few.len(), windows), 1);
        bar.inc(1);
        (windows, cost)
    });
    #[cfg(feature = "rivals")]
    let rebuilt = {
        // trie-rs is too slow for more words.
        let fewer = &few[..few.len() / 8];
        super::rebuilt::run(fewer, &stream(fewer, context.seed, lookups(fewer.len())), window(fewer.len(), WINDOWS))
    };
    #[cfg(not(feature = "rivals"))]
    let rebuilt =
        "The comparison with a trie that is built anew at every window needs the feature `rivals`, and is left out."
            .into();

    let all = stream(words, context.seed, lookups(words.len()));
    let measure = |(most_tries, ..): (usize, _, _)| {
        let cost = Online::measure(words, &all, window(words.len(), WINDOWS), most_tries);
        bar.inc(1);
        cost
    };
    // At smaller scales the measurements take little time, and concurrent threads would only disturb each other.
    let by_tries: Vec<_> =
        if context.full { side_by_side(PAPER.into(), measure) } else { PAPER.into_iter().map(measure).collect() };

    let one_trie = &by_tries[0];
    let known = 100.0 * (1.0 - f64::from(one_trie.distinct) / all.len() as f64);
    let data = format!(
        "{data} A stream of {} of them, drawn by their frequency, of which {} are distinct, so {known:.2} % of the look-ups find their \
         word (the paper: {PAPER_LOOKUPS} and {PAPER_KEYS}, and 97.44 %). w is {} words, {} % of the distinct ones.",
        all.len(),
        one_trie.distinct,
        window(words.len(), WINDOWS),
        brief(100.0 / WINDOWS as f64),
    );
    let mut notes = vec![
        "As in the paper, the buffer is a dynamic trie, k is 4, and when there are too many tries, all are merged into one. At every \
         window and merge, the trie and its filter are built in each of the three ways, and each way's time is kept apart. Look-ups \
         find the same tries and filters whatever the way, so their time is measured once."
            .into(),
        format!(
            "The paper reads each key out of the finished trie and hashes it from its first byte (\"key by key\"). A second walk \
             that carries the hashes is the fairer rival. The savings for 1, 3, 5 and 7 tries are reproduced if each differs from the \
             paper's by at most {:.0} % of it, better if none is lower than that, within a band if each differs by at most {:.0} %.",
            100.0 * CLOSE,
            100.0 * BAND,
        ),
        format!(
            "The paper does not give w. Here w is {} % of the distinct words, chosen for memory: the largest buffer takes {} % of the \
             bytes of the tries at the end. Every word is merged once a window, so the share of building grows as w becomes smaller; \
             the second table has other windows.",
            brief(100.0 / WINDOWS as f64),
            brief(100.0 * one_trie.buffer_share),
        ),
        format!(
            "The words of the stream are drawn independently of each other, so most of them are new early: 90 % of the distinct words \
             come in the first {} % of the stream. In a stream of reports, new words come until its end.",
            brief(100.0 * until_known(&all, words.len(), 0.9)),
        ),
        rebuilt,
    ];
    if context.full {
        notes.push(
            "The dictionaries of the first table were measured side by side, on as many threads as the machine has processors.".into(),
        );
    }
    let table = by_tries_table(all.len(), &by_tries);
    let windows = by_window_table(few.len(), some.len(), &by_window);
    Ok(([table, windows], data, notes))
}

/// The fraction of a stream, counted from its beginning, in which the share `share` of its distinct words has occurred.
fn until_known(stream: &[u32], words: usize, share: f64) -> f64 {
    let mut met = vec![false; words];
    let firsts: Vec<usize> = (0..)
        .zip(stream)
        .filter(|&(_, &word)| !std::mem::replace(&mut met[word as usize], true))
        .map(|(i, _)| i)
        .collect();
    firsts[(share * (firsts.len() - 1) as f64) as usize] as f64 / stream.len() as f64
}

/// The time that is saved by building tries and filters at once, according to the paper of Koyanagi et al., in per
/// cent: first of the time of building, then of the total time.
fn saved_in_paper(after: [f64; 2], at_once: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|i| 100.0 * (1.0 - at_once[i] / after[i]))
}

fn by_tries_table(lookups: usize, costs: &[Cost]) -> Table {
    let mut table = Table::new(
        "table3",
        format!("The dictionary at the end of {lookups} look-ups; seconds of CPU"),
        [TRIES, FILTERS, "query", "build", "all", "build %", SAVED_BUILDING, SAVED, PAPER_SAVED_BUILDING, PAPER_SAVED],
    );
    for ((most_tries, after, at_once), cost) in PAPER.into_iter().zip(costs) {
        for way in [FilterBuild::AtOnce, FilterBuild::SecondWalk, FilterBuild::ByKey] {
            let times = [cost.query, cost.build(way), cost.all(way), cost.build_share(way)].map(Cell::from);
            let saved = match way {
                FilterBuild::AtOnce => [const { "" }; 4].map(Cell::from),
                rival => {
                    let [building, all] = saved_in_paper(after, at_once);
                    [cost.saved_building(rival), cost.saved(rival), building, all].map(Cell::from)
                }
            };
            table.push([(most_tries as u64).into(), way.name().into()].into_iter().chain(times).chain(saved));
        }
    }
    table
}

fn by_window_table(words: usize, lookups: usize, costs: &[(usize, Cost)]) -> Table {
    let mut table = Table::new(
        "windows",
        format!("One trie and other windows, {lookups} look-ups of {words} words; seconds of CPU"),
        [
            "w, % of the words",
            "w",
            "query",
            "build at once",
            "build, second walk",
            "build, key by key",
            "build % (at once)",
            SAVED_BY_WINDOW,
            "saved of all % (key by key)",
            "buffer, % of the tries' bytes",
        ],
    );
    for (windows, cost) in costs {
        let [second_walk, by_key] = FilterBuild::RIVALS.map(|rival| cost.build(rival));
        let [saved_walk, saved_key] = FilterBuild::RIVALS.map(|rival| cost.saved(rival));
        let numbers = [
            100.0 / *windows as f64,
            window(words, *windows) as f64,
            cost.query,
            cost.build(FilterBuild::AtOnce),
            second_walk,
            by_key,
            cost.build_share(FilterBuild::AtOnce),
            saved_walk,
            saved_key,
            100.0 * cost.buffer_share,
        ];
        table.push(numbers.map(Cell::from));
    }
    table
}

fn plot(table: &Table) -> Plot {
    let plot = Plot::new(
        "fig4",
        "The dictionary grows: CPU time of building and in all",
        Axis::names(TRIES, PAPER.map(|(tries, ..)| tries.to_string())),
        Axis::linear("seconds"),
    );
    [FilterBuild::ByKey, FilterBuild::SecondWalk, FilterBuild::AtOnce].into_iter().fold(plot, |plot, way| {
        plot.bars(format!("all, filter {}", way.name()), by_tries(table, "all", way))
            .bars(format!("building, filter {}", way.name()), by_tries(table, "build", way))
    })
}

/// The plot of the time that building tries and filters at once saves: here, compared with reading key by key as
/// Koyanagi et al. do, and in their paper.
fn saved_plot(table: &Table) -> Plot {
    let tries = Axis::names(TRIES, PAPER.map(|(tries, ..)| tries.to_string()));
    let plot =
        Plot::new("table3-saved", "What filters built at once save, of the time key by key", tries, Axis::linear("%"));
    let columns = [
        ("of all, here", SAVED),
        ("of all, the paper", PAPER_SAVED),
        ("of building, here", SAVED_BUILDING),
        ("of building, the paper", PAPER_SAVED_BUILDING),
    ];
    columns.into_iter().fold(plot, |plot, (name, column)| plot.bars(name, by_tries(table, column, FilterBuild::ByKey)))
}

/// The numbers of one column in the rows for 1, 3, 5 and 7 tries whose filters were built in the given way.
fn by_tries(table: &Table, column: &str, way: FilterBuild) -> [f64; 4] {
    PAPER.map(|(tries, ..)| table.number(column, &[(TRIES, (tries as u64).into()), (FILTERS, way.name().into())]))
}

fn verdict(table: &Table, windows: &Table) -> Verdict {
    let list = |numbers: [f64; 4]| numbers.map(brief).join(", ");
    let claim = |of: &str, column: &str, paper: &str, way: FilterBuild, what: &str| {
        let (ours, paper) = (by_tries(table, column, way), by_tries(table, paper, way));
        let pairs: Vec<_> = paper.into_iter().zip(ours).collect();
        let text = format!(
            "Compared with {what}, building filters at once with the tries saves, for 1, 3, 5 and 7 tries, {} % of {of}; the paper {} %.",
            list(ours),
            list(paper)
        );
        Verdict::new(Grade::of_gains(&pairs, CLOSE, BAND), text)
    };
    let (key, walk) = ("reading key by key, as the paper does", "a second walk, a faster rival");
    let claims = [
        claim("all time", SAVED, PAPER_SAVED, FilterBuild::ByKey, key),
        claim("the time of building", SAVED_BUILDING, PAPER_SAVED_BUILDING, FilterBuild::ByKey, key),
        claim("all time", SAVED, PAPER_SAVED, FilterBuild::SecondWalk, walk),
        claim("the time of building", SAVED_BUILDING, PAPER_SAVED_BUILDING, FilterBuild::SecondWalk, walk),
    ];
    let (least, most) = windows.range(SAVED_BY_WINDOW, &[]);
    Verdict::all(claims).and(format!(
        "For 1, 3, 5 and 7 tries, building key by key takes {} % of all time; in the paper {} %. This share, and with it the saving of \
         all time, depends on the window w (the number of words that are collected before they become a trie), which the paper does \
         not give. With one trie and windows of {} to {} % of the words, building at once saves {} to {} % of all time compared with \
         a second walk.",
        list(by_tries(table, "build %", FilterBuild::ByKey)),
        list(PAPER.map(|(_, [build, all], _)| 100.0 * build / all)),
        brief(100.0 / WINDOWS_TRIED[WINDOWS_TRIED.len() - 1] as f64),
        brief(100.0 / WINDOWS_TRIED[0] as f64),
        brief(least),
        brief(most),
    ))
}
