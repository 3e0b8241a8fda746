use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use sha2::{Digest, Sha256};

use super::neighbours::Neighbours;
use super::record_error::VERSION;
use super::site::sites;
use super::weight::{InTitle, occurrences_of};
use super::words::{Form, form_of, telling_tokens, tokens};
use super::{ContentId, PublisherKey, RecordError, Weight, words};

/// The maximum length of a URL, in bytes.
pub const MAX_URL: usize = 4 << 10;
/// The maximum length of a title, in bytes.
pub const MAX_TITLE: usize = 4 << 10;
/// The maximum length of a text, in bytes. A record with a text of this length fits into a message.
pub const MAX_TEXT: usize = (1 << 20) - (64 << 10);

/// A word counts once more for each so many different words of its document.
const REPEATS: u32 = 16;
/// The length of the record's header, in bytes: the version, the lengths of the parts, and the key of the publisher.
const HEADER: usize = 13 + PublisherKey::BYTES;

/// A published document. The bytes are described in docs/protocol.md, "Records".
///
/// ```
/// use furui_search::{ContentId, PublisherKey, Record};
///
/// let record = Record {
///     url: "https://example.org/sieve".into(), title: "篩".into(), text: "seen before".into(),
///     publisher: PublisherKey::new([7; 32]),
/// };
/// let bytes = record.encode()?;
/// assert_eq!(Record::decode(&bytes)?, record);
/// println!("published as {}", ContentId::of(&bytes));
/// assert!(record.words().contains("seen") && record.words().contains("site:example.org"));
/// # Ok::<(), furui_search::RecordError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The URL of the document.
    pub url: String,
    /// The title of the document; may be empty.
    pub title: String,
    /// The text of the document, without markup; may be empty.
    pub text: String,
    /// The key of the publisher, which alone can publish and withdraw the document. The same text of another publisher
    /// is another document.
    pub publisher: PublisherKey,
}

impl Record {
    /// Encodes the record. Every machine gives the same bytes.
    ///
    /// # Errors
    /// If a part is too long, or there is no URL.
    pub fn encode(&self) -> Result<Vec<u8>, RecordError> {
        let parts = [&self.url, &self.title, &self.text];
        check(parts.map(|part| part.len()))?;
        let mut bytes = Vec::with_capacity(HEADER + parts.iter().map(|part| part.len()).sum::<usize>());
        bytes.push(VERSION);
        // The conversion is lossless, because all lengths were checked to be small.
        parts.iter().for_each(|part| bytes.extend((part.len() as u32).to_le_bytes()));
        bytes.extend(self.publisher.as_bytes());
        parts.iter().for_each(|part| bytes.extend(part.as_bytes()));
        Ok(bytes)
    }

    /// Decodes a record.
    ///
    /// # Errors
    /// If the bytes are not a record that [`encode`](Self::encode) encoded.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let (header, parts) = bytes.split_at_checked(HEADER).ok_or(RecordError::Length)?;
        if header[0] != VERSION {
            return Err(RecordError::Version(header[0]));
        }
        let (lengths, _) = header[1..].as_chunks::<4>();
        let lengths = [0, 1, 2].map(|part| u32::from_le_bytes(lengths[part]) as usize);
        check(lengths)?;
        let [url, title, text] = lengths;
        if parts.len() != url + title + text {
            return Err(RecordError::Length);
        }
        let part = |from, to| str::from_utf8(&parts[from..to]).map(str::to_owned).map_err(|_| RecordError::Text);
        Ok(Self {
            url: part(0, url)?,
            title: part(url, url + title)?,
            text: part(url + title, parts.len())?,
            publisher: key_in(header),
        })
    }

    /// Reads the publisher key of an encoded record without decoding the rest; `None` if the bytes are not a record.
    pub fn publisher_in(bytes: &[u8]) -> Option<PublisherKey> {
        bytes.split_at_checked(HEADER).filter(|(header, _)| header[0] == VERSION).map(|(header, _)| key_in(header))
    }

    /// The names of the lists that have the document, in order: the words of its title and text, each as singular and
    /// without accents; the parts of names, as of `getOrDefault`; and `site:HOST`
    /// for the host of its URL and for the domains above the host (at most 8 in all); and neighbours among the
    /// commonest words, as in `of the`, by which phrases of them are found. Other words of the URL are not included, so
    /// that a search for the name of a site does not find all its pages.
    pub fn words(&self) -> BTreeSet<String> {
        self.postings().into_keys().collect()
    }

    /// The number that counts of these `occurrences` of one of the record's words: at most one, and one more for each
    /// [`REPEATS`] different words. Reads only as much of the record as decides it.
    pub(super) fn counted(&self, occurrences: u32) -> u32 {
        let most = occurrences.min(occurrences_of(Weight::STEPS - 1));
        let enough = most.saturating_sub(1) * REPEATS;
        let mut different = HashSet::with_capacity(enough as usize);
        let mut words = words(&self.title).chain(words(&self.text));
        while (different.len() as u32) < enough
            && let Some(word) = words.next()
        {
            different.insert(word);
        }
        most.min(1 + different.len() as u32 / REPEATS)
    }

    /// The head of the record, which proves URL, title and publisher key without the text.
    pub fn head(&self) -> RecordHead {
        RecordHead {
            url: self.url.clone(),
            title: self.title.clone(),
            publisher: self.publisher,
            // A text whose length exceeds 32 bits is too long for any record.
            text_bytes: u32::try_from(self.text.len()).unwrap_or(u32::MAX),
            text_hash: Sha256::digest(&self.text).into(),
        }
    }

    /// The names of the lists that have the document, each with the weight of its words: the number of occurrences of
    /// all forms, the forms, if one of them is in the title, and the lengths of document and title. An occurrence in
    /// the title counts [`Weight::TITLE`] times. Occurrences count up to one, and one more for each sixteen different
    /// words of the document, so that a text that repeats a word does not come before others.
    pub fn postings(&self) -> BTreeMap<String, Weight> {
        let mut counts: HashMap<(Cow<'_, str>, bool), Count> = HashMap::new();
        let mut length = 0u32;
        let mut neighbours = Neighbours::default();
        for (text, times) in [(&self.title, Weight::TITLE), (&self.text, 1)] {
            neighbours.pause();
            let own = if times > 1 { own_title(text) } else { 0..0 };
            for token in tokens(text, times > 1) {
                if !token.is_part {
                    neighbours.push(&token.word);
                    length = length.saturating_add(times);
                }
                let count = counts.entry((token.word, token.is_part)).or_default();
                count.occurrences = count.occurrences.saturating_add(times);
                if times > 1 {
                    count.is_in_title = true;
                    count.is_in_own_title |= own.contains(&token.span.start);
                }
            }
        }
        // A text that repeats a word has few words.
        let most = 1 + counts.keys().filter(|(_, is_part)| !is_part).count() as u32 / REPEATS;
        let mut lists: BTreeMap<String, Posted> = BTreeMap::new();
        for ((word, is_part), count) in &counts {
            let (list, form) = form_of(word);
            let forms = if *is_part { Form::PART } else { form.bit() };
            let all = lists.entry(list.into_owned()).or_default();
            all.occurrences = all.occurrences.saturating_add(count.occurrences);
            all.forms |= forms;
            if count.is_in_title {
                all.title = all.title.max(InTitle::of(forms, count.is_in_own_title));
            }
        }
        let single = Posted { occurrences: 1, forms: Form::default().bit(), title: InTitle::NONE };
        lists.extend(sites(&self.url).chain(neighbours.words()).map(|word| (word, single)));
        let size = self.size_bits(length, most > 1);
        let weight = |posted: Posted| {
            let occurrences = posted.occurrences.min(most);
            Weight::of_bits(Weight::use_of(occurrences, posted.forms, posted.title), size).expect("it has a form")
        };
        lists.into_iter().map(|(list, count)| (list, weight(count))).collect()
    }

    /// The [bits](Weight::size_bits) for a document of `length` words with the title of this record. No word of the
    /// title counts there unless the document `has_text`: at least [`REPEATS`] different words. Otherwise a document
    /// that says nothing but the words of a query would come before others by its title.
    pub(super) fn size_bits(&self, length: u32, has_text: bool) -> u16 {
        let own = &self.title[own_title(&self.title)];
        let most = if has_text { Weight::TITLE_WORDS.into() } else { 0 };
        Weight::size_of(length, telling_tokens(own).take(most).count())
    }
}

/// The occurrences of a word in a document.
#[derive(Default)]
struct Count {
    occurrences: u32,
    is_in_title: bool,
    is_in_own_title: bool,
}

/// The occurrences of all forms of a word in a document.
#[derive(Clone, Copy, Default)]
struct Posted {
    occurrences: u32,
    forms: u8,
    title: InTitle,
}

/// The place in a title of what is about the document, and not about the site: before the first mark that separates the
/// two, as in `HashMap (Java SE 17)` and `Sieves - Example`, and after the number of a section, as in `1.2. Sieves`.
/// The whole title, if there are no words.
pub(super) fn own_title(title: &str) -> Range<usize> {
    let marks = [" — ", " – ", " - ", " | ", " · ", " :: ", " ("];
    let end = marks.iter().filter_map(|mark| title.find(mark)).min().unwrap_or(title.len());
    let rest = title[..end].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_number =
        rest.len() < end && title[..end - rest.len()].contains('.') && rest.starts_with(char::is_whitespace);
    let start = if is_number && rest.contains(char::is_alphabetic) { end - rest.len() } else { 0 };
    if title[start..end].contains(char::is_alphanumeric) { start..end } else { 0..title.len() }
}

/// The parts of a [`Record`] from which the id is computed, with the hash of the text instead of the text. They prove
/// the URL, the title and the publisher key of a document.
///
/// ```
/// use furui_search::{ContentId, PublisherKey, Record};
///
/// let record = Record {
///     url: "https://example.org/".into(), title: "A title".into(), text: "A long text.".into(),
///     publisher: PublisherKey::new([7; 32]),
/// };
/// assert_eq!(record.head().id(), ContentId::of(&record.encode()?));
/// # Ok::<(), furui_search::RecordError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordHead {
    /// The URL of the document.
    pub url: String,
    /// The title of the document; may be empty.
    pub title: String,
    /// The key of the publisher.
    pub publisher: PublisherKey,
    /// The length of the text, in bytes.
    pub text_bytes: u32,
    /// The SHA-256 of the text.
    pub text_hash: [u8; 32],
}

impl RecordHead {
    /// The id of the document with this head.
    pub fn id(&self) -> ContentId {
        let mut hash = Sha256::new().chain_update([VERSION]);
        // A length that exceeds 32 bits is too long for any record.
        let lengths = [&self.url, &self.title].map(|part| u32::try_from(part.len()).unwrap_or(u32::MAX));
        lengths.iter().chain([&self.text_bytes]).for_each(|length| hash.update(length.to_le_bytes()));
        hash.update(self.publisher.as_bytes());
        let hash = hash.chain_update(&self.url).chain_update(&self.title).chain_update(self.text_hash);
        ContentId::of_hashes(hash, self.url.as_bytes())
    }

    /// Checks that the lengths of the parts are within the limits of a record.
    ///
    /// # Errors
    /// If no record has such parts.
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        check([self.url.len(), self.title.len(), self.text_bytes as usize])
    }
}

impl ContentId {
    /// The id of the document with this encoded [`Record`]: the first 14 bytes of the SHA-256 of everything before the
    /// text, and of the SHA-256 of the text; and the first 6 bytes of the SHA-256 of the URL. So URL, title and
    /// publisher key can be checked without the text ([`RecordHead`]).
    ///
    /// Bytes that are not a record have an id, too, which is that of no record.
    pub fn of(record: &[u8]) -> Self {
        let (url_end, before_text) = match record.split_at_checked(HEADER) {
            Some((header, _)) => {
                let (lengths, _) = header[1..].as_chunks::<4>();
                let [url, title] = [0, 1].map(|part| u32::from_le_bytes(lengths[part]) as usize);
                let url_end = HEADER.saturating_add(url).min(record.len());
                (url_end, url_end.saturating_add(title).min(record.len()))
            }
            None => (record.len(), record.len()),
        };
        let (head, text) = record.split_at(before_text);
        let hash = Sha256::new().chain_update(head).chain_update(Sha256::digest(text));
        Self::of_hashes(hash, &record[HEADER.min(url_end)..url_end])
    }

    fn of_hashes(hash: Sha256, url: &[u8]) -> Self {
        let mut id = [0; Self::BYTES];
        let (content, of_url) = id.split_at_mut(Self::BYTES - Self::URL_BYTES);
        content.copy_from_slice(&hash.finalize()[..Self::BYTES - Self::URL_BYTES]);
        of_url.copy_from_slice(&Sha256::digest(url)[..Self::URL_BYTES]);
        Self::new(id)
    }
}

/// The public key of the publisher, which is the end of `header`, the first [`HEADER`] bytes of an encoded record.
fn key_in(header: &[u8]) -> PublisherKey {
    PublisherKey::new(*header.last_chunk().expect("a header ends with a key"))
}

fn check(lengths: [usize; 3]) -> Result<(), RecordError> {
    if lengths[0] == 0 {
        return Err(RecordError::NoUrl);
    }
    for ((part, most), bytes) in [("url", MAX_URL), ("title", MAX_TITLE), ("text", MAX_TEXT)].into_iter().zip(lengths) {
        if bytes > most {
            return Err(RecordError::TooLong { part, bytes, most });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(url: &str, title: &str, text: &str) -> Record {
        Record { url: url.into(), title: title.into(), text: text.into(), publisher: key(7) }
    }

    fn key(byte: u8) -> PublisherKey {
        PublisherKey::new([byte; 32])
    }

    #[test]
    fn bytes_and_id_are_those_of_the_format() {
        let bytes = record("http://a.example/", "篩", "Seen before").encode().unwrap();
        let header = b"\x04\x11\0\0\0\x03\0\0\0\x0b\0\0\0";
        let expected = [&header[..], &[7; 32], b"http://a.example/\xe7\xaf\xa9Seen before"].concat();
        assert_eq!(bytes, expected);
        assert_eq!(bytes, dumped("### Example of a record"));
        assert_eq!(ContentId::of(&bytes).to_string(), "91bf64d6836c947a391783731590217fbabc0e7a");
    }

    #[test]
    fn a_word_counts_for_more_in_the_title_and_the_more_often_it_occurs() {
        let postings = record("u", "Sieve sieve", "a sieve, and a filter").postings();
        let of = |word: &str| (postings[word].occurrences(), postings[word].length(), postings[word].is_in_title());
        assert_eq!((of("sieve"), of("a"), postings.len()), ((1, 9, true), (1, 9, false), 5));
        let many: String = (0..60).map(|number| format!("w{number} ")).collect();
        let postings =
            record("u", "Sieve sieve", &format!("a sieve, and a filter {many}{}", "filter ".repeat(60))).postings();
        let occurrences = ["sieve", "a", "filter", "w7"].map(|word| postings[word].occurrences());
        assert_eq!(occurrences, [5, 2, 5, 1]);
    }

    #[test]
    fn a_posting_says_where_the_title_has_its_word() {
        let text: String = (0..20).map(|number| format!("w{number} ")).collect();
        let postings = record("u", "LongConsumer waits (Java SE)", &text).postings();
        let own = |word: &str| InTitle::own(form_of(word).1);
        for (list, expected) in [
            ("longconsumer", own("longconsumer")),
            ("consumer", InTitle::BESIDE),
            ("wait", own("waits")),
            ("java", InTitle::BESIDE),
            ("w7", InTitle::NONE),
        ] {
            assert_eq!(postings[list].in_title(), expected, "{list}");
            assert_eq!(postings[list].size_bits() >> 8, 2, "{list}");
        }
        // A text of few words has no title.
        assert_eq!(record("u", "Sieve", "sieve").postings()["sieve"].size_bits() >> 8, 0);
    }

    #[test]
    fn the_name_of_the_site_and_the_number_of_a_section_are_beside_the_title() {
        for (title, own) in [
            ("HashMap (Java SE 17)", "HashMap"),
            ("Sieves - Example", "Sieves"),
            ("37.62. user_mappings", "user_mappings"),
            ("1.2. Sieves — Example", "Sieves"),
            ("3.11", "3.11"),
            ("1984 – A novel", "1984"),
            ("- A", "- A"),
            ("", ""),
        ] {
            assert_eq!(title[own_title(title)].trim(), own, "{title}");
        }
    }

    /// The bytes of the hex dump in this section of the protocol's description.
    fn dumped(section: &str) -> Vec<u8> {
        let lines = include_str!("../../../docs/protocol.md").lines().skip_while(|line| *line != section);
        let dump = lines.skip(1).take_while(|line| !line.starts_with("## ") && !line.starts_with("### "));
        dump.filter_map(|line| line.strip_prefix("    ")?.get(6..)?.split("  ").next())
            .flat_map(|bytes| bytes.replace(' ', "").into_bytes())
            .collect::<Vec<u8>>()
            .chunks(2)
            .map(|digits| u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn limits_are_refused_by_name() {
        assert_eq!(record("", "", "x").encode(), Err(RecordError::NoUrl));
        let long = "x".repeat(MAX_TEXT + 1);
        let refused = record("u", "", &long).encode().unwrap_err();
        assert_eq!(refused, RecordError::TooLong { part: "text", bytes: MAX_TEXT + 1, most: MAX_TEXT });
        assert!(record("u", "", &long[1..]).encode().is_ok());
        let mut claims = record("u", "", "").encode().unwrap();
        claims[9..13].fill(0xff);
        assert!(matches!(Record::decode(&claims), Err(RecordError::TooLong { part: "text", .. })));
        claims[0] = 1;
        assert_eq!(Record::decode(&claims), Err(RecordError::Version(1)));
        assert_eq!(Record::decode(b"\x04"), Err(RecordError::Length));
        let mut bad = record("u", "", "").encode().unwrap();
        *bad.last_mut().unwrap() = 0xff;
        assert_eq!(Record::decode(&bad), Err(RecordError::Text));
    }

    #[test]
    fn a_document_is_found_by_title_text_and_host() {
        let words = record("http://site.example/", "A Sieve", "a sieve, 篩").words();
        assert_eq!(words.into_iter().collect::<Vec<_>>(), ["a", "sieve", "site:site.example", "篩"]);
    }

    #[test]
    fn the_head_proves_all_that_it_says() {
        let head = record("u", "title", "text").head();
        let mut others = vec![head.clone(); 7];
        others[0].url.push('t');
        others[1].title.remove(0);
        others[2].text_bytes += 1;
        others[3].text_hash[31] ^= 1;
        (others[4].url, others[4].title) = ("ut".into(), "itle".into());
        (others[5].publisher, others[6].publisher) = (key(1), key(2));
        let ids: BTreeSet<_> = others.iter().chain([&head]).map(RecordHead::id).collect();
        assert_eq!(ids.len(), 8);
        // Bytes that are shorter than the lengths in them are not a record, and have an id of their own.
        let bytes = record("u", "title", "text").encode().unwrap();
        let ids: BTreeSet<_> = (0..=bytes.len()).map(|end| ContentId::of(&bytes[..end])).collect();
        assert_eq!(ids.len(), bytes.len() + 1);
    }

    #[test]
    fn documents_of_a_url_share_the_end_of_their_ids() {
        let of = |url: &str, title: &str, byte| Record { publisher: key(byte), ..record(url, title, "") }.head().id();
        let ids = [of("u", "", 1), of("u", "", 2), of("u", "t", 1)];
        assert!(ids.iter().all(|id| id.of_url() == ids[0].of_url()));
        assert_ne!(of("ut", "", 1).of_url(), ids[0].of_url());
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            url in ".{1,20}", title in ".{0,20}", text in ".{0,200}", key: [u8; 32],
        ) {
            let record = Record { publisher: PublisherKey::new(key), ..record(&url, &title, &text) };
            let bytes = record.encode().unwrap();
            prop_assert_eq!(Record::decode(&bytes), Ok(record.clone()));
            prop_assert_eq!(record.head().id(), ContentId::of(&bytes));
            prop_assert_eq!(Record::publisher_in(&bytes), Some(record.publisher));
        }

        #[test]
        fn any_bytes_are_one_record_or_none(mut bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            // The lengths are made small, so that some of these byte strings are records.
            bytes.iter_mut().take(13).for_each(|byte| *byte &= 3);
            for at in [0, 2, 3, 4, 6, 7, 8, 10, 11, 12] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = if at == 0 { VERSION } else { 0 };
                }
            }
            if let Ok(record) = Record::decode(&bytes) {
                prop_assert_eq!(record.encode(), Ok(bytes));
            }
        }
    }
}
