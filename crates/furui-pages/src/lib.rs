//! What a page says: title and text, out of [`html()`], [`markdown()`] and plain [`text()`]; and where pages come from:
//! [`Warc`] files and a [`Sitemap`].
//!
//! ```text
//!   .warc, .warc.gz ─ Warc ─▶ Capture ─┐              ┌─ html ──────┐
//!   a file's bytes ────────────────────┼─ Page::read ─┼─ markdown ──┼─▶ Page: title, text, canonical URL, language
//!   an HTTP answer ─ Media ────────────┘              └─ text ──────┘
//! ```
//!
//! Whatever the bytes are, there is a page or an error; memory is bounded by [`MAX_PAGE`].

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
