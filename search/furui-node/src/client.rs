//! The client of a node's HTTP interface.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::time::Duration;

use furui_net::http::{MAX_LINE, Token, TokenError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use ureq::http::Response;
use ureq::{Agent, Body, BodyReader, RequestBuilder};

use crate::Error;
use crate::options::node::NodeAddress;

/// The maximum time for a node to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The maximum time for a node to begin its answer. It exceeds the node's own time limits, so that the node can report
/// that one of them has passed.
const BEGIN: Duration = Duration::from_secs(120);
/// The environment variable that has the token of a node, if `--token` names no file.
const TOKEN: &str = "FURUI_TOKEN";

/// A client of the HTTP interface of a node. Clones share its connections.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    url: String,
    /// The value of the header `Authorization`, if the node asks for a token.
    authorization: Option<String>,
}

/// The JSON answer of a node that refuses a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    error: String,
    /// The byte offset of the error in the query. It is not used, because the message contains it too.
    #[serde(default, rename = "at")]
    _at: Option<u64>,
}

impl Client {
    /// Creates a client of the node at this address, with the token of the options or of `FURUI_TOKEN`.
    ///
    /// # Errors
    /// If the token cannot be read, or is none.
    pub fn of(NodeAddress { url, token }: &NodeAddress) -> Result<Self, Error> {
        let failed = |error: TokenError| Error::Message(error.to_string());
        let token = match (token, std::env::var_os(TOKEN).filter(|token| !token.is_empty())) {
            (Some(file), _) => Some(Token::load(file).map_err(failed)?),
            (None, Some(text)) => {
                Some(Token::new(&text.to_string_lossy()).map_err(|error| Error::Message(format!("{TOKEN}: {error}")))?)
            }
            (None, None) => None,
        };
        Ok(Self::new(url, token.as_ref()))
    }

    /// Creates a client of the node at this URL.
    pub fn new(url: &str, token: Option<&Token>) -> Self {
        let config = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(BEGIN))
            .http_status_as_error(false)
            .max_redirects(0)
            // The node is on this machine or near it, so it is not reached through a web proxy.
            .proxy(None)
            .build();
        let authorization = token.map(|token| format!("Bearer {}", token.text()));
        Self { agent: config.into(), url: url.into(), authorization }
    }

    /// Sends a GET request for `path` with these parameters, and the language of the locale. Returns the lines of the
    /// node's answer.
    pub fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Lines, Error> {
        let mut request = self.agent.get(format!("{}{path}", self.url)).query_pairs(parameters.iter().copied());
        let of = |name| std::env::var(name).ok().filter(|locale| !locale.is_empty());
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(of).unwrap_or_default();
        let language = locale.split(|c: char| !c.is_ascii_alphabetic()).next().filter(|language| language.len() == 2);
        if let Some(language) = language {
            request = request.header("accept-language", language);
        }
        self.lines(self.known(request).call())
    }

    /// Sends a POST request to `path` with `body`. Returns the lines of the node's answer.
    pub fn post(&self, path: &str, body: &[u8]) -> Result<Lines, Error> {
        self.lines(self.known(self.agent.post(format!("{}{path}", self.url))).send(body))
    }

    /// Adds the token to a request.
    fn known<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        match &self.authorization {
            Some(authorization) => request.header("authorization", authorization),
            None => request,
        }
    }

    fn lines(&self, response: Result<Response<Body>, ureq::Error>) -> Result<Lines, Error> {
        let response = response.map_err(|error| {
            let url = &self.url;
            Error::Message(format!(
                "cannot reach a node at {url}: {error}; start `furui node`, or name its URL by --node"
            ))
        })?;
        let status = response.status();
        let reader = BufReader::new(response.into_body().into_reader());
        let mut lines = Lines { reader, url: self.url.clone(), line: Vec::new() };
        if status.is_success() {
            return Ok(lines);
        }
        match lines.next() {
            // The body of the answer contains the node's error message.
            Err(error @ Error::Message(_)) => Err(error),
            _ => Err(Error::Message(format!(
                "{} answers with the status {status}: is this a node? Name the URL of one by --node",
                self.url
            ))),
        }
    }
}

/// Reads the answer of a node, line by line.
pub struct Lines {
    reader: BufReader<BodyReader<'static>>,
    url: String,
    line: Vec<u8>,
}

impl Lines {
    /// Reads the next line of the answer, which must be JSON of this type. A line that is `{"error":…}` becomes the
    /// error of the whole answer.
    pub fn read<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        if !self.next()? {
            return Err(self.cut_off());
        }
        serde_json::from_slice(&self.line).map_err(|error| {
            Error::Message(format!(
                "{} does not answer as a node does ({error}): is it a node? Name the URL of one by --node",
                self.url
            ))
        })
    }

    /// Copies the bytes that follow the last line.
    pub fn copy(&mut self, bytes: u64, out: &mut impl Write) -> io::Result<()> {
        match io::copy(&mut self.reader.by_ref().take(bytes), out)? {
            copied if copied == bytes => Ok(()),
            _ => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the node has sent only a part of it")),
        }
    }

    /// The line of the answer that was read last.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// Reads the next line of the answer. Returns false at the end.
    fn next(&mut self) -> Result<bool, Error> {
        self.line.clear();
        let read = self.reader.by_ref().take(MAX_LINE as u64).read_until(b'\n', &mut self.line);
        read.map_err(|error| Error::io("cannot read the answer of", &self.url, error))?;
        match self.line.pop() {
            None => Ok(false),
            Some(b'\n') => match serde_json::from_slice::<Refused>(&self.line) {
                Ok(Refused { error, .. }) => Err(Error::Message(error)),
                Err(_) => Ok(true),
            },
            Some(_) => Err(self.cut_off()),
        }
    }

    /// Makes the error for an answer that ends too early.
    fn cut_off(&self) -> Error {
        Error::io("the answer was cut off by", &self.url, io::ErrorKind::UnexpectedEof.into())
    }
}
