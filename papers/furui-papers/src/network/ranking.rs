use std::collections::HashMap;

use furui_search::{Query as Parsed, Record, Weight, words};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions};
use tantivy::schema::{Value, document::TantivyDocument};
use tantivy::{Index, Searcher, Term, doc};

use super::cluster::Cluster;
use super::corpus::{Corpus, Dice};
use super::{Done, Options};

/// The number of documents of an answer that are compared.
const SHOWN: usize = 10;

/// Compares the order of answers with the order by BM25 on one machine, over the same words. Counts how often all nodes
/// give the same order.
pub(super) fn run(options: &Options) -> Done {
    let corpus = Corpus::new(options)?;
    let one = OneMachine::new(corpus.records())?;
    let mut cluster = Cluster::new(options)?;
    let file = cluster.file("documents.jsonl");
    corpus.write(&file)?;
    for _ in 0..options.nodes {
        cluster.add(None)?;
    }
    cluster.settle()?;
    println!("{} nodes, {}", options.nodes, corpus.describe());
    println!("published: {}", cluster.publish(0, &file, false)?);
    cluster.settle()?;
    let mut dice = Dice::new(options.seed);
    let (mut by_score, mut by_grade, mut same, mut first) = (Vec::new(), Vec::new(), 0, 0);
    let mut queries = 0;
    while queries < options.queries {
        let query = corpus.query(&mut dice);
        let scores = one.search(&query)?;
        if scores.is_empty() {
            continue;
        }
        queries += 1;
        let answers: Vec<Vec<String>> = (0..options.nodes)
            .map(|node| Ok(cluster.nodes[node].search(&query, SHOWN, None)?.urls))
            .collect::<Done<_>>()?;
        same += usize::from(answers.iter().all(|answer| *answer == answers[0]));
        first += usize::from(answers[0].first() == scores.first().map(|(url, _)| url));
        let by_url: HashMap<&str, f64> = scores.iter().map(|(url, score)| (&**url, *score)).collect();
        let ideal: Vec<f64> = scores.iter().map(|(_, score)| *score).collect();
        let ours: Vec<f64> = answers[0].iter().map(|url| by_url.get(&**url).copied().unwrap_or_default()).collect();
        by_score.push(gain(&ours) / gain(&ideal));
        // In the first measure the gain of a document is its score. In the second measure the gain is 10 for the first
        // document and 1 for the tenth, and documents with equal scores have equal gains.
        let grade = |score: f64| (SHOWN.saturating_sub(ideal.partition_point(|other| *other > score + 1e-6))) as f64;
        let grades = |scores: &[f64]| scores.iter().take(SHOWN).map(|score| grade(*score)).collect::<Vec<f64>>();
        by_grade.push(gain(&grades(&ours)) / gain(&grades(&ideal)));
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let least = |all: &[f64]| all.iter().copied().fold(1.0, f64::min);
    println!("{queries} queries of one to three words; nDCG@{SHOWN} against BM25 on one machine:");
    println!("  gain the score there: mean {:.4}, least {:.4}", mean(&by_score), least(&by_score));
    println!("  gain 10 to 1 by the place there: mean {:.4}, least {:.4}", mean(&by_grade), least(&by_grade));
    println!(
        "  first document as on one machine: {first} of {queries}; equal order on all {} nodes: {same} of {queries}",
        options.nodes
    );
    Ok(())
}

/// The discounted cumulative gain of the first documents.
fn gain(gains: &[f64]) -> f64 {
    (2..).zip(gains.iter().take(SHOWN)).map(|(place, gain)| gain / f64::from(place).log2()).sum()
}

/// A tantivy index of the documents, whose texts are split into words as furui splits them. Words of the title are
/// repeated according to their weight.
struct OneMachine {
    searcher: Searcher,
    url: Field,
    text: Field,
}

impl OneMachine {
    fn new(records: &[Record]) -> Done<Self> {
        let mut schema = Schema::builder();
        let url = schema.add_text_field("url", STORED);
        let indexing =
            TextFieldIndexing::default().set_tokenizer("whitespace").set_index_option(IndexRecordOption::WithFreqs);
        let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 100 << 20)?;
        for record in records {
            let times = |text, times| words(text).flat_map(move |word| vec![word.into_owned(); times]);
            let all: Vec<String> = times(&record.title, Weight::TITLE as usize).chain(times(&record.text, 1)).collect();
            writer.add_document(doc!(url => record.url.as_str(), text => all.join(" ")))?;
        }
        writer.commit()?;
        // Merge into one segment, so that BM25 computes with one average length of all documents.
        let segments = index.searchable_segment_ids()?;
        writer.merge(&segments).wait()?;
        let reader = index.reader()?;
        reader.reload()?;
        Ok(Self { searcher: reader.searcher(), url, text })
    }

    /// All documents that contain all words of `query`, best first, with their scores.
    fn search(&self, query: &str) -> Done<Vec<(String, f64)>> {
        let query = Parsed::parse(query)?;
        let terms = query.clauses()[0].must.iter().map(|word| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(self.text, word), IndexRecordOption::WithFreqs))
        });
        let all = BooleanQuery::intersection(terms.collect());
        let most = self.searcher.num_docs() as usize;
        let found = self.searcher.search(&all, &TopDocs::with_limit(most).order_by_score())?;
        found
            .into_iter()
            .map(|(score, address)| {
                let document: TantivyDocument = self.searcher.doc(address)?;
                let url = document.get_first(self.url).and_then(|url| url.as_str()).unwrap_or_default();
                Ok((url.to_owned(), f64::from(score)))
            })
            .collect()
    }
}
