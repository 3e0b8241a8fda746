use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Dictionary, Document as Objects, Object, output_doc_page};

use crate::lines::Lines;
use crate::pdf_text::PdfText;
use crate::xml::{Part, parts};
use crate::{Address, Document, Entry, Page, pdf_widths};

/// The size of a document's text in bytes from which the next page begins another document. Chosen: half of what a
/// document may have, so that a page fits in.
const PART: usize = 480 << 10;
/// The maximum size of the metadata in XML, in bytes. Chosen: writers reserve some kilobytes.
const MAX_METADATA: usize = 1 << 20;

/// Reads a PDF. It is one document, or of a long text several: each begins with a page, and its address is that of the
/// file with the fragment `page=` and the page's number, which viewers understand (RFC 8118).
///
/// The title is what the file states, unless that is the name of another file, or the largest letters of the first
/// page; it is empty if all have one size. The text begins with a line for author and date, and is in the order in
/// which it is in the file; ligatures and words that were hyphenated at the end of a line are put together.
///
/// **Neither memory nor time nor depth is bounded**: a file can name objects in a circle, and unpack to a thousand
/// times its size. Run it in a process with limits.
pub struct Pdf {
    objects: Objects,
    about: About,
    /// The number of the next page, counted from 1, and that of the last one.
    next: u32,
    last: u32,
    /// A broken page that is to be returned before the next document.
    broken: Option<Entry>,
    has_text: bool,
}

/// What a file states about itself.
#[derive(Default)]
struct About {
    title: String,
    head: String,
    lang: Option<String>,
}

impl Pdf {
    /// Reads the objects of a file.
    ///
    /// # Errors
    /// The reason that the bytes are no PDF, or that the file cannot be read without a password.
    pub fn open(bytes: &[u8]) -> Result<Self, String> {
        let mut objects = Objects::load_mem(bytes).map_err(|error| match error {
            pdf_extract::Error::InvalidPassword => LOCKED.to_owned(),
            error => format!("no PDF that can be read: {error}"),
        })?;
        if objects.is_encrypted() {
            objects.decrypt("").map_err(|_| LOCKED.to_owned())?;
        }
        pdf_widths::unify(&mut objects);
        let last = objects.get_pages().len() as u32;
        if last == 0 {
            return Err("a PDF without pages".into());
        }
        let about = About::of(&objects);
        Ok(Self { objects, about, next: 1, last, broken: None, has_text: false })
    }

    /// The text of the next page, or the reason that there is none.
    fn page(&mut self) -> Result<PdfText, String> {
        let number = self.next;
        self.next += 1;
        let mut text = PdfText::default();
        // The library panics about what it does not expect; the next page may be sound.
        let done = catch_unwind(AssertUnwindSafe(|| output_doc_page(&self.objects, &mut text, number)));
        match done {
            Ok(Ok(())) => Ok(text),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("damaged, or of a form that is not known".into()),
        }
    }
}

const LOCKED: &str = "encrypted with a password; publish a copy without it, as from `qpdf --decrypt --password=…`";

impl Iterator for Pdf {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.broken.is_some() {
            return self.broken.take();
        }
        let first = self.next;
        let mut text = String::new();
        while self.next <= self.last && text.len() < PART && self.broken.is_none() {
            let number = self.next;
            match self.page() {
                Ok(page) => {
                    if number == 1 && self.about.title.is_empty() {
                        self.about.title = page.title();
                    }
                    text += &page.finish();
                    text.push('\n');
                }
                Err(why) => self.broken = Some(Entry::Broken { place: format!("page {number}"), why }),
            }
        }
        let text = text.trim();
        self.has_text |= !text.is_empty() || self.broken.is_some();
        if text.is_empty() {
            if self.next <= self.last || self.broken.is_some() {
                return self.next();
            }
            // What has no text at all is named once, at the end.
            let is_picture = !std::mem::replace(&mut self.has_text, true);
            let why = "no text: its pages are pictures, as from a scanner; recognise the text, as by ocrmypdf".into();
            return is_picture.then_some(Entry::Broken { place: String::new(), why });
        }
        let About { title, head, lang } = &self.about;
        let mut page = Page { title: title.clone(), text: format!("{head}{text}"), ..Page::default() };
        page.lang.clone_from(lang);
        let (mut place, mut address) = (String::new(), String::new());
        if first > 1 {
            place = format!("page {first}");
            address = format!("page={first}");
            if !title.is_empty() {
                page.title = format!("{title}: {place}");
            }
        }
        Some(Entry::Document(Document { place, address: Address::Part(address), page }))
    }
}

impl About {
    fn of(objects: &Objects) -> Self {
        let info = dictionary(objects, objects.trailer.get(b"Info").ok());
        let catalog = dictionary(objects, objects.trailer.get(b"Root").ok());
        let in_info = |key: &[u8]| info.and_then(|info| string(objects, info, key)).unwrap_or_default();
        let mut metadata = Metadata::default();
        if let Some(stream) = catalog.and_then(|catalog| catalog.get_deref(b"Metadata", objects).ok()?.as_stream().ok())
        {
            let bytes = stream.decompressed_content().unwrap_or_else(|_| stream.content.clone());
            metadata = Metadata::read(&bytes[..bytes.len().min(MAX_METADATA)]);
        }
        let title = [in_info(b"Title"), metadata.title].into_iter().find(|title| is_title(title)).unwrap_or_default();
        let author = [in_info(b"Author"), metadata.authors].into_iter().find(|author| !author.is_empty());
        let date = date(&in_info(b"CreationDate")).map(|date| format!("Date: {date}"));
        let head: Vec<String> = author.map(|author| format!("Author: {author}")).into_iter().chain(date).collect();
        let head = if head.is_empty() { String::new() } else { format!("{}.\n", head.join(". ")) };
        let lang = catalog.and_then(|catalog| string(objects, catalog, b"Lang")).unwrap_or_default();
        Self { title, head, lang: Some(lang.to_ascii_lowercase()).filter(|lang| !lang.is_empty()) }
    }
}

/// What the metadata in XML (XMP) state.
#[derive(Default)]
struct Metadata {
    title: String,
    authors: String,
}

impl Metadata {
    fn read(bytes: &[u8]) -> Self {
        let (mut title, mut authors) = (Lines::default(), Lines::default());
        // A title is in several languages, the first of which is the usual one.
        let (mut inside, mut count) = (String::new(), 0);
        parts(bytes, |part| match part {
            Part::Start(tag, _) if tag == "li" => count += 1,
            Part::Start(tag, _) if matches!(tag.as_str(), "title" | "creator") => (inside, count) = (tag, 0),
            Part::End(tag) if tag == inside => inside.clear(),
            Part::End(tag) if tag == "li" => authors.end_line(),
            Part::Text(text) if inside == "title" && count < 2 => title.push(&text, false),
            Part::Text(text) if inside == "creator" => authors.push(&text, false),
            _ => {}
        });
        Self { title: title.finish(), authors: authors.finish().replace('\n', ", ") }
    }
}

fn dictionary<'a>(objects: &'a Objects, object: Option<&'a Object>) -> Option<&'a Dictionary> {
    let (_, object) = objects.dereference(object?).ok()?;
    object.as_dict().ok()
}

/// The text at a key of a dictionary, in one line.
fn string(objects: &Objects, of: &Dictionary, key: &[u8]) -> Option<String> {
    let text = pdf_extract::decode_text_string(of.get_deref(key, objects).ok()?).ok()?;
    let mut line = Lines::default();
    line.push(&text, false);
    Some(line.finish())
}

/// True if a stated title is not what programs put there when nobody has named the document: nothing, or a file's name.
fn is_title(title: &str) -> bool {
    let name = title.strip_prefix("Microsoft Word - ").unwrap_or(title);
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    let is_name = (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
    !name.is_empty() && !name.eq_ignore_ascii_case("untitled") && !(is_name && (!name.contains(' ') || name != title))
}

/// The day of a date such as `D:20240131120000Z`, as `2024-01-31`.
fn date(date: &str) -> Option<String> {
    let digits = date.strip_prefix("D:").unwrap_or(date).get(..8)?;
    let (year, month, day) = (digits.get(..4)?, digits.get(4..6)?, digits.get(6..)?);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && (1..=12).contains(&month.parse().unwrap_or(0))).then(|| format!("{year}-{month}-{day}"))
}
