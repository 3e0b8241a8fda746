use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde::Deserialize;

use super::lines::json;
use super::{ApiError, Backend, Face, MAX_SEARCHES, run};

/// The content type of suggestions, by which browsers know them.
const SUGGESTIONS: HeaderValue = HeaderValue::from_static("application/x-suggestions+json");

/// The query parameter of `GET /suggest`: what has been typed so far.
#[derive(Deserialize)]
pub(super) struct Typed {
    q: String,
}

/// Handles `GET /suggest`: what has been typed, and the same with its last word completed in several ways.
pub(super) async fn suggest<N: Backend>(
    State(Face { node, searches, .. }): State<Face<N>>,
    typed: Result<Parameters<Typed>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(Typed { q }) =
        typed.map_err(|error| ApiError::invalid(format_args!("{}; ask as in /suggest?q=two+wo", error.body_text())))?;
    let _permit = searches.try_acquire().map_err(|_| ApiError::busy(MAX_SEARCHES, "searches"))?;
    let completed = match last_word(&q) {
        Some((before, word)) => {
            let words = run(async move { node.completions(&word).await }).await?;
            words.into_iter().map(|word| format!("{before}{word}")).collect()
        }
        None => vec![],
    };
    let mut response = json(&(&q, completed));
    response.headers_mut().insert(header::CONTENT_TYPE, SUGGESTIONS);
    Ok(response)
}

/// Splits what has been typed into the last word, as it is indexed, and what is before it. `None` if there is no word
/// that can be completed: nothing, a part of a site, or text without spaces between words.
fn last_word(typed: &str) -> Option<(&str, String)> {
    let start = typed.trim_end_matches(char::is_alphanumeric).len();
    let (before, last) = typed.split_at(start);
    let mut words = furui_search::words(last);
    let word = words.next()?;
    (words.next().is_none() && !before.ends_with([':', '.'])).then(|| (before, word.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_what_is_completed() {
        for (typed, before, word) in [
            ("blo", "", "blo"),
            ("bloom Fil", "bloom ", "fil"),
            ("a OR -caf", "a OR -", "caf"),
            ("(\"new yor", "(\"new ", "yor"),
        ] {
            assert_eq!(last_word(typed), Some((before, word.to_owned())), "{typed}");
        }
        for typed in ["", "bloom ", "site:exam", "site:www.exam", "東京タ"] {
            assert_eq!(last_word(typed), None, "{typed}");
        }
    }
}
