//! The command `furui node`.

mod membership;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use furui::format::Printable;
use furui_net::http::{ServeOptions, Token};
use furui_net::net::{Config, Transport};
use furui_net::node::{self, Node, StartOptions};
use furui_net::watched::Watched;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};

use crate::Error;
use crate::client::Client;
use crate::log::Log;
use crate::options::node::NodeOptions;
use crate::program::Program;
use crate::watch::{Watch, roots};

use settings::Settings;

/// The maximum number of warnings about bootstrap addresses through which the node cannot join.
const WARNINGS: usize = 100;
/// The number of files that a node may have open: for its connections, the HTTP interface, and its own files.
const FILES: u64 = 4096;

/// Runs `furui node`.
pub fn run(options: &NodeOptions, program: &'static dyn Program) -> Result<ExitCode, Error> {
    // Only the owner may access the files of a node.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    raise_files();
    let settings = Settings::new(options)?;
    let log = Log::start(settings.log, settings.log_format);
    let reloading = options.config.clone().filter(|_| options.service.log.is_none()).map(|file| (log, file));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|source| Error::io("cannot start", "threads", source))?;
    runtime.block_on(serve(settings, reloading, program))
}

/// Raises the process's limit of open files as far as the system allows. If it remains low, connections that need a
/// file are refused.
fn raise_files() {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(FILES, |maximum| maximum.min(FILES));
    if limit.current.is_some_and(|current| current < most) {
        // If the system refuses, the limit is not changed.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..limit });
    }
}

async fn serve(
    settings: Settings,
    log: Option<(Log, PathBuf)>,
    program: &'static dyn Program,
) -> Result<ExitCode, Error> {
    let Settings { data, listen, external, http, mut bootstrap, disk, wants, membership, rekey, mdns, .. } = settings;
    let Settings { watch, http_token, http_host, .. } = settings;
    let token = token(http, http_token.as_deref(), &http_host)?;
    let watch = roots(&watch)?;
    let failed = |error: node::NodeError| Error::Message(error.to_string());
    let interrupted = interruption().map_err(|source| Error::io("cannot listen to", "signals", source))?;
    let hangups = signal(SignalKind::hangup()).map_err(|source| Error::io("cannot listen to", "signals", source))?;
    bootstrap.extend(membership.addresses().iter().map(ToString::to_string));
    let remembered = membership.addresses().to_vec();
    let network = membership.network().cloned();
    let usual = Config::new(node::identity(&data).map_err(failed)?, Transport::Tcp);
    let config = Config { network, listen, external, bootstrap, remembered, mdns, ..usual };
    let listener = TcpListener::bind(http).await.map_err(|why| {
        Error::Message(format!(
            "cannot listen on {http}: {why}; name another address by --http, with port 0 for any free one"
        ))
    })?;
    let node = Node::start_with(Some(&data), config, StartOptions { disk, rekey }).await.map_err(failed)?;
    if let Err(error) = membership.write_key() {
        node.shutdown().await;
        return Err(error);
    }
    let address = listener.local_addr().unwrap_or(http);
    let watched = watched(&data, watch, http_token)?;
    let client = Client::new(&format!("http://{}", own(address)), token.as_ref());
    announce(&node, address, program)?;
    let warning = tokio::spawn(warn(node.net().unreached()));

    let (failure, failed) = oneshot::channel();
    let until = {
        let node = node.clone();
        async move {
            tokio::select! {
                () = interrupted => {}
                // The sent reason becomes the error of the command.
                why = node.failed() => drop(failure.send(why)),
            }
        }
    };
    let reloading = tokio::spawn(reload(node.clone(), hangups, log));
    let watch = watched.clone().map(|watched| Watch::start(watched, client, program)).transpose()?;
    let options = ServeOptions { wants, token, hosts: http_host, watched };
    furui_net::http::serve(listener, node.clone(), options, until).await;
    if let Some(watch) = watch {
        // A thread that waits would keep the node's own tasks from going on.
        let _ = tokio::task::spawn_blocking(|| watch.stop()).await;
    }
    tracing::info!("stopping");
    reloading.abort();
    warning.abort();
    node.shutdown().await;
    match failed.await {
        Ok(why) => Err(Error::Message(why)),
        // The channel was closed because the node was interrupted.
        Err(_) => Ok(ExitCode::SUCCESS),
    }
}

/// Opens the table of the files in the watched directories `roots`. `None` if there are none, and were none before.
fn watched(data: &Path, roots: Vec<PathBuf>, token: Option<PathBuf>) -> Result<Option<Watched>, Error> {
    if roots.is_empty() && !Watched::is_in(data) {
        return Ok(None);
    }
    // The token and the directory are there, as the node has started.
    let real =
        |path: &Path| path.canonicalize().map_err(|source| Error::io("cannot use", path.display().to_string(), source));
    let secrets = [Some(data), token.as_deref()].into_iter().flatten().map(real).collect::<Result<_, _>>()?;
    Ok(Some(Watched::open(data, roots, secrets)?))
}

/// Reads or makes the token of the HTTP interface.
///
/// # Errors
/// If others can reach the interface and there is no token, or the file cannot be used.
fn token(http: SocketAddr, file: Option<&Path>, hosts: &[String]) -> Result<Option<Token>, Error> {
    let why = match file {
        Some(file) => {
            let token = Token::load_or_create(file).map_err(|error| Error::Message(error.to_string()))?;
            return Ok(Some(token));
        }
        None if !http.ip().is_loopback() => format!("other machines could publish and search at {http}"),
        None if !hosts.is_empty() => format!("everybody could publish and search behind the name {}", hosts[0]),
        None => return Ok(None),
    };
    Err(Error::Message(format!(
        "{why}; name a file for the token that they must know by --http-token FILE, which is made if there is none"
    )))
}

/// The address at which this machine reaches a service that listens on `address`.
fn own(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// Prints the addresses on which the node listens for other nodes and for HTTP, and the name of a private network.
fn announce(node: &Node, http: SocketAddr, program: &dyn Program) -> Result<(), Error> {
    let mut lines: String =
        node.net().listen_addresses().iter().map(|address| format!("listening {address}\n")).collect();
    lines += &format!("http http://{http}\n");
    if let Some(network) = node.network() {
        lines += &format!("network {}\n", network.name());
    }
    tracing::info!(version = env!("CARGO_PKG_VERSION"), peer = node.net().name(), "started");
    for address in node.net().listen_addresses() {
        tracing::info!(address, "listening");
    }
    tracing::info!(address = %http, "listening for HTTP");
    program.print(lines.as_bytes()).map(drop)
}

/// Reads the lists of what is blocked and who is trusted, and the level of the log in the configuration file, again at
/// each SIGHUP.
async fn reload(node: Node, mut hangups: Signal, log: Option<(Log, PathBuf)>) {
    while hangups.recv().await.is_some() {
        if let Err(error) = node.reload_lists().await {
            tracing::warn!("{error}; the list stays as it was");
        }
        match log.as_ref().map(|(log, file)| (log, settings::log_level(file))) {
            Some((log, Ok(level))) => log.set(level),
            Some((_, Err(error))) => tracing::warn!("{error}; the level of the log stays as it was"),
            None => {}
        }
        tracing::info!("read again");
    }
}

/// Warns the user, once for each reason, about bootstrap addresses through which the node cannot join the network.
async fn warn(mut unreached: watch::Receiver<BTreeMap<String, String>>) {
    let mut told = BTreeSet::new();
    // Attempts may have failed before this function was called.
    unreached.mark_changed();
    while unreached.changed().await.is_ok() {
        let now = unreached.borrow_and_update().clone();
        for (address, why) in now {
            if told.len() < WARNINGS && told.insert((address.clone(), why.clone())) {
                tracing::warn!("cannot reach {}: {}; the node tries again", Printable(address), Printable(why));
            }
        }
    }
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
