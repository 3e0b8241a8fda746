//! The options of `furui publish`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use furui_pages::{Format, Kind};
use url::Url;

use super::node::NodeAddress;

/// Publish documents, so that every node finds them
///
/// Web pages, Markdown and plain text are documents, in files and in directories of them; hidden files in directories
/// are left out, and so are files whose names end in something else. Files that end in .jsonl hold a document a line:
/// {"url": "http://…", "title": "…", "text": "…"}. Files that end in .warc or .warc.gz are what a crawler brought. A URL
/// on this machine is a sitemap, whose pages are fetched, or a page. Pages that ask not to be found (robots: noindex) are
/// not published.
///
/// A document that has been published already costs next to nothing, so a run that was broken off is simply started
/// again.
#[derive(Args)]
pub struct PublishOptions {
    /// Files, directories and URLs on this machine; none or "-" is standard input, in lines as of a .jsonl file
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    pub sources: Vec<PathBuf>,
    #[command(flatten)]
    pub node: NodeAddress,
    /// What all files are, whatever their names
    #[arg(long)]
    pub format: Option<FormatName>,
    /// Files are found at this URL and their path in the directory that was named [default: file:///…]; pages of a
    /// sitemap at this site
    #[arg(long, value_name = "URL")]
    pub base: Option<Url>,
    /// Only pages that say they are in one of these languages, as en or pt-BR, or say nothing
    #[arg(long, value_name = "LANG", value_delimiter = ',')]
    pub lang: Vec<String>,
    /// Publish again what has been published already: after many nodes were lost at once
    #[arg(long)]
    pub again: bool,
    /// End at the first line or file that is no document, instead of leaving it out with a note
    #[arg(long)]
    pub strict: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    Html,
    Markdown,
    Text,
    Jsonl,
    Warc,
}

impl PublishOptions {
    /// The format that was asked for.
    pub fn format(&self) -> Option<Format> {
        Some(match self.format? {
            FormatName::Html => Format::Page(Kind::Html),
            FormatName::Markdown => Format::Page(Kind::Markdown),
            FormatName::Text => Format::Page(Kind::Text),
            FormatName::Jsonl => Format::Jsonl,
            FormatName::Warc => Format::Warc,
        })
    }
}
