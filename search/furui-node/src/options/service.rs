//! The options of `furui node` for a node that serves more than the terminal where it was started.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// What a node does as a service.
#[derive(Args, Default)]
pub struct ServiceOptions {
    /// Publish the files in these directories as "furui publish" does, publish again what changes, and withdraw what
    /// goes; may be repeated. Hidden files, and the directory of the node, are left out. When the node starts, what was
    /// published from a directory that is watched no more is withdrawn
    #[arg(long, value_name = "DIR", num_args = 1.., value_hint = ValueHint::DirPath)]
    pub watch: Vec<PathBuf>,
}
