//! The command `furui invite`.

use std::process::ExitCode;

use serde::Deserialize;

use crate::Error;
use crate::client::Client;
use crate::options::invite::InviteOptions;
use crate::program::Program;

/// The JSON answer of a node to a request for an invitation.
#[derive(Deserialize)]
struct Answer {
    invitation: String,
}

/// Runs `furui invite`.
pub fn run(options: &InviteOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    let answer: Answer = Client::of(&options.node)?.post("/invite", b"")?.read()?;
    // What is printed is to be pasted, so an answer that is no invitation is not printed.
    let line: furui_net::net::Invitation = answer
        .invitation
        .parse()
        .map_err(|error: furui_net::net::InvitationError| Error::Message(error.to_string()))?;
    program.print(format!("{line}\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
