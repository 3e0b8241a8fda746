//! The options of the commands, as typed.

pub mod block;
pub mod demo;
pub mod invite;
pub mod mcp;
pub mod node;
pub mod publish;
pub mod search;
pub mod service;
pub mod unpublish;

/// Returns a parser of whole numbers from `least` to `most`.
fn between<T: TryFrom<u64>>(least: u64, most: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("not a whole number from {least} to {most}"))
    }
}
