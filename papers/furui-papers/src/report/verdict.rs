//! The verdicts on the claims that an experiment tests: whether each holds here.

use std::fmt;

/// The grade of a claim: how far it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grade {
    /// The claim holds.
    Reproduced,
    /// The result is better than the paper says, by more than it varies.
    Better,
    /// The direction and the order of magnitude hold, or the figure holds for some choices that the paper leaves open.
    WithinBand,
    /// The claim does not hold on this data.
    NotReproduced,
    /// The claim is about data that is not available here.
    NoData,
    /// Nothing is claimed; the experiment only measures.
    Measured,
}

impl Grade {
    /// All grades, in the order in which a tally lists them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Reproduced, Self::Better, Self::WithinBand, Self::NotReproduced, Self::NoData, Self::Measured];

    /// The grade of several figures, each a pair of the paper's figure and ours, of which a greater one is better:
    /// reproduced if the relative difference of each is at most `close`, better if none is lower than that, within a
    /// band if the difference of each is at most `band`.
    pub(crate) fn of_gains(figures: &[(f64, f64)], close: f64, band: f64) -> Self {
        let off = |&(paper, ours): &(f64, f64)| (ours - paper) / paper.abs();
        match () {
            () if figures.iter().all(|pair| off(pair).abs() <= close) => Self::Reproduced,
            () if figures.iter().all(|pair| off(pair) >= -close) => Self::Better,
            () if figures.iter().all(|pair| off(pair).abs() <= band) => Self::WithinBand,
            () => Self::NotReproduced,
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measured => "measured",
            Self::NoData => "no data",
            Self::Better => "better than the paper",
            Self::Reproduced => "reproduced",
            Self::WithinBand => "reproduced within a band",
            Self::NotReproduced => "not reproduced",
        })
    }
}

/// The verdict on a claim: its grade, and the figures that show it.
#[derive(Clone, Debug, PartialEq)]
struct Claim {
    grade: Grade,
    /// One or two sentences with the figures, and the reason if the claim does not hold.
    text: String,
}

/// The verdicts on the claims of an experiment, and further sentences on which no claim depends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    claims: Vec<Claim>,
    /// Sentences that no claim depends on.
    more: Vec<String>,
}

impl Verdict {
    pub(crate) fn new(grade: Grade, text: impl Into<String>) -> Self {
        Self { claims: vec![Claim { grade, text: text.into() }], more: vec![] }
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

    /// The verdicts on several claims, each with its own grade.
    pub(crate) fn all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self { claims: vec![], more: vec![] };
        for verdict in verdicts {
            all.claims.extend(verdict.claims);
            all.more.extend(verdict.more);
        }
        all
    }

    /// Returns the verdict with one more sentence, on which no claim depends.
    pub(crate) fn and(mut self, sentence: impl Into<String>) -> Self {
        self.more.push(sentence.into());
        self
    }

    /// The verdict as Markdown: a paragraph, or a list if there are several claims.
    pub(crate) fn markdown(&self) -> String {
        let more = self.more.join(" ");
        match &self.claims[..] {
            [Claim { grade, text }] if more.is_empty() => format!("**Verdict: {grade}.** {text}\n"),
            [Claim { grade, text }] => format!("**Verdict: {grade}.** {text} {more}\n"),
            claims => {
                let list: String =
                    claims.iter().map(|Claim { grade, text }| format!("- *{grade}*: {text}\n")).collect();
                let more = if more.is_empty() { more } else { format!("\n{more}\n") };
                format!("{VERDICTS}\n\n{list}{more}")
            }
        }
    }
}

/// The line before a list of several verdicts.
const VERDICTS: &str = "**Verdicts:**";

/// The grades in a section with a verdict as [`Verdict::markdown`] writes it.
pub(crate) fn grades(section: &str) -> Vec<Grade> {
    let of = |name: &str| Grade::ALL.into_iter().find(|grade| grade.to_string() == name);
    if let Some(line) = section.lines().find_map(|line| line.strip_prefix("**Verdict: ")) {
        return line.split_once(".**").and_then(|(name, _)| of(name)).into_iter().collect();
    }
    let list = section.lines().skip_while(|line| *line != VERDICTS).skip(2);
    list.map_while(|line| of(line.strip_prefix("- *")?.split_once("*:")?.0)).collect()
}

/// The number of claims of each grade, as text: `2 reproduced, 1 not reproduced`. A single claim is not counted.
pub(crate) fn tally(grades: &[Grade]) -> String {
    if let [grade] = grades {
        return grade.to_string();
    }
    let count = |of: Grade| grades.iter().filter(|grade| **grade == of).count();
    let counts = Grade::ALL.into_iter().map(|grade| (count(grade), grade)).filter(|(count, _)| *count > 0);
    counts.map(|(count, grade)| format!("{count} {grade}")).collect::<Vec<_>>().join(", ")
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
        let near = |ours| grades(&Verdict::near("it", 39.0, ours, 0.05, 0.3).markdown());
        assert_eq!([near(38.0), near(30.0)].concat(), [Grade::Reproduced, Grade::WithinBand]);
        assert_eq!(near(80.0), [Grade::NotReproduced]);
        let gains = |ours: [f64; 2]| Grade::of_gains(&[(10.0, ours[0]), (20.0, ours[1])], 0.1, 0.5);
        let found = [[9.5, 21.0], [9.5, 40.0], [6.0, 20.0], [4.0, 40.0]].map(gains);
        assert_eq!(found, [Grade::Reproduced, Grade::Better, Grade::WithinBand, Grade::NotReproduced]);
        let both = Verdict::all([Verdict::holds(true, "One."), Verdict::near("two", 2.0, 9.0, 0.1, 0.2)]).and("Three.");
        let text = both.markdown();
        assert_eq!(
            text,
            "**Verdicts:**\n\n- *reproduced*: One.\n- *not reproduced*: two: 9 here, 2 in the paper.\n\nThree.\n"
        );
        let section = format!("## A\n\n{text}\n- a note\n");
        assert_eq!(tally(&grades(&section)), "1 reproduced, 1 not reproduced");
        let one = Verdict::new(Grade::NoData, "One.").and("Two.").markdown();
        assert_eq!((&*one, &*tally(&grades(&one))), ("**Verdict: no data.** One. Two.\n", "no data"));
        assert_eq!([9.374, 0.25, 12345.6, 1e-7].map(brief), ["9.37", "0.25", "12346", "1.00e-7"]);
    }
}
