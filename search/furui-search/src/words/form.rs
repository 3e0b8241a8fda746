//! The forms of a word: with and without accents, singular and plural. All of them are in one list.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Plurals that no rule gives, each with its singular.
const IRREGULAR: [(&str, &str); 40] = [
    ("aches", "ache"),
    ("aliases", "alias"),
    ("apis", "api"),
    ("atlases", "atlas"),
    ("axes", "axis"),
    ("bases", "base"),
    ("biases", "bias"),
    ("bonuses", "bonus"),
    ("brownies", "brownie"),
    ("buses", "bus"),
    ("caches", "cache"),
    ("calories", "calorie"),
    ("canvases", "canvas"),
    ("children", "child"),
    ("cookies", "cookie"),
    ("cpus", "cpu"),
    ("dies", "die"),
    ("gases", "gas"),
    ("gpus", "gpu"),
    ("headaches", "headache"),
    ("indices", "index"),
    ("lies", "lie"),
    ("matrices", "matrix"),
    ("men", "man"),
    ("menus", "menu"),
    ("mice", "mouse"),
    ("movies", "movie"),
    ("niches", "niche"),
    ("people", "person"),
    ("pies", "pie"),
    ("rookies", "rookie"),
    ("selfies", "selfie"),
    ("shoes", "shoe"),
    ("skis", "ski"),
    ("statuses", "status"),
    ("ties", "tie"),
    ("toes", "toe"),
    ("vertices", "vertex"),
    ("viruses", "virus"),
    ("women", "woman"),
];
/// Words that look like plurals and are none.
const SINGULAR: [&str; 34] = [
    "alias",
    "always",
    "atlas",
    "besides",
    "bias",
    "bios",
    "canvas",
    "chaos",
    "christmas",
    "cosmos",
    "does",
    "ethos",
    "gas",
    "goes",
    "has",
    "his",
    "https",
    "its",
    "kubernetes",
    "lens",
    "maths",
    "news",
    "perhaps",
    "physics",
    "plus",
    "pus",
    "series",
    "species",
    "this",
    "was",
    "whereas",
    "whose",
    "yes",
    "zeus",
];

/// The way in which a word differs from the one that its list is named after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    is_plural: bool,
    is_accented: bool,
}

impl Form {
    /// The number of bits of a set of forms.
    pub(crate) const BITS: u32 = 5;
    /// The set of forms of a word that a document has only as a part of a longer one.
    pub(crate) const PART: u8 = 1 << 4;

    /// The number of forms.
    pub(crate) const ALL: u8 = 4;

    /// The number of the form, below [`ALL`](Self::ALL).
    pub(crate) fn number(self) -> u8 {
        u8::from(self.is_plural) + 2 * u8::from(self.is_accented)
    }

    /// The set of forms that has this form only.
    pub(crate) fn bit(self) -> u8 {
        1 << self.number()
    }

    /// The same form with accents if it has none, and without them if it has.
    pub(crate) fn otherwise_accented(self) -> Self {
        Self { is_accented: !self.is_accented, ..self }
    }
}

/// The name of the list that has a word, which is its singular without accents, and the form of the word.
pub(crate) fn form_of(word: &str) -> (Cow<'_, str>, Form) {
    // Words of the index for sites and for neighbours have no other form.
    if word.contains([':', ' ']) {
        return (word.into(), Form::default());
    }
    let folded = folded(word);
    let is_accented = folded != word;
    let singular = match folded {
        Cow::Borrowed(folded) => singular(folded),
        Cow::Owned(folded) => singular(&folded).into_owned().into(),
    };
    let is_plural = if is_accented { singular != self::folded(word) } else { singular != word };
    (singular, Form { is_plural, is_accented })
}

/// All words of ASCII whose list has this name, each once.
pub(crate) fn forms(list: &str) -> impl Iterator<Item = String> {
    let stem = list.strip_suffix('y').map(|stem| format!("{stem}ies"));
    let regular = [Some(list.to_owned()), Some(format!("{list}s")), Some(format!("{list}es")), stem];
    let irregular = IRREGULAR.iter().filter(move |(_, singular)| *singular == list).map(|(plural, _)| (*plural).into());
    // `bases` is a plural of the table, too.
    let is_in_table = |form: &String| IRREGULAR.binary_search_by_key(&&**form, |(plural, _)| plural).is_ok();
    let regular = regular.into_iter().flatten().filter(move |form| !is_in_table(form) && form_of(form).0 == list);
    regular.chain(irregular)
}

/// The word without accents and with ligatures resolved, in Latin and Greek script. Other scripts keep their marks,
/// which make other letters there.
fn folded(word: &str) -> Cow<'_, str> {
    if !word.chars().any(|c| matches!(c, '\u{c0}'..='\u{24f}' | '\u{300}'..='\u{3ff}' | 'ё' | '\u{1e00}'..='\u{1fff}'))
    {
        return word.into();
    }
    let mut folded = String::with_capacity(word.len());
    let mut before = ' ';
    for c in word.nfd() {
        match c {
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'ħ' => folded.push('h'),
            'þ' => folded.push_str("th"),
            _ if is_combining_mark(c) && matches!(before, 'a'..='z' | '\u{3b1}'..='\u{3c9}' | 'е') => continue,
            _ => folded.push(c),
        }
        before = folded.chars().next_back().unwrap_or(' ');
    }
    folded.nfc().collect::<String>().into()
}

/// The singular of a word of which only the plural in s is known: in English, French, Spanish, Portuguese and others.
///
/// Differs from Harman's "S" stemmer (How Effective is Suffixing?, 1991), which leaves `caches` and `boxes` as they
/// are, in being right for what [`IRREGULAR`] lists and after sibilants.
fn singular(word: &str) -> Cow<'_, str> {
    let is_word = word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_word || SINGULAR.binary_search(&word).is_ok() {
        return word.into();
    }
    if let Ok(place) = IRREGULAR.binary_search_by_key(&word, |(plural, _)| plural) {
        return IRREGULAR[place].1.into();
    }
    let Some(stem) = word.strip_suffix('s').filter(|stem| stem.len() >= 3 && !stem.ends_with(['s', 'u', 'i'])) else {
        return word.into();
    };
    if let Some(stem) = stem.strip_suffix("ie").filter(|stem| stem.len() >= 2) {
        return format!("{stem}y").into();
    }
    let sibilants = ["sse", "she", "che", "xe", "zze", "oe", "tuse", "ruse"];
    match stem.strip_suffix('e') {
        Some(shorter) if sibilants.iter().any(|end| stem.ends_with(end)) && shorter.len() >= 2 => shorter.into(),
        _ => stem.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_forms_of_a_word_are_in_one_list() {
        assert!(IRREGULAR.is_sorted_by(|a, b| a.0 < b.0) && SINGULAR.is_sorted());
        for (word, list) in [
            ("commits", "commit"),
            ("queries", "query"),
            ("classes", "class"),
            ("indexes", "index"),
            ("indices", "index"),
            ("branches", "branch"),
            ("caches", "cache"),
            ("databases", "database"),
            ("responses", "response"),
            ("status", "status"),
            ("statuses", "status"),
            ("viruses", "virus"),
            ("process", "process"),
            ("processes", "process"),
            ("analysis", "analysis"),
            ("windows", "window"),
            ("urls", "url"),
            ("dns", "dns"),
            ("movies", "movie"),
            ("heroes", "hero"),
            ("sécurité", "securite"),
            ("réseaux", "reseaux"),
            ("élèves", "eleve"),
            ("größe", "große"),
            ("grösse", "grosse"),
            ("œuvre", "oeuvre"),
            ("smørrebrød", "smorrebrod"),
            ("άνθρωπος", "ανθρωπος"),
            ("ещё", "еще"),
            ("мой", "мой"),
            ("データ", "データ"),
            ("site:www.example.org", "site:www.example.org"),
            ("as is", "as is"),
            ("3.11", "3.11"),
            ("c++", "c++"),
        ] {
            assert_eq!(form_of(word).0, list, "{word}");
        }
        let bits = |word: &str| form_of(word).1.bit();
        assert_eq!(["eleve", "eleves", "élève", "élèves"].map(bits), [1, 2, 4, 8]);
        for (plural, list) in IRREGULAR {
            let forms: Vec<String> = forms(list).collect();
            let of_plural = forms.iter().filter(|form| *form == plural).count();
            assert_eq!((of_plural, &*forms[0]), (1, list), "{plural}");
        }
        assert_eq!(forms("base").collect::<Vec<_>>(), ["base", "bases"]);
        assert_eq!(forms("query").collect::<Vec<_>>(), ["query", "querys", "queries"]);
        assert_eq!(forms("index").collect::<Vec<_>>(), ["index", "indexs", "indexes", "indices"]);
    }

    proptest! {
        #[test]
        fn the_name_of_a_list_is_in_the_list(word in "[a-z]{1,9}(s|es|ies|uses|ss)?|[éœa-z]{1,6}|\\PC{1,6}") {
            for word in super::super::words(&word) {
                let (list, _) = form_of(&word);
                prop_assert_eq!(form_of(&list), (list.clone(), Form::default()));
                prop_assert!(!word.is_ascii() || forms(&list).any(|form| form == *word), "{}", word);
            }
        }
    }
}
