use std::borrow::Cow;

use super::url::UrlRules;
use crate::cli::LineOptions;
use crate::error::Error;

/// The rules that say which keys are equal. Each key is converted to a form that is the same for all equal keys.
pub(super) struct Compare {
    trim: bool,
    ignore_case: bool,
    url: Option<UrlRules>,
    /// True if keys must remain readable as text, as in a dictionary, and not only be distinguishable.
    pub(super) is_text: bool,
}

impl Compare {
    pub(super) fn new(options: &LineOptions) -> Result<Self, Error> {
        let url = options.url.then(|| UrlRules::new(&options.url_drop, options.url_sort)).transpose()?;
        Ok(Self { trim: options.trim, ignore_case: options.ignore_case, url, is_text: false })
    }

    /// True if keys are compared by their bytes as they are.
    pub(super) fn is_plain(&self) -> bool {
        !self.trim && !self.ignore_case && self.url.is_none()
    }

    /// Appends the form of a key that is the same for all equal keys.
    pub(super) fn append(&self, key: &[u8], out: &mut Vec<u8>) {
        let key = if self.trim { trimmed(key) } else { key };
        let key = match &self.url {
            Some(rules) => rules.canonical(key).unwrap_or(Cow::Borrowed(key)),
            None => Cow::Borrowed(key),
        };
        if self.ignore_case { fold(&key, out) } else { out.extend_from_slice(&key) }
    }
}

/// The key without white space around it. If the key is not UTF-8, only ASCII white space is removed.
fn trimmed(key: &[u8]) -> &[u8] {
    match std::str::from_utf8(key) {
        Ok(text) => text.trim().as_bytes(),
        Err(_) => key.trim_ascii(),
    }
}

/// Appends the key with each letter folded by Unicode's simple case folding. Bytes that are not UTF-8 are kept.
fn fold(key: &[u8], out: &mut Vec<u8>) {
    if key.is_ascii() {
        return out.extend(key.iter().map(u8::to_ascii_lowercase));
    }
    for chunk in key.utf8_chunks() {
        for letter in chunk.valid().chars() {
            let folded = unicode_case_mapping::case_folded(letter);
            let folded = folded.and_then(|code| char::from_u32(code.get())).unwrap_or(letter);
            out.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes());
        }
        out.extend_from_slice(chunk.invalid());
    }
}
