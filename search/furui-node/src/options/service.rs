//! The options of `furui node` for a node that serves more than the terminal where it was started.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::log::{LogFormat, LogLevel};

/// What a node does as a service.
#[derive(Args, Default)]
pub struct ServiceOptions {
    /// Publish the files in these directories as "furui publish" does, publish again what changes, and withdraw what
    /// goes; may be repeated. Hidden files, and the directory of the node, are left out. When the node starts, what was
    /// published from a directory that is watched no more is withdrawn
    #[arg(long, value_name = "DIR", num_args = 1.., value_hint = ValueHint::DirPath)]
    pub watch: Vec<PathBuf>,
    /// A file with the token that "furui publish", "furui search", browsers and all others must know to use the node's
    /// HTTP address. If there is no file, one is made with a random token. Required if the address can be reached from
    /// other machines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub http_token: Option<PathBuf>,
    /// The name of a host behind which the node is reached through a proxy, such as search.example.org; may be
    /// repeated. The proxy must pass the header Host on. Needs --http-token
    #[arg(long, value_name = "NAME", value_parser = host)]
    pub http_host: Vec<String>,
    /// The least severe messages on standard error. Searches are logged only if they are slow, by their time and sizes;
    /// what was searched for never is. After a change in the configuration file, send the node SIGHUP [default: warn]
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<LogLevel>,
    /// The form of the messages: lines of text, or of JSON [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// Parses the name of a host, without a scheme, a port or a path.
fn host(text: &str) -> Result<String, &'static str> {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_name = !text.is_empty() && text.bytes().all(is_usual);
    if is_name { Ok(text.to_owned()) } else { Err("not the name of a host, such as search.example.org") }
}
