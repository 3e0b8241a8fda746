//! An example of filters in a tree: every node sends its parent the OR of its own filter and its children's, and a
//! query goes down only to nodes that may have an answer.

use furui::filter::{Bloom, Mismatch};

/// A node of the tree: its files, and a filter of all files below it.
struct Node {
    own: Bloom,
    below: Bloom,
    children: Vec<Self>,
}

/// The number of files for which every filter in the tree is sized. All filters must have one size to be united, so
/// they are sized for the root, which has the most keys.
const FILES_OF_NODE: u64 = 100;
const NODES: u64 = 1 + 4 + 16 + 64;

impl Node {
    /// Makes a tree of this height, whose nodes are numbered from `number` on. `number` becomes the one after the last
    /// node.
    fn grow(height: u32, number: &mut u64) -> Result<Self, furui::Error> {
        let mut own = Bloom::with_rate(FILES_OF_NODE * NODES, 0.01)?;
        for i in 0..FILES_OF_NODE {
            own.insert(file(*number, i));
        }
        *number += 1;
        let width = if height > 0 { 4 } else { 0 };
        let children: Vec<Self> = (0..width).map(|_| Self::grow(height - 1, number)).collect::<Result<_, _>>()?;
        let mut below = own.clone();
        children.iter().try_for_each(|child| below.union_with(&child.below))?;
        Ok(Self { own, below, children })
    }

    /// Searches for a file at this node and below. Returns the number of nodes that were asked, and the number of those
    /// that may have the file.
    fn query(&self, file: &str) -> (u64, u64) {
        let here = (1, u64::from(self.own.contains(file)));
        let routes = self.children.iter().filter(|child| child.below.contains(file));
        routes.map(|child| child.query(file)).fold(here, |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }
}

/// The name of the file with the index `i` at the node with the number `node`.
fn file(node: u64, i: u64) -> String {
    format!("node {node}, file {i}")
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Node::grow(3, &mut 0)?;
    println!("{NODES} nodes; the root's filter is {:.0} % full", 100.0 * root.below.fill());

    let queries = 500;
    let (mut asked, mut found) = (0, 0);
    for i in 0..queries {
        let (nodes, here) = root.query(&file(i * 7 % NODES, i % FILES_OF_NODE));
        asked += nodes;
        found += here;
        assert!(here >= 1, "a filter misses nothing");
    }
    println!("a query asks {:.1} nodes instead of {NODES}", asked as f64 / queries as f64);
    assert!(asked < queries * 6 && found < queries * 11 / 10);

    // A filter of another size is refused, with the reason.
    let other = Bloom::with_rate(FILES_OF_NODE, 0.01)?;
    let refused: Option<Mismatch> = root.below.union(&other).err();
    println!("{}", refused.ok_or("filters of two sizes were united")?);
    Ok(())
}
