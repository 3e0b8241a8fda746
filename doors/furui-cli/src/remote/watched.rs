use redis::{ErrorKind, RedisError, RedisResult, Value};

use super::link::{Link, Login};
use super::node::Node;

/// A service whose master is watched by Sentinels, which replace it by one of its replicas if it fails.
pub struct Watched {
    /// The Sentinels, of which the first that knows the service is believed.
    pub sentinels: Vec<Node>,
    /// The name by which the Sentinels know the service.
    pub service: String,
    /// The login of the connections to the Sentinels.
    pub login: Login,
}

impl Watched {
    /// Asks the Sentinels for the present master of the service. The error is that of the last one.
    pub fn master(&self) -> RedisResult<Node> {
        let mut failed: RedisError = (ErrorKind::Client, "no Sentinel is named").into();
        for sentinel in &self.sentinels {
            match self.ask(sentinel) {
                Ok(master) => return Ok(master),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn ask(&self, sentinel: &Node) -> RedisResult<Node> {
        let mut command = redis::cmd("SENTINEL");
        command.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.service);
        let text = |value: &Value| match value {
            Value::BulkString(text) => str::from_utf8(text).ok().map(str::to_owned),
            _ => None,
        };
        let master = |fields: &[Value]| {
            let [host, port] = fields else { return None };
            Some(sentinel.other(&text(host)?, text(port)?.parse().ok()?))
        };
        let known = match Link::connect(sentinel, &self.login)?.ask(&command)? {
            Value::Array(fields) => master(&fields),
            _ => None,
        };
        known.ok_or_else(|| (ErrorKind::Client, "the Sentinel watches no service of this name").into())
    }
}
