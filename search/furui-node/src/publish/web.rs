use std::collections::VecDeque;
use std::io::Read;
use std::net::IpAddr;
use std::time::Duration;

use furui_pages::{Gunzip, Kind, MAX_PAGE, Media, Sitemap, is_noindex};
use ureq::Agent;
use ureq::http::StatusCode;
use url::{Host, Url};

use super::sums::Reason;
use super::{Publisher, Source};
use crate::Error;

/// The maximum time to fetch a page or sitemap.
const PATIENCE: Duration = Duration::from_secs(60);
/// The maximum number of redirects that are followed to fetch a page.
const MAX_REDIRECTS: usize = 5;
/// The maximum size of a sitemap in bytes, as the sitemap protocol says.
const MAX_SITEMAP: usize = 50 << 20;
/// The maximum number of sitemaps of a site.
const MAX_SITEMAPS: usize = 1000;

/// A web site at one port of a loopback address, from which pages are fetched.
struct Site<'a> {
    agent: Agent,
    /// The URL of a loopback address from which the site is fetched.
    origin: Url,
    /// The public URL of the site, if it differs from `origin`.
    base: Option<&'a Url>,
}

/// The successful response to an HTTP request.
struct Answer {
    /// The URL from which the body came, after all redirects.
    url: Url,
    media: Option<Media>,
    noindex: bool,
    bytes: Vec<u8>,
}

impl Publisher<'_> {
    /// Publishes the pages that a sitemap names, or one page.
    pub(super) fn site(&mut self, url: &str) -> Result<(), Error> {
        let origin = Url::parse(url).map_err(|error| Error::Message(format!("{url}: {error}")))?;
        let site = Site::new(origin.clone(), self.options.base.as_ref());
        let mut first = Some(site.fetch(&origin, MAX_SITEMAP).map_err(|why| Error::Message(format!("{url}: {why}")))?);
        let mut sitemaps = VecDeque::from([origin]);
        let mut count = 1;
        while let Some(place) = sitemaps.pop_front() {
            let answer = match first.take() {
                Some(answer) => Ok(answer),
                None => site.fetch(&place, MAX_SITEMAP),
            };
            let answer = match answer {
                Ok(answer) => answer,
                Err(why) => {
                    self.sums.leave_out(place.as_str(), &why)?;
                    continue;
                }
            };
            (self.progress)(answer.bytes.len());
            let Some(sitemap) = Sitemap::read(&answer.bytes) else {
                if count == 1 {
                    return self.web_page(&site, answer);
                }
                self.sums.leave_out(place.as_str(), "not a sitemap")?;
                continue;
            };
            if sitemap.has_more {
                let why = format!(
                    "the URLs after the first {}, the most that a sitemap may have",
                    furui_pages::MAX_SITEMAP_URLS
                );
                self.sums.leave_out(place.as_str(), &why)?;
            }
            for inner in sitemap.sitemaps {
                match site.local(&inner) {
                    Err(why) => self.sums.leave_out(&inner, &why)?,
                    Ok(_) if count == MAX_SITEMAPS => {
                        self.sums.leave_out(&inner, &format!("more than {MAX_SITEMAPS} sitemaps"))?;
                    }
                    Ok(inner) => {
                        count += 1;
                        sitemaps.push_back(inner);
                    }
                }
            }
            for page in sitemap.pages {
                match site.local(&page).and_then(|local| site.fetch(&local, MAX_PAGE)) {
                    Ok(answer) => {
                        (self.progress)(answer.bytes.len());
                        self.web_page(&site, answer)?;
                    }
                    Err(why) => self.sums.leave_out(&page, &why)?,
                }
            }
        }
        Ok(())
    }

    fn web_page(&mut self, site: &Site<'_>, answer: Answer) -> Result<(), Error> {
        let Answer { url, media, noindex, bytes } = answer;
        if noindex {
            self.sums.pass(Reason::NoIndex);
            return Ok(());
        }
        let Some(media) = media else {
            self.sums.pass(Reason::Kind);
            return Ok(());
        };
        let place = url.to_string();
        let url = site.public(&url);
        self.page(Source { place, url, is_own: true, media: &media, title: "", bytes: &bytes })
    }
}

impl<'a> Site<'a> {
    fn new(origin: Url, base: Option<&'a Url>) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("furui/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), origin, base }
    }

    /// The URL from which the page `named` in a sitemap is fetched: at `origin` if it is under the public URL of the
    /// site, otherwise `named` itself.
    fn local(&self, named: &str) -> Result<Url, String> {
        let url = Url::parse(named).map_err(|error| error.to_string())?;
        match self.base.filter(|base| base.origin() == url.origin()) {
            Some(_) => Ok(at(&self.origin, &url)),
            None => Ok(url),
        }
    }

    /// The public URL of a page that was fetched from `url`.
    fn public(&self, url: &Url) -> Url {
        match self.base.filter(|_| url.origin() == self.origin.origin()) {
            Some(base) => at(base, url),
            None => url.clone(),
        }
    }

    /// Fetches at most `most` bytes from a URL, following redirects within the site.
    fn fetch(&self, url: &Url, most: usize) -> Result<Answer, String> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            self.check(&url)?;
            let response = self.agent.get(url.as_str()).call().map_err(|error| error.to_string())?;
            let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
            let status = response.status();
            if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
                let to = header("location").ok_or_else(|| format!("the server answers {status} without a new URL"))?;
                url = url.join(to).map_err(|error| format!("redirected to {to:?}, which is no URL: {error}"))?;
                continue;
            }
            if status != StatusCode::OK {
                return Err(format!("the server answers {status}"));
            }
            let media = header("content-type").map_or(Some(Kind::Html.into()), Media::of);
            let noindex = header("x-robots-tag").is_some_and(is_noindex);
            let bytes = read(response.into_body().into_reader(), most)?;
            let bytes = if bytes.starts_with(b"\x1f\x8b") { read(Gunzip::new(&bytes[..]), most)? } else { bytes };
            return Ok(Answer { url, media, noindex, bytes });
        }
        Err(format!("redirected more than {MAX_REDIRECTS} times"))
    }

    /// Returns an error unless a URL is at a loopback address and at the port that the user has named. No other pages
    /// are fetched: a site must not redirect to other services of this computer.
    fn check(&self, url: &Url) -> Result<(), String> {
        check(url)?;
        let (named, port) = (self.origin.port_or_known_default(), url.port_or_known_default());
        if port != named {
            return Err(format!(
                "only pages at port {}, that of the given URL, are fetched; publish a site at another port by its own URL",
                named.unwrap_or_default()
            ));
        }
        Ok(())
    }
}

/// Returns an error unless a URL has the scheme `http`, and a loopback address or a name under `localhost` as its host.
fn check(url: &Url) -> Result<(), String> {
    if url.scheme() != "http" {
        return Err(format!("only http: URLs are fetched, not {}:", url.scheme()));
    }
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).is_loopback(),
        None => false,
    };
    if is_loopback {
        return Ok(());
    }
    Err("only sites on this machine are fetched; of other sites, publish the WARC file of a crawler; if a sitemap \
         names a public site, give the URL of that site by --base"
        .to_owned())
}

/// Returns `url` with the scheme, host and port of `site`; the path and the query are not changed.
fn at(site: &Url, url: &Url) -> Url {
    let mut moved = site.clone();
    moved.set_path(url.path());
    moved.set_query(url.query());
    moved
}

/// Reads all bytes of `from`. Returns an error if there are more than `most`.
fn read(from: impl Read, most: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    from.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > most { Err(format!("it has more than {most} bytes")) } else { Ok(bytes) }
}
