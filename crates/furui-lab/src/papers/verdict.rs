//! The verdict on a claim: whether it holds here.

use std::fmt;

/// How far a claim holds, in ascending order of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grade {
    /// Nothing is claimed; the experiment only measures.
    Measured,
    /// The claim holds.
    Reproduced,
    /// The direction and the order of magnitude hold, or the figure holds for some choices that the paper leaves open.
    WithinBand,
    /// The claim does not hold on this data.
    NotReproduced,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measured => "measured",
            Self::Reproduced => "reproduced",
            Self::WithinBand => "reproduced within a band",
            Self::NotReproduced => "not reproduced",
        })
    }
}

/// Whether a claim holds, and the figures that show it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) grade: Grade,
    /// One or two sentences with the figures, and the reason if the claim does not hold.
    pub(crate) text: String,
}

impl Verdict {
    pub(crate) fn new(grade: Grade, text: impl Into<String>) -> Self {
        Self { grade, text: text.into() }
    }

    /// The verdict on a yes-or-no claim.
    pub(crate) fn holds(holds: bool, text: impl Into<String>) -> Self {
        Self::new(if holds { Grade::Reproduced } else { Grade::NotReproduced }, text)
    }

    /// The verdict on a figure of the paper, compared with our figure. It is reproduced if the relative difference to
    /// the paper's figure is at most `close`, and within a band if it is at most `band`. Both are fractions: 0.1 is a
    /// tenth.
    pub(crate) fn near(what: &str, paper: f64, ours: f64, close: f64, band: f64) -> Self {
        let off = (ours - paper).abs() / paper.abs();
        let grade = match off {
            off if off <= close => Grade::Reproduced,
            off if off <= band => Grade::WithinBand,
            _ => Grade::NotReproduced,
        };
        Self::new(grade, format!("{what}: {} here, {} in the paper.", brief(ours), brief(paper)))
    }

    /// The verdict on several claims together: the worst of their verdicts.
    pub(crate) fn all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        let join = |a: Self, b: Self| Self::new(a.grade.max(b.grade), format!("{} {}", a.text, b.text));
        verdicts.into_iter().reduce(join).expect("a claim")
    }

    /// The verdict with one more sentence.
    pub(crate) fn and(mut self, sentence: impl AsRef<str>) -> Self {
        self.text = format!("{} {}", self.text, sentence.as_ref());
        self
    }
}

/// A number formatted for a sentence: three digits, or all digits of the whole part.
pub(crate) fn brief(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 1e-3 => {
            let digits = (2.0 - size.log10().floor()) as usize;
            let text = format!("{number:.digits$}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{number:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_near_or_is_not() {
        let near = |ours| Verdict::near("it", 39.0, ours, 0.05, 0.3).grade;
        assert_eq!([near(38.0), near(30.0), near(80.0)], [Grade::Reproduced, Grade::WithinBand, Grade::NotReproduced]);
        let both = Verdict::all([Verdict::holds(true, "One."), Verdict::near("two", 2.0, 9.0, 0.1, 0.2)]);
        assert_eq!(both, Verdict::new(Grade::NotReproduced, "One. two: 9 here, 2 in the paper."));
        assert_eq!([9.374, 0.25, 12345.6, 1e-7].map(brief), ["9.37", "0.25", "12346", "1.00e-7"]);
    }
}
