//! The options of `furui publish`.

use std::path::PathBuf;

use clap::Args;
use url::Url;

use super::NodeAddress;

/// Publish documents, so that every node finds them
///
/// Text files, and those in directories, are documents; hidden files in directories are left out, and so is what is no
/// text. Files that end in .jsonl hold a document a line: {"url": "http://…", "title": "…", "text": "…"}. A document that
/// has been published already costs next to nothing, so a run that was broken off is simply started again.
#[derive(Args)]
pub struct PublishOptions {
    /// Files and directories; none or "-" is standard input, in lines as of a .jsonl file
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub node: NodeAddress,
    /// All files hold a document a line
    #[arg(long)]
    pub jsonl: bool,
    /// Text files are found at this URL and their path in the directory that was named [default: file:///…]
    #[arg(long, value_name = "URL", conflicts_with = "jsonl")]
    pub base: Option<Url>,
    /// Publish again what has been published already: after many nodes were lost at once
    #[arg(long)]
    pub again: bool,
    /// End at the first line or file that is no document, instead of leaving it out with a note
    #[arg(long)]
    pub strict: bool,
}
