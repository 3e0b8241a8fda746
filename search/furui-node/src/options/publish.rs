//! The options of `furui publish`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use furui_pages::{Format, Kind, Several};
use url::Url;

use super::node::NodeAddress;

/// Publish documents, so that every node finds them
///
/// Documents are web pages, Markdown and plain text, such as the sources of programs, in single files and in
/// directories; in directories, hidden files and what a .gitignore excludes are left out. A file that ends in .jsonl
/// holds a document in each line: {"url": "http://…", "title": "…", "text": "…"}. A file that ends in .warc or .warc.gz
/// holds the pages of a crawl. A URL on this machine is a page, or a sitemap, whose pages are fetched. Pages that do
/// not want to be found (robots: noindex) are not published.
///
/// Of bookmarks (exported as HTML, or Chromium's file Bookmarks) and the history of a browser (places.sqlite, History),
/// each page is a document; of mail (mbox, Maildir, .eml) each message, of a book (.epub) each chapter. Of a PDF, its
/// text is one, or of a long text several.
///
/// What is published is shown with the name of the node, 12D3KooW…, and only this node can replace or withdraw it.
///
/// A document that was published before takes almost no time, so after an interruption run the same command again.
#[derive(Args)]
pub struct PublishOptions {
    /// Files, directories and URLs on this machine; none or "-" is standard input, with lines as in a .jsonl file
    #[arg(value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    pub sources: Vec<PathBuf>,
    #[command(flatten)]
    pub node: NodeAddress,
    /// The format of all files, whatever their names
    #[arg(long)]
    pub format: Option<FormatName>,
    /// The URL of the directory that is published, to which the path of each file is added [default: file:///…]; for a
    /// sitemap, the public URL of the site
    #[arg(long, value_name = "URL")]
    pub base: Option<Url>,
    /// Publish only pages that state one of these languages, such as en or pt-BR, and pages that state no language
    #[arg(long, value_name = "LANG", value_delimiter = ',')]
    pub lang: Vec<String>,
    /// Publish again what was published before, for use after many nodes were lost at once
    #[arg(long)]
    pub again: bool,
    /// Stop at the first line or file that is not a document, instead of leaving it out with a message
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
    Bookmarks,
    History,
    Mbox,
    Message,
    Epub,
    Pdf,
}

impl PublishOptions {
    /// The options of a command without any, for the node at this address.
    pub fn usual(node: NodeAddress) -> Self {
        let (sources, lang) = (vec![], vec![]);
        Self { sources, node, format: None, base: None, lang, again: false, strict: false }
    }

    /// The format of the files that the options request; `None` if it follows from their names.
    pub fn format(&self) -> Option<Format> {
        Some(match self.format? {
            FormatName::Html => Format::Page(Kind::Html),
            FormatName::Markdown => Format::Page(Kind::Markdown),
            FormatName::Text => Format::Page(Kind::Text),
            FormatName::Jsonl => Format::Jsonl,
            FormatName::Warc => Format::Warc,
            FormatName::Bookmarks => Format::Several(Several::Bookmarks),
            FormatName::History => Format::Several(Several::History),
            FormatName::Mbox => Format::Several(Several::Mbox),
            FormatName::Message => Format::Several(Several::Message),
            FormatName::Epub => Format::Several(Several::Epub),
            FormatName::Pdf => Format::Several(Several::Pdf),
        })
    }
}
