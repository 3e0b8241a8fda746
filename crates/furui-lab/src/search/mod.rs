//! The traffic of a search over a distributed hash table: the experiments of Sei, Matsuzaki and Honiden with this project's
//! filters, and the codings that are better. Nothing is sent: what would be, is made and counted.
//!
//! Each experiment is a function that returns tables.

mod all_pairs;
mod check_time;
mod codings;
mod corpus;
mod debian;
mod exchange;
mod random;
mod rates;
mod table;
mod three;
mod traffic;
mod workload;
mod zipf;

use std::error::Error;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use corpus::Corpus;
use table::Table;

/// The k of the paper's rates: α from 2⁻¹ to 2⁻¹¹.
const RATES: RangeInclusive<u32> = 1..=11;

/// What the command line says.
struct Options {
    /// The directory of the real data; without it only the synthetic corpus is used.
    data: Option<PathBuf>,
    csv: Option<PathBuf>,
    /// A tiny corpus and few queries.
    quick: bool,
    seed: u64,
    queries: usize,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut options = Self { data: None, csv: None, quick: false, seed: 1, queries: 5000 };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} what?"));
            match arg.as_str() {
                "--data" => options.data = Some(value()?.into()),
                "--csv" => options.csv = Some(value()?.into()),
                "--seed" => options.seed = value()?.parse()?,
                "--queries" => options.queries = value()?.parse()?,
                "--quick" => (options.quick, options.queries) = (true, 100),
                _ => {
                    return Err(
                        format!("{arg}? there are --data DIR, --csv DIR, --seed N, --queries N and --quick").into()
                    );
                }
            }
        }
        Ok(options)
    }

    fn corpora(&self) -> Result<Vec<Corpus>, Box<dyn Error>> {
        if self.quick {
            return Ok(vec![Corpus::zipf(zipf::Shape::QUICK, self.seed)]);
        }
        let mut corpora = vec![Corpus::zipf(zipf::Shape::PAPER, self.seed)];
        match &self.data {
            Some(data) => corpora.push(Corpus::debian(data, self.seed)?),
            None => eprintln!("no --data DIR: only the synthetic corpus"),
        }
        Ok(corpora)
    }
}

/// What `search` on the command line asks for.
pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let experiment = args.next().unwrap_or_default();
    let options = Options::read(args)?;
    for table in tables(&experiment, &options)? {
        table.print(&mut std::io::stdout())?;
        if let Some(dir) = &options.csv {
            table.write_csv(dir)?;
        }
    }
    Ok(())
}

fn tables(experiment: &str, options: &Options) -> Result<Vec<Table>, Box<dyn Error>> {
    Ok(match experiment {
        "table1" => vec![traffic::table1(&options.corpora()?)],
        "fig4" => vec![rates::fig4(options.quick)?],
        "fig5" => vec![rates::fig5(options.quick)?],
        "fig6" => vec![check_time::fig6(options.quick)?, check_time::keys_kept(options.quick)?],
        "fig7" => vec![traffic::fig7(&options.corpora()?, options)?],
        "fig8" => traffic::fig8_and_9(&options.corpora()?, options)?.into(),
        "cuts" => vec![traffic::cuts(&options.corpora()?, options)?],
        "best" => vec![traffic::best(&options.corpora()?, options)?],
        "codings" => vec![codings::codings(&options.corpora()?, options)?],
        "three" => vec![three::three(&options.corpora()?, options)?],
        _ => {
            return Err(
                "which experiment? table1, fig4, fig5, fig6, fig7, fig8 (and 9), cuts, best, codings or three".into()
            );
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every experiment on the tiny corpus; in that of the codings every message is held against its prediction.
    #[test]
    fn every_experiment_makes_its_tables() {
        let options = Options { data: None, csv: None, quick: true, seed: 1, queries: 50 };
        for experiment in ["table1", "fig4", "fig5", "fig7", "fig8", "cuts", "best", "codings", "three"] {
            let tables = tables(experiment, &options).expect("an experiment");
            assert!(tables.iter().all(|table| !table.rows.is_empty()), "{experiment}");
        }
    }

    /// Fig. 5: a fixed filter made for 500 keys has 9.37 times the rate of a variable one, on average up to 1000 keys.
    #[test]
    fn the_ratio_of_fig_5_is_that_of_the_paper() {
        let table = rates::fig5(true).expect("filters that can be");
        let mean = table.rows.last().expect("the row of means");
        assert!(matches!(mean[6], table::Cell::Number(ratio) if (ratio - 9.37).abs() < 0.01), "{mean:?}");
        assert!(matches!(mean[7], table::Cell::Number(ratio) if (ratio - 1.0).abs() < 1e-6), "{mean:?}");
    }
}
