use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::cluster::Cluster;
use super::corpus::{Corpus, Dice};
use super::{Done, Options};

/// The numbers of people who search concurrently, one crowd after the other.
const CROWDS: [usize; 4] = [1, 20, 1, 20];

/// Measures how long people wait for the first result on the search page, and for the whole page.
pub(super) fn run(options: &Options) -> Done {
    let corpus = Corpus::new(options)?;
    println!("{}", corpus.describe());
    let mut cluster = Cluster::new(options)?;
    let file = cluster.file("documents.jsonl");
    corpus.write(&file)?;
    cluster.grow(options.nodes)?;
    println!("published: {}", cluster.publish(0, &file, false)?);
    cluster.settle()?;
    let mut dice = Dice::new(options.seed);
    let queries: Vec<String> = (0..options.queries).map(|_| corpus.query(&mut dice)).collect();
    let url = &cluster.nodes[cluster.nodes.len() - 1].url;
    for crowd in CROWDS {
        let next = AtomicUsize::new(0);
        let person = || {
            let mut looks = Vec::new();
            while let Some(query) = queries.get(next.fetch_add(1, Ordering::Relaxed)) {
                looks.push(look(url, query).map_err(|error| format!("{query}: {error}"))?);
            }
            Ok(looks)
        };
        let looks: Result<Vec<_>, String> = std::thread::scope(|scope| {
            let people: Vec<_> = (0..crowd).map(|_| scope.spawn(person)).collect();
            people.into_iter().map(|person| person.join().expect("it only returns errors")).collect()
        });
        let (mut first, mut last): (Vec<_>, Vec<_>) = looks?.into_iter().flatten().unzip();
        let ([f50, f95], [l50, l95]) = (percentiles(&mut first), percentiles(&mut last));
        println!(
            "{crowd} at once: first result after {f50:.1} ms (p50), {f95:.1} ms (p95); whole page {l50:.1} ms, {l95:.1} ms"
        );
    }
    Ok(())
}

/// The time until the first result of a page has arrived, and the time until the whole page has arrived.
fn look(url: &str, query: &str) -> Done<(Duration, Duration)> {
    let start = Instant::now();
    let response = ureq::get(format!("{url}/")).query("q", query).header("Accept", "text/html").call()?;
    let mut body = response.into_body().into_reader();
    let (mut page, mut first, mut part) = (Vec::new(), None, vec![0; 1 << 16]);
    loop {
        match body.read(&mut part)? {
            0 => break,
            read => page.extend_from_slice(&part[..read]),
        }
        if first.is_none() && page.windows(4).any(|tag| tag == b"<li>") {
            first = Some(start.elapsed());
        }
    }
    Ok((first.ok_or("no result")?, start.elapsed()))
}

/// The median and the 95th percentile, in milliseconds.
fn percentiles(times: &mut [Duration]) -> [f64; 2] {
    times.sort_unstable();
    [times.len() / 2, times.len() * 19 / 20].map(|at| times[at].as_secs_f64() * 1e3)
}
