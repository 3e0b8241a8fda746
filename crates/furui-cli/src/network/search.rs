//! `furui search`.

use std::process::ExitCode;

use furui::Error;
use serde::Deserialize;

use crate::network::node::{Client, Lines};
use crate::network::options::search::SearchOptions;
use crate::output::{Output, Sink, is_styled};

/// The exit code for "nothing found".
const NONE: u8 = 1;
/// How many documents are asked for at a time: a node does not hand out more.
const PAGE: u64 = 1000;

/// A line of a node's answer.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Hit(Hit),
    Step { step: String, sent: u64, received: u64 },
    End { total: u64, bytes: u64, cursor: Option<String>, whole: bool },
}

/// A document that was found.
#[derive(Deserialize)]
struct Hit {
    id: String,
    url: String,
    title: String,
    /// What shows that it fits; nodes of other versions may know nothing of it.
    #[serde(default)]
    snippet: String,
    #[serde(default)]
    title_marks: Vec<[usize; 2]>,
    #[serde(default)]
    marks: Vec<[usize; 2]>,
}

/// Runs the command.
pub fn run(options: &SearchOptions) -> Result<ExitCode, Error> {
    // Where words may begin with a minus, an option after them is taken for one of them.
    if let Some(word) = options.query.iter().find(|word| word.starts_with("--")) {
        return Err(Error::Config(format!("{word} is no word; options come before the words")));
    }
    let client = Client::new(&options.node.url);
    let query = options.query.join(" ");
    let mut search = Search {
        options,
        output: Output::new(false)?,
        bold: is_styled(),
        left: options.limit,
        total: 0,
        bytes: 0,
        whole: true,
    };
    let mut cursor = None;
    while search.left > 0 {
        let limit = search.left.min(PAGE).to_string();
        let mut parameters = vec![("q", query.as_str()), ("limit", &limit)];
        parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        if options.explain {
            parameters.push(("explain", "true"));
        }
        match search.page(client.get("/search", &parameters)?)? {
            Page::Next(next) => cursor = Some(next),
            Page::Last => break,
            Page::Unwanted => return Ok(ExitCode::SUCCESS),
        }
    }
    if !search.whole {
        eprintln!("furui: a node that was asked has not been given all it should hold yet: there may be more");
    }
    Ok(if search.left < options.limit { ExitCode::SUCCESS } else { ExitCode::from(NONE) })
}

struct Search<'a> {
    options: &'a SearchOptions,
    output: Output,
    /// Whether the words that were asked for are printed in bold.
    bold: bool,
    /// How many documents more are wanted.
    left: u64,
    /// The sums of all pages.
    total: u64,
    bytes: u64,
    whole: bool,
}

/// How a page ended.
enum Page {
    Next(String),
    Last,
    /// Nobody reads any more.
    Unwanted,
}

impl Search<'_> {
    /// Prints a page, document by document as they come.
    fn page(&mut self, mut lines: Lines) -> Result<Page, Error> {
        loop {
            let Some(line) = lines.next()? else { return Err(lines.cut_off()) };
            let raw = line.to_vec();
            let line = serde_json::from_slice(&raw).map_err(|error| lines.strange(&error))?;
            let end = match &line {
                Line::Hit(_) if self.left == 0 => continue,
                Line::Hit(_) => {
                    self.left -= 1;
                    None
                }
                Line::Step { .. } => None,
                Line::End { total, bytes, cursor, whole } => {
                    self.total += total;
                    self.bytes += bytes;
                    self.whole &= whole;
                    Some(cursor.clone().filter(|_| self.left > 0).map_or(Page::Last, Page::Next))
                }
            };
            let text = match end {
                // The end of this page is not that of the search.
                Some(Page::Next(_)) => String::new(),
                _ if self.options.json => self.json(raw, &line),
                _ => self.text(&line),
            };
            if self.output.print(text.as_bytes())? == Sink::Closed {
                return Ok(Page::Unwanted);
            }
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    fn json(&self, raw: Vec<u8>, line: &Line) -> String {
        match line {
            Line::End { cursor, .. } => {
                let (total, bytes, whole) = (self.total, self.bytes, self.whole);
                let cursor = serde_json::json!(cursor);
                format!("{{\"total\":{total},\"bytes\":{bytes},\"cursor\":{cursor},\"whole\":{whole}}}\n")
            }
            // As it came.
            _ => String::from_utf8_lossy(&raw).into_owned() + "\n",
        }
    }

    fn hit(&self, hit: &Hit) -> String {
        if hit.url.is_empty() {
            return format!("(no node that keeps document {} answers)\n", shown(&hit.id));
        }
        let title =
            if hit.title.is_empty() { String::new() } else { self.marked(&hit.title, &hit.title_marks) + "\n    " };
        let snippet = match hit.snippet.is_empty() {
            true => String::new(),
            false => format!("    {}\n", self.marked(&hit.snippet, &hit.marks)),
        };
        format!("{title}{}\n{snippet}", shown(&hit.url))
    }

    /// A text that strangers wrote, with these places in bold.
    fn marked(&self, text: &str, marks: &[[usize; 2]]) -> String {
        let mut marked = String::new();
        let mut at = 0;
        for &[start, end] in marks.iter().filter(|_| self.bold) {
            // Whatever a node sends: what is no place in the text is not marked.
            let (Some(before), Some(mark)) = (text.get(at..start), text.get(start..end)) else { continue };
            marked += &format!("{}\x1b[1m{}\x1b[22m", shown(before), shown(mark));
            at = end;
        }
        marked + &shown(&text[at..])
    }

    fn text(&self, line: &Line) -> String {
        match line {
            Line::Hit(hit) => self.hit(hit),
            Line::Step { step, sent, received } => {
                format!("# {}: {sent} bytes sent, {received} received\n", shown(step))
            }
            Line::End { total, .. } if self.options.explain => {
                format!("# {total} found, {} bytes in all\n", self.bytes)
            }
            Line::End { .. } => String::new(),
        }
    }
}

/// What strangers wrote, without what a terminal would obey.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
