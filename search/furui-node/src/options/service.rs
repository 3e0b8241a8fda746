//! The options of `furui node` for a node that serves more than the terminal where it was started.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::log::{LogFormat, LogLevel};

/// What a node does as a service.
#[derive(Args, Default)]
#[command(next_help_heading = "Service")]
pub struct ServiceOptions {
    /// Publish the files in directories, what changes, and withdraw what goes
    ///
    /// This is as "furui publish" does without --base; may be repeated. Hidden files, and the directory of the node,
    /// are left out. When the node starts, what was published from a directory that is watched no more is withdrawn
    #[arg(long, value_name = "DIR", num_args = 1.., value_hint = ValueHint::DirPath)]
    pub watch: Vec<PathBuf>,
    /// A file with the token that clients must know; made if there is none
    ///
    /// "furui publish", "furui search", browsers and all others then need it to use the node's HTTP address. Required
    /// if the address can be reached from other machines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub http_token: Option<PathBuf>,
    /// The name of the node behind a proxy; may be repeated
    ///
    /// Such as search.example.org. The proxy must pass the header Host on. Needs --http-token
    #[arg(long, value_name = "NAME", value_parser = host)]
    pub http_host: Vec<String>,
    /// The least severe messages on standard error [default: warn]
    ///
    /// Searches are logged only if they are slow, by their time and sizes; what was searched for never is. After a
    /// change in the configuration file, send the node SIGHUP
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<LogLevel>,
    /// The form of the messages: text or json [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// Parses the name of a host, without a scheme, a port or a path.
fn host(text: &str) -> Result<String, &'static str> {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_name = !text.is_empty() && text.bytes().all(is_usual);
    if is_name { Ok(text.to_owned()) } else { Err("not the name of a host, such as search.example.org") }
}
