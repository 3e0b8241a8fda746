use std::fs::File;
use std::io::Read;
use std::net::{Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use furui::filter::sizing;
use furui_search::Wants;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::Error;
use crate::log::{LogFormat, LogLevel};
use crate::node::membership::Membership;
use crate::options::node::NodeOptions;

/// The maximum size of a configuration file in bytes.
const MAX_FILE: u64 = 1 << 20;
/// The default addresses on which a node listens for other nodes, the second one if the machine has IPv6.
const LISTEN: [&str; 2] = ["/ip4/0.0.0.0/tcp/0", "/ip6/::/tcp/0"];
/// The default address of a node's HTTP interface.
const HTTP: &str = "127.0.0.1:7717";

/// The settings of a node: from the options, otherwise from the configuration file, otherwise the defaults.
#[derive(Debug, PartialEq, Eq)]
pub struct Settings {
    pub data: PathBuf,
    pub listen: Vec<String>,
    pub external: Vec<String>,
    pub http: SocketAddr,
    pub bootstrap: Vec<String>,
    pub disk: Option<u64>,
    pub wants: Wants,
    pub membership: Membership,
    /// True if the documents may be taken along into another network.
    pub rekey: bool,
    pub mdns: bool,
    pub watch: Vec<PathBuf>,
    pub http_token: Option<PathBuf>,
    pub http_host: Vec<String>,
    pub log: LogLevel,
    pub log_format: LogFormat,
}

/// The contents of a configuration file. Its keys are the long names of the options.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Configuration {
    data: Option<PathBuf>,
    #[serde(default)]
    listen: Vec<String>,
    #[serde(default)]
    external: Vec<String>,
    http: Option<SocketAddr>,
    #[serde(default)]
    bootstrap: Vec<String>,
    #[serde(default, deserialize_with = "size")]
    disk: Option<u64>,
    #[serde(default, rename = "no-mdns")]
    no_mdns: bool,
    coding: Option<String>,
    #[serde(default, deserialize_with = "rate")]
    rate: Option<f64>,
    #[serde(default)]
    watch: Vec<PathBuf>,
    #[serde(rename = "http-token")]
    http_token: Option<PathBuf>,
    #[serde(default, rename = "http-host")]
    http_host: Vec<String>,
    log: Option<LogLevel>,
    #[serde(rename = "log-format")]
    log_format: Option<LogFormat>,
}

/// Parses a size like `--disk`: a text such as "20GiB", or a number of bytes.
fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Size {
        Bytes(u64),
        Text(String),
    }
    match Size::deserialize(from)? {
        Size::Bytes(bytes) => Ok(Some(bytes)),
        Size::Text(text) => furui::text::size(&text).map(Some).map_err(D::Error::custom),
    }
}

/// Parses a rate like `--rate`: a number, or a text such as "1%".
fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Rate {
        Number(f64),
        Text(String),
    }
    match Rate::deserialize(from)? {
        Rate::Number(rate) => Ok(Some(rate)),
        Rate::Text(text) => match sizing::parse_rate(&text) {
            Some(rate) => Ok(Some(rate)),
            None => Err(D::Error::custom(format!("rate = {text:?} is no rate: write it as 0.01 or \"1%\""))),
        },
    }
}

impl Settings {
    /// Combines the options with the configuration file and the defaults.
    ///
    /// # Errors
    /// If the configuration file cannot be read or understood, if neither an option nor the environment says where the
    /// node's data is, if the coding does not exist or cannot have the rate, or if the network is not understood.
    pub fn new(options: &NodeOptions) -> Result<Self, Error> {
        let file = options.config.as_deref().map_or_else(|| Ok(Configuration::default()), read)?;
        let first = |given: &Vec<String>, file: Vec<String>| if given.is_empty() { file } else { given.clone() };
        let data = options.data.clone().or(file.data).or_else(usual_directory).ok_or_else(|| {
            Error::Message("no directory for the node, as there is no home directory; say --data DIR".to_owned())
        })?;
        let (membership, rekey) = Membership::new(&options.private)?;
        let mut listen = first(&options.listen, file.listen);
        if listen.is_empty() {
            listen = usual_listen();
        }
        // The rate is read from the same source as the coding: the options or the configuration file.
        let (coding, rate) = match &options.coding.coding {
            Some(coding) => (Some(coding), options.coding.rate),
            None => (file.coding.as_ref(), file.rate),
        };
        let wants = Wants::named(coding.map(String::as_str), rate).map_err(|error| match &options.config {
            Some(path) if options.coding.coding.is_none() => Error::Message(format!("{}: {error}", path.display())),
            _ => Error::Message(error.to_string()),
        })?;
        Ok(Self {
            wants: wants.unwrap_or(Wants::Best),
            data,
            listen,
            external: first(&options.external, file.external),
            http: options.http.or(file.http).unwrap_or_else(|| HTTP.parse().expect("an address")),
            bootstrap: first(&options.bootstrap, file.bootstrap),
            disk: options.disk.or(file.disk),
            membership,
            rekey,
            mdns: !options.private.no_mdns && !file.no_mdns,
            watch: if options.service.watch.is_empty() { file.watch } else { options.service.watch.clone() },
            http_token: options.service.http_token.clone().or(file.http_token),
            http_host: first(&options.service.http_host, file.http_host),
            log: options.service.log.or(file.log).unwrap_or(LogLevel::Warn),
            log_format: options.service.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
        })
    }
}

fn usual_listen() -> Vec<String> {
    let has_ipv6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    LISTEN.iter().take(1 + usize::from(has_ipv6)).map(ToString::to_string).collect()
}

/// The directory of a node whose owner names none, by the XDG Base Directory Specification; `None` without a home
/// directory. A relative path in `XDG_DATA_HOME` is not valid, and ignored.
fn usual_directory() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("furui/node"))
}

/// The level of the log that the configuration file at `path` states; warnings if it states none.
///
/// # Errors
/// If the file cannot be read, or is not a valid configuration.
pub fn log_level(path: &Path) -> Result<LogLevel, Error> {
    Ok(read(path)?.log.unwrap_or(LogLevel::Warn))
}

/// Reads a configuration file. Relative paths in it are resolved against its directory.
fn read(path: &Path) -> Result<Configuration, Error> {
    let name = path.display();
    let failed = |source| Error::io("cannot read", name.to_string(), source);
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_string(&mut text)).map_err(failed)?;
    if text.len() as u64 > MAX_FILE {
        return Err(Error::Message(format!("{name}: more than {MAX_FILE} bytes: is this a configuration file?")));
    }
    let mut read: Configuration = toml::from_str(&text).map_err(|error| {
        let before = error.span().map_or(0, |span| span.start).min(text.len());
        let line = 1 + text.as_bytes()[..before].iter().filter(|byte| **byte == b'\n').count();
        let why = error.message().trim_end();
        Error::Message(format!(
            "{name}: line {line}: {why}; a line is an option of `furui node` and its value, as in http = \"{HTTP}\" or \
             listen = [\"{}\"]",
            LISTEN[0]
        ))
    })?;
    let directory = path.parent().unwrap_or(Path::new(""));
    read.data = read.data.map(|data| directory.join(data));
    read.http_token = read.http_token.map(|token| directory.join(token));
    read.watch.iter_mut().for_each(|watched| *watched = directory.join(&*watched));
    Ok(read)
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    fn settings(arguments: &[&str]) -> Result<Settings, Error> {
        let command = NodeOptions::augment_args(Command::new("node"));
        let matches = command.try_get_matches_from([&["node"], arguments].concat()).unwrap();
        Settings::new(&NodeOptions::from_arg_matches(&matches).unwrap())
    }

    #[test]
    fn options_go_before_the_file_and_that_before_what_is_usual() {
        let file = std::env::temp_dir().join(format!("furui-settings-{}.toml", std::process::id()));
        let path = file.to_str().unwrap();
        let usual = Settings {
            data: "d".into(),
            listen: usual_listen(),
            external: vec![],
            http: HTTP.parse().unwrap(),
            bootstrap: vec![],
            disk: None,
            wants: Wants::Best,
            membership: Membership::Stay,
            rekey: false,
            mdns: true,
            watch: vec![],
            http_token: None,
            http_host: vec![],
            log: LogLevel::Warn,
            log_format: LogFormat::Text,
        };
        assert_eq!(settings(&["--data", "d"]).unwrap(), usual);
        std::fs::write(&file, "").unwrap();
        assert_eq!(settings(&["--data", "d", "--config", path]).unwrap(), usual);
        let text = "# a node\ndata = 'here'\nlisten = ['/a', '/b']\nexternal = ['/c']\nhttp = '[::1]:8'\nbootstrap = ['/d']\n\
             coding = 'ringed'\nrate = 0.01\ndisk = '3GiB'\nwatch = ['w']\nhttp-token = 't'\nhttp-host = ['h']\nlog = 'info'\n\
             no-mdns = true\nlog-format = 'json'";
        std::fs::write(&file, text.replace("0.01", "'1%'")).unwrap();
        let percent = settings(&["--config", path]).unwrap();
        std::fs::write(&file, text).unwrap();
        let of_file = Settings {
            data: file.with_file_name("here"),
            listen: vec!["/a".into(), "/b".into()],
            external: vec!["/c".into()],
            http: "[::1]:8".parse().unwrap(),
            bootstrap: vec!["/d".into()],
            disk: Some(3 << 30),
            wants: Wants::Ringed { probes: Some(7), delta: 1000 },
            membership: Membership::Stay,
            rekey: false,
            mdns: false,
            watch: vec![file.with_file_name("w")],
            http_token: Some(file.with_file_name("t")),
            http_host: vec!["h".into()],
            log: LogLevel::Info,
            log_format: LogFormat::Json,
        };
        assert_eq!(settings(&["--config", path]).unwrap(), of_file);
        assert_eq!(percent, of_file);
        let some = settings(&["--config", path, "--listen", "/x", "--data", "d"]).unwrap();
        assert_eq!(some, Settings { data: "d".into(), listen: vec!["/x".into()], ..of_file });
        let arguments = ["--external", "/y", "--http", "127.0.0.1:0", "--bootstrap", "/z"];
        let others = settings(&[&["--config", path], &arguments[..]].concat()).unwrap();
        assert_eq!((others.external, others.bootstrap), (vec!["/y".into()], vec!["/z".into()]));
        assert_eq!(others.http.port(), 0);
        assert_eq!(settings(&["--config", path, "--disk", "1M"]).unwrap().disk, Some(1 << 20));
        assert_eq!(settings(&["--config", path, "--coding", "naive"]).unwrap().wants, Wants::Naive);
        for (text, expected) in [
            ("coding = 'zip'", "there are best, naive, fixed, ringed, golomb"),
            ("coding = 'best'\nrate = 0.1", "the coding best has no rate"),
            ("coding = 'ringed'\nrate = 1.5", "below 1"),
            ("coding = 'ringed'\nrate = '1 in 100'", "write it as 0.01"),
            ("rate = 0.1", "add fixed or ringed"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = settings(&["--config", path, "--data", "d"]).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(path), "{text}: {error}");
        }
        std::fs::remove_file(file).unwrap();
    }
}
