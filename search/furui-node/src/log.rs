//! The log of `furui node` on standard error.

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use serde::Deserialize;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt, reload};

/// The least severe messages that are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
}

/// The form of a message in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

/// The log of the process, whose level can be changed.
pub(crate) struct Log {
    filter: reload::Handle<Targets, Registry>,
}

impl Log {
    /// Starts the log. A process has only one, so a second log is silent.
    pub(crate) fn start(level: LogLevel, format: LogFormat) -> Self {
        let (filter, handle) = reload::Layer::new(targets(level));
        let layer = fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
        let layer = match format {
            LogFormat::Text => layer.with_target(false).boxed(),
            LogFormat::Json => layer.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed(),
        };
        // This fails if the process has a log.
        let _ = tracing_subscriber::registry().with(layer.with_filter(filter)).try_init();
        Self { filter: handle }
    }

    /// Changes the level.
    pub(crate) fn set(&self, level: LogLevel) {
        // This fails if the log is silent.
        let _ = self.filter.modify(|filter| *filter = targets(level));
    }
}

/// Selects the messages of furui. Those of its libraries could contain what users search for.
fn targets(level: LogLevel) -> Targets {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    Targets::new().with_target("furui_net", level).with_target("furui_node", level)
}
