use redis::RedisError;

use super::node::Node;
use crate::error::Error;

/// The part of the documentation that describes how a server loads the module.
const DOC: &str = "docs/valkey.md";

/// The failure of a server to carry out requests.
#[derive(Debug)]
pub struct Failure {
    /// The message: what happened, where, and what to do.
    pub reason: String,
    /// True if the server may have recorded some of the keys.
    pub may_have_recorded: bool,
}

impl Failure {
    /// A failure of a server that could not be reached, or that has refused a request.
    pub fn new(node: &Node, error: &RedisError, may_have_recorded: bool) -> Self {
        Self { reason: format!("{node}: {}", reason(error)), may_have_recorded }
    }

    /// A failure because the set cannot be used, for this reason.
    pub fn of(reason: String) -> Self {
        Self { reason, may_have_recorded: false }
    }

    /// Makes the failure for an answer that no server with this module gives. `what` describes the answer.
    pub fn nonsense(what: &str) -> Self {
        Self { reason: format!("the server's answer is not understood: {what}"), may_have_recorded: true }
    }

    /// Converts the failure to an error that names the set by its URL.
    pub fn at(self, url: &str) -> Error {
        Error::Message(format!("{url}: {}", self.reason))
    }
}

/// Describes an error of a server or a connection in the words of a message.
fn reason(error: &RedisError) -> String {
    let text = match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        (Some(code), None) => code.to_owned(),
        (None, _) => error.to_string(),
    };
    if error.is_timeout() {
        return "no answer in time: is the server busy or the network slow?".to_owned();
    }
    if error.is_connection_refusal() {
        return format!("no server listens there ({text})");
    }
    if error.is_connection_dropped() {
        return format!("the server has closed the connection ({text})");
    }
    if error.is_io_error() {
        return format!("the connection failed ({text})");
    }
    let lower = text.to_ascii_lowercase();
    let advice = if lower.contains("unknown command") && (lower.contains("seen.") || lower.contains("furui.")) {
        format!(": the server has no module furui-valkey: start it with --loadmodule libfurui_valkey.so (see {DOC})")
    } else if lower.contains("wrongpass") || lower.contains("noauth") {
        ": give user and password in the URL, as in redis://USER:PASSWORD@HOST/NAME, or the password in REDISCLI_AUTH"
            .to_owned()
    } else if lower.contains("wrongtype") {
        ": another program has a key of this name: name another set".to_owned()
    } else if lower.starts_with("oom") || lower.contains("furui.max-") {
        ": the server has no memory left for the set: raise its limit (maxmemory or furui.max-memory), or remove keys"
            .to_owned()
    } else if lower.starts_with("moved") {
        ": the server is in a cluster, but does not tell this user which node has which slots: allow CLUSTER SLOTS"
            .to_owned()
    } else if lower.starts_with("readonly") {
        ": this is a replica: name its master".to_owned()
    } else {
        String::new()
    };
    text + &advice
}
