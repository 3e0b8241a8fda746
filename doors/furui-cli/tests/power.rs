//! Power cuts: the operations of the real binary on its files are recorded, and furui opens every state in which the
//! storage may then be. A storage keeps synced data, and any part of the rest in any order.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use crate::disk;
use crate::disk::cases::{self, Case, Run, Scale};
#[cfg(feature = "node")]
use crate::disk::node::node;
use crate::disk::power::{Content, Model, State, restore};
use crate::disk::{Disk, Event};
use crate::support::TempDir;

/// The last byte of the trace of a run that was killed.
const KILLED: u8 = b'X';
/// The last byte of the trace of a run that ended without an error.
const ENDED: u8 = b'Y';

macro_rules! cut_off {
    ($bounds:expr; $($name:ident: $case:expr;)*) => { $(
        #[test]
        fn $name() {
            cut_everywhere(&$case, &$bounds);
        }
    )* };
}

cut_off! {
    Bounds::MANY_KEYS;
    seen_with_a_new_store: cases::new_set(Scale::Small);
    seen_with_a_store: cases::old_set(Scale::Small);
    compact_of_a_store: cases::compact_set();
    filter_insert_into_a_cascade: cases::insert_cascade(Scale::Small);
}

cut_off! {
    Bounds::SHORT;
    dict_number_with_a_new_dictionary: cases::new_dict(Scale::Small);
    dict_number_with_a_dictionary: cases::old_dict(Scale::Small);
    dict_get_after_a_dict_number_that_was_killed: cases::read_dict(Scale::Small);
    dict_number_with_a_louds_dictionary: cases::old_louds_dict(Scale::Small);
    compact_of_a_dictionary: cases::compact_dict();
    compact_of_a_louds_dictionary: cases::compact_louds_dict();
    filter_build: cases::build();
    filter_insert: cases::insert();
    snapshot: cases::snapshot_set();
    snapshot_of_a_dictionary: cases::snapshot_dict();
    seen_that_records_as_it_goes: cases::bursts("seen in bursts", false);
    seen_that_prints_to_a_file: cases::bursts("seen in bursts, to a file", true);
    dict_build_with_a_new_dictionary: cases::new_dict_build();
    dict_build_with_a_dictionary: cases::dict_build();
    seen_that_removes: cases::remove_from_set();
    dict_count: cases::dict_count();
    dict_delete: cases::dict_delete();
    dict_build_of_bytes: cases::dict_build_of_bytes();
    dict_build_of_bytes_with_a_louds_dictionary: cases::louds_dict_build_of_bytes();
    dict_delete_of_bytes: cases::louds_dict_delete_of_bytes();
    snapshot_with_a_journal: cases::snapshot_journal();
    seen_with_tiers: cases::seen_with_tiers();
    union_of_stores: cases::union_stores();
    subtract: cases::subtract();
    intersect: cases::intersect();
    import: cases::import();
    commit: cases::commit();
    seen_with_pending_keys: cases::pending();
    union_of_filters: cases::union();
}

#[test]
#[ignore = "takes some minutes"]
fn long_runs_in_more_states() {
    cases::all(Scale::Large).iter().for_each(|case| cut_everywhere(case, &Bounds::LONG));
    for case in [cases::bursts("seen in bursts", false), cases::bursts("seen in bursts, to a file", true)] {
        cut_everywhere(&case, &Bounds::LONG);
    }
}

#[cfg(feature = "node")]
#[test]
#[ignore = "takes some minutes"]
fn a_node_in_more_states() {
    cut_everywhere(&node(), &Bounds { moments: 1000, states: 16, kills: 40, second_states: 4 });
}

#[cfg(feature = "node")]
#[test]
fn a_node() {
    cut_everywhere(&node(), &Bounds::NODE);
}

/// How many states are tried.
struct Bounds {
    /// The number of moments, evenly spaced over the run of a command, at which the power fails.
    moments: usize,
    /// The number of states of the storage that are tried for each moment.
    states: usize,
    /// The number of moments at which a first run is killed, before a second one.
    kills: usize,
    /// The number of states tried at each moment of the second run.
    second_states: usize,
}

impl Bounds {
    /// The bounds for a node, which is started in each state.
    #[cfg(feature = "node")]
    const NODE: Self = Self { moments: 60, states: 4, kills: 8, second_states: 1 };
    /// The bounds for sets of some 100,000 keys, which are all looked up in each state.
    const MANY_KEYS: Self = Self { moments: usize::MAX, states: 4, kills: 2, second_states: 1 };
    const SHORT: Self = Self { moments: usize::MAX, states: 32, kills: 8, second_states: 4 };
    const LONG: Self = Self { moments: usize::MAX, states: 1024, kills: usize::MAX, second_states: 64 };
}

fn cut_everywhere(case: &Case, bounds: &Bounds) {
    let Some(disk) = Disk::new() else { return };
    let given = std::env::var("POWER_SEED").ok();
    let seed = given.map(|seed| u64::from_str_radix(seed.trim_start_matches("0x"), 16).unwrap());
    let seed = seed.unwrap_or_else(|| std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0));
    println!("{}: seed {seed:#x}", case.name);
    let mut tried = Tried { random: seed | 1, ..Tried::default() };
    let start = TempDir::in_memory();
    (case.prepare)(start.path());

    let whole = Recorded::new(disk, case, start.path(), None);
    tried.cut(case, &whole, 0, bounds.moments, bounds.states);
    let alone = (tried.moments, tried.states);

    // The run is killed right after a rename, which may not be durable; the next run sees it nevertheless.
    let entries = whole.events.iter().filter(|event| !b"PFXY".contains(&event.op));
    let kills: Vec<usize> =
        (1..).zip(entries).filter(|(_, event)| b"CRUML".contains(&event.op)).map(|(n, _)| n).collect();
    for &number in kills.iter().step_by(kills.len().div_ceil(bounds.kills.min(kills.len()))) {
        let twice = Recorded::new(disk, case, start.path(), Some(number));
        let first = twice.events.iter().position(|event| event.op == KILLED).unwrap();
        tried.cut(case, &twice, first, bounds.moments, bounds.second_states);
    }
    println!(
        "{}: {} states at {} moments of a run, {} at {} of a run after one that was killed; {} different ones opened",
        case.name,
        alone.1,
        alone.0,
        tried.states - alone.1,
        tried.moments - alone.0,
        tried.seen.len()
    );
    if tried.recorded > 0 {
        println!("{}: {} keys were recorded in a journal", case.name, tried.recorded);
    }
    assert!(tried.wrong.is_empty(), "{} wrong:\n{}", tried.wrong.len(), tried.wrong.join("\n"));
}

/// A recorded run: the files before it, and its operations.
struct Recorded {
    before: Model,
    root: String,
    events: Vec<Event>,
}

impl Recorded {
    /// Runs a case to its end. With `kill`, first runs it until its trace has this many entries, and kills that run.
    fn new(disk: &Disk, case: &Case, start: &Path, kill: Option<usize>) -> Self {
        let (root, traces) = (TempDir::in_memory(), TempDir::in_memory());
        disk::copy(start, root.path());
        let before = Model::new(root.path());
        let mut events = vec![];
        if let Some(number) = kill {
            let trace = traces.path().join("killed");
            let mut command = disk.furui(root.path(), &trace);
            command.env("DISK_DIE", number.to_string());
            (case.run)(command, root.path());
            events = disk::events(&trace);
            events.push(Event::mark(KILLED));
        }
        let trace = traces.path().join("whole");
        let run = case.second.as_ref().filter(|_| kill.is_some()).unwrap_or(&case.run);
        let output = run(disk.furui(root.path(), &trace), root.path());
        let last = disk::events(&trace);
        let printed: Vec<u8> =
            last.iter().filter(|event| event.op == b'P').flat_map(|event| event.bytes.clone()).collect();
        assert!(printed == output.stdout, "all that it prints is in the trace");
        events.extend(last);
        if disk::ended_well(&output) {
            events.push(Event::mark(ENDED));
        } else {
            // `snapshot` and `union` refuse to write to a place where a partial result is.
            let message = String::from_utf8_lossy(&output.stderr);
            let is_partial = ["cut short", "its store needs it"].iter().any(|what| message.contains(what));
            assert!(kill.is_some() && is_partial, "{}: {message}", case.name);
        }
        Self { before, root: root.path().to_str().unwrap().to_owned(), events }
    }
}

#[derive(Default)]
struct Tried {
    random: u64,
    moments: usize,
    states: usize,
    /// The states that were opened, with the number of bytes printed at that time.
    seen: HashSet<u64>,
    /// The number of keys in journals that were forced to the disk.
    recorded: usize,
    wrong: Vec<String>,
}

impl Tried {
    /// Cuts the power after each event from `first` on.
    fn cut(&mut self, case: &Case, recorded: &Recorded, first: usize, moments: usize, most: usize) {
        let step = (recorded.events.len() - first).div_ceil(moments);
        let mut model = recorded.before.clone();
        let mut runs = vec![Run::default()];
        for (number, event) in recorded.events.iter().enumerate() {
            let run = runs.last_mut().unwrap();
            match event.op {
                b'P' => run.printed.extend(&event.bytes),
                ENDED => run.finished = true,
                KILLED => runs.push(Run::default()),
                _ => model.apply(event, &recorded.root),
            }
            if b"SD".contains(&event.op)
                && let Some(journal) = model.durable("store", "JOURNAL")
            {
                runs.last_mut().unwrap().recorded.extend(cases::journal(journal));
            }
            let last = number + 1 == recorded.events.len();
            if number < first || !((number - first).is_multiple_of(step) || last) {
                continue;
            }
            self.moments += 1;
            let random = &mut self.random;
            let states = model.states(most, &mut || {
                *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (*random >> 32) ^ (*random << 32)
            });
            for state in states {
                self.states += 1;
                self.open(case, &state, &runs, || format!("after entry {number}, {} {}", event.op as char, event.path));
            }
        }
        self.recorded += runs.iter().map(|run| run.recorded.len()).sum::<usize>();
    }

    fn open(&mut self, case: &Case, state: &State, runs: &[Run], place: impl Fn() -> String) {
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        runs.iter().for_each(|run| (run.printed.len(), run.recorded.len(), run.finished).hash(&mut hasher));
        if !self.seen.insert(hasher.finish()) {
            return;
        }
        let root = TempDir::in_memory();
        restore(state, root.path());
        if let Err(what) = (case.check)(root.path(), runs) {
            let length = |content: &Option<Content>| content.as_ref().map_or(0, |content| content.bytes.len());
            let files: Vec<String> = state.iter().map(|(path, it)| format!("{path} ({})", length(it))).collect();
            self.wrong.push(format!("{}: {}: {what}; of {}", case.name, place(), files.join(", ")));
        }
    }
}
