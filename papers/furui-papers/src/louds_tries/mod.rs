//! The experiments of Koyanagi, Yoshida, Unno and Shinjo on tries that grow, and experiments on the compact trie of
//! this project, which was developed from LOUDS tries.

mod application;
mod building;
mod dynamic;
mod merged_filters;
mod minimal;
mod minimal_trie;
mod online;
mod pairs;
mod path_hash;
mod patricia;
#[cfg(feature = "rivals")]
mod rebuilt;
mod virtual_nodes;
mod words;

pub(crate) use words::made_up_paths;

use crate::report::{Context, Run};

/// Chooses one of three sizes of an experiment, as the context says: that of Koyanagi et al., the default, or the tiny
/// one for tests.
fn scale<T>(context: &Context, paper: T, default: T, quick: T) -> T {
    context.size(if context.full { paper } else { default }, quick)
}

pub(crate) const EXPERIMENTS: &[(&str, Run)] = &[
    ("table2", building::run),
    ("table3", application::run),
    ("filters", merged_filters::run),
    ("virtual-nodes", virtual_nodes::run),
    ("patricia", patricia::run),
    ("minimal", minimal::run),
];
