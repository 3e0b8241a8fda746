use std::collections::BTreeSet;

use super::cluster::Cluster;
use super::corpus::{Corpus, Dice};
use super::{Done, Options};

/// How many nodes are killed at a time.
const AT_A_TIME: usize = 2;
/// How many times nodes are killed.
const TIMES: usize = 5;
/// How many nodes are killed at once in the end.
const AT_ONCE: usize = 5;
/// The number of nodes to which queries are sent.
const ASKED: usize = 5;

/// Kills nodes two at a time, with repair in between; restarts them all from disk; then kills five at once.
pub(super) fn run(options: &Options) -> Done {
    let corpus = Corpus::new(options)?;
    let mut cluster = Cluster::new(options)?;
    let mut dice = Dice::new(options.seed);
    let file = cluster.file("documents.jsonl");
    corpus.write(&file)?;
    println!("{} nodes, {}", options.nodes, corpus.describe());
    cluster.grow(options.nodes)?;
    println!("published: {}", cluster.publish(0, &file, false)?);
    println!("settled after {:.1} s", cluster.settle()?.as_secs_f64());
    let check = |what: &str, cluster: &Cluster, dice: &mut Dice| recall(what, options.queries, &corpus, cluster, dice);
    check("before", &cluster, &mut dice)?;

    for time in 1..=TIMES {
        let victims = victims(&cluster, AT_A_TIME, &mut dice);
        cluster.kill(&victims)?;
        println!("kill {time}: nodes {victims:?}, {} are left", cluster.alive().count());
        check("  at once", &cluster, &mut dice)?;
        println!("  settled after {:.1} s", cluster.settle()?.as_secs_f64());
        check("  after repair", &cluster, &mut dice)?;
    }
    let dead = cluster.dead();
    for &node in &dead {
        cluster.start(node)?;
        let status = cluster.nodes[node].status()?;
        println!("node {node} is back with {} postings and {} documents", status["postings"], status["documents"]);
    }
    println!("all are back, settled after {:.1} s", cluster.settle()?.as_secs_f64());
    check("from disk", &cluster, &mut dice)?;
    for &node in &dead {
        let (exact, _, _) = ask(&[node], 20, &corpus, &cluster, &mut dice)?;
        println!("  queries to node {node} only: {exact} of 20 exact");
    }

    let victims = victims(&cluster, AT_ONCE, &mut dice);
    cluster.kill(&victims)?;
    println!("kill of {AT_ONCE} at once: nodes {victims:?}");
    check("  at once", &cluster, &mut dice)?;
    println!("  settled after {:.1} s", cluster.settle()?.as_secs_f64());
    check("  after repair", &cluster, &mut dice)?;
    let first = cluster.alive().next().ok_or("none is left")?;
    println!("  published again: {}", cluster.publish(first, &file, true)?);
    check("  after that", &cluster, &mut dice)?;
    Ok(())
}

fn victims(cluster: &Cluster, count: usize, dice: &mut Dice) -> Vec<usize> {
    let mut alive: Vec<usize> = cluster.alive().collect();
    (0..count).map(|_| alive.swap_remove(dice.below(alive.len()))).collect()
}

fn recall(what: &str, queries: usize, corpus: &Corpus, cluster: &Cluster, dice: &mut Dice) -> Done {
    let nodes: Vec<usize> = victims(cluster, ASKED.min(cluster.alive().count()), dice);
    let (exact, found, expected) = ask(&nodes, queries, corpus, cluster, dice)?;
    let part = 100.0 * found as f64 / expected as f64;
    println!("{what}: {exact} of {queries} queries exact, {found} of {expected} documents ({part:.2} %)");
    Ok(())
}

/// Sends queries to `nodes` in turn. Returns how many answers were exact, how many matching documents were found, and
/// how many matching documents there are.
fn ask(
    nodes: &[usize],
    queries: usize,
    corpus: &Corpus,
    cluster: &Cluster,
    dice: &mut Dice,
) -> Done<(usize, usize, usize)> {
    let (mut exact, mut found, mut expected) = (0, 0, 0);
    for number in 0..queries {
        let query = corpus.query(dice);
        let truth = corpus.answer(&query);
        expected += truth.len();
        let urls = match cluster.nodes[nodes[number % nodes.len()]].search_all(&query) {
            Ok(urls) => urls,
            Err(error) => {
                println!("    {error}");
                continue;
            }
        };
        let urls: BTreeSet<&str> = urls.iter().map(String::as_str).collect();
        found += urls.intersection(&truth).count();
        exact += usize::from(urls == truth);
        if urls != truth {
            println!("    {query}: {} of {}", urls.len(), truth.len());
        }
    }
    Ok((exact, found, expected))
}
