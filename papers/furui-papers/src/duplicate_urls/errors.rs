//! Figs. 6 and 7 of the paper of Kubota, Ueda and Yamana: the errors of the stable filters.

use super::order::{Crawl, Mode, PAPER_HOSTS};
use super::tier::{Stable, Tier};
use super::{COUNTERS, FRONT, crawls, slug};
use crate::report::{Axis, Context, Finding, Grade, Plot, Result, Source, Table, Verdict, brief};

/// The number of false positives in the paper of Kubota et al. at 2^30 counters, with k = 4 and a rate of 1 %.
const PAPER_FALSE_POSITIVES: f64 = 1.5e6;

const SBF: Stable = Stable::Random { probes: 4, rate: 1e-2 };
const SIZE: &str = "log2 of the paper's counters";
const FALSE_POSITIVES: &str = "false positives";
const FALSE_NEGATIVES: &str = "false negatives";
const LOST: &str = "pages lost";

pub(super) fn fig6(context: &Context) -> Result<Finding> {
    let (crawls, data) = crawls(context)?;
    let filters = [SBF, Stable::COARSE, Stable::Own { rate: 1e-2 }];
    let [table] = context.tables(Source::DuplicateUrls, ["fig6"], || measure(&crawls, &filters, context))?;
    let mut plots = vec![];
    let mut verdicts = vec![];
    for crawl in &crawls {
        for (file, what) in [("fig6", FALSE_POSITIVES), ("fig7", FALSE_NEGATIVES)] {
            let title = format!("{}: {what}, k = 4, 1 %", crawl.name);
            let name = format!("{file}-{}", slug(crawl.name));
            let plot = Plot::new(&name, title, Axis::linear(SIZE), Axis::linear(what));
            plots.push(filters.into_iter().fold(plot, |plot, filter| {
                let only = [("crawl", crawl.name.into()), ("filter", filter.name().into())];
                plot.line(filter.name(), table.points(SIZE, what, &only))
            }));
        }
        verdicts.extend(compare(crawl, &table));
    }
    let web = &crawls[0];
    let only = [("crawl", web.name.into()), ("filter", Stable::COARSE.name().into()), (SIZE, 30u64.into())];
    let ours = 100.0 * table.number(FALSE_POSITIVES, &only) / web.pages as f64;
    let paper = 100.0 * PAPER_FALSE_POSITIVES / PAPER_HOSTS;
    let verdict = Verdict::all(verdicts).and(format!(
        "At 2^30 counters the seeded web has {} false positives for 100 pages, the paper {} for 100 hosts.",
        brief(ours),
        brief(paper)
    ));
    Ok(Finding::new(data, verdict, [table], plots))
}

fn measure(crawls: &[Crawl], filters: &[Stable], context: &Context) -> Result<[Table; 1]> {
    let columns =
        ["crawl", "filter", SIZE, "counters", FALSE_POSITIVES, LOST, FALSE_NEGATIVES, "false negatives, % of links"];
    let mut table = Table::new("fig6", "Errors after an LRU of the paper's 2^20 entries".to_owned(), columns);
    let bar = context.bar((crawls.len() * filters.len() * COUNTERS.count()) as u64, "errors");
    for crawl in crawls {
        for &filter in filters {
            for log2 in COUNTERS {
                let counters = crawl.size(log2);
                let outcome = Tier::stable(crawl.size(FRONT), counters, filter).ask(crawl, &Mode::Replay)?;
                table.push([
                    crawl.name.into(),
                    filter.name().into(),
                    u64::from(log2).into(),
                    (counters as u64).into(),
                    outcome.false_positives.into(),
                    (outcome.lost as u64).into(),
                    outcome.false_negatives.into(),
                    (100.0 * outcome.false_negatives as f64 / outcome.links as f64).into(),
                ]);
                bar.inc(1);
            }
        }
    }
    Ok([table])
}

/// The verdicts on the errors of SBFL compared with those of SBF, in one crawl.
fn compare(crawl: &Crawl, table: &Table) -> [Verdict; 2] {
    let fewer = |what: &str| {
        let of = |filter: Stable| {
            table.points(SIZE, what, &[("crawl", crawl.name.into()), ("filter", filter.name().into())])
        };
        of(Stable::COARSE).iter().zip(of(SBF)).filter(|(light, random)| light.1 <= random.1).count()
    };
    let sizes = COUNTERS.count();
    let [positives, lost, negatives] = [FALSE_POSITIVES, LOST, FALSE_NEGATIVES].map(fewer);
    let grade = |held| if held == sizes { Grade::Reproduced } else { Grade::NotReproduced };
    let fewer_positives = Verdict::new(
        grade(positives),
        format!(
            "{}: SBFL has more false positives than SBF at {} of {sizes} sizes, and loses more pages at {}.",
            crawl.name,
            sizes - positives,
            sizes - lost
        ),
    );
    let text = format!("{}: it has more false negatives at {} of {sizes} sizes.", crawl.name, sizes - negatives);
    [fewer_positives, Verdict::new(grade(negatives), text)]
}
