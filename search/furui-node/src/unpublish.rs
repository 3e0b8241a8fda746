//! The command `furui unpublish`.

use std::process::ExitCode;

use furui::format::Printable;
use serde::Deserialize;
use url::Url;

use crate::Error;
use crate::client::Client;
use crate::options::unpublish::UnpublishOptions;
use crate::program::{Part, Program};
use indicatif::HumanCount;

/// The maximum number of URLs to withdraw in one request.
const URLS: usize = 1024;
/// The size of a request's body, in bytes, from which on no further URL is added to it.
const BYTES: usize = 512 << 10;
/// The maximum length of a URL, in bytes.
const MAX_URL: usize = furui_search::MAX_URL;
/// The exit code if nothing was withdrawn.
const NOTHING: u8 = 1;

/// The JSON answer of a node to a request to withdraw documents.
#[derive(Deserialize)]
struct Answer {
    withdrawn: u64,
    #[serde(default)]
    unknown: Vec<usize>,
    #[serde(default)]
    others: Vec<Others>,
}

/// The others who have published the text of a withdrawn document.
#[derive(Deserialize)]
struct Others {
    /// The index of the document's URL in the request.
    at: usize,
    publishers: Vec<String>,
}

/// Runs `furui unpublish`.
pub fn run(options: &UnpublishOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    let client = Client::of(&options.node)?;
    let mut withdrawal = Withdrawal { program, client, batch: Vec::new(), bytes: 0, withdrawn: 0, unknown: 0 };
    if options.all {
        withdrawal.all()?;
    }
    for url in &options.urls {
        withdrawal.push(url)?;
    }
    if let Some(path) = &options.from {
        program.lines(path, MAX_URL, &mut |part| match part {
            Part::Line(line, _) => withdrawal.push(String::from_utf8_lossy(line).trim()),
            Part::Read(_) | Part::Pause => Ok(()),
        })?;
    }
    withdrawal.send()?;
    let Withdrawal { withdrawn, unknown, .. } = withdrawal;
    let mut text = format!("{} withdrawn", HumanCount(withdrawn));
    if unknown > 0 {
        text += &format!("; {} not published here", HumanCount(unknown));
    }
    program.print((text + "\n").as_bytes())?;
    Ok(if withdrawn > 0 { ExitCode::SUCCESS } else { ExitCode::from(NOTHING) })
}

struct Withdrawal<'a> {
    program: &'a dyn Program,
    client: Client,
    batch: Vec<String>,
    bytes: usize,
    withdrawn: u64,
    unknown: u64,
}

impl Withdrawal<'_> {
    fn all(&mut self) -> Result<(), Error> {
        loop {
            match self.ask("/unpublish?all=true", &[])?.withdrawn {
                0 => return Ok(()),
                some => self.withdrawn += some,
            }
        }
    }

    fn push(&mut self, url: &str) -> Result<(), Error> {
        if url.is_empty() {
            return Ok(());
        }
        if url.len() > MAX_URL || url.contains('\n') {
            self.name_unknown(url);
            return Ok(());
        }
        self.bytes += url.len() + 1;
        self.batch.push(url.to_owned());
        if self.batch.len() == URLS || self.bytes >= BYTES { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), Error> {
        self.bytes = 0;
        let urls = std::mem::take(&mut self.batch);
        // Pages are published under normalised URLs, and lines of JSON under the URLs in them.
        let usual = |url: &String| Url::parse(url).map_or_else(|_| url.clone(), String::from);
        let unknown = self.withdraw(urls)?;
        let unknown = self.withdraw(unknown.iter().map(usual).collect())?;
        unknown.iter().for_each(|url| self.name_unknown(url));
        Ok(())
    }

    /// Withdraws the documents published under these URLs. Returns the URLs under which nothing was published.
    fn withdraw(&mut self, urls: Vec<String>) -> Result<Vec<String>, Error> {
        if urls.is_empty() {
            return Ok(urls);
        }
        let Answer { withdrawn, unknown, others } = self.ask("/unpublish", urls.join("\n").as_bytes())?;
        self.withdrawn += withdrawn;
        for Others { at, publishers } in others {
            let url = urls.get(at).map_or("", String::as_str);
            let count = match publishers.len() {
                1 => "1 other".to_owned(),
                count => format!("{count} others"),
            };
            let line = format!("{url}: withdrawn; the same text is published by {count}: {}", publishers.join(", "));
            self.program.print(format!("{}\n", Printable(&line)).as_bytes())?;
        }
        Ok(unknown.into_iter().filter_map(|place| urls.get(place).cloned()).collect())
    }

    fn ask(&self, path: &str, body: &[u8]) -> Result<Answer, Error> {
        self.client.post(path, body)?.read()
    }

    fn name_unknown(&mut self, url: &str) {
        self.unknown += 1;
        self.program.complain(&format!("{url}: not published by this node"));
    }
}
