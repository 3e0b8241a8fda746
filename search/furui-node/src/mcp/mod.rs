//! The command `furui mcp`: a server of the Model Context Protocol whose tools ask a node.

mod server;
mod tools;

use std::process::ExitCode;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;

use crate::Error;
use crate::client::Client;
use crate::options::mcp::McpOptions;
use server::Server;

/// Runs `furui mcp` until the client closes standard input.
pub fn run(options: &McpOptions) -> Result<ExitCode, Error> {
    let client = Client::of(&options.node)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|source| Error::io("cannot start", "threads", source))?;
    let failed = |why: String| Error::Message(format!("the program at standard input and output: {why}"));
    runtime.block_on(async {
        let service = match Server(client).serve(stdio()).await {
            Ok(service) => service,
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(ExitCode::SUCCESS),
            Err(error) => return Err(failed(error.to_string())),
        };
        service.waiting().await.map_err(|error| failed(error.to_string()))?;
        Ok(ExitCode::SUCCESS)
    })
}
