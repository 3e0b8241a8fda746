use crate::front_matter::FrontMatter;
use crate::{Kind, MAX_PAGE, Media, Page, Unreadable, charset, html, markdown};

impl Page {
    /// Extracts the page from these bytes.
    ///
    /// # Errors
    /// If there are too many bytes, or if plain text or Markdown cannot be decoded or contains NUL. HTML of an allowed
    /// size never fails.
    pub fn read(bytes: &[u8], media: &Media) -> Result<Self, Unreadable> {
        if bytes.len() > MAX_PAGE {
            return Err(Unreadable::TooLong);
        }
        let charset = media.charset.as_deref();
        match media.kind {
            Kind::Html => Ok(html(bytes, charset)),
            Kind::Markdown => charset::decode_text(bytes, charset).map(|text| markdown(&text)),
            Kind::Text => text(bytes, charset),
        }
    }
}

/// Makes a page from plain text, which is not changed. It has a title only if it begins with front matter that states
/// one, which is then left out.
///
/// # Errors
/// If no charset is stated and the text is not UTF-8, or if the text contains NUL.
pub fn text(bytes: &[u8], charset: Option<&str>) -> Result<Page, Unreadable> {
    let text = charset::decode_text(bytes, charset)?;
    // Files of YAML look alike, so a block without a title is text.
    Ok(match FrontMatter::split(&text) {
        FrontMatter { title: Some(title), rest } => Page { title, text: rest.to_owned(), ..Page::default() },
        FrontMatter { title: None, .. } => Page { text: text.into_owned(), ..Page::default() },
    })
}
