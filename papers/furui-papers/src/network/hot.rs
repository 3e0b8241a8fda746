use std::fmt::Write;

use serde_json::json;

use super::cluster::Cluster;
use super::{Done, Options};

/// Searches for a word that is in seven of ten documents: alone, with a word whose list is longer, with words whose
/// lists are shorter, and as an excluded word.
pub(super) fn run(options: &Options) -> Done {
    let mut cluster = Cluster::new(options)?;
    let file = cluster.file("documents.jsonl");
    let is_hot = |number: usize| number % 10 < 7;
    let mut text = String::new();
    for number in 0..options.documents {
        let hot = if is_hot(number) { "hot" } else { "" };
        let body = format!("every {hot} c{} d{}", number % 1000, number / 1000);
        let (url, title) = (format!("http://site.example/{number}"), format!("t{number}"));
        writeln!(text, "{}", json!({ "url": url, "title": title, "text": body }))?;
    }
    std::fs::write(&file, text)?;
    cluster.grow(options.nodes)?;
    let start = std::time::Instant::now();
    println!("published: {} in {:.1} s", cluster.publish(0, &file, false)?, start.elapsed().as_secs_f64());
    cluster.settle()?;
    memory("published", &cluster)?;
    let hot = (0..options.documents).filter(|&number| is_hot(number)).count();
    let in_class = |class: usize| (0..options.documents).filter(move |number| number % 1000 == class);
    for (query, expected) in [
        ("hot c13", in_class(13).filter(|&number| is_hot(number)).count()),
        ("hot c18", in_class(18).filter(|&number| is_hot(number)).count()),
        ("c12 -hot", in_class(12).filter(|&number| !is_hot(number)).count()),
        ("hot every", hot),
        ("hot", hot),
        ("every -hot", options.documents - hot),
    ] {
        let node = &cluster.nodes[cluster.nodes.len() - 1];
        let page = node.search(query, 20, None)?;
        let (first, last) = (page.first.as_secs_f64() * 1e3, page.last.as_secs_f64() * 1e3);
        let start = std::time::Instant::now();
        let found = node.search_all(query)?.len();
        println!(
            "{query}: first result after {first:.0} ms, the page after {last:.0} ms; {found} of {expected} results in {:.1} s",
            start.elapsed().as_secs_f64()
        );
    }
    memory("searched", &cluster)
}

fn memory(what: &str, cluster: &Cluster) -> Done {
    for (number, node) in cluster.nodes.iter().enumerate() {
        let ((now, most), status) = (node.memory()?, node.status()?);
        println!(
            "{what}: node {number}: {} words, {} postings, {} documents, {} MiB on disk, {now} MiB of memory, {most} at most",
            status["words"],
            status["postings"],
            status["documents"],
            status["disk"].as_u64().unwrap_or_default() >> 20
        );
    }
    Ok(())
}
