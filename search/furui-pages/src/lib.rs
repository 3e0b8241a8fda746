//! Extracts the title and text of pages in HTML ([`html()`]), Markdown ([`markdown()`]) and plain text ([`text()`]),
//! and reads sources of pages: [`Warc`] files and a [`Sitemap`]. Of what people have on their disks it reads
//! [`Bookmarks`] and the [`History`] of browsers, electronic messages ([`message()`], [`Mbox`]), books ([`Epub`])
//! and [`Pdf`], as an [`Entry`] for each document.
//!
//! ```text
//!   .warc, .warc.gz ─ Warc ─▶ Capture ─┐              ┌─ html ──────┐
//!   a file's bytes ────────────────────┼─ Page::read ─┼─ markdown ──┼─▶ Page: title, text, canonical URL, language
//!   an HTTP answer ─ Media ────────────┘              └─ text ──────┘
//! ```
//!
//! Any bytes give a page or an error, in memory bounded by [`MAX_PAGE`] or, for some formats, by another named limit;
//! only [`Pdf`] has no bounds, and is for a process with limits.
//! [`Format::of`] tells the format of a file.

mod bookmarks;
mod charset;
mod elements;
mod entry;
mod epub;
mod format;
mod front_matter;
mod gunzip;
mod history;
mod html;
mod lines;
mod markdown;
mod mbox;
mod media;
mod message;
mod page;
mod pdf;
mod pdf_text;
mod pdf_widths;
mod read;
mod response;
mod sitemap;
mod warc;
mod xml;
mod zip;

pub use bookmarks::Bookmarks;
pub use entry::{Address, Document, Entry};
pub use epub::Epub;
pub use format::{Format, Several};
pub use gunzip::Gunzip;
pub use history::{History, MAX_HISTORY};
pub use html::html;
pub use markdown::markdown;
pub use mbox::Mbox;
pub use media::{Kind, Media};
pub use message::message;
pub use page::{MAX_MESSAGE, MAX_PAGE, Page, Unreadable, is_noindex};
pub use pdf::Pdf;
pub use read::text;
pub use sitemap::{MAX_SITEMAP_URLS, Sitemap};
pub use warc::{Broken, Capture, Item, MAX_HEADER, Warc};
