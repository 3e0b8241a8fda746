//! The experiments: every figure and table of the papers is measured again and drawn. Further experiments answer
//! questions that the papers leave open.
//!
//! An experiment is an [`Experiment`]: a function that returns a [`Finding`](crate::report::Finding), with the tables,
//! the plots drawn from them and the verdict computed from them. The module of a source lists its experiments in
//! `EXPERIMENTS`, and its file `experiments.md` has their titles, claims and remarks.

#[cfg(test)]
mod current;

use std::io::Write;

use indicatif::MultiProgress;

use crate::report::page::{self, Pages};
use crate::report::{Context, Experiment, Result, Source};
use crate::{bloom_filters_explained, duplicate_urls, louds_tries, ours, quotient_filters, ringed_bloom_filters};

/// All experiments, in the order in which the pages have them.
fn experiments() -> Vec<Experiment> {
    let of = |source| match source {
        Source::RingedBloomFilters => ringed_bloom_filters::EXPERIMENTS,
        Source::BloomFiltersExplained => bloom_filters_explained::EXPERIMENTS,
        Source::DuplicateUrls => duplicate_urls::EXPERIMENTS,
        Source::LoudsTries => louds_tries::EXPERIMENTS,
        Source::QuotientFilters => quotient_filters::EXPERIMENTS,
        Source::Ours => ours::EXPERIMENTS,
    };
    let all = Source::ALL.into_iter().flat_map(|source| of(source).iter().map(move |&one| (source, one)));
    all.map(|(source, (name, run))| Experiment { source, name, run }).collect()
}

/// The experiments with these names. A name is a full name (`ringed-fig4`), the prefix of a source (`ringed`), or
/// `all`.
fn chosen(names: &[String]) -> Result<Vec<Experiment>> {
    let all = experiments();
    let named = |name: &str, one: &Experiment| name == "all" || name == one.source.prefix() || name == one.full_name();
    let unknown = names.iter().find(|name| !all.iter().any(|one| named(name, one)));
    if unknown.is_some() || names.is_empty() {
        let known: Vec<_> = all.iter().map(Experiment::full_name).collect();
        let what = unknown.map_or("which experiment?".into(), |name| format!("there is no experiment {name};"));
        return Err(format!("{what} there are {}", known.join(", ")).into());
    }
    Ok(all.into_iter().filter(|one| names.iter().any(|name| named(name, one))).collect())
}

/// Runs the commands `all` and `paper` of the program with their arguments: names and options.
pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<()> {
    let mut context =
        Context { data: None, quick: false, full: false, seed: 1, recorded: None, progress: MultiProgress::new() };
    let (mut names, mut out, mut recorded) = (vec![], None, false);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--data" => context.data = Some(value()?.into()),
            "--out" => out = Some(value()?.into()),
            "--seed" => context.seed = value()?.parse()?,
            "--quick" => context.quick = true,
            "--full" => context.full = true,
            "--recorded" => recorded = true,
            option if option.starts_with('-') => {
                let known = "--out DIR, --data DIR, --seed N, --quick, --full and --recorded";
                return Err(format!("{option}? there are {known}").into());
            }
            _ => names.push(arg),
        }
    }
    if let Some(data) = context.data.as_ref().filter(|data| !data.is_dir()) {
        return Err(format!("--data {}: there is no such directory", data.display()).into());
    }
    if recorded {
        let dir: std::path::PathBuf = out.clone().ok_or("--recorded needs --out, the directory of the pages")?;
        context.recorded = Some(dir);
    }
    measure(&chosen(&names)?, &context, out.map(Pages::new).as_ref())
}

/// Runs experiments, prints their findings, and writes them to `pages`.
fn measure(experiments: &[Experiment], context: &Context, pages: Option<&Pages>) -> Result<()> {
    let all = self::experiments();
    let bar = context.bar(experiments.len() as u64, "");
    for experiment in experiments {
        bar.set_message(experiment.full_name());
        bar.tick();
        let finding = (experiment.run)(context).map_err(|error| format!("{}: {error}", experiment.full_name()))?;
        if let Some(dir) = &context.recorded {
            page::check_recorded(dir, experiment, &finding)?;
        }
        if let Some(pages) = pages {
            pages.write(&all, experiment, context, &finding)?;
        }
        let mut text = format!("\n# {}\n\n{}", experiment.title(), finding.verdict.markdown());
        text.extend(finding.tables.iter().map(|table| format!("\n## {}\n\n{}\n", table.title, table.markdown())));
        context.progress.suspend(|| std::io::stdout().write_all(text.as_bytes()))?;
        bar.inc(1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::report::{Table, theirs};

    /// Checks that every experiment has a row in the index, that every page has the texts and figures about the paper's
    /// ways and ours, that every table of an experiment equals its CSV file, that every file is linked from its page,
    /// that no file contains a path of the machine that wrote it, and that all sections are of one commit.
    fn check_pages(dir: &Path) {
        for (path, text) in Pages::new(dir.to_owned()).texts(&experiments()).unwrap() {
            let found = std::fs::read_to_string(&path).unwrap();
            assert!(found == text, "{}: cargo test -p furui-papers write_the_index -- --ignored", path.display());
        }
        let index = std::fs::read_to_string(dir.join(page::INDEX)).unwrap();
        for experiment in experiments() {
            assert!(index.contains(&format!("| {} |", experiment.full_name())), "{}", experiment.full_name());
        }
        let machine = [env!("CARGO_MANIFEST_DIR").into(), std::env::temp_dir()].map(|path| path.display().to_string());
        for source in Source::ALL {
            let page = dir.join(source.page()).with_extension("md");
            let files = dir.join(source.page());
            let page = std::fs::read_to_string(page).unwrap();
            let page = page::measured(&page);
            let csv = page::links(page, "csv");
            for path in &csv {
                let table = Table::from_csv(&std::fs::read_to_string(dir.join(path)).unwrap());
                assert!(page.contains(&table.markdown()), "the table of {path} is not that of the page");
            }
            assert_eq!(page.matches("|\n|--").count(), csv.len(), "{}: every table has its CSV", source.page());
            let linked: BTreeSet<_> =
                csv.into_iter().chain(page::links(page, "svg")).map(|path| dir.join(path)).collect();
            let found: BTreeSet<_> = std::fs::read_dir(files).unwrap().map(|file| file.unwrap().path()).collect();
            assert_eq!(linked, found, "{}: every file is linked and there", source.page());
            for home in machine.iter().map(String::as_str).chain(["/root", "/home", "/Users"]) {
                assert!(!page.contains(home), "{}: a path of the machine", source.page());
            }
            let of_page = page::commits(page);
            assert_eq!(
                of_page.len(),
                page::sections(page),
                "{}: every section says of what commit it is",
                source.page()
            );
            // A page is measured again without the other pages if only the code that it measures has changed, so
            // different pages may name different commits.
            let is_one_run = of_page.iter().all(|commit| *commit == of_page[0]);
            assert!(is_one_run, "{}: its sections are of one commit: {of_page:?}", source.page());
        }
    }

    #[test]
    fn every_experiment_runs_and_makes_its_pages() {
        let dir = std::env::temp_dir().join(format!("furui-papers-{}", std::process::id()));
        let context =
            Context { data: None, quick: true, full: true, seed: 1, recorded: None, progress: MultiProgress::new() };
        measure(&experiments(), &context, Some(&Pages::new(dir.clone()))).unwrap();
        check_pages(&dir);
        let index = std::fs::read_to_string(dir.join(page::INDEX)).unwrap();
        assert!(!index.contains(&format!("| {} |", page::NOT_MEASURED)), "every experiment has a section");
        for place in theirs::places() {
            assert!(theirs::figure(place, &dir) != Err(theirs::Missing::Column), "{place}: no table has this");
        }
        // A run with `recorded` reads the tables of these experiments instead of measuring, and must make the same
        // pages.
        let drawn = [
            "ringed-fig7",
            "ringed-fig8",
            "ringed-cuts",
            "urls-fig5",
            "urls-fig9",
            "louds-table3",
            "quotient-load",
            "quotient-cascade",
        ];
        let chosen = chosen(&drawn.map(str::to_owned)).unwrap();
        let files = || {
            let pages = Source::ALL.map(|source| dir.join(source.page()).with_extension("md"));
            pages.map(|page| std::fs::read_to_string(page).unwrap())
        };
        let (before, context) = (files(), Context { recorded: Some(dir.clone()), ..context });
        measure(&chosen, &context, Some(&Pages::new(dir.clone()))).unwrap();
        assert!(files() == before);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn the_committed_pages_are_whole_and_their_tables_those_of_the_csv_files() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers");
        check_pages(&dir);
        for place in theirs::places() {
            assert!(theirs::figure(place, &dir) != Err(theirs::Missing::Row), "{place}: no figure is there");
        }
    }

    #[test]
    fn experiments_have_names_of_their_own() {
        let names: BTreeSet<_> = experiments().iter().map(Experiment::full_name).collect();
        assert_eq!(names.len(), experiments().len());
        assert!(chosen(&["ringed".to_owned()]).unwrap().iter().all(|one| one.source == Source::RingedBloomFilters));
        assert!(chosen(&["fig99".to_owned()]).is_err());
    }
}
