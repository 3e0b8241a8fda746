//! An axis of a plot: the range of values that is drawn, and the labels.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// One of the two axes of a plot.
pub(crate) struct Axis {
    pub(crate) label: String,
    scale: Scale,
}

enum Scale {
    /// A linear axis. If the smallest value is positive and less than half of the largest, the axis begins at 0.
    Linear,
    Log,
    /// An axis of names, for the values 0, 1, 2 and so on.
    Names(Vec<String>),
}

/// The part of an axis that is drawn.
#[derive(Clone)]
pub(crate) struct Span {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) ticks: Vec<f64>,
}

impl Axis {
    pub(crate) fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear }
    }

    pub(crate) fn log(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Log }
    }

    /// Creates an axis of names: the i-th name labels the value i, from 0.
    pub(crate) fn names<S: Into<String>>(label: &str, names: impl IntoIterator<Item = S>) -> Self {
        Self { label: label.to_owned(), scale: Scale::Names(names.into_iter().map(Into::into).collect()) }
    }

    pub(crate) fn has_names(&self) -> bool {
        matches!(self.scale, Scale::Names(_))
    }

    /// The position of a value on the axis: the value, or its decimal logarithm on a logarithmic axis. `None` if it is
    /// not finite.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Log => value.log10(),
            Scale::Linear | Scale::Names(_) => value,
        };
        place.is_finite().then_some(place)
    }

    /// Chooses the part of the axis to draw for these values.
    pub(crate) fn span(&self, values: impl Iterator<Item = f64>) -> Span {
        let places = values.filter_map(|value| self.place(value));
        let (least, most) = places.fold((f64::MAX, f64::MIN), |(least, most), at| (least.min(at), most.max(at)));
        let (least, most) = if least > most { (0.0, 1.0) } else { (least, most) };
        match &self.scale {
            Scale::Linear => {
                let least = if least > 0.0 && least < 0.5 * most { 0.0 } else { least };
                let step = step((most - least).max(1e-9 * most.abs()).max(f64::MIN_POSITIVE) / 6.0);
                let (first, last) = ((least / step).floor(), (most / step).ceil());
                let ticks = (0..=(last - first) as u64).map(|i| (first + i as f64) * step).collect();
                Span { start: first * step, end: last * step, ticks }
            }
            Scale::Log => {
                let inner: &[f64] = if most - least < 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
                // Leave some room at both ends.
                let room = 0.04 * (most - least).max(0.5);
                let (start, end) = (least - room, most + room);
                let every = ((end - start) / 8.0).ceil().max(1.0) as i32;
                let decades = (start.floor() as i32..=end.ceil() as i32).filter(|decade| decade % every == 0);
                let ticks = decades.flat_map(|decade| inner.iter().map(move |m| f64::from(decade) + m.log10()));
                Span { start, end, ticks: ticks.filter(|at| (start..=end).contains(at)).collect() }
            }
            Scale::Names(names) => {
                Span { start: -0.5, end: names.len() as f64 - 0.5, ticks: (0..names.len()).map(|i| i as f64).collect() }
            }
        }
    }

    /// The position at which bars begin: 0, or the nearest end of the axis. A logarithmic axis has no 0.
    pub(crate) fn bottom(&self, span: &Span) -> f64 {
        let (least, most) = (span.start.min(span.end), span.start.max(span.end));
        match self.scale {
            Scale::Log => least,
            Scale::Linear | Scale::Names(_) => 0f64.clamp(least, most),
        }
    }

    /// The label of a tick at the position `place` on the axis.
    pub(crate) fn tick(&self, place: f64) -> String {
        match &self.scale {
            Scale::Linear => number(place),
            Scale::Log => number(10f64.powf(place)),
            Scale::Names(names) => names.get(place as usize).cloned().unwrap_or_default(),
        }
    }
}

impl Span {
    /// Reverses the direction of the axis.
    pub(crate) fn reversed(self) -> Self {
        Self { start: self.end, end: self.start, ticks: self.ticks }
    }
}

impl Ranged for Span {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let share = (value - self.start) / (self.end - self.start);
        low + (share * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.start..self.end
    }
}

/// The method is required, but never called: an axis formats its labels itself.
impl ValueFormatter<f64> for Span {}

/// The smallest of 1, 2 and 5 times a power of ten that is at least `least`.
fn step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&step| step >= least * (1.0 - 1e-9)).unwrap_or(least)
}

fn number(value: f64) -> String {
    let size = value.abs();
    // Ticks are sums and powers, so digits after the sixth are rounding errors.
    let rounded = |value: f64| format!("{value:.5e}").parse::<f64>().unwrap_or(value);
    match size {
        _ if size < 1e-12 => "0".to_owned(),
        _ if (1e-3..1e6).contains(&size) => format!("{}", rounded(value)),
        _ => format!("{:e}", rounded(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64]) -> Vec<String> {
        axis.span(values.iter().copied()).ticks.iter().map(|&tick| axis.tick(tick)).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&Axis::linear(""), &[3.0, 11.3]), ["0", "2", "4", "6", "8", "10", "12"]);
        assert_eq!(labels(&Axis::linear(""), &[0.95, 1.05]), ["0.94", "0.96", "0.98", "1", "1.02", "1.04", "1.06"]);
        assert_eq!(labels(&Axis::log(""), &[0.0, 1e-5, 0.2]), ["1e-5", "1e-4", "0.001", "0.01", "0.1"]);
        assert_eq!(labels(&Axis::log(""), &[30.0, 300.0]), ["50", "100", "200"]);
        assert_eq!(labels(&Axis::names("", ["a", "b"]), &[0.0, 1.0]), ["a", "b"]);
        assert!(!labels(&Axis::linear(""), &[]).is_empty() && !labels(&Axis::linear(""), &[7.0]).is_empty());
    }
}
