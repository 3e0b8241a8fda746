//! Networks of `furui node` processes on this machine: their answers while some nodes are killed, far away, or flooded.

mod cluster;
mod corpus;
mod flood;
mod hostile;
mod hot;
mod kill;
mod page;
mod people;
#[cfg(feature = "ranking")]
mod ranking;
mod relay;

use std::error::Error;
use std::path::PathBuf;

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// The options given on the command line.
pub(crate) struct Options {
    /// The path of the program `furui`.
    furui: PathBuf,
    /// A file with one document a line; without it, documents are made up.
    texts: Option<PathBuf>,
    nodes: usize,
    documents: usize,
    queries: usize,
    seed: u64,
}

/// Runs the experiment that the arguments of `network` on the command line name.
pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Done {
    let experiment = args.next().unwrap_or_default();
    let (nodes, documents) = match experiment.as_str() {
        "kill" => (20, 10_000),
        "relay" => (10, 10_000),
        "hot" => (5, 200_000),
        "flood" => (8, 2_000),
        "people" => (5, 64_000),
        #[cfg(feature = "ranking")]
        "ranking" => (5, 64_000),
        _ => {
            return Err(
                "which experiment? kill, relay, hot, flood, people or, with the feature of that name, ranking".into()
            );
        }
    };
    let mut options =
        Options { furui: "target/release/furui".into(), texts: None, nodes, documents, queries: 200, seed: 1 };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--furui" => options.furui = value()?.into(),
            "--texts" => options.texts = Some(value()?.into()),
            "--nodes" => options.nodes = value()?.parse()?,
            "--documents" => options.documents = value()?.parse()?,
            "--queries" => options.queries = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            _ => {
                return Err(format!(
                    "{arg}? there are --furui PROGRAM, --texts FILE, --nodes N, --documents N, --queries N and --seed N"
                )
                .into());
            }
        }
    }
    match experiment.as_str() {
        "kill" => kill::run(&options),
        "relay" => relay::run(&options),
        "hot" => hot::run(&options),
        "people" => people::run(&options),
        #[cfg(feature = "ranking")]
        "ranking" => ranking::run(&options),
        _ => flood::run(&options),
    }
}
