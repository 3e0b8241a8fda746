//! The types of an experiment and of its results.

use super::{Context, Plot, Result, Source, Table, Verdict};

/// The function of an experiment, which measures and returns the results.
pub(crate) type Run = fn(&Context) -> Result<Finding>;

/// One figure or table of a paper, or a question of our own. Its title, the paper's claim (or the question) and remarks
/// are in a section of the file `experiments.md` of its source.
#[derive(Clone, Copy)]
pub(crate) struct Experiment {
    pub(crate) source: Source,
    /// The name within the source, such as `fig4`; on the command line it is `ringed-fig4`.
    pub(crate) name: &'static str,
    pub(crate) run: Run,
}

/// The results of an experiment. The names of its tables and plots are unique within the source.
pub(crate) struct Finding {
    /// A sentence about the data: the name of real data, or how synthetic data is made.
    pub(crate) data: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) plots: Vec<Plot>,
    pub(crate) verdict: Verdict,
    /// Remarks for the reader that depend on the run, of a sentence or two each. Remarks that hold for every run are in
    /// `experiments.md`.
    pub(crate) notes: Vec<String>,
}

impl Finding {
    pub(crate) fn new(
        data: impl Into<String>,
        verdict: Verdict,
        tables: impl IntoIterator<Item = Table>,
        plots: impl IntoIterator<Item = Plot>,
    ) -> Self {
        let (tables, plots) = (tables.into_iter().collect(), plots.into_iter().collect());
        Self { data: data.into(), tables, plots, verdict, notes: vec![] }
    }

    pub(crate) fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }
}

impl Experiment {
    /// The name of the experiment on the command line.
    pub(crate) fn full_name(&self) -> String {
        format!("{}-{}", self.source.prefix(), self.name)
    }

    /// The title of the experiment, such as `Fig. 4: what it shows`.
    pub(crate) fn title(&self) -> &'static str {
        self.paragraphs().next().expect("a title")
    }

    /// The paper's claim with its figures, in a sentence or two; or, if the experiment is not from a paper, the
    /// question.
    pub(crate) fn claim(&self) -> String {
        self.paragraphs().nth(1).expect("a claim").replace('\n', " ")
    }

    /// All remarks on an experiment: those of `experiments.md`, in which each `{}` is replaced by a remark of the run,
    /// and then the other remarks of the run.
    pub(crate) fn notes(&self, finding: &Finding) -> Vec<String> {
        let list = self.paragraphs().nth(2).unwrap_or_default().strip_prefix("- ");
        let of_file = list.into_iter().flat_map(|list| list.split("\n- ")).map(|note| note.replace("\n ", ""));
        let mut of_run = finding.notes.iter().cloned();
        let mut notes: Vec<String> =
            of_file.map(|note| if note == "{}" { of_run.next().expect("a remark") } else { note }).collect();
        notes.extend(of_run);
        notes
    }

    /// The paragraphs of the experiment's section.
    fn paragraphs(&self) -> impl Iterator<Item = &'static str> {
        let mut sections = self.source.experiments().split("\n## ");
        let section = sections.find_map(|section| section.strip_prefix(self.name)?.strip_prefix("\n\n"));
        section.unwrap_or_default().trim_end().split("\n\n")
    }
}
