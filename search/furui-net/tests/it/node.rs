//! Nodes that publish and search together, in one process.

use crate::common::Publishes;
use crate::common::{document, find, letters, network, url};
use furui_net::node::Published;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_node_publishes_every_node_finds() {
    let nodes = network(7).await;
    let count = 400;
    let published = nodes[2].publishes((0..count).map(document).collect(), false).await.unwrap();
    assert_eq!(published.new, count as u64);
    assert_eq!(nodes[2].publishes((0..count).map(document).collect(), false).await, Ok(Published::default()));
    for (at, node) in nodes.iter().enumerate() {
        let class = at % 7;
        let expected = (0..count).filter(|number| number % 7 == class && number % 3 == 1);
        assert_eq!(find(node, &format!("c{} kb", letters(class))).await.unwrap(), expected.map(url).collect());
        let expected = (0..count).filter(|number| matches!(number % 7, 1 | 2) && number % 3 != 1);
        assert_eq!(find(node, "document -kb (cb OR cc)").await.unwrap(), expected.map(url).collect());
        assert!(find(node, "document nowhere").await.unwrap().is_empty());
    }
    for node in &nodes {
        node.shutdown().await;
    }
}
