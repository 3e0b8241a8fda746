//! Writes the pages of the experiments: one for each paper, with a section for each experiment, and the index of all.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use super::verdict::{grades, tally};
use super::{Context, Experiment, Finding, Grade, Source, theirs};

/// Tables with more rows than this are folded on the page.
const LONG: usize = 24;

/// The beginning of the comment before each section of a page, by which a run of one experiment finds and replaces its
/// own section.
const MARKER: &str = "\n<!-- experiment ";

/// The name of the page that links to all others.
pub(crate) const INDEX: &str = "README.md";

/// The verdict of an experiment that has no section, because it is newer than the last run.
pub(crate) const NOT_MEASURED: &str = "not measured yet";

/// The text at the beginning of the index.
const HEAD: &str = "\
# The papers, measured again

Every figure and table of the papers behind furui is measured again with furui's own code, and so are questions \
that the papers leave open. Each section has the claim, our result, the data, the machine, and the command that \
repeats it. The command for all of them is `cargo run --release -p furui-papers -- all --out DIR`, with `--data DIR` \
for the real data; missing data is made up from the seed, and the section says so. With `--features rivals`, the \
code of others takes part, too, and with `rocksdb` RocksDB, if the system has its library. Times are processor \
times. They vary by some tens of percent if other processes share the processor's caches, so read them as ratios.

Each claim has a verdict. It is *reproduced* if the claim holds; *better than the paper* if the result is better than \
the paper says; *reproduced within a band* if its direction and order of magnitude hold, or its figure holds for one \
possible reading of the paper; *not reproduced*, with the reason, if it does not hold here; *no data* if it is about \
data that is not available; and *measured* if nothing is claimed. An experiment that is newer than the last run of all \
is *not measured yet*. Each paper's page begins with what its idea is worth today, a list of the verdicts, and two \
tables: how to do what the paper does, and what that costs compared with what furui does by default; and where furui \
deviates, and why. At the end is what the papers leave open.

";

/// The text at the end of the index.
pub(crate) const OPEN: &str = include_str!("open.md");

/// The directory of the pages.
pub(crate) struct Pages {
    dir: PathBuf,
    /// The commit that was checked out when the experiments began.
    commit: String,
}

/// The row of the index for a section of a page.
struct Entry {
    title: String,
    grades: Vec<Grade>,
}

impl Pages {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, commit: commit() }
    }

    /// Writes the plots and tables of a finding, and its section of the page.
    pub(crate) fn write(
        &self,
        all: &[Experiment],
        experiment: &Experiment,
        context: &Context,
        finding: &Finding,
    ) -> Result<(), Box<dyn Error>> {
        let page = experiment.source.page();
        let files = self.dir.join(page);
        std::fs::create_dir_all(&files)?;
        for plot in &finding.plots {
            std::fs::write(files.join(&plot.name).with_extension("svg"), plot.svg()?)?;
        }
        for table in &finding.tables {
            std::fs::write(files.join(&table.name).with_extension("csv"), table.csv())?;
        }
        let mut sections = self.sections(experiment.source)?;
        let new = section(experiment, context, finding, &self.commit);
        let new = match sections.get(&experiment.full_name()) {
            Some(old) if context.recorded.is_some() => drawn_again(old, &new, !experiment.notes(finding).is_empty()),
            _ => new,
        };
        sections.insert(experiment.full_name(), new);
        std::fs::write(self.page(experiment.source), self.text(all, experiment.source, &sections))?;
        // Other pages may quote the tables of this page, so all texts are written again.
        for (path, text) in self.texts(all)? {
            std::fs::write(path, text)?;
        }
        Ok(())
    }

    /// The text of a page with these sections, in the order of the experiments.
    fn text(&self, all: &[Experiment], source: Source, sections: &BTreeMap<String, String>) -> String {
        let mut text = format!("# {}\n\n{}\n", source.title(), source.reference());
        let filled = theirs::filled(source, &self.dir);
        let (worth, tables) = filled.split_once("\n## ").unwrap_or_default();
        if !worth.is_empty() {
            text += &format!("\n{worth}");
        }
        let listed = all.iter().filter(|one| one.source == source && source != Source::Ours);
        for (i, experiment) in listed.enumerate() {
            if i == 0 {
                text += "\n| verdicts | |\n|---|---|\n";
            }
            if let Some(Entry { title, grades }) = sections.get(&experiment.full_name()).and_then(|one| entry(one)) {
                text += &format!("| [{title}](#{}) | {} |\n", anchor(&title), tally(&grades));
            }
        }
        if !tables.is_empty() {
            text += &format!("\n## {tables}");
        }
        for name in all.iter().filter(|one| one.source == source).map(Experiment::full_name) {
            if let Some(section) = sections.get(&name) {
                text += &format!("{MARKER}{name} -->\n{section}");
            }
        }
        text
    }

    /// The paths of the index and of the pages that exist, each with the text that the file should have. The pages may
    /// have been written by different runs of this program.
    pub(crate) fn texts(&self, all: &[Experiment]) -> Result<Vec<(PathBuf, String)>, Box<dyn Error>> {
        let mut texts = vec![(self.dir.join(INDEX), self.index(all)?)];
        for source in Source::ALL {
            let sections = self.sections(source)?;
            if !sections.is_empty() {
                texts.push((self.page(source), self.text(all, source, &sections)));
            }
        }
        Ok(texts)
    }

    fn page(&self, source: Source) -> PathBuf {
        self.dir.join(source.page()).with_extension("md")
    }

    /// The sections on the pages, by the full names of their experiments.
    fn sections(&self, source: Source) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
        let path = self.page(source);
        if !path.exists() {
            return Ok(BTreeMap::new());
        }
        let text = std::fs::read_to_string(path)?;
        let sections = text.split(MARKER).skip(1).filter_map(|section| section.split_once(" -->\n"));
        Ok(sections.map(|(name, section)| (name.to_owned(), section.to_owned())).collect())
    }

    /// The text of the index of all pages that exist. It does not matter which runs wrote the pages.
    fn index(&self, all: &[Experiment]) -> Result<String, Box<dyn Error>> {
        let mut text = String::new();
        // The grades of the claims of the papers; our own comparisons test no claims.
        let mut claims = vec![];
        for source in Source::ALL {
            let sections = self.sections(source)?;
            if sections.is_empty() {
                continue;
            }
            text += &format!("\n## [{}]({}.md)\n\n{}\n\n", source.title(), source.page(), source.reference());
            if source != Source::Ours {
                let page = source.page();
                text += &format!(
                    "[Theirs, ours, what it costs]({page}.md#theirs-ours-what-it-costs); [where furui deviates]({page}.md#where-furui-deviates).\n\n"
                );
            }
            text += "| experiment | | verdict |\n|---|---|---|\n";
            for experiment in all.iter().filter(|experiment| experiment.source == source) {
                let name = experiment.full_name();
                let Some(section) = sections.get(&name) else {
                    text += &format!("| {name} | {} | {NOT_MEASURED} |\n", experiment.title());
                    continue;
                };
                let Entry { title, grades } =
                    entry(section).ok_or_else(|| format!("{name} has no title or no verdict"))?;
                let verdict = tally(&grades);
                text += &format!("| {name} | [{title}]({}.md#{}) | {verdict} |\n", source.page(), anchor(&title));
                if source != Source::Ours {
                    claims.extend(grades);
                }
            }
        }
        let total = format!("In all there are {} verdicts about the papers: {}.\n", claims.len(), tally(&claims));
        Ok(format!("{HEAD}{total}{text}\n{OPEN}"))
    }
}

fn section(experiment: &Experiment, context: &Context, finding: &Finding, commit: &str) -> String {
    let dir = experiment.source.page();
    let who = if experiment.source == Source::Ours { "We ask" } else { "The paper" };
    let mut text = format!("## {}\n\n**{who}:** {}\n\n", experiment.title(), experiment.claim());
    text += &finding.verdict.markdown();
    for plot in &finding.plots {
        text += &format!("\n![{}]({dir}/{}.svg)\n", plot.title, plot.name);
    }
    for table in &finding.tables {
        let head = format!("{} ([CSV]({dir}/{}.csv))", table.title, table.name);
        if table.rows.len() > LONG {
            let rows = table.rows.len();
            text +=
                &format!("\n{head}\n\n<details><summary>{rows} rows</summary>\n\n{}\n</details>\n", table.markdown());
        } else {
            text += &format!("\n{head}\n\n{}", table.markdown());
        }
    }
    let notes: String = experiment.notes(finding).iter().map(|note| format!("- {note}\n")).collect();
    if !notes.is_empty() {
        text += &format!("\n{notes}");
    }
    let mut quick = if context.quick { " --quick" } else { "" }.to_owned();
    if context.full {
        quick += " --full";
    }
    let data = if context.data.is_some() { " --data DIR" } else { "" };
    text += &format!(
        "\nData: {} Seed {}; commit {}; {}.\n\n    cargo run --release -p furui-papers -- paper {} --seed {}{data}{quick}\n",
        finding.data,
        context.seed,
        commit,
        machine(),
        experiment.full_name(),
        context.seed,
    );
    text
}

/// A section whose verdict and plots are made again from its tables. Its text about the measurement is copied from the
/// old section: the data, the commit and the machine, and the remarks unless there are new ones.
fn drawn_again(old: &str, new: &str, has_notes: bool) -> String {
    let (new, _) = new.split_once("\nData: ").unwrap_or((new, ""));
    let data = old.find("\nData: ").unwrap_or(old.len());
    // The remarks are the list before the data; the list of verdicts is further up.
    let remarks = old[..data].trim_end().rfind("\n\n- ").map(|at| at + 1);
    let remarks = remarks.filter(|&at| !old[at..data].contains("\n|")).unwrap_or(data);
    format!("{new}{}", &old[if has_notes { data } else { remarks }..])
}

/// Checks that the tables of a finding are those of its page in `dir`, digit by digit.
pub(crate) fn check_recorded(dir: &Path, experiment: &Experiment, finding: &Finding) -> Result<(), Box<dyn Error>> {
    for table in &finding.tables {
        let path = dir.join(experiment.source.page()).join(&table.name).with_extension("csv");
        if std::fs::read_to_string(&path)? != table.csv() {
            let name = experiment.full_name();
            return Err(format!("{name} does not make {} again: run it without --recorded", path.display()).into());
        }
    }
    Ok(())
}

/// The row of the index for a section.
fn entry(section: &str) -> Option<Entry> {
    let title = section.lines().find_map(|line| line.strip_prefix("## "))?;
    let grades = grades(section);
    (!grades.is_empty()).then(|| Entry { title: title.to_owned(), grades })
}

/// The anchor that GitHub gives to a heading.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The short hash of the commit of the working directory, with a note if core, search or papers has changes that are
/// not committed; `unknown` if there is no git.
fn commit() -> String {
    let git = |args: &[&str]| {
        let output = std::process::Command::new("git").args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match git(&["rev-parse", "--short", "HEAD"]) {
        Some(commit)
            if git(&["status", "--porcelain", "core", "search", "papers"])
                .is_some_and(|changes| changes.is_empty()) =>
        {
            commit
        }
        Some(commit) => format!("{commit} with changes"),
        None => "unknown".to_owned(),
    }
}

/// The name of the machine's processor.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores, {}", if cfg!(debug_assertions) { "debug build" } else { "release build" })
}

/// The commit of each section of a page.
#[cfg(test)]
pub(crate) fn commits(page: &str) -> Vec<&str> {
    let of_data = page.lines().filter(|line| line.starts_with("Data: "));
    of_data.filter_map(|line| Some(line.split_once("; commit ")?.1.split_once(';')?.0)).collect()
}

/// The number of sections of a page.
#[cfg(test)]
pub(crate) fn sections(page: &str) -> usize {
    page.matches(MARKER).count()
}

/// The part of a page that experiments wrote.
#[cfg(test)]
pub(crate) fn measured(page: &str) -> &str {
    page.find(MARKER).map_or("", |start| &page[start..])
}

/// The paths of the files to which a page links, as written there.
#[cfg(test)]
pub(crate) fn links<'a>(page: &'a str, extension: &str) -> Vec<&'a str> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let of_extension = |path: &&str| Path::new(path).extension().is_some_and(|found| found == extension);
    targets.map(|(path, _)| path).filter(of_extension).collect()
}
