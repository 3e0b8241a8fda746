use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::page::{Page, page};
use super::{Done, Options};

/// The maximum time that a network may take to reach an awaited state.
const PATIENCE: Duration = Duration::from_secs(300);
/// The time between two checks of an awaited state.
const LOOK: Duration = Duration::from_millis(200);

/// Nodes in processes of their own, on loopback. They are killed, and their directories removed, when this value is
/// dropped.
pub(super) struct Cluster {
    program: PathBuf,
    directory: PathBuf,
    pub(super) nodes: Vec<Node>,
}

/// A node, running or dead.
pub(super) struct Node {
    process: Option<Child>,
    pub(super) url: String,
    address: String,
    /// The port at which others reach the node, and the port at which it listens, if these differ.
    pub(super) external: Option<(u16, u16)>,
}

impl Cluster {
    pub(super) fn new(options: &Options) -> Done<Self> {
        let directory = std::env::temp_dir().join(format!("furui-network-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        Ok(Self { program: options.furui.clone(), directory, nodes: Vec::new() })
    }

    /// Adds nodes that are reached at the ports at which they listen.
    pub(super) fn grow(&mut self, count: usize) -> Done {
        for _ in 0..count {
            self.add(None)?;
        }
        self.settle().map(drop)
    }

    pub(super) fn add(&mut self, external: Option<(u16, u16)>) -> Done {
        self.nodes.push(Node { process: None, url: String::new(), address: String::new(), external });
        self.start(self.nodes.len() - 1)
    }

    /// Starts a node, for the first time or again from its data on disk.
    pub(super) fn start(&mut self, number: usize) -> Done {
        let alive: Vec<String> = self.alive().map(|node| self.nodes[node].address.clone()).take(3).collect();
        let data = self.directory.join(format!("node{number}"));
        let node = &mut self.nodes[number];
        let mut command = Command::new(&self.program);
        command.arg("node").arg("--data").arg(&data).args(["--http", "127.0.0.1:0"]);
        let listen = node.external.map_or(0, |(_, listen)| listen);
        command.args(["--listen", &format!("/ip4/127.0.0.1/tcp/{listen}")]);
        if let Some((external, _)) = node.external {
            command.args(["--external", &format!("/ip4/127.0.0.1/tcp/{external}")]);
        }
        for address in alive {
            command.args(["--bootstrap", &address]);
        }
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        node.process = Some(child);
        for line in lines {
            let line = line?;
            if let Some(address) = line.strip_prefix("listening ") {
                node.address = address.to_owned();
            } else if let Some(url) = line.strip_prefix("http ") {
                node.url = url.to_owned();
                return Ok(());
            }
        }
        Err(format!("node {number} ended before it printed its address").into())
    }

    /// Kills nodes by `kill -9`.
    pub(super) fn kill(&mut self, numbers: &[usize]) -> Done {
        for &number in numbers {
            if let Some(mut process) = self.nodes[number].process.take() {
                process.kill()?;
                process.wait()?;
            }
        }
        Ok(())
    }

    pub(super) fn alive(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().enumerate().filter(|(_, node)| node.process.is_some()).map(|(number, _)| number)
    }

    pub(super) fn dead(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|&number| self.nodes[number].process.is_none()).collect()
    }

    /// Waits until every live node knows all other live nodes and no dead one, and has received all data that it should
    /// hold. Returns how long that took.
    pub(super) fn settle(&self) -> Done<Duration> {
        let others = self.alive().count() as u64 - 1;
        let start = Instant::now();
        for number in self.alive() {
            loop {
                let status = self.nodes[number].status()?;
                if status["peers"] == others && status["settled"] == true && status["whole"] == true {
                    break;
                }
                if start.elapsed() > PATIENCE {
                    return Err(format!("node {number} does not settle: {status}").into());
                }
                std::thread::sleep(LOOK);
            }
        }
        Ok(start.elapsed())
    }

    /// Publishes a file on a node by `furui publish`, and returns the output of the command.
    pub(super) fn publish(&self, node: usize, file: &Path, again: bool) -> Done<String> {
        let mut command = Command::new(&self.program);
        command.args(["publish", "--format", "jsonl", "--node", &self.nodes[node].url]).arg(file);
        if again {
            command.arg("--again");
        }
        let output = command.output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr).into()) }
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let all: Vec<usize> = (0..self.nodes.len()).collect();
        // Errors are ignored: the processes have ended already, or the directory has been removed.
        let _ = self.kill(&all);
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Node {
    /// The address by which other nodes join the network.
    pub(super) fn bootstrap(&self) -> &str {
        &self.address
    }

    pub(super) fn status(&self) -> Done<Value> {
        let mut response = ureq::get(format!("{}/status", self.url)).call()?;
        Ok(serde_json::from_str(&response.body_mut().read_to_string()?)?)
    }

    pub(super) fn search(&self, query: &str, limit: usize, cursor: Option<&str>) -> Done<Page> {
        page(&self.url, query, limit, cursor)
    }

    /// The URLs of all documents that match a query.
    pub(super) fn search_all(&self, query: &str) -> Done<Vec<String>> {
        let mut found = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.search(query, 1000, cursor.as_deref())?;
            found.extend(page.urls);
            cursor = page.cursor;
            if cursor.is_none() {
                return Ok(found);
            }
        }
    }

    /// The node's memory in use, and its peak, in MiB.
    pub(super) fn memory(&self) -> Done<(u64, u64)> {
        let process = self.process.as_ref().ok_or("the node is dead")?.id();
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let of = |name: &str| -> Option<u64> {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib >> 10)
        };
        of("VmRSS").zip(of("VmHWM")).ok_or_else(|| "this system does not report the memory of a process".into())
    }
}

/// A port on which no process listens.
pub(super) fn free_port() -> Done<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
