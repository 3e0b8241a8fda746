//! Measures the cost of a shelf, the storage of a node: documents, one a line, are distributed over five nodes with
//! three replicas, and each node's shelf takes its share.
//!
//!     cargo run --release -p furui-net --example shelf -- FILE DIRECTORY [DOCUMENTS A CALL]

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, error, fs, io};

use furui::HashSpec;
use furui_net::shelf::{Shelf, ShelfOptions};
use furui_search::{ContentId, IdRange, Index, Weight};
use sha2::{Digest, Sha256};

const NODES: u64 = 5;
const REPLICAS: u64 = 3;

type Postings = BTreeMap<String, Vec<(ContentId, Weight)>>;

fn main() -> Result<(), Box<dyn error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [file, directory, rest @ ..] = arguments.as_slice() else {
        return Err("usage: shelf FILE DIRECTORY [DOCUMENTS A CALL]".into());
    };
    let batch = rest.first().map_or(Ok(500), |batch| batch.parse())?;
    let lines: Vec<String> = io::BufReader::new(fs::File::open(file)?).lines().collect::<Result<_, _>>()?;
    let text: u64 = lines.iter().map(|line| line.len() as u64).sum();
    println!("{} documents, {text} bytes of text; {batch} documents a call", lines.len());

    let mut total = (0, Duration::ZERO);
    for node in 0..NODES {
        total = add(total, one_node(node, &lines, batch, &Path::new(directory).join(node.to_string()))?);
    }
    let (bytes, cpu) = total;
    println!("all nodes: {bytes} bytes, {:.3} x the text; {:.0} documents/s", bytes as f64 / text as f64, {
        lines.len() as f64 / cpu.as_secs_f64()
    });
    long_list(60_000)?;
    long_list(1_000_000)
}

/// Measures how long it takes to store a single list of `ids` ids, to read and sort it, and to read it again.
fn long_list(ids: u64) -> Result<(), Box<dyn error::Error>> {
    let mut shelf = Shelf::in_memory(ShelfOptions::default())?;
    let all: Vec<ContentId> =
        (0..ids).map(|n| ContentId::new(*Sha256::digest(n.to_le_bytes()).first_chunk().expect("32 bytes"))).collect();
    for some in all.chunks(10_000) {
        let postings = some.iter().map(|&id| (id, Weight::new(1, 50))).collect();
        shelf.store((&[("all".to_owned(), postings)], &[], &[]), 1000)?;
    }
    let at = Instant::now();
    shelf.slice("all", IdRange::ALL, 1000)?;
    let cold = at.elapsed();
    let at = Instant::now();
    shelf.slice("all", IdRange { first: u64::MAX / 2, last: u64::MAX }, 1000)?;
    println!("a list of {ids} ids: {cold:.2?}, another 1,000 of it {:.2?}", at.elapsed());
    Ok(())
}

fn add(a: (u64, Duration), b: (u64, Duration)) -> (u64, Duration) {
    (a.0 + b.0, a.1 + b.1)
}

fn one_node(node: u64, lines: &[String], batch: usize, directory: &Path) -> Result<(u64, Duration), furui::Error> {
    let mut shelf = Shelf::open(directory, ShelfOptions::default())?;
    let is_mine = |key: &[u8]| (HashSpec::default().hash(key).get() % NODES + NODES - node) % NODES < REPLICAS;
    let (mut cpu, mut longest, mut new, mut calls) = (Duration::ZERO, Duration::ZERO, 0, 0);
    for lines in lines.chunks(batch) {
        let (mut postings, mut records) = (Postings::new(), vec![]);
        for line in lines {
            let digest = Sha256::digest(line);
            let id = ContentId::new(*digest.first_chunk().expect("32 bytes"));
            if is_mine(id.as_bytes()) {
                records.push((id, line.clone().into_bytes()));
            }
            let lower = line.to_lowercase();
            let mut words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
            words.sort_unstable();
            let length = words.len() as u32;
            for word in words.chunk_by(|a, b| a == b) {
                let weight = Weight::new(word.len() as u32, length);
                if (1..=128).contains(&word[0].len()) && is_mine(word[0].as_bytes()) {
                    postings.entry(word[0].to_owned()).or_default().push((id, weight));
                }
            }
        }
        let postings: Vec<_> = postings.into_iter().collect();
        let (before, at) = (thread_cpu(), Instant::now());
        new += shelf.store((&postings, &records, &[]), 1000)?.new;
        cpu += thread_cpu() - before;
        longest = longest.max(at.elapsed());
        calls += 1;
    }
    let filled = shelf.statistics()?;
    let rate = new as f64 / cpu.as_secs_f64();
    println!("node {node}: {filled:?}");
    println!("  {new} new in {calls} calls, {cpu:.2?} of CPU: {rate:.0}/s; the longest call {longest:.2?}");
    let before = thread_cpu();
    shelf.compact()?;
    println!("  compacted in {:.2?}: {} bytes", thread_cpu() - before, shelf.statistics()?.disk_bytes);

    let mut lists = shelf.words_after("", usize::MAX)?;
    lists.sort_by_key(|list| list.ids);
    let mut time = |word: &str| -> Result<Duration, furui::Error> {
        let before = thread_cpu();
        shelf.slice(word, IdRange::ALL, 1 << 20)?;
        Ok(thread_cpu() - before)
    };
    for list in [lists.len() - 1, lists.len() * 99 / 100, lists.len() / 2].map(|at| &lists[at]) {
        let (cold, warm) = (time(&list.word)?, time(&list.word)?);
        println!("  a list of {} ids: {cold:.2?}, again {warm:.2?}", list.ids);
    }
    let ids = shelf.records(IdRange::ALL, 1000)?;
    let before = thread_cpu();
    ids.iter().try_for_each(|&id| shelf.document(id).map(drop))?;
    println!("  a record: {:.2?}", (thread_cpu() - before) / ids.len().max(1) as u32);
    Ok((shelf.statistics()?.disk_bytes, cpu))
}

/// The processor time of this thread or, where the system does not report it, the elapsed time.
fn thread_cpu() -> Duration {
    let tell = || fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok();
    thread_local!(static START: Instant = Instant::now());
    tell().map_or_else(|| START.with(Instant::elapsed), Duration::from_nanos)
}
