use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::client::{COOKIE, ClientAddress, OfOwner};
use super::{ApiError, Token, page};

/// The content security policy of all responses: pages may use this node's own style sheet, script and images, and may
/// send forms only to this node.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// The paths that need no token.
const PUBLIC: [&str; 8] =
    ["/healthz", "/robots.txt", "/opensearch.xml", "/openapi.json", "/login", "/style.css", "/script.js", "/icon.svg"];

/// What a request must show.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub(super) token: Option<Token>,
    pub(super) hosts: Vec<String>,
}

/// Rejects requests without the token, and those that a browser sends on behalf of other sites, and adds security
/// headers to the responses.
///
/// - A page of another site can send requests to this address. The header `Origin` or `Sec-Fetch-Site` shows this. Only
///   a link to the search page may be followed from another site: a request of a whole page, by GET.
/// - The owner of another site can make its name resolve to this address (DNS rebinding), so that a browser takes this
///   node for that site. The header `Host` then has the name of that site. So only IP addresses and `localhost`, which
///   no site owns, and the names in [`Gate::hosts`] are accepted as `Host`.
pub(super) async fn guard(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let is_person = page::is_wanted(request.headers());
    let to = request.uri().path_and_query().map_or("/", PathAndQuery::as_str).to_owned();
    let mut response = match gate.check(&mut request) {
        Ok(()) => next.run(request).await,
        // Browsers do not send a strict cookie with a link from another site, but with the next request they do.
        Err(error) if error.status == StatusCode::UNAUTHORIZED && is_person && is_foreign(request.headers()) => {
            page::again()
        }
        Err(error) => error.into_response(),
    };
    if is_person && let Some(error) = response.extensions().get::<ApiError>() {
        response = match error.status {
            StatusCode::UNAUTHORIZED => page::login(&to, ""),
            _ => page::refusal(error),
        };
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

impl Gate {
    /// Checks the headers of a request, and notes whether it is [`OfOwner`].
    fn check(&self, request: &mut Request) -> Result<(), ApiError> {
        let host = check(request.method(), request.uri().path(), request.headers(), &self.hosts)?;
        let is_of_owner = match &self.token {
            Some(token) => {
                let is_known = knows(token, request.headers());
                if !is_known && !PUBLIC.contains(&request.uri().path()) {
                    return Err(ApiError::no_token());
                }
                is_known
            }
            None => {
                let client = request.extensions().get::<ClientAddress>();
                client.is_some_and(|client| client.0.to_canonical().is_loopback()) && is_number_or_localhost(&host)
            }
        };
        request.extensions_mut().insert(OfOwner(is_of_owner));
        Ok(())
    }
}

/// True if a request has the token, or the cookie of a browser that had it.
fn knows(token: &Token, headers: &HeaderMap) -> bool {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().split_at_checked(7));
    if let Some((scheme, offered)) = bearer {
        return scheme.eq_ignore_ascii_case(b"bearer ") && token.is(offered.trim_ascii());
    }
    let cookies = headers.get_all(header::COOKIE).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    let values = cookies.filter_map(|cookie| cookie.trim_ascii().strip_prefix(COOKIE.as_bytes())?.strip_prefix(b"="));
    values.fold(false, |known, value| known | token.is_cookie(value))
}

/// True if a browser sends the request for a page of another site.
fn is_foreign(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    site.is_some_and(|site| site != b"same-origin" && site != b"none")
}

/// Returns the host of a request that no other site has sent.
fn check(method: &Method, path: &str, headers: &HeaderMap, hosts: &[String]) -> Result<String, ApiError> {
    let mut names = headers.get_all(header::HOST).iter();
    let (Some(Ok(host)), None) = (names.next().map(HeaderValue::to_str), names.next()) else {
        return Err(ApiError::foreign("a request for no host"));
    };
    let is_behind_proxy = hosts.iter().any(|name| name.eq_ignore_ascii_case(without_port(host)));
    if !is_number_or_localhost(host) && !is_behind_proxy {
        return Err(ApiError::foreign("a request for another host"));
    }
    let is_own = |origin: &[u8]| {
        origin == format!("http://{host}").as_bytes()
            || is_behind_proxy && origin == format!("https://{host}").as_bytes()
    };
    if headers.get(header::ORIGIN).is_some_and(|origin| !is_own(origin.as_bytes())) {
        return Err(ApiError::foreign("a request from another site"));
    }
    let is = |name: &str, value: &[u8]| headers.get(name).is_some_and(|it| it.as_bytes() == value);
    let is_link =
        method == Method::GET && path == "/" && is("sec-fetch-mode", b"navigate") && is("sec-fetch-dest", b"document");
    if is_foreign(headers) && !is_link {
        return Err(ApiError::foreign("a request from another site"));
    }
    Ok(host.to_owned())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// True if no other site can have this host name.
fn is_number_or_localhost(host: &str) -> bool {
    let name = without_port(host);
    let number = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || number.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for &(name, value) in headers {
            map.append(name, HeaderValue::from_static(value));
        }
        map
    }

    fn allowed(headers: &[(&'static str, &'static str)]) -> bool {
        check(&Method::GET, "/search", &map(headers), &["Search.lan".to_owned()]).is_ok()
    }

    #[test]
    fn only_numbers_and_localhost_are_hosts() {
        for host in ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:80", "[::1]", "192.168.1.2:80"] {
            assert!(allowed(&[("host", host)]), "{host}");
        }
        for host in
            ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", ":80", "localhost.evil.example:80"]
        {
            assert!(!allowed(&[("host", host)]), "{host}");
        }
        assert!(!allowed(&[]));
        assert!(!allowed(&[("host", "localhost"), ("host", "evil.example")]));
    }

    #[test]
    fn other_sites_are_refused() {
        let host = ("host", "127.0.0.1:8080");
        assert!(allowed(&[host, ("origin", "http://127.0.0.1:8080"), ("sec-fetch-site", "same-origin")]));
        assert!(allowed(&[host, ("sec-fetch-site", "none")]));
        for origin in ["http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:9"] {
            assert!(!allowed(&[host, ("origin", origin)]), "{origin}");
        }
        assert!(!allowed(&[host, ("sec-fetch-site", "cross-site")]));
        assert!(!allowed(&[host, ("sec-fetch-site", "same-site")]));
    }

    #[test]
    fn a_name_behind_a_proxy_is_a_host_with_the_origins_of_both_schemes() {
        for host in ["search.lan", "SEARCH.LAN:8443"] {
            assert!(allowed(&[("host", host)]));
        }
        assert!(allowed(&[("host", "search.lan:8"), ("origin", "https://search.lan:8")]));
        assert!(allowed(&[("host", "search.lan"), ("origin", "http://search.lan")]));
        for origin in ["https://search.lan:8", "https://other.lan", "http://127.0.0.1"] {
            assert!(!allowed(&[("host", "search.lan"), ("origin", origin)]), "{origin}");
        }
        assert!(!allowed(&[("host", "a.search.lan")]) && !allowed(&[("host", "search.lan.evil.example")]));
    }

    #[test]
    fn a_link_from_another_site_leads_to_the_search_page_and_to_nothing_else() {
        let page = [("host", "localhost"), ("sec-fetch-site", "cross-site")];
        let link = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        let may = |method: Method, path: &str, more: &[(&'static str, &'static str)]| {
            check(&method, path, &map(&[&page[..], more].concat()), &[]).is_ok()
        };
        assert!(may(Method::GET, "/", &link));
        for path in ["/search", "/document", "/open", "/status", "/add", "/publish"] {
            assert!(!may(Method::GET, path, &link), "{path}");
        }
        assert!(!may(Method::POST, "/", &link) && !may(Method::GET, "/", &link[..1]) && !may(Method::GET, "/", &[]));
        for other in ["iframe", "image", "script", "empty", "object"] {
            assert!(!may(Method::GET, "/", &[link[0], ("sec-fetch-dest", other)]), "{other}");
        }
        assert!(!may(Method::GET, "/", &[("sec-fetch-mode", "no-cors"), link[1]]));
        assert!(!may(Method::GET, "/", &[link[0], link[1], ("origin", "http://evil.example")]));
    }

    #[test]
    fn the_token_or_its_cookie_is_known_and_nothing_else() {
        let token = Token::new("0123456789abcdef").unwrap();
        let cookie: &'static str = format!("a=b; furui={}; c=d", token.cookie()).leak();
        assert!(knows(&token, &map(&[("authorization", "Bearer 0123456789abcdef")])));
        assert!(knows(&token, &map(&[("cookie", cookie)])));
        for (name, value) in [
            ("authorization", "Bearer 0123456789abcdee"),
            ("authorization", "Basic 0123456789abcdef"),
            ("authorization", "Bearer"),
            ("cookie", "furui=0123456789abcdef"),
            ("cookie", "furui="),
            ("cookie", "xfurui=1; furui"),
        ] {
            assert!(!knows(&token, &map(&[(name, value)])), "{name}: {value}");
        }
        assert!(!knows(&token, &HeaderMap::new()));
    }
}
