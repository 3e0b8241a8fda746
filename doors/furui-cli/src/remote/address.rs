use std::fmt;
use std::path::Path;

use url::Url;

use super::link::Login;
use super::node::Node;
use crate::error::Error;

/// The TCP port of a server if the URL of a set names none.
const PORT: u16 = 6379;

/// The environment variable with the password, if the URL has none. `redis-cli` reads it, too.
const PASSWORD: &str = "REDISCLI_AUTH";

/// The address of a set in a server: `redis://[USER:PASSWORD@]HOST[:PORT]/[DB/]NAME`.
pub struct Address {
    /// The first server to connect to.
    pub node: Node,
    /// The name of the set.
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
        let url = Url::parse(path.to_str().unwrap_or_default())
            .map_err(|error| wrong(&format!("this is not the URL of a set: {error}")))?;
        if matches!(url.scheme(), "rediss" | "valkeys") {
            return Err(Error::Message(format!(
                "{}://: furui speaks no TLS to servers: let a tunnel such as stunnel or ssh -L encrypt, and write redis://",
                url.scheme()
            )));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("the URL has a \"?\" or a \"#\", which must be %3F or %23 in the name of a set"));
        }
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| wrong("the URL names no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let parts: Vec<&str> = url.path_segments().map(Iterator::collect).unwrap_or_default();
        let number = |text: &str| text.parse::<u16>().ok();
        let (database, coded) = match parts[..] {
            [coded] if !coded.is_empty() && number(coded).is_none() => (0, coded),
            [database, coded] if !coded.is_empty() && number(database).is_some() => {
                (number(database).unwrap_or_default(), coded)
            }
            [] | [_] => return Err(wrong("the URL names no set")),
            _ => return Err(wrong("the path of the URL is not DB/NAME (a \"/\" in a name is %2F)")),
        };
        let text = |coded: &str| decode(coded).ok_or_else(|| wrong("the URL has an escape that is not UTF-8"));
        let name = text(coded)?;
        if name.contains(['{', '}']) {
            return Err(wrong("the name of the set has a brace, which is not allowed"));
        }
        let user = Some(url.username()).filter(|user| !user.is_empty()).map(text).transpose()?;
        let password = match url.password() {
            Some(password) => Some(text(password)?),
            None => std::env::var(PASSWORD).ok().filter(|password| !password.is_empty()),
        };
        let login = Login { user, password, database };
        Ok(Self { node: Node { host, port: url.port().unwrap_or(PORT) }, name, login })
    }
}

/// The URL without its user and password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "redis://{}/{}/{}", self.node, self.login.database, self.name)
    }
}

/// Decodes the percent escapes of a text in a URL. `None` if it cannot be decoded.
fn decode(coded: &str) -> Option<String> {
    let (mut bytes, mut rest) = (vec![], coded.as_bytes());
    while let [first, after @ ..] = rest {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => {
                (char::from(*high).to_digit(16)).zip(char::from(*low).to_digit(16)).map(|(high, low)| high * 16 + low)
            }
            _ => None,
        };
        match escaped.and_then(|byte| u8::try_from(byte).ok()) {
            Some(byte) => (bytes.push(byte), rest = &after[2..]),
            None => (bytes.push(*first), rest = after),
        };
    }
    String::from_utf8(bytes).ok()
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
        ] {
            let address = parse(url).unwrap();
            assert_eq!((address.to_string().as_str(), address.name.as_str()), (shown, name));
        }
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
            "rediss://:secret@host/a",
        ] {
            let message = parse(url).err().unwrap_or_default();
            assert!(!message.is_empty() && !message.contains("secret"), "{url}: {message}");
        }
    }
}
