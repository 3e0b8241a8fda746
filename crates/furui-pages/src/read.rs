use crate::{Kind, MAX_PAGE, Media, Page, Unreadable, charset, html, markdown};

impl Page {
    /// The page that these bytes are.
    ///
    /// # Errors
    /// If they are too many, or plain text or Markdown that is none. HTML always is some.
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

/// Plain text, as it is; without a title.
///
/// # Errors
/// If it is in no charset that is named, and not in UTF-8; or has zeros in it.
pub fn text(bytes: &[u8], charset: Option<&str>) -> Result<Page, Unreadable> {
    let text = charset::decode_text(bytes, charset)?.into_owned();
    Ok(Page { text, ..Page::default() })
}
