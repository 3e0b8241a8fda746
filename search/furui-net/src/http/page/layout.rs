use axum::http::{HeaderName, header};
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(super) const HTML: &str = "text/html; charset=utf-8";
/// The headers of a page with a form that is posted. If a page is never named as a referrer, not even to its own site,
/// browsers do not say from which site its forms come.
pub(super) const FORM: [(HeaderName, &str); 2] =
    [(header::CONTENT_TYPE, HTML), (header::REFERRER_POLICY, "same-origin")];

/// The parameters of the HTML around the content of a page, which all pages share.
pub(super) struct Layout<'a> {
    title: &'a str,
    query: &'a str,
    takes_focus: bool,
}

impl<'a> Layout<'a> {
    pub(super) fn new(title: &'a str) -> Self {
        Self { title, query: "", takes_focus: false }
    }

    /// Puts this query into the search box.
    pub(super) fn query(self, query: &'a str) -> Self {
        Self { query, ..self }
    }

    /// Sets the input focus to the search box, for pages without content to read.
    pub(super) fn focused(self) -> Self {
        Self { takes_focus: true, ..self }
    }

    /// Renders a whole page with this content.
    pub(super) fn page(&self, content: Markup) -> String {
        self.begin() + &content.into_string() + &Self::end()
    }

    /// Renders the beginning of the page, up to its content.
    pub(super) fn begin(&self) -> String {
        let start = html! {
            (DOCTYPE)
            (PreEscaped("<html lang=\"en\">"))
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (self.title) " – furui" }
                link rel="stylesheet" href="/style.css";
                link rel="icon" type="image/svg+xml" href="/icon.svg";
                link rel="search" type="application/opensearchdescription+xml" title="furui" href="/opensearch.xml";
                script src="/script.js" defer {}
            }
            (PreEscaped("<body>"))
            a.skip href="#content" { "To the content" }
            header {
                a.name href="/" { "furui " span lang="ja" { "篩" } }
                form role="search" action="/" method="get" {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(self.query) autofocus[self.takes_focus]
                        maxlength=(furui_search::limits::QUERY_BYTES) autocapitalize="none" autocomplete="off";
                    button { "Search" }
                }
                nav aria-label="Node" { a href="/status" { "Status" } }
            }
            (PreEscaped("<main id=\"content\">"))
        };
        start.into_string()
    }

    /// Renders the end of the page, after its content.
    pub(super) fn end() -> String {
        let end = html! {
            (PreEscaped("</main>"))
            footer {
                p { "furui " (env!("CARGO_PKG_VERSION")) ": a search engine without a server. Your own node answers, from "
                    "lists that many nodes keep between them. " a href="/#asking" { "How to ask" } ", " a href="/add" { "publish" } }
            }
            (PreEscaped("</body></html>\n"))
        };
        end.into_string()
    }
}
