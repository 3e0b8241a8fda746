use std::borrow::Cow;

use super::Weight;
use super::site::is_site;
use super::weight::InTitle;
use super::words::{Form, form_of};

/// The mark before a word of a query that asks for this form of the word only. No word of a text begins with it.
const EXACTLY: char = '=';

/// A word as a query asks for it: in any form (`commit` finds `commits`, `securite` finds `sécurité`), or, written
/// `=commit`, in this form only.
///
/// All forms of a word are in one list, which is named after the singular without accents. The postings say which forms
/// each document has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    word: &'a str,
    list: Cow<'a, str>,
    form: Form,
    is_exact: bool,
}

impl<'a> Asked<'a> {
    /// Reads a word of a query, normalised, perhaps with the mark of an exact word before it.
    pub fn of(word: &'a str) -> Self {
        let exact = word.strip_prefix(EXACTLY);
        let word = exact.unwrap_or(word);
        let (list, form) = form_of(word);
        Self { word, list, form, is_exact: exact.is_some() }
    }

    /// The word without a mark.
    pub fn word(&self) -> &'a str {
        self.word
    }

    /// The name of the list that has all forms of the word.
    pub fn list(&self) -> &str {
        &self.list
    }

    /// True if no other form of the word answers.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// How well a document with a posting of this weight answers. `None` if the word must be exact, and the document
    /// does not have it; but words that differ only by their accents are not told apart here, only by the text.
    pub fn grade(&self, weight: Weight) -> Option<Grade> {
        let forms = weight.forms();
        let class = match forms {
            _ if forms & self.form.bit() != 0 => 0,
            _ if self.is_exact => return None,
            _ if forms & self.form.otherwise_accented().bit() != 0 => 1,
            _ => 2,
        };
        let title = match weight.in_title() {
            InTitle::NONE => 0,
            InTitle::BESIDE => 1,
            own if own == InTitle::own(self.form) => 3,
            _ => 2,
        };
        Some(Grade(weight.step() << 4 | class << 2 | title))
    }
}

/// The word of a query that asks for this form of a normalised word only, unless the word has no other form.
pub(super) fn exactly(word: &str) -> String {
    let has_forms = word.starts_with(|c: char| c.is_ascii_alphanumeric() || c.is_lowercase()) && !is_site(word);
    if has_forms { format!("{EXACTLY}{word}") } else { word.to_owned() }
}

/// The name of the list that has all forms of a word of a query; see [`Asked`].
pub fn list_of(word: &str) -> Cow<'_, str> {
    Asked::of(word).list
}

/// How well a posting answers a word of a query, in 8 bits: the step of the word's occurrences, whether the document
/// has the word as it was asked for, and the place of the word in the title.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grade(u8);

impl Grade {
    /// The grade above all others: most occurrences, exactly as asked, in the title.
    pub(crate) const BEST: Self = Self((Weight::STEPS - 1) << 4 | 3);

    /// The grade as a number, which is small for most postings.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The grade with this number; `None` if there is none.
    pub fn of_bits(bits: u8) -> Option<Self> {
        Some(Self(bits)).filter(|grade| grade.class() < 3)
    }

    /// The [step](Weight::step) of the word's occurrences.
    pub(crate) fn step(self) -> u8 {
        self.0 >> 4
    }

    /// 0 if the document has the word as it was asked for; 1 if it differs by its accents only; 2 if it differs more.
    pub(crate) fn class(self) -> u8 {
        self.0 >> 2 & 3
    }

    /// True if the title has the word, or a word of which it is a part.
    pub(crate) fn is_in_title(self) -> bool {
        self.0 & 3 != 0
    }

    /// True if the part of the title that is about the document alone has the word, in any form.
    pub(crate) fn is_in_own_title(self) -> bool {
        self.0 & 2 != 0
    }

    /// True if the title's own words, those about the document and not about its site, include the word in the form
    /// that the query asks for.
    pub(crate) fn is_title(self) -> bool {
        self.0 & 3 == 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_all_its_forms_or_in_one() {
        let weight = |forms| {
            Weight::of_bits(Weight::use_of(3, forms, InTitle::own(Form::default())), Weight::size_of(9, 2)).unwrap()
        };
        let class = |word: &str, forms| Asked::of(word).grade(weight(forms)).map(Grade::class);
        for (word, expected) in [
            ("commit", [Some(0), Some(2), Some(1), Some(2), Some(2)]),
            ("commits", [Some(2), Some(0), Some(2), Some(1), Some(2)]),
            ("=commits", [None, Some(0), None, None, None]),
        ] {
            let found: Vec<Option<u8>> = (0..5).map(|form| class(word, 1 << form)).collect();
            assert_eq!(found, expected, "{word}");
        }
        assert_eq!(
            ["=commits", "site:a.example", "東京"].map(|word| list_of(word).into_owned()),
            ["commit", "site:a.example", "東京"]
        );
        assert_eq!(
            ["commits", "é", "3.11", "東京", "site:a.example"].map(exactly),
            ["=commits", "=é", "=3.11", "東京", "site:a.example"]
        );
        let grade = Asked::of("commit").grade(weight(1)).unwrap();
        assert_eq!((Grade::of_bits(grade.bits()), grade.step(), grade.is_in_title()), (Some(grade), 2, true));
        let title = |word: &str| Asked::of(word).grade(weight(31)).map(|it| (it.is_in_own_title(), it.is_title()));
        assert_eq!(["commit", "commits"].map(title), [Some((true, true)), Some((true, false))]);
        assert_eq!([12, 255].map(Grade::of_bits), [None, None]);
    }
}
