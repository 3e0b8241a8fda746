//! Measures what the file of a filter reveals about its keys, to an outsider and to a partner.

use furui::filter::Bloom;
use furui::{HashAlgorithm, HashSpec};

use crate::keys::mix;
use crate::report::{Cell, Context, Finding, Grade, Result, Table, Verdict, brief};

/// The false-positive rate of the filters of address books.
const RATE: f64 = 0.01;

/// The result of looking up every name of a directory in a filter.
struct Guess {
    /// The number of names that are in the address book, and that the filter says are in it.
    right: usize,
    /// The number of names that are not in the address book, although the filter says that they are.
    wrong: usize,
}

/// Looks up a whole directory of names, of which the first `members` are in the filter.
fn look_up(filter: &Bloom, names: &[String], members: usize) -> Guess {
    let yes = |names: &[String]| names.iter().filter(|name| filter.contains(name)).count();
    Guess { right: yes(&names[..members]), wrong: yes(&names[members..]) }
}

pub(super) fn run(context: &Context) -> Result<Finding> {
    let (directory, members, seeds) = context.size((100_000, 1000, 1000), (2000, 100, 20));
    let secret = HashSpec { algorithm: HashAlgorithm::SipHash13, seed: mix(context.seed) };
    let names: Vec<String> = (0..directory).map(|i| format!("{:016x}@example.org", mix(i as u64))).collect();
    let book = |range: std::ops::Range<usize>| -> Result<Bloom> {
        let mut filter = Bloom::with_rate(members as u64, RATE)?.hashed_by(secret);
        filter.extend(&names[range]);
        Ok(filter)
    };
    let filter = book(0..members)?;
    let columns = ["who", "what is known", "members named %", "others named %", "of the named, members %"];
    let title =
        format!("{members} names of a directory of {directory} in a filter of {RATE}, all of the directory tried");
    let mut table = Table::new("secrecy", title, columns);
    let mut row = |who: &str, known: &str, guess: &Guess| {
        let percent = |part: usize, whole: usize| Cell::from(100.0 * part as f64 / whole.max(1) as f64);
        table.push([
            Cell::from(who),
            known.into(),
            percent(guess.right, members),
            percent(guess.wrong, directory - members),
            percent(guess.right, guess.right + guess.wrong),
        ]);
    };
    let partner = look_up(&filter, &names, members);
    row("partner", "the file and the seed", &partner);
    row("finder of a file with its seed", "the file, and so the seed", &partner);
    // Without the seed, the finder can only try seeds. The best seed is the one with which the share of members
    // that get a yes exceeds the share of other names that get a yes by the largest amount.
    let mut best: Option<(f64, Guess)> = None;
    let mut advantages = vec![];
    for attempt in 0..seeds {
        let guessed = HashSpec { seed: mix(context.seed ^ 1 << 40 | attempt), ..secret };
        let guess = look_up(&filter.clone().hashed_by(guessed), &names, members);
        let advantage = guess.right as f64 / members as f64 - guess.wrong as f64 / (directory - members) as f64;
        advantages.push(advantage);
        if best.as_ref().is_none_or(|(before, _)| advantage > *before) {
            best = Some((advantage, guess));
        }
    }
    let (_, best) = best.ok_or("no seed was tried")?;
    row("finder of a file without its seed", &format!("the file; the best of {seeds} seeds"), &best);
    let mean = advantages.iter().sum::<f64>() / advantages.len() as f64;
    let variance = advantages.iter().map(|advantage| (advantage - mean).powi(2)).sum::<f64>() / advantages.len() as f64;

    // Without a seed one can learn how many names there are, and how many two books share.
    let other = book(members / 2..members * 3 / 2)?;
    let (size, similar) = (filter.cardinality(), filter.similarity(&other)?);
    let columns = ["what the finder of two files learns without the seed", "true", "estimated", "standard deviation"];
    let mut without = Table::new("secrecy-sizes", "What the bits tell without the seed".into(), columns);
    without.push([Cell::from("names in a book"), (members as f64).into(), size.value.into(), size.error.into()]);
    let common = similar.intersection;
    without.push([
        Cell::from("names in both"),
        ((members - members / 2) as f64).into(),
        common.value.into(),
        common.error.into(),
    ]);
    let verdict = Verdict::new(
        Grade::Measured,
        format!(
            "A partner who has the seed can name every member by trying a directory: of {directory} names {} % of the members and {} % \
             of the others are named, so {} % of the named are members. A file that holds its seed tells this to everybody who finds \
             it. Without the seed, trying seeds names members no more often than others: the difference is {} on average, with a \
             standard deviation of {}. But anybody can tell how many names there are, and how many two books with one seed share.",
            brief(100.0 * partner.right as f64 / members as f64),
            brief(100.0 * partner.wrong as f64 / (directory - members) as f64),
            brief(100.0 * partner.right as f64 / (partner.right + partner.wrong) as f64),
            brief(mean),
            brief(variance.sqrt()),
        ),
    );
    Ok(Finding::new(
        "Made-up addresses of 28 bytes; SipHash-1-3 with a secret seed.",
        verdict,
        [table, without],
        vec![],
    ))
}
