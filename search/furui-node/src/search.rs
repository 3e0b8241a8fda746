//! The command `furui search`.

use std::process::ExitCode;

use furui::format::Printable;
use furui_net::http::{MAX_LIMIT, SNIPPET, SearchLine, Shown, ShownUrl, Step, Summary, TITLE};
use furui_net::node::{Hit, PassedOver, Version};
use furui_search::{Place, PublisherKey, Wants};

use crate::Error;
use crate::client::{Client, Lines};
use crate::opening;
use crate::options::search::{SearchOptions, USUAL};
use crate::pager::Pager;
use crate::program::Program;

/// The maximum number of publishers who are named with a result. The value is a choice, not a measurement.
const NAMED: usize = 3;
/// The exit code of `furui search` if no document was found.
const NONE: u8 = 1;

/// Runs `furui search`.
pub fn run(options: &SearchOptions, program: &dyn Program) -> Result<ExitCode, Error> {
    // A word may begin with a minus, so clap treats an option that follows the words as another word.
    if let Some(word) = options.query.iter().find(|word| word.starts_with("--")) {
        return Err(Error::Message(format!("{word} is not a word; options come before the words")));
    }
    let (coding, rate) = (options.coding.coding.as_deref(), options.coding.rate);
    Wants::named(coding, rate).map_err(|error| Error::Message(error.to_string()))?;
    let rate = rate.map(|rate| rate.to_string());
    let client = Client::of(&options.node)?;
    let query = options.query.join(" ");
    let limit = options.open.map_or(options.limit, |open| open.max(USUAL));
    let mut search = Search {
        options,
        pager: Pager::new(program, !options.no_pager && options.open.is_none()),
        bold: program.is_styled(),
        left: limit,
        rank: 0,
        chosen: None,
        total: 0,
        bytes: 0,
        whole: true,
        bounded: false,
        more: vec![],
    };
    let mut cursor: Option<String> = None;
    while search.left > 0 {
        let limit = search.left.min(MAX_LIMIT.into()).to_string();
        let mut parameters = vec![("q", query.as_str()), ("limit", &limit)];
        parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        parameters.extend(coding.map(|coding| ("coding", coding)));
        parameters.extend(rate.as_deref().map(|rate| ("rate", rate)));
        if options.exact {
            parameters.push(("exact", "true"));
        }
        if options.explain {
            parameters.push(("explain", "true"));
        }
        match search.page(client.get("/search", &parameters)?)? {
            Page::Next(next) => cursor = Some(next.to_string()),
            Page::Last => break,
            Page::Unwanted => return Ok(ExitCode::SUCCESS),
        }
    }
    let Search { bounded, whole, left, rank, chosen, pager, .. } = search;
    // Messages follow what the user reads.
    drop(pager);
    if let Some(url) = chosen {
        return opening::open(&url, &client, &options.node.url).map(|()| ExitCode::SUCCESS);
    }
    if bounded {
        program.complain("not all documents with these words were examined, and others may fit; add a rarer word");
    }
    if !whole {
        let short =
            "a node in this search has not received everything that it should hold: there may be more documents";
        program.complain(short);
    }
    if let Some(wanted) = options.open.filter(|_| rank > 0) {
        return Err(Error::Message(format!("there is no document {wanted} to open; {rank} were found")));
    }
    if left < limit {
        return Ok(ExitCode::SUCCESS);
    }
    program.complain("nothing was found; ask for fewer words, or put OR between words that mean the same");
    Ok(ExitCode::from(NONE))
}

struct Search<'a> {
    options: &'a SearchOptions,
    pager: Pager<'a>,
    /// True on a terminal that shows styles: the words of the query are printed in bold, and results have numbers.
    bold: bool,
    /// The number of further documents to print.
    left: u64,
    /// The rank of the last result so far, from 1 on.
    rank: u64,
    /// The URL of the result that is to be opened.
    chosen: Option<String>,
    /// The number of documents found, summed over all pages.
    total: u64,
    bytes: u64,
    whole: bool,
    /// True if the node stopped because it had examined so many documents.
    bounded: bool,
    /// The documents that the node has left out.
    more: Vec<PassedOver>,
}

/// The reason that a page of results ended.
enum Page {
    Next(Place),
    Last,
    /// The reader of the output has closed the pipe.
    Unwanted,
}

impl Search<'_> {
    /// Prints the results of one page, each as soon as it arrives. Returns the reason that the page ended.
    fn page(&mut self, mut lines: Lines) -> Result<Page, Error> {
        loop {
            let line = lines.read()?;
            let end = match &line {
                SearchLine::Hit(_) if self.left == 0 => continue,
                SearchLine::Hit(hit) => {
                    self.left -= 1;
                    self.rank += 1;
                    if self.options.open == Some(self.rank) {
                        self.chosen = Some(hit.url.clone());
                    }
                    None
                }
                SearchLine::Step(_) | SearchLine::Note { .. } => None,
                SearchLine::End(Summary { total, bytes, cursor, whole, bounded, more }) => {
                    self.total += total;
                    self.bytes += bytes;
                    self.whole &= whole;
                    self.bounded = *bounded;
                    for PassedOver { publisher, documents } in more {
                        match self.more.iter_mut().find(|it| it.publisher == *publisher) {
                            Some(its) => its.documents += documents,
                            None => self.more.push(PassedOver { publisher: *publisher, documents: *documents }),
                        }
                    }
                    Some(cursor.filter(|_| self.left > 0 && (!bounded || *total > 0)).map_or(Page::Last, Page::Next))
                }
            };
            let text = match end {
                // The summary of a page is printed only if no other page follows.
                Some(Page::Next(_)) => String::new(),
                _ if self.options.open.is_some_and(|open| open != self.rank) && matches!(line, SearchLine::Hit(_)) => {
                    String::new()
                }
                _ if self.options.json => self.json(lines.line(), &line),
                _ => self.text(&line),
            };
            if !text.is_empty() && !self.pager.print(text.as_bytes())? {
                return Ok(Page::Unwanted);
            }
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    fn json(&self, raw: &[u8], line: &SearchLine) -> String {
        if let SearchLine::End(Summary { cursor, .. }) = line {
            let &Self { total, bytes, whole, bounded, ref more, .. } = self;
            let sum = Summary { total, bytes, cursor: *cursor, whole, bounded, more: more.clone() };
            return serde_json::to_string(&sum).expect("it has only strings for names") + "\n";
        }
        // Other lines are printed as received, but without characters that control the terminal.
        let mut out = String::new();
        for c in String::from_utf8_lossy(raw).chars() {
            match c < ' ' || Printable(c).is_shown() {
                true => out.push(c),
                false => out += &format!("\\u{:04x}", c as u32),
            }
        }
        out + "\n"
    }

    fn hit(&self, hit: &Hit) -> String {
        if hit.url.is_empty() {
            return format!("(no node that keeps document {} answers)\n", hit.id);
        }
        let title = Shown::new(&hit.title, &hit.title_marks, TITLE);
        let title = if title.text.is_empty() { String::new() } else { self.marked(&title) + "\n    " };
        let number = if self.bold { format!("{}. ", self.rank) } else { String::new() };
        let url = self.address(&hit.url);
        if self.options.open.is_some() {
            return format!("{title}{url}\n");
        }
        let snippet = Shown::new(&hit.snippet, &hit.marks, SNIPPET);
        let snippet = match snippet.text.is_empty() {
            true => String::new(),
            false => format!("    {}\n", self.marked(&snippet)),
        };
        let also: String = hit.also.iter().map(also).collect();
        let trusted = if hit.trusted { ", whom you trust" } else { "" };
        let by = match hit.publishers.is_empty() {
            true => String::new(),
            false => format!("    published by {}{trusted}\n", names(&hit.publishers)),
        };
        format!("{number}{title}{url}\n{snippet}{by}{also}")
    }

    /// Formats a URL, with its host underlined. It is not cut, so that it can be copied.
    fn address(&self, url: &str) -> String {
        let ShownUrl { before, host, after } = ShownUrl::new(url, usize::MAX);
        let host = if self.bold && !host.is_empty() { format!("\x1b[4m{host}\x1b[24m") } else { host };
        before + &host + &after
    }

    /// Formats a text with its marked ranges in bold.
    fn marked(&self, Shown { text, marks }: &Shown) -> String {
        let mut marked = String::new();
        let mut at = 0;
        for &[start, end] in marks.iter().filter(|_| self.bold) {
            marked += &format!("{}\x1b[1m{}\x1b[22m", &text[at..start], &text[start..end]);
            at = end;
        }
        marked + &text[at..]
    }

    fn text(&self, line: &SearchLine) -> String {
        match line {
            SearchLine::Hit(hit) => self.hit(hit),
            SearchLine::Step(Step { step, sent, received, .. }) => {
                format!("# {}: {sent} bytes sent, {received} received\n", Printable(step))
            }
            SearchLine::Note { note } => format!("({})\n", Printable(note)),
            SearchLine::End(_) if self.options.open.is_some() => String::new(),
            SearchLine::End(_) => {
                let more = self.more.iter().map(|PassedOver { publisher, documents }| {
                    format!("({documents} more published by {}; --exact lists all)\n", publisher.short())
                });
                let sum = match self.options.explain {
                    true => format!("# {} found, {} bytes in all\n", self.total, self.bytes),
                    false => String::new(),
                };
                more.collect::<String>() + &sum
            }
        }
    }
}

/// Formats the line about a text that is not shown, with its publishers.
fn also(version: &Version) -> String {
    format!("    another text is published by {} ({})\n", names(&version.publishers), version.id)
}

/// The short names of publishers; of many only the first ones.
fn names(publishers: &[PublisherKey]) -> String {
    let mut names: Vec<String> = publishers.iter().take(NAMED).map(PublisherKey::short).collect();
    match publishers.len().saturating_sub(NAMED) {
        0 => {}
        1 => names.push("1 other".to_owned()),
        others => names.push(format!("{others} others")),
    }
    names.join(", ")
}
