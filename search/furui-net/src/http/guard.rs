use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::{ApiError, page};

/// The content security policy of all responses: pages may use this node's own style sheet, script and images, and may
/// send forms only to this node.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// Rejects requests that a browser sends on behalf of other sites, and adds security headers to the responses.
///
/// - A page of another site can send requests to this address. The header `Origin` or `Sec-Fetch-Site` shows this.
/// - The owner of another site can make its name resolve to this address (DNS rebinding), so that a browser takes this
///   node for that site. The header `Host` then has the name of that site. So only IP addresses and `localhost`, which
///   no site owns, are accepted as `Host`.
pub(super) async fn guard(request: Request, next: Next) -> Response {
    let is_person = page::is_wanted(request.headers());
    let mut response = match check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    if is_person && let Some(error) = response.extensions().get::<ApiError>() {
        response = page::refusal(error);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn check(headers: &HeaderMap) -> Result<(), ApiError> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(Ok(host)), None) = (hosts.next().map(HeaderValue::to_str), hosts.next()) else {
        return Err(ApiError::foreign("a request for no host"));
    };
    if !is_own_host(host) {
        return Err(ApiError::foreign("a request for another host"));
    }
    if headers.get(header::ORIGIN).is_some_and(|origin| origin.as_bytes() != format!("http://{host}").as_bytes()) {
        return Err(ApiError::foreign("a request from another site"));
    }
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
        return Err(ApiError::foreign("a request from another site"));
    }
    Ok(())
}

/// True if no other site can have this host name.
fn is_own_host(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let number = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || number.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(headers: &[(&'static str, &'static str)]) -> bool {
        let mut map = HeaderMap::new();
        for &(name, value) in headers {
            map.append(name, HeaderValue::from_static(value));
        }
        check(&map).is_ok()
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
}
