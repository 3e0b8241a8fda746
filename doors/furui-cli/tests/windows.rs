//! Tests `furui seen --window` and `furui seen --filter` through the binary.

use std::fs;
use std::num::NonZeroU64;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::{TempDir, distinct, failure, lines, run, stdout, text};
use furui::filter::WindowBloom;
use furui::seen::{Seen, SeenOptions};
use furui::store::{Directory, Window};

const HOUR: u64 = 3_600_000;

fn numbers(range: std::ops::Range<u32>) -> Vec<u8> {
    range.map(|number| format!("{number}\n")).collect::<String>().into_bytes()
}

#[test]
fn a_window_of_lines_forgets_what_came_before_it() {
    for store in [false, true] {
        let dir = TempDir::new();
        let path = dir.join("set");
        let options = |window| match store {
            true => vec!["seen", "--window", window, "--store", &path],
            false => vec!["seen", "--window", window],
        };
        // Line 0 comes again after 160 other lines, and line 1 after 10 lines more than 17/16 of the window.
        let input = [numbers(0..161), b"0\n".to_vec(), numbers(161..180), b"1\n".to_vec()].concat();
        let expected = [numbers(0..161), numbers(161..180), b"1\n".to_vec()].concat();
        assert_eq!(stdout(&options("160"), &input), expected, "with a store: {store}");
        let repeats = [options("1000"), vec!["--invert"]].concat();
        if !store {
            assert_eq!(stdout(&repeats, &input), b"0\n1\n");
        }
    }
}

#[test]
fn a_window_goes_on_across_runs_however_short_they_are() {
    let dir = TempDir::new();
    let path = dir.join("set");
    let seen = |input: &[u8]| stdout(&["seen", "--window", "32", "--store", &path], input);
    assert_eq!(seen(b"a\nb\n"), b"a\nb\n");
    // Even if a command reads nothing but repeats, its lines count: b is forgotten after 34 of them.
    for _ in 0..17 {
        assert_eq!(seen(b"a\na\n"), b"");
    }
    assert_eq!(seen(b"b\na\n"), b"b\n");
    assert_eq!(stdout(&["verify", &path], b""), b"");
    let info = String::from_utf8(stdout(&["info", &path], b"")).unwrap();
    assert!(info.contains("window      the last 32 lines") && info.contains("of 17 slices"), "{info}");
    let json = String::from_utf8(stdout(&["info", "--json", &path], b"")).unwrap();
    assert!(json.contains(r#""window":"32 lines""#) || json.contains(r#""window": "32 lines""#), "{json}");
    let copy = dir.join("copy");
    stdout(&["snapshot", &path, &copy], b"");
    stdout(&["compact", &copy], b"");
    assert_eq!(stdout(&["seen", "--window", "32", "--store", &copy], b"a\nb\nc\n"), b"c\n");
    assert_eq!(stdout(&["seen", "--window", "32", "--dry-run", "--store", &path], b"a\nc\n"), b"c\n");
}

#[test]
fn a_store_refuses_another_window_and_names_both() {
    let dir = TempDir::new();
    let (hour, all) = (dir.join("hour"), dir.join("all"));
    stdout(&["seen", "--window", "60m", "--store", &hour], b"a\n");
    stdout(&["seen", "--store", &all], b"a\n");
    assert_eq!(stdout(&["seen", "--window", "1h", "--store", &hour], b"a\nb\n"), b"b\n");
    for (store, window, named) in [
        (&hour, &["--window", "2h"][..], ["the last 1h", "--window 2h"]),
        (&hour, &["--window", "3600000"], ["the last 1h", "--window 3600000"]),
        (&hour, &[], ["the last 1h", "no --window"]),
        (&all, &["--window", "1h"], ["all lines", "--window 1h"]),
    ] {
        for dry in [&[][..], &["--dry-run"]] {
            let error = failure(&[&["seen", "--store", store], window, dry].concat(), b"c\n");
            assert!(named.iter().all(|name| error.contains(name)) && error.contains(store.as_str()), "{error}");
        }
    }
    for wrong in ["0", "0s", "1w", "h", "-1", "1.5w", "99999999999999999999", "999999999999999999d"] {
        let error = failure(&["seen", &format!("--window={wrong}")], b"");
        assert!(error.contains("no window"), "{error}");
    }
    assert_eq!(stdout(&["seen", "--window", "1.5h"], b"a\na\n"), b"a\n");
    let error = failure(&["seen", "--window", "1h", "--cache", "lru+stable"], b"");
    assert!(error.contains("window"), "{error}");
}

#[test]
fn a_window_of_time_goes_by_the_clock_and_never_back() {
    let dir = TempDir::new();
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let fill = |name: &str, keys: &[(u64, &str)]| {
        let window = Window::Milliseconds(NonZeroU64::new(HOUR).unwrap());
        let storage = Directory::open(dir.join(name)).unwrap();
        let mut seen = Seen::open_window(storage, SeenOptions::default(), window).unwrap();
        for (time, key) in keys {
            seen.set_time(*time);
            seen.insert(key).unwrap();
        }
        seen.publish().unwrap();
        dir.join(name)
    };
    let store = fill("past", &[(now - 2 * HOUR, "old"), (now - HOUR / 2, "late")]);
    assert_eq!(stdout(&["seen", "--window", "1h", "--store", &store], b"old\nlate\nnew\n"), b"old\nnew\n");
    // The clock of this set went forward by ten hours, and back again.
    let store = fill("future", &[(now + 10 * HOUR, "a")]);
    let seen = |more: &[&str], input: &[u8]| {
        let output = run(&[&["seen", "--window", "1h", "--store", &store], more].concat(), input);
        assert!(output.status.success());
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let info = |arg: &str| String::from_utf8(stdout(&["info", arg, &store], b"")).unwrap();
    for input in [&b"a\n"[..], b"a\n", b"b\na\n"] {
        let (printed, said) = seen(&[], input);
        assert_eq!(printed, &input[..input.len() - 2]);
        assert!(
            said.contains(&store) && said.contains("no line is forgotten") && said.contains("--reset-clock"),
            "{said}"
        );
        assert!(info("--").contains(", ahead of this machine's: 2"), "{}", info("--"));
    }
    // A dry run tells what would be, and changes nothing.
    assert_eq!(seen(&["-n", "--reset-clock"], b"a\nc\n"), (b"c\n".to_vec(), String::new()));
    assert!(!seen(&[], b"").1.is_empty());
    assert_eq!(seen(&["--reset-clock"], b"a\nc\n"), (b"c\n".to_vec(), String::new()));
    assert_eq!(seen(&[], b"a\nb\nc\n"), (vec![], String::new()));
    assert!(info("--").contains("\ntime        2") && !info("--").contains("ahead"), "{}", info("--"));
    assert!(info("--json").contains("\"time\""), "{}", info("--json"));
    assert_eq!(stdout(&["verify", &store], b""), b"");
    // What is remembered counts from the reset on: a window later it is forgotten.
    let window = Window::Milliseconds(NonZeroU64::new(HOUR).unwrap());
    let mut set = Seen::open_window(Directory::open(&store).unwrap(), SeenOptions::default(), window).unwrap();
    set.set_time(now + HOUR);
    assert!(!set.insert("a").unwrap());
    set.set_time(now + HOUR + HOUR / 8);
    assert!(set.insert("b").unwrap());
    drop(set);
    // A clock that is a little ahead is nothing to speak of.
    let store = fill("ahead", &[(now + HOUR / 20, "a")]);
    assert_eq!(stdout(&["seen", "--window", "1h", "--store", &store], b"a\n"), b"");
    failure(&["seen", "--reset-clock"], b"");
    failure(&["seen", "--reset-clock", "--store", &store], b"");
}

#[test]
fn a_filter_of_every_kind_prints_each_line_once_and_learns_it() {
    let dir = TempDir::new();
    let input = text(&lines(3000, 7));
    let each = text(&distinct(&lines(3000, 7)));
    for kind in ["bloom", "blocked", "counting", "stable", "stable-light", "window", "ringed", "quotient", "parquet"] {
        let path = dir.join(&format!("{kind}.filter"));
        let built = run(&["filter", "build", "-k", kind, "-c", "100000", "--fpr", "0.0001", "-o", &path], b"");
        assert!(built.status.success(), "{kind}: {}", String::from_utf8_lossy(&built.stderr));
        let before = fs::read(&path).unwrap();
        let printed = stdout(&["seen", "--dry-run", "--filter", &path], &input);
        assert!(fs::read(&path).unwrap() == before, "{kind}: a dry run changes nothing");
        // At this rate a line may be taken for a repeat, but few are.
        assert!(each.len() - printed.len() < 100, "{kind}: {} of {} bytes", printed.len(), each.len());
        assert_eq!(stdout(&["seen", "--filter", &path], &input), printed, "{kind}");
        assert_eq!(stdout(&["seen", "--filter", &path], &input), b"", "{kind}");
        assert_eq!(stdout(&["seen", "--invert", "--filter", &path], &input), input, "{kind}");
        assert_eq!(stdout(&["verify", &path], b""), b"", "{kind}");
    }
}

#[test]
fn a_quotient_filter_grows_and_a_line_that_is_seen_again_is_inserted_once() {
    let dir = TempDir::new();
    let path = dir.join("quotient.filter");
    stdout(&["filter", "build", "-k", "quotient", "-c", "50", "--fpr", "0.000001", "-o", &path], b"");
    let grown = run(&["seen", "--filter", &path], &[numbers(0..1000), numbers(0..1000)].concat());
    assert!(grown.status.success() && grown.stdout == numbers(0..1000));
    assert!(String::from_utf8_lossy(&grown.stderr).contains("slots"), "it says that it has grown");
    stdout(&["filter", "remove", &path], &numbers(0..1000));
    assert_eq!(stdout(&["seen", "--filter", &path], &numbers(0..10)), numbers(0..10));
}

#[test]
fn a_filter_is_asked_for_the_keys_it_was_made_of_and_options_of_sets_are_refused() {
    let dir = TempDir::new();
    let path = dir.join("fields.filter");
    stdout(&["filter", "build", "--field", "2", "-o", &path], b"x\ta\n");
    let error = failure(&["seen", "--filter", &path], b"a\n");
    assert!(error.contains("--field 2") && error.contains("whole lines"), "{error}");
    assert_eq!(stdout(&["seen", "--field", "2", "--filter", &path], b"y\ta\nz\tb\n"), b"z\tb\n");
    for option in [&["--store", "x"][..], &["--window", "1h"], &["--memory", "1MiB"], &["--lru", "1000"]] {
        failure(&[&["seen", "--field", "2", "--filter", &path], option].concat(), b"");
    }
    failure(&["seen", "--filter", &dir.join("missing")], b"a\n");
    let cascade = dir.join("cascade");
    stdout(&["filter", "build", "-k", "cascade", "-c", "1000", "-o", &cascade], b"a\n");
    assert!(failure(&["seen", "--filter", &cascade], b"a\n").contains("cascade"));
}

#[test]
fn a_filter_with_a_window_has_the_last_lines_for_sure_and_forgets_the_others() {
    let dir = TempDir::new();
    let (path, first, all) = (dir.join("w.filter"), numbers(0..1000), numbers(0..5000));
    stdout(&["filter", "build", "-k", "window", "--window", "1600", "--fpr", "1e-6", "-o", &path], &first);
    assert_eq!(stdout(&["has", &path], &all), first);
    assert_eq!(stdout(&["seen", "--filter", &path], &numbers(900..2600)), numbers(1000..2600));
    stdout(&["filter", "insert", &path, "-"], &numbers(2600..2700));
    assert_eq!(stdout(&["has", &path], &all), numbers(1100..2700), "1600 lines, at a border of slices");
    let info = String::from_utf8(stdout(&["info", &path], b"")).unwrap();
    assert!(info.contains("did not come within the last 1600 lines"), "{info}");
    let json = String::from_utf8(stdout(&["info", "--json", &path], b"")).unwrap();
    assert!(json.contains("\"kind\":\"window\"") && json.contains("\"window\":\"1600 lines\""), "{json}");

    // In a window of time, the clock decides: the lines of a filter that is two hours old are forgotten.
    let kinds: &[&str] = &["filter", "build", "-k", "window", "--window", "1h", "-c", "1000", "--fpr", "1e-6"];
    stdout(&[kinds, &["-o", &path]].concat(), &first);
    assert_eq!(stdout(&["has", &path], &all), first);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let mut old = WindowBloom::with_rate("1h".parse().unwrap(), 1000, 1e-6).unwrap();
    old.tell_time(now - 2 * HOUR);
    old.insert("1").unwrap();
    old.tell_time(now - HOUR / 2);
    old.insert("2").unwrap();
    old.save(&path).unwrap();
    assert_eq!(stdout(&["has", &path], b"1\n2\n"), b"2\n");
    assert_eq!(stdout(&["seen", "--filter", &path], b"1\n2\n3\n"), b"1\n3\n");
    assert_eq!(stdout(&["has", &path], b"1\n2\n3\n"), b"1\n2\n3\n");
    failure(&["filter", "build", "-k", "window", "--window", "1h", "-o", &path], b"a\n");
}
