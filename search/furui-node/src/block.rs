//! The commands `furui block`, `furui unblock`, `furui purge`, `furui trust` and `furui untrust`.

use std::process::ExitCode;

use furui::format::Printable;
use serde::Deserialize;

use crate::Error;
use crate::client::Client;
use crate::options::block::{BlockOptions, PurgeOptions, TrustOptions, UnblockOptions, UntrustOptions};
use crate::program::Program;
use indicatif::HumanCount;

/// The exit code if the node has changed nothing.
const NOTHING: u8 = 1;

/// The JSON answer of a node to a request to block, unblock or purge.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    changed: u64,
    removed: u64,
    blocked: Vec<String>,
    trusted: Vec<String>,
}

/// Runs `furui trust`.
pub fn trust(options: &TrustOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    let client = Client::of(&options.node)?;
    if options.peers.is_empty() {
        let answer: Answer = client.get("/trusted", &[])?.read()?;
        return list(&answer.trusted, program);
    }
    tell(ask(&client, "/trust", &options.peers)?.changed, "trusted", program)
}

/// Runs `furui untrust`.
pub fn untrust(options: &UntrustOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    let changed = ask(&Client::of(&options.node)?, "/untrust", &options.peers)?.changed;
    tell(changed, "no longer trusted", program)
}

/// Runs `furui block`.
pub fn block(options: &BlockOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    let client = Client::of(&options.node)?;
    if options.what.is_empty() {
        let answer: Answer = client.get("/blocked", &[])?.read()?;
        return list(&answer.blocked, program);
    }
    let changed = ask(&client, "/block", &options.what)?.changed;
    tell(changed, "blocked", program)
}

/// Runs `furui unblock`.
pub fn unblock(options: &UnblockOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    let changed = ask(&Client::of(&options.node)?, "/unblock", &options.what)?.changed;
    tell(changed, "unblocked", program)
}

/// Runs `furui purge`.
pub fn purge(options: &PurgeOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    let removed = ask(&Client::of(&options.node)?, "/purge", &options.what)?.removed;
    tell(removed, "removed", program)
}

fn list(lines: &[String], program: &dyn Program) -> Result<ExitCode, Error> {
    program.print(lines.iter().map(|line| format!("{}\n", Printable(line))).collect::<String>().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn ask(client: &Client, path: &str, what: &[String]) -> Result<Answer, Error> {
    if let Some(text) = what.iter().find(|what| what.trim().lines().count() != 1) {
        return Err(Error::Message(format!("{text:?} is not one line of text; give each as an argument of its own")));
    }
    client.post(path, what.join("\n").as_bytes())?.read()
}

fn tell(count: u64, what: &str, program: &dyn Program) -> Result<ExitCode, Error> {
    program.print(format!("{} {what}\n", HumanCount(count)).as_bytes())?;
    Ok(if count > 0 { ExitCode::SUCCESS } else { ExitCode::from(NOTHING) })
}
