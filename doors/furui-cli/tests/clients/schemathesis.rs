use super::{node, python};
use crate::support::TempDir;

/// The number of requests that are tried for each operation, of each of several kinds.
const EXAMPLES: &str = "20";

#[test]
#[ignore = "needs schemathesis: cargo xtask test pipelines"]
fn a_node_answers_as_its_description_says() {
    let dir = TempDir::new();
    let node = node(&dir, &[]);
    let description = format!("{}/openapi.json", node.url);
    let mut arguments = vec!["-m", "schemathesis.cli", "run", "--no-color", "--max-examples", EXAMPLES];
    // A description cannot say which texts are queries, so a request that fits it may be refused.
    arguments.extend(["--exclude-checks", "positive_data_acceptance"]);
    // One copy is made at a time: a request that comes before the last one has ended is refused.
    arguments.extend(["--exclude-path", "/snapshot", &description]);
    let output = python(&dir, &arguments);
    println!("{}", String::from_utf8_lossy(&output.stdout));
    // It is still there, although it was told to block, to purge and to withdraw.
    assert!(node.status()["searches"].as_u64() > Some(0), "{}", node.status());
}
