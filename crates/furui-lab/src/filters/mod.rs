//! The filters in memory.

mod ringed;

/// Measures one kind of filter, or all, with `n` keys, or with 1 M and 50 M.
pub(crate) fn run(n: Option<&str>, kind: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    let sizes = match n {
        Some(n) => vec![n.parse()?],
        None => vec![1_000_000, 50_000_000],
    };
    let wanted = |name| kind.is_none_or(|kind| kind == name);
    for n in sizes {
        if wanted("ringed") {
            ringed::run(n)?;
        }
    }
    Ok(())
}
