//! `furui seen --store redis://…`: a set that several processes share, in a Valkey or Redis server.
//!
//! The server records a line when it is asked, before the line is printed. What is recorded and cannot be printed is taken
//! back as far as possible, because otherwise nobody would ever print it.

use std::collections::VecDeque;
use std::path::Path;
use std::process::ExitCode;

use furui::seen::{Cache, Seen, SeenCounters, SeenOptions, Verdict};
use furui::store::Scratch;
use furui::{HashSpec, Hashes};

use super::byproducts::Byproducts;
use super::flight::Flight;
use super::printing::Printing;
use super::{SIGNALLED, remote_options, stats};
use crate::blocks::{Blocks, Next};
use crate::cli;
use crate::complain;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::keys::{Counts, Keys};
use crate::memory;
use crate::output::{Output, Sink};
use crate::remote::{Address, Batch, RemoteSet};
use crate::report::counted;

/// A run with a set in a server.
struct Run {
    set: RemoteSet,
    /// In a dry run: the lines so far, which the server does not record.
    dry: Option<Box<Dry>>,
    printing: Printing,
    /// True if new lines are recorded and printed, so that the server forgets those that cannot be printed.
    takes_back: bool,
    output: Output,
    byproducts: Byproducts,
    /// The keys of the present block.
    keys: Batch,
    answers: Vec<bool>,
    /// The new keys of blocks that may not be read from the pipe yet, and the position in the output at which each block
    /// ends.
    unread: VecDeque<(u64, Batch)>,
    counters: SeenCounters,
    /// How many of the new lines another process may have got as new, too, because a connection was lost.
    uncertain: u64,
    bytes: u64,
    counts: Counts,
}

/// The lines of a dry run.
struct Dry {
    seen: Seen<Scratch>,
    hashes: Hashes,
    verdicts: Vec<Verdict>,
}

/// Prints the lines that are new to the set at this URL, which records them; in a dry run it records nothing.
pub fn run(url: &Path, options: &cli::SeenOptions) -> Result<ExitCode, Error> {
    remote_options::check(options)?;
    let address = Address::parse(url)?;
    let keys = Keys::new(HashSpec::default(), &options.lines)?;
    let set = RemoteSet::open(address, !options.dry_run, options.window)?;
    let interrupt = if options.dry_run {
        Interrupt::ignore()
    } else {
        Interrupt::listen().map_err(|error| Error::io("cannot wait for", "signals", error))?
    };
    let mut output = Output::new(options.quiet)?;
    let keys = keys.printed_to(&output);
    let byproducts = Byproducts::new(options)?;
    if !options.dry_run {
        output.mend(options.input.separator())?;
    }
    let printing = Printing::of(options);
    let mut run = Run {
        dry: options.dry_run.then(Dry::new).transpose()?.map(Box::new),
        printing,
        takes_back: !options.dry_run && !options.quiet && printing.tells_new(),
        output,
        byproducts,
        keys: set.batch(),
        set,
        answers: vec![],
        unread: VecDeque::new(),
        counters: SeenCounters::default(),
        uncertain: 0,
        bytes: 0,
        counts: Counts::default(),
    };
    let ended = run.print_all(options.lines.blocks(&options.input, &interrupt), Flight::new(&keys, 0));
    let finished = run.byproducts.finish();
    // The output that is not broken is read to its end, even after an error of the input or the server.
    let settled = run.settle();
    run.counts.report("not recorded");
    if run.uncertain > 0 {
        let lines = counted(run.uncertain, "line");
        complain(&Error::Message(format!(
            "{}: the connection was lost and made again; {lines} on the way then count as new, though the server had them",
            run.set.url()
        )));
    }
    stats::report_remote(&run.counters, run.bytes, &run.set.url(), options.stats, run.byproducts.by_file());
    ended.and(finished).and(settled)?;
    Ok(interrupt.signal().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(SIGNALLED + signal)))
}

impl Run {
    /// Takes all blocks of the input to the output, or as many as its reader wants.
    fn print_all(&mut self, mut blocks: Blocks<'_>, mut flight: Flight) -> Result<(), Error> {
        loop {
            flight.reset();
            match blocks.read(&mut flight.block, None)? {
                Next::End => return Ok(()),
                Next::Pause => continue,
                Next::Block => {}
            }
            self.keys.clear();
            flight.header = flight.keys.header(&flight.block)?;
            if flight.header.is_none() {
                self.decide(&mut flight);
            }
            self.bytes += flight.block.bytes().len() as u64;
            self.counts.add(flight.keys.take_counts());
            flight.prepare(self.printing, self.byproducts.wants_repeats());
            let sink = if flight.is_void { Sink::Open } else { self.print(&flight)? };
            if let Some(failure) = flight.failure.take() {
                return Err(failure);
            }
            if sink == Sink::Closed {
                return Ok(());
            }
        }
    }

    /// Asks the server about the lines of a block.
    fn decide(&mut self, flight: &mut Flight) {
        flight.keys.each(&mut flight.block, |key| self.keys.push(key));
        flight.failure = flight.keys.failure().err();
        let asked = match &mut self.dry {
            None => self.set.see(&self.keys, &mut self.answers).map(|uncertain| self.uncertain += uncertain),
            Some(_) => self.set.has(&self.keys, &mut self.answers),
        };
        if let Err(failure) = asked {
            let (url, reason) = (self.set.url(), failure.reason);
            let fate = match failure.may_have_recorded {
                true => {
                    "not printed, but the server may have recorded some of them, which a later run then takes for seen"
                }
                false => "neither printed nor recorded",
            };
            let (from, lines) = (flight.block.place(0), counted(flight.block.len() as u64, "line"));
            flight.fail(Error::Message(format!("{url}: {reason}; from {from} on, {lines}: {fate}")));
            return;
        }
        if let Some(dry) = &mut self.dry
            && let Err(error) = dry.tell_new(&self.keys, &mut self.answers)
        {
            return flight.fail(error);
        }
        let verdict = |&is_new: &bool| if is_new { Verdict::New } else { Verdict::Repeat };
        flight.verdicts.extend(self.answers.iter().map(verdict));
        self.counters.keys += self.answers.len() as u64;
        self.counters.new += self.answers.iter().filter(|&&is_new| is_new).count() as u64;
        flight.counters = self.counters;
    }

    /// Prints what a block, of which everything is known, is to print.
    fn print(&mut self, flight: &Flight) -> Result<Sink, Error> {
        self.byproducts.note(flight);
        let text = flight.left();
        if self.takes_back && flight.new_lines() > 0 {
            let new = self.keys.only(|index| self.answers[index]);
            self.unread.push_back((self.output.printed() + text.len() as u64, new));
        }
        let sink = self.output.print(text)?;
        if sink == Sink::Closed {
            return Ok(sink);
        }
        self.byproducts.write(&flight.counters, flight.block.bytes().len())?;
        let arrived = if self.output.is_pipe() { self.output.arrived()? } else { Some(self.output.printed()) };
        let Some(arrived) = arrived else { return Ok(Sink::Closed) };
        let read = self.unread.partition_point(|&(end, _)| end <= arrived);
        self.unread.drain(..read);
        Ok(sink)
    }

    /// Waits until everything has arrived, and takes back what has not: the keys of blocks that were not printed, or
    /// that the reader of the pipe left in it.
    fn settle(&mut self) -> Result<(), Error> {
        let settled = self.output.settle(None);
        let printed = if matches!(settled, Ok(Sink::Open)) { self.output.printed() } else { 0 };
        for (_, keys) in self.unread.drain(..).filter(|&(end, _)| end > printed) {
            let lines = keys.len();
            self.set.forget(&keys).map_err(|failure| {
                let (url, reason) = (self.set.url(), failure.reason);
                let lines = counted(lines as u64, "line");
                Error::Message(format!("{url}: {reason}; {lines} that nobody has read cannot be taken back"))
            })?;
        }
        settled.map(drop)
    }
}

impl Dry {
    fn new() -> Result<Self, Error> {
        let scratch = Scratch::new(std::env::temp_dir()).mapped_up_to(memory::mappable());
        let settings = SeenOptions { cache: Cache::None, memory: memory::quarter(), ..SeenOptions::default() };
        let seen = Seen::open_with(scratch, settings)?;
        Ok(Self { hashes: Hashes::new(&seen.hash_spec().hasher()), seen, verdicts: vec![] })
    }

    /// Turns the answers whether the server has the keys into answers whether they are new.
    fn tell_new(&mut self, keys: &Batch, answers: &mut [bool]) -> Result<(), Error> {
        self.hashes.clear();
        (0..keys.len()).for_each(|index| self.hashes.push(keys.key(index)));
        self.seen.observe_all(&self.hashes, &mut self.verdicts)?;
        for (answer, &verdict) in answers.iter_mut().zip(&self.verdicts) {
            *answer = !*answer && verdict == Verdict::New;
        }
        Ok(())
    }
}
