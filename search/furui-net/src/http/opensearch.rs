use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use maud::{PreEscaped, html};

/// The content type of a description of a search engine.
const DESCRIPTION: &str = "application/opensearchdescription+xml";

/// Handles `GET /opensearch.xml`: describes the search page (OpenSearch 1.1), so that browsers add it to their search
/// engines. It names the node as the browser has reached it.
pub(super) async fn opensearch(headers: HeaderMap) -> Response {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // The guard has checked the host. A proxy says whether it was reached by https.
    let scheme = if header("x-forwarded-proto") == "https" { "https" } else { "http" };
    let site = format!("{scheme}://{}", header(header::HOST.as_str()));
    let description = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/" {
            ShortName { "furui" }
            Description { "Search what nodes of furui keep between them" }
            InputEncoding { "UTF-8" }
            Image width="16" height="16" type="image/svg+xml" { (site) "/icon.svg" }
            Url type="text/html" method="get" template={ (site) "/?q={searchTerms}" } {}
            Url type="application/x-suggestions+json" method="get" template={ (site) "/suggest?q={searchTerms}" } {}
            Url type=(DESCRIPTION) rel="self" template={ (site) "/opensearch.xml" } {}
        }
    };
    ([(header::CONTENT_TYPE, DESCRIPTION)], description.into_string()).into_response()
}
