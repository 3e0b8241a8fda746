//! Table 1, Figs. 7 to 9, the cuts, eq. 18 and three words: what an exchange of two lists takes.

use super::super::{Axis, Context, Finding, Grade, Mark, Plot, Result, Series, Verdict, brief};
use super::{corpora, options};
use crate::search::{self, Corpus};
use crate::table::{Cell, Table};

pub(super) fn table1(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let table = search::table1(&corpora);
    let zipf = |column: &str| table.number(column, &[("corpus", "Zipf".into())]);
    let (each, lists) = (zipf("words a document"), zipf("documents a word"));
    Ok(Finding {
        data,
        verdict: Verdict::all([
            Verdict::near("Words a document", 632.7, each, 0.01, 0.1),
            Verdict::near("Documents a word", 1343.8, lists, 0.01, 0.1),
        ])
        .and("The synthetic documents are made so; real ones that we may pass on are shorter."),
        tables: vec![table],
        plots: vec![],
        notes: vec![
            "Table 1 leaves open in how many documents the commonest word is; 68,000 gives the maximum of Fig. 7."
                .to_owned(),
        ],
    })
}

pub(super) fn fig7(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let table = search::fig7(&corpora, &options(context))?;
    let axes = (Axis::linear("documents"), Axis::log("kbit"));
    let mut plot = Plot::new("fig7", "Traffic of the Naive algorithm", axes.0, axes.1);
    for corpus in &corpora {
        let only = [("corpus", corpus.name.as_str().into())];
        for (name, column) in
            [("mean", "mean kbit"), ("maximum", "max kbit"), ("smaller first, mean", "smaller first, mean")]
        {
            let points = table.points("documents", column, &only);
            plot = plot.with(Series::new(format!("{}, {name}", corpus.name), Mark::Line, points));
        }
    }
    let all = |column: &str| at_all(&table, &corpora[0], column, &[]);
    Ok(Finding {
        data,
        verdict: Verdict::all([
            Verdict::near("The mean at 100,000 documents, in kbit", 200.0, all("mean kbit"), 0.15, 0.5),
            Verdict::near("The maximum", 11_000.0, all("max kbit"), 0.15, 0.5),
            Verdict::holds(
                grows(&table, "mean kbit") && grows(&table, "max kbit"),
                "Both grow with the number of documents.",
            ),
        ]),
        tables: vec![table],
        plots: vec![plot],
        notes: vec![
            "The paper's KB must be kilobits: 1343.8 ids of 160 bits are 215 kbit, and 11,000 KB would be 550,000 ids of 100,000 \
             documents."
                .to_owned(),
            "The paper sends the list of the word that is drawn first. To send the smaller one costs nothing and takes a small \
             part of the traffic."
                .to_owned(),
        ],
    })
}

pub(super) fn fig8(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let measured = search::fig8_and_9(&corpora, &options(context))?;
    let best = search::best_rates(&corpora)?;
    let mut plots = vec![];
    for (table, what) in measured.iter().zip(["mean", "maximum"]) {
        for (file, filter, column) in [
            ("fixed", "fixed filters", "fixed, bits of each alpha"),
            ("ringed", "ringed filters", "ringed, delta 100,000"),
        ] {
            let axes = (Axis::linear("k, alpha = 2^-k"), Axis::log("kbit"));
            let title = format!("{filter}, {what} traffic, synthetic documents");
            let plot = Plot::new(&format!("{}-{file}", table.name), title, axes.0, axes.1);
            plots.push(documents(table, &corpora[0]).into_iter().fold(plot, |plot, documents| {
                let only = [("corpus", corpora[0].name.as_str().into()), ("documents", documents.into())];
                plot.with(Series::new(format!("{documents} documents"), Mark::Line, table.points("k", column, &only)))
            }));
        }
    }
    let zipf = [("corpus", "Zipf".into())];
    let (ringed, fixed) = (best.range("k of the best ringed", &zipf), best.range("k of the best fixed", &zipf));
    let more = |column: &str| brief(100.0 * (best.range(column, &zipf).1 - 1.0));
    let of_ringed = match ringed {
        (7.0, 7.0) => Grade::Reproduced,
        (least, most) if least >= 6.0 && most <= 8.0 => Grade::WithinBand,
        _ => Grade::NotReproduced,
    };
    let [mean, max] = measured;
    let growth = |column: &str, k: u64| {
        let at = |documents: u32| {
            let cells = [("corpus", "Zipf".into()), ("documents", u64::from(documents).into()), ("k", k.into())];
            mean.number(column, &cells)
        };
        at(corpora[0].documents()) / at(corpora[0].documents() / 2)
    };
    let (of_fixed, of_ring) = (growth("fixed, bits of each alpha", 5), growth("ringed, delta 100,000", 7));
    Ok(Finding {
        data,
        verdict: Verdict::all([
            Verdict::new(
                of_ringed,
                format!(
                    "Over all pairs of words, by formula, ringed filters are best at k = {}, whatever the number of documents, \
                     and take at most {} % more at 7.",
                    range(ringed),
                    more("ringed 2^-7 / the best")
                ),
            ),
            Verdict::holds(
                fixed.0 < 5.0 && fixed.1 > 5.0,
                format!(
                    "Fixed-size ones are best at k = {}, at any number of documents, and take at most {} % more at 5: their \
                     optimum is flat. The paper's 2164 bits are those of a filter for 750 keys with k = 2.",
                    range(fixed),
                    more("fixed 2^-5 / the best")
                ),
            ),
            Verdict::holds(
                of_fixed > 1.2 * of_ring,
                format!(
                    "From half of the documents to all, their mean traffic grows {} times, that with ringed filters {} times.",
                    brief(of_fixed),
                    brief(of_ring)
                ),
            ),
        ]),
        tables: vec![mean, max, best],
        plots,
        notes: vec![
            "Of 5000 queries a few pairs of long lists decide the mean, and one pair the maximum; the means over all pairs, by \
             formula, do not depend on that luck."
                .to_owned(),
            "\"Bits of each alpha\": the size with the least mean traffic at half of the documents, as the paper chose it, for \
             each alpha. The paper gives one size, 2164 bits; it is in a column of its own."
                .to_owned(),
            "gamma is k / ln 2 rounded up: 4 % too much at k = 6, 9 % at k = 7. That is a part of why 6 is better."
                .to_owned(),
        ],
    })
}

pub(super) fn cuts(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let table = search::cuts(&corpora, &options(context))?;
    let ways: Vec<[&str; 2]> = table.rows.iter().filter_map(|row| Some([row[2].text()?, row[3].text()?])).collect();
    let draw = |name: &str, what: &str, column: &str| {
        let title = format!("Cut of the {what}, by ringed filters against fixed ones at 2^-5");
        let mut plot = Plot::new(name, title, Axis::linear("documents"), Axis::linear("cut, %"));
        for (i, &[ringed, fixed]) in ways.iter().enumerate().filter(|(i, way)| !ways[..*i].contains(way)) {
            let cells = [("ringed", ringed.into()), ("fixed", fixed.into()), ("corpus", table.rows[i][0].clone())];
            let corpus = table.rows[i][0].text().unwrap_or_default();
            plot = plot.with(Series::new(
                format!("{corpus}, {ringed}, {}", fixed.trim_start_matches("2^-5, ")),
                Mark::Line,
                table.points("documents", column, &cells),
            ));
        }
        plot
    };
    // Of the synthetic documents the first rows are: the tuned filters, the paper's, the tuned with an exact gamma.
    let at_all = |way: usize, column: &str| {
        let [ringed, fixed] = ways[way];
        at_all(&table, &corpora[0], column, &[("ringed", ringed.into()), ("fixed", fixed.into())])
    };
    let (mean, max) = ("cut of the mean %, all pairs, formula", "max, median round");
    let verdict = Verdict::all([
        Verdict::near(
            "The cut of the mean at all documents, in %, of fixed filters of 2164 bits",
            39.0,
            at_all(1, mean),
            0.05,
            0.3,
        )
        .and(format!("Of filters whose bits are the best for 2^-5 it is {} %.", brief(at_all(0, mean)),)),
        Verdict::near("The cut of the maximum, in %, of the median round", 73.0, at_all(1, max), 0.1, 0.3),
    ])
    .and(format!(
        "What a round of queries says is a matter of luck, for a few pairs of long lists decide it: from {} to {} % for the mean, \
         and from {} to {} % for the maximum.",
        brief(at_all(1, "mean, least")),
        brief(at_all(1, "mean, most")),
        brief(at_all(1, "max, least")),
        brief(at_all(1, "max, most")),
    ));
    Ok(Finding {
        data,
        verdict,
        plots: vec![draw("cuts", "mean over all pairs", mean), draw("cuts-max", "maximum, the median round", max)],
        tables: vec![table],
        notes: vec!["The rows \"mean\" are the means over all numbers of documents.".to_owned()],
    })
}

pub(super) fn eq18(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let options = options(context);
    let alone = search::eq18(&options)?;
    let best = search::best(&corpora, &options)?;
    let axes = (Axis::log("ids of the second list over those of the first"), Axis::linear("log2 of alpha"));
    let ratio = |column: &str| -> Vec<(f64, f64)> {
        let of = |y| alone.points("ids of the first", y, &[]);
        of("of the second").iter().zip(of(column)).map(|(&(first, second), (_, y))| (second / first, y)).collect()
    };
    let plot = Plot::new("eq18", "The best alpha for two lists", axes.0, axes.1)
        .with(Series::new("least traffic measured", Mark::Points, ratio("log2 of the best alpha")))
        .with(Series::new("eq. 18", Mark::Formula, ratio("its log2")));
    let equal = alone.rows.iter().find_map(|row| (row[0] == row[1]).then(|| row[2].number())).flatten();
    let worst = alone.range("ratio", &[]).1;
    let gain = |corpus: &Corpus| {
        best.number("mean, to 2^-7", &[("corpus", corpus.name.as_str().into()), ("ringed filters", "eq. 18".into())])
    };
    let gains = corpora.iter().map(|corpus| format!("{} ({})", brief(gain(corpus)), corpus.name)).collect::<Vec<_>>();
    Ok(Finding {
        data: format!("for single pairs, ids drawn from the seed; for queries, {data}"),
        verdict: Verdict::all([
            Verdict::near("alpha for lists of one size", 0.013, equal.unwrap_or(f64::NAN), 0.01, 0.1),
            Verdict::holds(
                worst < 1.02,
                format!(
                    "The whole k beside the alpha of eq. 18 takes at most {} % more than the best one, measured.",
                    brief(100.0 * (worst - 1.0))
                ),
            ),
        ])
        .and(format!(
            "An alpha for each pair of lists, which the paper leaves for later, takes {} times the mean traffic of 2^-7 for all.",
            gains.join(" and ")
        )),
        tables: vec![alone, best],
        plots: vec![plot],
        notes: vec!["The number of common ids is not known before, and taken for 0 (eq. 19).".to_owned()],
    })
}

pub(super) fn three(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let table = search::three(&corpora, &options(context))?;
    let zipf = [("corpus", "Zipf".into())];
    let chains: Vec<&str> = table.only(&zipf).filter_map(|row| row[1].text()).collect();
    let axes = (Axis::log("mean kbit"), Axis::names("", chains.iter().copied()));
    let mut plot = Plot::new("three", "Queries of three words, by how they are chained", axes.0, axes.1);
    for corpus in &corpora {
        let bars = chains.iter().zip(0u32..).map(|(&chain, i)| {
            let only = [("corpus", corpus.name.as_str().into()), ("chain", chain.into())];
            (table.number("mean kbit", &only), f64::from(i))
        });
        plot = plot.with(Series::new(corpus.name.as_str(), Mark::Bar, bars.collect()));
    }
    let adds = |chain: &str| table.range("the third adds %", &[("chain", chain.into())]).1;
    Ok(Finding {
        data,
        verdict: Verdict::holds(
            adds("ringed 2^-7") < 10.0,
            format!(
                "With ringed filters at 2^-7 the third word adds at most {} % to the mean traffic of the first two, with \
                 fixed-size ones {} %.",
                brief(adds("ringed 2^-7")),
                brief(adds("fixed 2^-5"))
            ),
        ),
        tables: vec![table],
        plots: vec![plot],
        notes: vec![
            "\"Ids where fewer\" is the paper's remark: where little is left, ids take less than a filter of fixed size. A ringed \
             filter shrinks with what is left, and hardly gains by it."
                .to_owned(),
            "\"Default\" is what a node does: Golomb-coded sets, the smaller list first.".to_owned(),
        ],
    })
}

/// `6`, or `6 to 8`.
fn range((least, most): (f64, f64)) -> String {
    if least == most { brief(least) } else { format!("{} to {}", brief(least), brief(most)) }
}

/// The number in a column for all documents of a corpus.
fn at_all(table: &Table, corpus: &Corpus, column: &str, cells: &[(&str, Cell)]) -> f64 {
    let all = [("corpus", corpus.name.as_str().into()), ("documents", u64::from(corpus.documents()).into())];
    table.number(column, &all.into_iter().chain(cells.iter().cloned()).collect::<Vec<_>>())
}

/// Whether a column grows with the synthetic documents.
fn grows(table: &Table, column: &str) -> bool {
    table.points("documents", column, &[("corpus", "Zipf".into())]).is_sorted_by(|a, b| a.1 < b.1)
}

/// The numbers of documents of a corpus in a table.
fn documents(table: &Table, corpus: &Corpus) -> Vec<u64> {
    let points = table.points("documents", "documents", &[("corpus", corpus.name.as_str().into())]);
    let mut documents: Vec<u64> = points.iter().map(|point| point.0 as u64).collect();
    documents.dedup();
    documents
}
