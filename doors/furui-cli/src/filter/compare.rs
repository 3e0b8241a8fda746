//! `furui filter compare`: estimates how similar two filters are.

use std::process::ExitCode;

use furui::filter::{Estimate, SeedlessFilter};
use furui::format::Printable;

use super::combine::{mismatch, seedless_mismatch};
use super::file::{common_form, lack_seed, open};
use super::seed::given;
use crate::cli::CompareOptions;
use crate::error::Error;
use crate::output::print;
use crate::say::number::{figure, grouped};
use crate::say::report::Report;

/// Runs `furui filter compare`: estimates how similar the sets of keys of two filters are.
pub fn run(options: &CompareOptions) -> Result<ExitCode, Error> {
    let seed = given(&options.seed, [&options.a, &options.b])?;
    let similarity = if seed.is_none() && lack_seed([&options.a, &options.b])? {
        let (a, b) = (SeedlessFilter::open(&options.a)?, SeedlessFilter::open(&options.b)?);
        a.similarity(&b).map_err(|error| seedless_mismatch(&options.a, &options.b, &error))
    } else {
        let (a, b) = (open(&options.a, seed)?, open(&options.b, seed)?);
        a.similarity(&b).map_err(|error| mismatch(&options.a, &options.b, &error))
    };
    common_form([&options.a, &options.b])?;
    let similarity = similarity?;
    let estimates = [
        ("a", format!("in {}", Printable(options.a.display())), similarity.a),
        ("b", format!("in {}", Printable(options.b.display())), similarity.b),
        ("union", "in either".into(), similarity.union),
        ("intersection", "in both".into(), similarity.intersection),
    ];
    if options.json {
        let mut report = Report::default();
        report.number("differing_bits", similarity.differing_bits).estimate(
            "jaccard",
            "jaccard_error",
            similarity.jaccard,
        );
        report.estimate("a", "a_error", similarity.a).estimate("b", "b_error", similarity.b);
        report.estimate("union", "union_error", similarity.union);
        report.estimate("intersection", "intersection_error", similarity.intersection);
        print(report.json().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = estimates.iter().map(|(_, name, _)| name.len()).max().unwrap_or(0).max("similarity".len());
    let mut text = match similarity.jaccard {
        Estimate { value, error } if value.is_finite() => {
            format!("{:width$}  {value:.4} ± {} (in both / in either)\n", "similarity", figure(error))
        }
        _ => format!("{:width$}  too full to say\n", "similarity"),
    };
    for (_, name, Estimate { value, error }) in estimates {
        text += &format!("{name:width$}  {}\n", lines(value, error));
    }
    text += &format!("{:width$}  {} differ\n", "bits", grouped(similarity.differing_bits));
    print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Formats an estimate with its standard deviation: `1,234 ± 5 lines`.
pub fn lines(value: f64, error: f64) -> String {
    if value.is_finite() && error.is_finite() {
        format!("{} ± {} lines", grouped(value.round() as u64), grouped(error.ceil() as u64))
    } else {
        "too full to say how many lines".into()
    }
}
