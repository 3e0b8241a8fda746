//! Section 3.1 of the paper of Koyanagi et al.: filters of one size that are merged by OR, compared with filters of the
//! right size that are built anew.

use furui::KeyHash;
use furui::filter::{Bloom, ConfigError, Filter, FilterMut};

use crate::clock::{median, thread_ns};
use crate::keys::mix;
use crate::report::{Axis, Cell, Context, Finding, Plot, Result, Table, Verdict, brief};

const ROUNDS: usize = 3;
const RATE: f64 = 0.01;
const TRIES: [usize; 5] = [1, 3, 5, 7, 15];
const WINDOWS: u64 = 64;

/// The capacities for which fixed filters are sized, as multiples of the actual number of keys.
const ROOM: [u64; 2] = [1, 4];

/// A list of tries. Only the filters and the hashes of the keys are kept.
struct Tries {
    most: usize,
    /// The number of keys for which every filter is sized. `None` if each filter is sized for the keys that it has.
    fixed: Option<u64>,
    list: Vec<(Bloom, Vec<KeyHash>)>,
    ns: u64,
    most_bits: u64,
}

impl Tries {
    fn filter(&self, keys: &[KeyHash]) -> std::result::Result<Bloom, ConfigError> {
        let mut filter = Bloom::with_rate(self.fixed.unwrap_or(keys.len() as u64), RATE)?;
        filter.insert_all(keys).expect("a Bloom filter is never full");
        Ok(filter)
    }

    /// Adds a trie with the keys of one window (write buffer). If there are then too many tries, all are merged into
    /// one.
    fn push(&mut self, keys: Vec<KeyHash>) -> Result<()> {
        let start = thread_ns();
        let filter = self.filter(&keys)?;
        self.ns += thread_ns() - start;
        self.list.push((filter, keys));
        self.note_bits();
        if self.list.len() <= self.most {
            return Ok(());
        }
        let (filters, keys): (Vec<Bloom>, Vec<Vec<KeyHash>>) = self.list.drain(..).unzip();
        let keys = keys.concat();
        let start = thread_ns();
        let merged = match self.fixed {
            None => self.filter(&keys)?,
            Some(_) => {
                let mut filters = filters.into_iter();
                let mut merged = filters.next().ok_or("no tries")?;
                filters.try_for_each(|filter| merged.union_with(&filter))?;
                merged
            }
        };
        self.ns += thread_ns() - start;
        self.list.push((merged, keys));
        self.note_bits();
        Ok(())
    }

    fn note_bits(&mut self) {
        self.most_bits = self.most_bits.max(self.list.iter().map(|(filter, _)| filter.bits()).sum());
    }

    /// The mean number of tries whose filters say yes, so that they have to be searched, to a key that is in none of
    /// them.
    fn searched_in_vain(&self, misses: impl Iterator<Item = KeyHash> + Clone) -> f64 {
        let count = misses.clone().count() as f64;
        misses.map(|key| self.list.iter().filter(|(filter, _)| filter.contains_hash(key)).count()).sum::<usize>() as f64
            / count
    }
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let keys = context.size(2_000_000, 6400);
    let misses = context.size(1 << 20, 1 << 10);
    let key = |i: u64| KeyHash::new(mix(i ^ context.seed << 48));
    let bar = context.bar(TRIES.len() as u64, "filters of tries");
    let mut table = Table::new(
        "filters",
        format!("The filters of {keys} keys at a rate of {RATE}, built in {WINDOWS} windows"),
        [
            "tries at most",
            "filters",
            "made for",
            "MiB at most",
            "bits a key at most",
            "ns a key",
            "tries searched in vain, a miss",
        ],
    );
    for most in TRIES {
        let kinds = [None, Some(ROOM[0] * keys), Some(ROOM[1] * keys)];
        let mut measured = kinds.map(|_| (vec![], 0, 0.0));
        for _ in 0..ROUNDS {
            for (fixed, (times, bits, vain)) in kinds.iter().zip(&mut measured) {
                let mut tries = Tries { most, fixed: *fixed, list: vec![], ns: 0, most_bits: 0 };
                for window in 0..WINDOWS {
                    tries.push((window * keys / WINDOWS..(window + 1) * keys / WINDOWS).map(key).collect())?;
                }
                times.push(tries.ns as f64 / keys as f64);
                *bits = tries.most_bits;
                *vain = tries.searched_in_vain((1 << 40..(1 << 40) + misses).map(key));
            }
        }
        for (fixed, (mut times, bits, vain)) in kinds.into_iter().zip(measured) {
            let name = if fixed.is_some() { "fixed, merged by OR" } else { "built anew" };
            let made_for =
                fixed.map_or("the keys it has".into(), |fixed| Cell::from(format!("{} times all", fixed / keys)));
            let each = bits as f64 / keys as f64;
            let cells = [bits as f64 / 8.0 / f64::from(1 << 20), each, median(&mut times), vain].map(Cell::from);
            table.push([Cell::from(most as u64), name.into(), made_for].into_iter().chain(cells));
        }
        bar.inc(1);
    }
    let (plots, verdict) = (vec![plot(&table)], verdict(&table));
    let data = format!("{keys} uniform hashes of made-up keys, which are equal for all filters.");
    Ok(Finding::new(data, verdict, [table], plots))
}

fn fixed(room: u64) -> [(&'static str, Cell); 2] {
    [("filters", "fixed, merged by OR".into()), ("made for", format!("{room} times all").into())]
}

fn plot(table: &Table) -> Plot {
    let of = |cells: &[(&str, Cell)]| table.points("tries at most", "bits a key at most", cells);
    Plot::new("filters", "Memory of all filters", Axis::log("tries at most"), Axis::log("bits a key, at most"))
        .line("built anew", of(&[("filters", "built anew".into())]))
        .line("fixed for N keys, OR", of(&fixed(1)))
        .line("fixed for 4 N keys, OR", of(&fixed(4)))
}

fn verdict(table: &Table) -> Verdict {
    let number = |column: &str, most: usize, kind: &[(&'static str, Cell)]| {
        let cells: Vec<_> = kind.iter().cloned().chain([("tries at most", (most as u64).into())]).collect();
        table.number(column, &cells)
    };
    let anew = [("filters", Cell::from("built anew"))];
    let ratio = |most| number("bits a key at most", most, &fixed(1)) / number("bits a key at most", most, &anew);
    let time = |most| number("ns a key", most, &anew) / number("ns a key", most, &fixed(1));
    let holds = TRIES.iter().all(|&most| ratio(most) >= most as f64);
    let (least, most) = table.range("bits a key at most", &anew);
    let [least, most] = [least, most].map(brief);
    let text = format!(
        "Filters of the right size take {} bits a key at most, from 1 to {} tries; fixed filters made for exactly the final number \
         of keys take {} times as much with {} tries, {} as many times as there are tries, as the paper says. Building anew takes \
         {} times as long as OR with these numbers of tries{}.",
        if least == most { most } else { format!("{least} to {most}") },
        TRIES[TRIES.len() - 1],
        TRIES.map(|most| brief(ratio(most))).join(", "),
        TRIES.map(|most| most.to_string()).join(", "),
        if holds { "at least" } else { "but not always" },
        TRIES.map(|most| brief(time(most))).join(", "),
        if TRIES.iter().all(|&most| time(most) >= 1.0) { ", so time is not a reason for it" } else { "" },
    );
    Verdict::holds(holds, text)
}
