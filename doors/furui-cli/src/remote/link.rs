use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use redis::{Cmd, Parser, RedisResult, Value};

use super::node::Node;

/// The user, with the password, and the database of a connection.
pub struct Login {
    /// The name of the user. `None` for the server's default user.
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: u16,
}

/// A connection to a server.
///
/// The connection of the crate `redis` is not used, because with a time-out it takes a signal for an error, and then
/// loses an answer.
pub struct Link {
    stream: TcpStream,
    parser: Parser,
    /// The time at which the server last answered.
    used: Instant,
}

/// The time limit for making a connection to a server.
const CONNECT: Duration = Duration::from_secs(5);
/// The time limit for an answer of a server.
const ANSWER: Duration = Duration::from_secs(30);
/// If a connection was idle for longer than this, it is checked before it is used: the server or the network may have
/// closed it.
const IDLE: Duration = Duration::from_secs(1);

impl Link {
    /// Connects to a server.
    pub fn connect(node: &Node, login: &Login) -> RedisResult<Self> {
        let stream = open(node)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.set_write_timeout(Some(ANSWER))?;
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
        Ok(self.stream.write_all(packed)?)
    }

    /// Receives the next answer. An error reply of the server is an error.
    pub fn receive(&mut self) -> RedisResult<Value> {
        let answer = self.parser.parse_value(Uninterrupted(&self.stream))?;
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

/// Connects to the first address of a server that accepts a connection.
fn open(node: &Node) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(ErrorKind::AddrNotAvailable, "the name has no address");
    for address in (node.host.as_str(), node.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// A stream whose reads are repeated if a signal interrupts them.
struct Uninterrupted<'a>(&'a TcpStream);

impl Read for Uninterrupted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}
