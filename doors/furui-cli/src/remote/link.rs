use std::time::{Duration, Instant};

use redis::{Cmd, Parser, RedisResult, Value};

use super::node::Node;
use super::stream::Stream;
use super::uninterrupted::Uninterrupted;

/// How the client logs in to a server: the user and the password, the number of the database, and whether TLS is used.
#[derive(Default)]
pub struct Login {
    /// The name of the user. `None` for the server's default user.
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: u16,
    /// True if the connection is encrypted by TLS.
    pub is_encrypted: bool,
}

/// A connection to a server.
///
/// The connection of the crate `redis` is not used, because with a time-out it takes a signal for an error, and then
/// loses an answer.
pub struct Link {
    stream: Stream,
    parser: Parser,
    /// The time at which the server last answered.
    used: Instant,
}

/// If a connection was idle for longer than this, it is checked before it is used: the server or the network may have
/// closed it.
const IDLE: Duration = Duration::from_secs(1);

impl Link {
    /// Connects to a server, logs in, and selects the database.
    pub fn connect(node: &Node, login: &Login) -> RedisResult<Self> {
        let stream = Stream::open(node, login.is_encrypted)?;
        let mut link = Self { stream, parser: Parser::new(), used: Instant::now() };
        if let Some(password) = &login.password {
            link.ask(redis::cmd("AUTH").arg(&login.user).arg(password))?;
        }
        if login.database != 0 {
            link.ask(redis::cmd("SELECT").arg(login.database))?;
        }
        Ok(link)
    }

    /// Sends commands that are encoded in the server's protocol, without waiting for their answers.
    pub fn send(&mut self, packed: &[u8]) -> RedisResult<()> {
        Ok(self.stream.send(packed)?)
    }

    /// Receives the next answer. An error reply of the server is an error.
    pub fn receive(&mut self) -> RedisResult<Value> {
        let answer = self.parser.parse_value(Uninterrupted(&mut self.stream))?;
        self.used = Instant::now();
        match answer {
            Value::ServerError(error) => Err(error.into()),
            answer => Ok(answer),
        }
    }

    /// Sends a command, and returns the answer.
    pub fn ask(&mut self, command: &Cmd) -> RedisResult<Value> {
        self.send(&command.get_packed_command())?;
        self.receive()
    }

    /// False if the connection was idle for longer than [`IDLE`], and the server does not answer a `PING`.
    pub fn works(&mut self) -> bool {
        self.used.elapsed() < IDLE || self.ask(&redis::cmd("PING")).is_ok()
    }
}
