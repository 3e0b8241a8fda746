use maud::html;

use super::layout::Layout;

/// The forms of a query, each with an example that links to its results.
const FORMS: [(&str, &str); 6] = [
    ("bloom filter", "both words, anywhere in title or text"),
    ("\"bloom filter\"", "the words one after the other"),
    ("filter -coffee", "the first word, without the other; a phrase or a site can be excluded, too"),
    ("bloom OR cuckoo", "one of the words, or both"),
    ("filter site:wikipedia.org", "the word, on that host or one below it"),
    ("filter (bloom OR cuckoo)", "as in arithmetic: OR binds weakest, unless in parentheses"),
];

/// Renders the home page, which is shown before the first query.
pub(super) fn home() -> String {
    Layout::new("Search").focused().page(html! {
        h1 { "Search without a server" }
        p { "What you ask is answered by machines that keep the index between them. There is no company in the middle, no
            account, and nothing on this page comes from elsewhere than your own node." }
        section #asking aria-labelledby="forms" {
            h2 #forms { "How to ask" }
            dl.forms {
                @for (query, meaning) in FORMS {
                    dt { a href={ "/?q=" (super::figures::encoded(query)) } { (query) } }
                    dd { (meaning) }
                }
            }
            p { "Upper and lower case are the same, and so are full and half width. Chinese, Japanese and Korean need no
                spaces." }
        }
    })
}
