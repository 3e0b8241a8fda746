//! What is wrong.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use crate::change::Change;
use crate::process::{Answer, End, run};
use crate::repair::rename_run;
use crate::script::{Effect, Step};
use crate::specimen::Specimen;

/// What must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A panic, a signal, an exit status that nobody promised.
    Crash,
    /// No end in time, or of what it prints.
    Hang,
    /// An answer as if all were well, which it is not.
    WrongAnswer,
    /// Part of such an answer, then an error.
    WrongBeforeError,
    /// A wrong answer after a command has written and `verify` found nothing: the damage cannot be found any more.
    Laundered,
    /// `verify` finds nothing, and nobody has written yet.
    Missed,
    /// The error does not say which file is damaged.
    Unnamed,
    /// After a command has written, the error is of another file than was damaged.
    Spread,
}

/// A file that is damaged, and what is expected of its specimen.
pub struct Target<'a> {
    pub specimen: &'a Specimen,
    /// Its path in the specimen's directory.
    pub path: &'a str,
    pub bytes: Vec<u8>,
    /// The answers to each step of each chapter if nothing is damaged.
    expected: Vec<Vec<Answer>>,
}

/// A fault, and where it showed.
pub struct Finding {
    pub fault: Fault,
    /// The command, what was expected of it, and what it said.
    pub text: String,
}

impl Finding {
    fn new(fault: Fault, arguments: &[String], expected: &Answer, got: &Answer) -> Self {
        let same = expected.stdout.iter().zip(&got.stdout).take_while(|(a, b)| a == b).count();
        let line = expected.stdout[..same].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        // Of a long line only what is just before the difference.
        let from = line.max(same.saturating_sub(60));
        let (command, expected, got) = (arguments.join(" "), expected.from(from), got.from(from));
        Self { fault, text: format!("{fault:?}: furui {command}\n    expected {expected}\n    got      {got}") }
    }
}

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.specimen.name, self.path)
    }
}

impl<'a> Target<'a> {
    /// Asks the whole specimen everything, in the directory `place`, which is made and removed.
    pub fn new(specimen: &'a Specimen, path: &'a str, place: &Path) -> Self {
        let mut expected = vec![];
        for chapter in &specimen.chapters {
            specimen.copy(place);
            let answer = |step: &Step| {
                let arguments = step.arguments(path);
                let answer = run(place, &arguments);
                let as_known = step.model.as_ref().is_none_or(|model| *model == answer.stdout);
                let right = as_known && matches!(answer.end, End::Code(0 | 1));
                assert!(right, "{arguments:?} of {}, undamaged: {}", specimen.name, answer.from(0));
                answer
            };
            expected.push(chapter.iter().map(answer).collect());
            fs::remove_dir_all(place).unwrap();
        }
        let target = Self { specimen, path, bytes: specimen.read(path), expected };
        target.check_repair(place);
        target
    }

    /// Checksums that were made right must be, or repaired damage would not come far.
    fn check_repair(&self, place: &Path) {
        self.damage(&Change::repaired_bit(&self.bytes, self.bytes.len() / 2), place);
        for path in [self.path, "store"].iter().filter(|path| place.join(path).exists()) {
            let answer = run(place, &["verify".to_owned(), (*path).to_owned()]);
            assert!(!answer.stderr.contains("checksum"), "{self}, repaired: {}", answer.from(0));
        }
        fs::remove_dir_all(place).unwrap();
    }

    /// Asks the damaged specimen everything, in the directory `place`, which is made and removed; and counts commands.
    pub fn judge(&self, change: &Change, place: &Path, commands: &mut usize) -> Vec<Finding> {
        let mut findings: Vec<Finding> = vec![];
        let mut known = BTreeSet::new();
        for (chapter, expected) in self.specimen.chapters.iter().zip(&self.expected) {
            self.damage(change, place);
            let mut course = Course::default();
            for (step, expected) in chapter.iter().zip(expected) {
                if course.failed && matches!(step.effect, Effect::Reads | Effect::Verifies) {
                    continue;
                }
                let arguments = step.arguments(self.path);
                let got = run(place, &arguments);
                *commands += 1;
                let fault = crash(&got).or_else(|| {
                    let name = self.path.rsplit('/').next().unwrap_or(self.path);
                    if change.repaired { None } else { course.fault(name, step.effect, expected, &got) }
                });
                // One of each sort will do.
                if let Some(fault) = fault.filter(|&fault| known.insert(fault)) {
                    findings.push(Finding::new(fault, &arguments, expected, &got));
                }
            }
            fs::remove_dir_all(place).unwrap();
        }
        findings
    }

    /// Makes the damaged specimen in the directory `place`.
    pub fn damage(&self, change: &Change, place: &Path) {
        self.specimen.copy(place);
        // The file may be the specimen's own, under a second name.
        fs::remove_file(place.join(self.path)).unwrap();
        fs::write(place.join(self.path), &change.file).unwrap();
        let number =
            self.path.rsplit('/').next().and_then(|name| u64::from_str_radix(name.split('.').next()?, 16).ok());
        if let Some(number) = number.filter(|_| change.repaired && self.path.contains("store/")) {
            let path = place.join("store/MANIFEST");
            let mut manifest = fs::read(&path).unwrap();
            rename_run(&mut manifest, number, &change.file);
            fs::write(path, manifest).unwrap();
        }
    }
}

/// What must never be, whatever a file holds.
fn crash(got: &Answer) -> Option<Fault> {
    match got.end {
        End::Hang => Some(Fault::Hang),
        End::Code(0..=2) if !got.stderr.contains("panicked") => None,
        End::Code(_) | End::Signal(_) => Some(Fault::Crash),
    }
}

/// What has happened in a chapter so far.
#[derive(Default)]
struct Course {
    /// A command that writes has failed: how far it came, nobody knows.
    failed: bool,
    wrote: bool,
    /// Nothing was written since `verify` found nothing.
    clean: bool,
}

impl Course {
    fn fault(&mut self, name: &str, effect: Effect, expected: &Answer, got: &Answer) -> Option<Fault> {
        let known = !self.failed || effect == Effect::ReadsSettled;
        if got.end == End::Code(2) {
            self.failed |= effect == Effect::Writes;
            return if known && !expected.stdout.starts_with(&got.stdout) {
                Some(Fault::WrongBeforeError)
            } else {
                let unnamed = if self.wrote && effect != Effect::Writes { Fault::Spread } else { Fault::Unnamed };
                (!got.stderr.contains(name)).then_some(unnamed)
            };
        }
        let right = (got.end, &got.stdout) == (expected.end, &expected.stdout);
        match effect {
            Effect::Verifies => {
                self.clean = true;
                (!self.wrote).then_some(Fault::Missed)
            }
            Effect::Writes => {
                (self.wrote, self.clean) = (true, false);
                (known && !right).then_some(Fault::WrongAnswer)
            }
            Effect::Reads | Effect::ReadsSettled => {
                let fault = if self.wrote && self.clean { Fault::Laundered } else { Fault::WrongAnswer };
                (!right).then_some(fault)
            }
        }
    }
}
