use std::fmt;
use std::path::Path;

use percent_encoding::percent_decode_str;
use url::Url;

use super::link::Login;
use super::node::Node;
use super::watched::Watched;
use crate::error::Error;

/// The TCP port of a server if the URL of a set names none.
const PORT: u16 = 6379;

/// The TCP port of a Sentinel if the URL of a set names none.
const SENTINEL_PORT: u16 = 26379;

/// The environment variable with the password, if the URL has none. `redis-cli` reads it, too.
const PASSWORD: &str = "REDISCLI_AUTH";

/// The address of a set: `redis://[USER:PASSWORD@]HOST[:PORT]/[DB/]NAME` in a server or a cluster, `rediss://...` over
/// TLS, `unix://[USER:PASSWORD@]/PATH?[db=DB&]name=NAME` behind a socket of this machine, or
/// `redis+sentinel://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]/SERVICE/[DB/]NAME` in a service that Sentinels watch.
pub struct Address {
    /// The first server to connect to, or the first Sentinel.
    pub node: Node,
    /// The service of which the master has the set. `None` without Sentinels.
    pub watched: Option<Watched>,
    /// The name of the set, from which the names of its keys in the server are made.
    pub name: String,
    pub login: Login,
}

impl Address {
    /// Parses the URL of a set. Error messages do not contain the password.
    pub fn parse(path: &Path) -> Result<Self, Error> {
        // The password may be anywhere in a text that is no URL, so the text is not repeated.
        let wrong = |reason: &str| {
            Error::Message(format!("{reason}: write redis://HOST:PORT/NAME or redis://HOST:PORT/DB/NAME"))
        };
        let mut whole = path.to_str().unwrap_or_default().to_owned();
        let scheme = whole.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let (is_unix, is_watched) = (matches!(&*scheme, "unix" | "redis+unix"), scheme == "redis+sentinel");
        let mut others = vec![];
        if is_unix {
            // A user without a host is no URL for the crate.
            whole = whole.replacen("@/", "@localhost/", 1);
        } else if is_watched && let Some((first, more, rest)) = hosts(&whole) {
            let node =
                |text: &str| Url::parse(&format!("redis://{text}")).ok().and_then(|url| tcp(&url, SENTINEL_PORT));
            let nodes = more.split(',').map(node).collect::<Option<Vec<_>>>();
            others = nodes.ok_or_else(|| wrong("one of the Sentinels is not HOST:PORT"))?;
            whole = format!("{first}{rest}");
        }
        let url = Url::parse(&whole).map_err(|error| wrong(&format!("this is not the URL of a set: {error}")))?;
        let text = |coded: &str| decode(coded).ok_or_else(|| wrong("the URL has an escape that is not UTF-8"));
        let number = |text: &str| text.parse::<u16>().ok();
        let mut database = 0;
        let (node, name, service) = if is_unix {
            let mut name = None;
            for (key, value) in url.query_pairs() {
                match &*key {
                    "name" => name = Some(value.into_owned()),
                    "db" => database = number(&value).ok_or_else(|| wrong("the db of the URL is no number"))?,
                    _ => {
                        return Err(wrong(
                            "the URL of a socket is unix:///PATH?name=NAME or unix:///PATH?db=DB&name=NAME",
                        ));
                    }
                }
            }
            let name = name.filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| wrong("the URL names no set: unix:///PATH?name=NAME does"))?;
            (Node::Unix(text(url.path())?.into()), name, None)
        } else {
            if url.query().is_some() || url.fragment().is_some() {
                return Err(wrong("the URL has a \"?\" or a \"#\", which must be %3F or %23 in the name of a set"));
            }
            let port = if is_watched { SENTINEL_PORT } else { PORT };
            let node = tcp(&url, port).ok_or_else(|| wrong("the URL names no host"))?;
            let mut parts: Vec<&str> = url.path_segments().map(Iterator::collect).unwrap_or_default();
            let service = if is_watched && parts.len() > 1 { Some(text(parts.remove(0))?) } else { None };
            if is_watched && service.as_deref().unwrap_or_default().is_empty() {
                return Err(wrong("the URL names no service: redis+sentinel://HOST:PORT/SERVICE/NAME does"));
            }
            let coded = match parts[..] {
                [coded] if !coded.is_empty() && number(coded).is_none() => coded,
                [db, coded] if !coded.is_empty() && number(db).is_some() => {
                    database = number(db).unwrap_or_default();
                    coded
                }
                [] | [_] => return Err(wrong("the URL names no set")),
                _ => return Err(wrong("the path of the URL is not DB/NAME (a \"/\" in a name is %2F)")),
            };
            (node, text(coded)?, service)
        };
        if name.contains(['{', '}']) {
            return Err(wrong("the name of the set has a brace, which is not allowed"));
        }
        let user = Some(url.username()).filter(|user| !user.is_empty()).map(text).transpose()?;
        let password = match url.password() {
            Some(password) => Some(text(password)?),
            None => std::env::var(PASSWORD).ok().filter(|password| !password.is_empty()),
        };
        let is_encrypted = matches!(&*scheme, "rediss" | "valkeys");
        if is_encrypted && !cfg!(feature = "tls") {
            return Err(Error::Message(format!(
                "{scheme}://: this build of furui has no TLS; install one that has it: cargo install --path \
                 doors/furui-cli --features net,tls"
            )));
        }
        let sentinels: Vec<Node> = [node.clone()].into_iter().chain(others).collect();
        let watched = service.map(|service| Watched { sentinels, service, login: Login::default() });
        Ok(Self { node, watched, name, login: Login { user, password, database, is_encrypted } })
    }
}

/// The URL without its user and password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, database, name) = (&self.node, self.login.database, &self.name);
        match (node, &self.watched) {
            (_, Some(watched)) => write!(f, "redis+sentinel://{node}/{}/{database}/{name}", watched.service),
            (Node::Unix(_), _) => write!(f, "unix://{node}?db={database}&name={name}"),
            _ if self.login.is_encrypted => write!(f, "rediss://{node}/{database}/{name}"),
            _ => write!(f, "redis://{node}/{database}/{name}"),
        }
    }
}

/// Splits a URL with several hosts: the text up to the end of the first host, the other hosts, and the rest. `None` if
/// there is one host.
fn hosts(whole: &str) -> Option<(&str, &str, &str)> {
    let start = whole.find("://")? + 3;
    let end = whole[start..].find('/').map_or(whole.len(), |end| start + end);
    let start = whole[..end].rfind('@').map_or(start, |at| at + 1);
    let first = start + whole[start..end].find(',')?;
    Some((&whole[..first], &whole[first + 1..end], &whole[end..]))
}

/// The server that a URL names. `None` if it names no host.
fn tcp(url: &Url, port: u16) -> Option<Node> {
    let host = url.host_str().filter(|host| !host.is_empty())?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Some(Node::Tcp { host, port: url.port().unwrap_or(port) })
}

/// Decodes the percent escapes of a text in a URL. `None` if it cannot be decoded.
fn decode(coded: &str) -> Option<String> {
    Some(percent_decode_str(coded).decode_utf8().ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, String> {
        Address::parse(Path::new(url)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_url_names_a_server_a_database_and_a_set() {
        for (url, shown, name) in [
            ("redis://localhost/urls", "redis://localhost:6379/0/urls", "urls"),
            ("redis://10.0.0.1:7000/3/crawl:urls", "redis://10.0.0.1:7000/3/crawl:urls", "crawl:urls"),
            ("valkey://[::1]:7000/a%2Fb%20c", "redis://[::1]:7000/0/a/b c", "a/b c"),
            ("redis://me:p%40ss@host/x%zz", "redis://host:6379/0/x%zz", "x%zz"),
            ("unix:///run/r.sock?name=urls", "unix:///run/r.sock?db=0&name=urls", "urls"),
            ("UNIX://me:pw@/run/a%20b?db=3&name=a%2Fb", "unix:///run/a b?db=3&name=a/b", "a/b"),
            ("redis+sentinel://h/mymaster/urls", "redis+sentinel://h:26379/mymaster/0/urls", "urls"),
            ("redis+sentinel://me:p@a:1,b:2,c/s/7/urls", "redis+sentinel://a:1/s/7/urls", "urls"),
        ] {
            let address = parse(url).unwrap();
            assert_eq!((address.to_string().as_str(), address.name.as_str()), (shown, name));
        }
        let watched = parse("redis+sentinel://a:1,b,[::1]:3/s/urls").unwrap().watched.unwrap();
        let sentinels: Vec<String> = watched.sentinels.iter().map(ToString::to_string).collect();
        assert_eq!((sentinels.join(" "), watched.service.as_str()), ("a:1 b:26379 [::1]:3".into(), "s"));
        let address = parse("unix://me:p%40ss@/run/r.sock?name=x").unwrap();
        assert_eq!((address.login.user.as_deref(), address.login.password.as_deref()), (Some("me"), Some("p@ss")));
        let address = parse("redis://me:p%40ss@host/x").unwrap();
        assert_eq!((address.login.user.as_deref(), address.login.password.as_deref()), (Some("me"), Some("p@ss")));
    }

    #[test]
    fn what_is_no_such_url_is_refused_and_no_message_has_the_password() {
        for url in [
            "redis://:secret@host",
            "redis://:secret@host/",
            "redis://:secret@host/0",
            "redis://:secret@host/0/",
            "redis://:secret@host/a/b",
            "redis://:secret@host/0/a/b",
            "redis://:secret@host/a?b",
            "redis://:secret@host/a#b",
            "redis://:secret@host:99999/a",
            "redis://:secret@host/%ff",
            "redis://:secret@host/a%7bb",
            "redis:///secret",
            "unix:///secret",
            "unix://:secret@/run/r.sock?name=",
            "unix://:secret@/run/r.sock?name=a&dbs=1",
            "unix://:secret@/run/r.sock?name=a&db=x",
            "redis+sentinel://:secret@h",
            "redis+sentinel://:secret@h/name",
            "redis+sentinel://:secret@h,:9/service/name",
            "redis+sentinel://:secret@h//name",
        ] {
            let message = parse(url).err().unwrap_or_default();
            assert!(!message.is_empty() && !message.contains("secret"), "{url}: {message}");
        }
    }
}
