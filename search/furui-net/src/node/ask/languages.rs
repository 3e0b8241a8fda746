use std::str::FromStr;

use whatlang::Lang;

use crate::node::Hit;

/// The languages that can be told from a text, each as its code in ISO 639-3 and in ISO 639-1, which browsers send.
const CODES: &str = "afr-af aka-ak amh-am ara-ar aze-az bel-be ben-bn bul-bg cat-ca ces-cs cmn-zh cym-cy dan-da deu-de \
    ell-el eng-en epo-eo est-et fin-fi fra-fr guj-gu heb-he hin-hi hrv-hr hun-hu hye-hy ind-id ita-it jav-jv jpn-ja \
    kan-kn kat-ka khm-km kor-ko lat-la lav-lv lit-lt mal-ml mar-mr mkd-mk mya-my nep-ne nld-nl nob-nb nob-no ori-or \
    pan-pa pes-fa pol-pl por-pt ron-ro rus-ru sin-si slk-sk slv-sl sna-sn spa-es srp-sr swe-sv tam-ta tel-te tgl-tl \
    tha-th tuk-tk tur-tr ukr-uk urd-ur uzb-uz vie-vi yid-yi zul-zu";

/// The languages that somebody reads who searches: within a page, documents in these come before others. Empty if it is
/// unknown.
///
/// ```
/// use furui_net::node::Languages;
///
/// assert_eq!(Languages::accepted("de-AT, en;q=0.8, fr;q=0"), Languages::accepted("de,en"));
/// assert_eq!(Languages::accepted("*"), Languages::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Languages(Vec<Lang>);

impl Languages {
    /// Reads the value of the header `Accept-Language` of HTTP (RFC 9110), or the name of a locale, as `de_AT.UTF-8`.
    /// Regions are ignored, and so are weights, except that a weight of 0 refuses a language. Languages that cannot be
    /// recognised in a text are left out. Any other header is no error, and names no language.
    pub fn accepted(text: &str) -> Self {
        let mut languages = Vec::new();
        for range in text.split(',') {
            let (range, weight) = range.split_once(';').unwrap_or((range, ""));
            let is_refused = weight.trim().strip_prefix("q=").is_some_and(|weight| f64::from_str(weight) == Ok(0.0));
            let code = range.trim().split(['-', '_', '.']).next().unwrap_or_default().to_ascii_lowercase();
            let known = CODES.split_ascii_whitespace().filter_map(|pair| pair.split_once('-'));
            let of = |(long, short): (&str, &str)| if short == code { Lang::from_code(long) } else { None };
            let found = known.into_iter().find_map(of).filter(|found| !is_refused && !languages.contains(found));
            languages.extend(found);
        }
        Self(languages)
    }

    /// The languages, those first that were named first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Lang> {
        self.0.iter().copied()
    }

    /// True if the document is in another language, as its title and the excerpt of its text tell. False if no language
    /// is known, or they do not tell it well.
    pub(in crate::node) fn lack(&self, hit: &Hit) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let of_document = whatlang::detect(&format!("{} {}", hit.title, hit.snippet));
        of_document.is_some_and(|found| found.is_reliable() && !self.0.contains(&found.lang()))
    }
}

#[cfg(test)]
mod tests {
    use furui_search::{ContentId, Place};

    use super::*;

    #[test]
    fn what_is_accepted_is_read_and_told_from_texts() {
        for pair in CODES.split_ascii_whitespace() {
            let (long, short) = pair.split_once('-').unwrap();
            assert_eq!(Languages::accepted(short).0, [Lang::from_code(long).unwrap()], "{pair}");
        }
        assert_eq!(Languages::accepted("de_AT.UTF-8").0, [Lang::Deu]);
        assert_eq!(Languages::accepted("ja,en-US;q=0.7,en;q=0.3").0, [Lang::Jpn, Lang::Eng]);
        for none in ["", "C", "C.UTF-8", "POSIX", "*", "en;q=0", "tlh", ";;,=", "é"] {
            assert_eq!(Languages::accepted(none), Languages::default(), "{none}");
        }
        let hit = |title: &str, snippet: &str| {
            let mut hit = Hit::new(Place { score: 0, id: ContentId::new([0; 20]) }, None);
            (hit.title, hit.snippet) = (title.into(), snippet.into());
            hit
        };
        let english =
            hit("Sieves", "They tell you whether a thing was seen before, and they are never wrong about what is new.");
        let german = hit("Siebe", "Sie sagen, ob etwas schon gesehen wurde, und irren sich nie über das, was neu ist.");
        let japanese = hit("篩", "前に見たことがあるかどうかを答える。");
        let code = hit("x", "x = 1");
        for (accepted, others) in [("de", [true, false, true]), ("en,ja", [false, true, false]), ("", [false; 3])] {
            let languages = Languages::accepted(accepted);
            assert_eq!([&english, &german, &japanese].map(|hit| languages.lack(hit)), others, "{accepted}");
            assert!(!languages.lack(&code));
        }
    }
}
