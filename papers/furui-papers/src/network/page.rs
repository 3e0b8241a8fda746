use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Done;

/// The answer to a search over HTTP.
pub(super) struct Page {
    pub(super) urls: Vec<String>,
    pub(super) cursor: Option<String>,
    pub(super) whole: bool,
    /// The steps of the search.
    pub(super) steps: Vec<Step>,
    /// The time from the request to the arrival of the first line.
    pub(super) first: Duration,
    /// The time from the request to the arrival of the last line.
    pub(super) last: Duration,
}

/// A step of a search.
pub(super) struct Step {
    pub(super) what: String,
    /// The time until the step was done, as the node reports it.
    pub(super) done: Option<Duration>,
}

impl Page {
    /// The time until the look-up of the words was done: from then on, the keepers of their lists and the sizes of the
    /// lists are known.
    pub(super) fn looked_up(&self) -> Duration {
        self.steps.iter().find_map(|step| step.done).unwrap_or_default()
    }
}

/// Fetches a page of the answer to a query.
pub(super) fn page(node: &str, query: &str, limit: usize, cursor: Option<&str>) -> Done<Page> {
    let mut request = ureq::get(format!("{node}/search")).query("q", query).query("limit", limit.to_string());
    request = request.query("explain", "true");
    if let Some(cursor) = cursor {
        request = request.query("cursor", cursor);
    }
    let start = Instant::now();
    let response = request.call()?;
    let mut page = Page {
        urls: Vec::new(),
        cursor: None,
        whole: true,
        steps: Vec::new(),
        first: Duration::ZERO,
        last: Duration::ZERO,
    };
    for line in BufReader::new(response.into_body().into_reader()).lines() {
        if page.first.is_zero() {
            page.first = start.elapsed();
        }
        let line: Value = serde_json::from_str(&line?)?;
        if let Some(url) = line["url"].as_str() {
            page.urls.push(url.to_owned());
        } else if let Some(what) = line["step"].as_str() {
            let done = line["ms"].as_u64().map(Duration::from_millis);
            page.steps.push(Step { what: what.to_owned(), done });
        } else if let Some(error) = line["error"].as_str() {
            return Err(format!("{query}: {error}").into());
        } else if !line["total"].is_null() {
            page.cursor = line["cursor"].as_str().map(str::to_owned);
            page.whole = line["whole"] == true;
            page.last = start.elapsed();
            return Ok(page);
        }
    }
    Err(format!("{query}: the answer was cut off").into())
}
