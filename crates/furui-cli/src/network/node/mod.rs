//! `furui node`, and the client for a node.

mod client;
mod settings;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use furui_net::net::{Config, Transport};
use furui_net::node::{self, Node};
use rustix::fs::Mode;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::network::options::node::NodeOptions;
use crate::output::print;

pub use client::{Client, Lines};
use settings::Settings;

/// The maximum number of HTTP requests that wait for the node.
pub const CALLS: usize = 64;

/// Runs the command.
pub fn run(options: &NodeOptions) -> Result<ExitCode, Error> {
    // Only the owner may read the files of a node.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|source| Error::io("cannot start", "threads", source))?;
    runtime.block_on(serve(Settings::new(options)?))
}

async fn serve(settings: Settings) -> Result<ExitCode, Error> {
    let Settings { data, listen, external, http, bootstrap, wants } = settings;
    let failed = |error: node::NodeError| Error::Message(error.to_string());
    let interrupted = interruption().map_err(|source| Error::io("cannot listen to", "signals", source))?;
    let config =
        Config { listen, external, bootstrap, ..Config::new(node::identity(&data).map_err(failed)?, Transport::Tcp) };
    let listener = TcpListener::bind(http).await;
    let listener = listener.map_err(|source| Error::io("cannot listen on", http.to_string(), source))?;
    let node = Node::start(Some(&data), config).await.map_err(failed)?;
    announce(&node, listener.local_addr().unwrap_or(http))?;

    let (calls, asked) = mpsc::channel(CALLS);
    let answering = tokio::spawn(node.clone().answer(asked, wants));
    let (failure, failed) = oneshot::channel();
    let until = {
        let node = node.clone();
        async move {
            tokio::select! {
                () = interrupted => {}
                // Each of these errors ends the command.
                why = node.failed() => drop(failure.send(why)),
                Err(panic) = answering => drop(failure.send(panic.to_string())),
            }
        }
    };
    let served = furui_net::http::serve(listener, calls, until).await;
    node.shutdown().await;
    served.map_err(|source| Error::io("cannot serve", http.to_string(), source))?;
    match failed.await {
        Ok(why) => Err(Error::Message(why)),
        // The channel is closed: the node was interrupted.
        Err(_) => Ok(ExitCode::SUCCESS),
    }
}

/// Prints the addresses in use.
fn announce(node: &Node, http: SocketAddr) -> Result<(), Error> {
    let mut lines: String =
        node.net().listen_addresses().iter().map(|address| format!("listening {address}\n")).collect();
    lines += &format!("http http://{http}\n");
    print(lines.as_bytes())
}

/// A future that is ready at the first ^C or SIGTERM. A second signal ends the process at once.
pub fn interruption() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            std::process::exit(130);
        });
    })
}
