use serde_json::{Value, json};

use super::{node, python};
use crate::support::TempDir;

#[test]
#[ignore = "needs SearXNG: cargo xtask test pipelines"]
fn searxng_finds_with_the_lines_of_the_documentation() {
    let dir = TempDir::new();
    let node = node(&dir, &[]);
    let documentation = include_str!("../../../../docs/search.md");
    let lines = documentation.split_once("```yaml\n").unwrap().1.split_once("```").unwrap().0;
    assert!(lines.contains("http://127.0.0.1:7717/search"), "{lines}");
    let settings = lines.replace("http://127.0.0.1:7717", &node.url);
    let queries = json!([["takahe", 1], ["takahe", 2], ["takahe", 3], ["takahe \"seen 7\" &篩", 1], ["(!", 1]]);
    let output = python(&dir, &["-c", include_str!("searxng.py"), &settings, &queries.to_string()]);
    let pages: Vec<Vec<Value>> = serde_json::from_slice(&output.stdout).unwrap();
    let urls = |page: usize| pages[page].iter().map(|result| result["url"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!((urls(0).len(), urls(1).len(), urls(2).len()), (10, 2, 0), "{pages:?}");
    let mut all = [urls(0), urls(1)].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 12, "{pages:?}");
    assert_eq!(urls(3), ["https://example.org/7"]);
    let result = &pages[3][0];
    assert_eq!(result["title"], "Takahe 7");
    assert!(result["content"].as_str().unwrap().contains("The takahe, seen 7 times in 篩."), "{result}");
    assert_eq!(urls(4), [""; 0], "a query without words is no error of the engine");
}
