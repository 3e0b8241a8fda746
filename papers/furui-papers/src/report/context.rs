//! The input of an experiment: its data, size and seed.

use std::error::Error;
use std::path::{Path, PathBuf};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{Source, Table};

pub(crate) type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// The data, the size and the seed of an experiment.
pub(crate) struct Context {
    /// The directory of the real data; `None` if it is not given.
    pub(crate) data: Option<PathBuf>,
    /// True if all sizes of experiments are tiny, for tests.
    pub(crate) quick: bool,
    /// True if the measurements that the papers made at a large scale are repeated at that scale. On two processors,
    /// this takes two hours, most of them for the dictionary of louds-table3.
    pub(crate) full: bool,
    /// The seed of all random numbers.
    pub(crate) seed: u64,
    /// The directory of the pages whose tables are read instead of measuring, if only verdicts and plots are made
    /// again; otherwise `None`.
    pub(crate) recorded: Option<PathBuf>,
    /// The parent of all progress bars.
    pub(crate) progress: MultiProgress,
}

impl Context {
    /// Returns `quick` if all sizes are to be tiny, as in tests; otherwise `full`.
    pub(crate) fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The tables that `measure` makes; or, if only verdicts and plots are made again, the tables of these names that
    /// the source's page has.
    pub(crate) fn tables<const N: usize>(
        &self,
        source: Source,
        names: [&str; N],
        measure: impl FnOnce() -> Result<[Table; N]>,
    ) -> Result<[Table; N]> {
        let Some(dir) = &self.recorded else { return measure() };
        let page = std::fs::read_to_string(dir.join(source.page()).with_extension("md"))?;
        let tables = names.map(|name| -> Result<Table> {
            let link = format!("{}/{name}.csv", source.page());
            let end = format!(" ([CSV]({link}))");
            let title =
                page.lines().find_map(|line| line.strip_suffix(&end)).ok_or_else(|| format!("no table {link}"))?;
            let table = Table::from_csv(&std::fs::read_to_string(dir.join(link))?);
            Ok(Table { name: name.to_owned(), title: title.to_owned(), ..table })
        });
        let tables: Result<Vec<_>> = tables.into_iter().collect();
        Ok(tables?.try_into().ok().expect("as many tables as names"))
    }

    /// The path of a file or directory of the real data, if it exists and the run is not a quick one.
    pub(crate) fn real(&self, name: impl AsRef<Path>) -> Option<PathBuf> {
        let path = self.data.as_ref().filter(|_| !self.quick)?.join(name);
        path.exists().then_some(path)
    }

    /// Returns a progress bar for the steps of an experiment. The bar vanishes when it is dropped. Nothing is drawn if
    /// standard error is not a terminal.
    pub(crate) fn bar(&self, steps: u64, what: &str) -> ProgressBar {
        let style = ProgressStyle::with_template("{msg:32} {bar:40} {pos}/{len} {elapsed}");
        let style = style.expect("a valid template").progress_chars("##-");
        self.progress.add(ProgressBar::new(steps).with_style(style).with_message(what.to_owned()))
    }
}
