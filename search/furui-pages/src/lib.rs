//! Extracts the title and text of pages in HTML ([`html()`]), Markdown ([`markdown()`]) and plain text ([`text()`]),
//! and reads sources of pages: [`Warc`] files and a [`Sitemap`].
//!
//! ```text
//!   .warc, .warc.gz ─ Warc ─▶ Capture ─┐              ┌─ html ──────┐
//!   a file's bytes ────────────────────┼─ Page::read ─┼─ markdown ──┼─▶ Page: title, text, canonical URL, language
//!   an HTTP answer ─ Media ────────────┘              └─ text ──────┘
//! ```
//!
//! Any bytes give a page or an error, in memory bounded by [`MAX_PAGE`].

mod charset;
mod elements;
mod format;
mod gunzip;
mod html;
mod lines;
mod markdown;
mod media;
mod page;
mod read;
mod response;
mod sitemap;
mod warc;

pub use format::Format;
pub use gunzip::Gunzip;
pub use html::html;
pub use markdown::markdown;
pub use media::{Kind, Media};
pub use page::{MAX_PAGE, Page, Unreadable, is_noindex};
pub use read::text;
pub use sitemap::{MAX_SITEMAP_URLS, Sitemap};
pub use warc::{Broken, Capture, Item, MAX_HEADER, Warc};
