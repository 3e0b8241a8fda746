//! Table 1 and Fig. 7 of the paper on ringed filters: the documents, and the traffic of the Naive algorithm.

use furui_search::Coding;

use super::corpora;
use super::corpus::Corpus;
use super::exchange::{Choice, Order, kbit, measure};
use super::workload::Workload;
use crate::report::{Axis, Cell, Context, Finding, Grade, Plot, Result, Source, Table, Verdict, brief};

pub(super) fn table1(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let table = documents(&corpora);
    let [each, lists] = ["words a document", "documents a word"];
    let of = |corpus: &Corpus, column: &str| table.number(column, &[("corpus", corpus.name.as_str().into())]);
    let real = corpora.iter().find(|corpus| !corpus.is_made_up());
    let verdict = match real {
        Some(real) => Verdict::new(
            Grade::NoData,
            format!(
                "The papers are not available, and real documents that we may pass on are shorter: {} words a document (the paper: \
                 633), and {} documents a word (1344).",
                brief(of(real, each)),
                brief(of(real, lists))
            ),
        ),
        None => Verdict::new(Grade::Measured, "No real text was given, and only real text can be compared."),
    };
    let verdict = verdict.and(format!(
        "The synthetic documents are made to have such figures: {} words a document and {} documents a word.",
        brief(of(&corpora[0], each)),
        brief(of(&corpora[0], lists))
    ));
    Ok(Finding::new(data, verdict, [table], []))
}

/// Table 1 of the paper on ringed filters: the numbers of documents and words of each corpus, and the mean numbers of
/// words a document and documents a word.
fn documents(corpora: &[Corpus]) -> Table {
    let columns =
        ["corpus", "documents", "words", "words a document", "documents a word", "documents of the commonest word"];
    let mut table = Table::new("table1", "Table 1: the corpora".to_owned(), columns);
    for corpus in corpora {
        let words = corpus.words(corpus.documents());
        let sizes = || words.iter().map(|&word| corpus.size(word, corpus.documents()));
        let postings: u64 = sizes().sum();
        table.push([
            corpus.name.as_str().into(),
            u64::from(corpus.documents()).into(),
            (words.len() as u64).into(),
            (postings as f64 / f64::from(corpus.documents())).into(),
            (postings as f64 / words.len() as f64).into(),
            sizes().max().unwrap_or(0).into(),
        ]);
    }
    table
}

pub(super) fn fig7(context: &Context) -> Result<Finding> {
    let (corpora, data) = corpora(context)?;
    let [table] = context.tables(Source::RingedBloomFilters, ["fig7"], || Ok([by_documents(&corpora, context)?]))?;
    let axes = (Axis::linear("documents"), Axis::log("kbit"));
    let mut plot = Plot::new("fig7", "Traffic of the Naive algorithm", axes.0, axes.1);
    for corpus in &corpora {
        let only = [("corpus", corpus.name.as_str().into())];
        for (name, column) in
            [("mean", "mean kbit"), ("maximum", "max kbit"), ("smaller first, mean", "smaller first, mean")]
        {
            let points = table.points("documents", column, &only);
            plot = plot.line(format!("{}, {name}", corpus.name), points);
        }
    }
    for (name, kbit) in [("the paper, mean", 200.0), ("the paper, maximum", 11_000.0)] {
        plot = plot.dots(name, vec![(100_000.0, kbit)]);
    }
    let all = |corpus: &Corpus, column: &str| brief(at_all(&table, corpus, column, &[]));
    let grows = |corpus: &Corpus| ["mean kbit", "max kbit"].iter().all(|column| grows(&table, corpus, column));
    let verdict = match corpora.iter().find(|corpus| !corpus.is_made_up()) {
        Some(real) => Verdict::all([
            Verdict::holds(
                grows(real),
                format!(
                    "On real text mean and maximum {} at every step.",
                    if grows(real) { "grow" } else { "do not grow" }
                ),
            ),
            Verdict::new(
                Grade::NoData,
                format!(
                    "At all documents they are {} and {} kbit. The paper's figures are of other documents, twenty times as long, which \
                     are not available.",
                    all(real, "mean kbit"),
                    all(real, "max kbit")
                ),
            ),
        ]),
        None => Verdict::new(Grade::Measured, "No real text was given, and only real text can be compared."),
    };
    let verdict = verdict.and(format!(
            "The mean of the synthetic documents, {} kbit at all of them (the paper: 200), follows from Table 1, and their maximum, {} \
             (11,000), from the commonest word, which was chosen for it: neither says anything.",
            all(&corpora[0], "mean kbit"),
            all(&corpora[0], "max kbit")
        ));
    Ok(Finding::new(data, verdict, [table], [plot]))
}

/// Fig. 7 of the paper on ringed filters: the traffic of the Naive algorithm by the number of documents, in kilobits.
fn by_documents(corpora: &[Corpus], context: &Context) -> Result<Table> {
    let columns = ["corpus", "documents", "mean kbit", "max kbit", "smaller first, mean", "max"];
    let mut table = Table::new("fig7", "Fig. 7: traffic of the Naive algorithm".to_owned(), columns);
    for corpus in corpora {
        for documents in corpus.steps() {
            let workload = Workload::new(context, corpus, documents, 2);
            let traffic = measure(
                &workload,
                &[(Order::Drawn, Choice::Always(Coding::Ids)), (Order::SmallerFirst, Choice::Always(Coding::Ids))],
                false,
            )?;
            let mut row = vec![corpus.name.as_str().into(), u64::from(documents).into()];
            row.extend(traffic.iter().flat_map(|traffic| [kbit(traffic.mean()), kbit(traffic.max as f64)]));
            table.push(row);
        }
    }
    Ok(table)
}

/// The number in column `column` of the row that has the given cells, and was measured with all documents of the
/// corpus.
///
/// # Panics
/// If there is not just one such row, or it has no number there.
fn at_all(table: &Table, corpus: &Corpus, column: &str, cells: &[(&str, Cell)]) -> f64 {
    let all = [("corpus", corpus.name.as_str().into()), ("documents", u64::from(corpus.documents()).into())];
    table.number(column, &all.into_iter().chain(cells.iter().cloned()).collect::<Vec<_>>())
}

/// True if the numbers in a column grow strictly with the number of documents of a corpus.
fn grows(table: &Table, corpus: &Corpus, column: &str) -> bool {
    table.points("documents", column, &[("corpus", corpus.name.as_str().into())]).is_sorted_by(|a, b| a.1 < b.1)
}
