//! Finds faults in how furui treats a damaged file.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use crate::damage::change::Change;
use crate::damage::process::{Answer, End, run};
use crate::damage::repair::rename_run;
use crate::damage::script::{Effect, Step};
use crate::damage::specimen::Specimen;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A panic, a signal, or an exit status that is not documented.
    Crash,
    /// The command does not end in time, or prints without end.
    Hang,
    /// A wrong answer, given as if all were well.
    WrongAnswer,
    /// A part of a wrong answer, then an error.
    WrongBeforeError,
    /// An answer is wrong after a command has written, and `verify` finds no damage, so nobody can detect it.
    Laundered,
    /// `verify` does not find the damage, and no command has written yet.
    Missed,
    /// The error does not name the damaged file.
    Unnamed,
    /// After a command has written, the error names a file other than the damaged one.
    Spread,
}

/// A file to damage, and the expected answers of its specimen.
pub struct Target<'a> {
    pub specimen: &'a Specimen,
    /// The path of the file in the specimen's directory.
    pub path: &'a str,
    pub bytes: Vec<u8>,
    /// The answers of the undamaged specimen, for each step of each chapter.
    expected: Vec<Vec<Answer>>,
}

/// A fault, with the place where it was seen.
pub struct Finding {
    pub fault: Fault,
    /// The command, the expected answer, and the actual answer.
    pub text: String,
}

impl Finding {
    fn new(fault: Fault, arguments: &[String], expected: &Answer, got: &Answer) -> Self {
        let same = expected.stdout.iter().zip(&got.stdout).take_while(|(a, b)| a == b).count();
        let line = expected.stdout[..same].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        // Of a long line, only the part just before the difference is shown.
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
    /// Runs all chapters (sequences of commands) on the undamaged specimen, in the directory `place`, which is made
    /// and removed.
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

    /// Checks that a file with a flipped bit and corrected checksums causes no checksum error. Otherwise such damage
    /// would be refused before its contents are read.
    fn check_repair(&self, place: &Path) {
        self.damage(&Change::repaired_bit(&self.bytes, self.bytes.len() / 2), place);
        for path in [self.path, "store"].iter().filter(|path| place.join(path).exists()) {
            let answer = run(place, &["verify".to_owned(), (*path).to_owned()]);
            assert!(!answer.stderr.contains("checksum"), "{self}, repaired: {}", answer.from(0));
        }
        fs::remove_dir_all(place).unwrap();
    }

    /// Runs all chapters (lists of commands), each on a damaged copy of the specimen in the directory `place`, which is
    /// made and removed. Counts the commands.
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
                // One finding of each sort is enough.
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
        // The file may be a second name of the specimen's own file.
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

/// The fault of an answer that is wrong whatever a file holds.
fn crash(got: &Answer) -> Option<Fault> {
    match got.end {
        End::Hang => Some(Fault::Hang),
        End::Code(0..=2) if !got.stderr.contains("panicked") => None,
        End::Code(_) | End::Signal(_) => Some(Fault::Crash),
    }
}

/// The progress of a chapter, which is a sequence of commands on one specimen.
#[derive(Default)]
struct Course {
    /// True if a command that writes has failed; its progress is unknown.
    failed: bool,
    wrote: bool,
    /// True if nothing was written since `verify` found no damage.
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
