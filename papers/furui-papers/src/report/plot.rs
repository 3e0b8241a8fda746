//! Plots of curves, points or bars over two axes, as SVG.

use std::error::Error;
use std::ops::Add;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::{Cell, Table};

/// The size of the picture of a plot, in pixels.
const SIZE: (u32, u32) = (860, 420);
/// The width of the legend on the right of a plot, in pixels.
const LEGEND: u32 = 240;
/// The maximum number of letters in a line of a plot's legend.
const LEGEND_LETTERS: usize = 32;

/// The colour of text and axes. It is visible on white and on black, because the background is that of the page.
const INK: RGBColor = RGBColor(0x76, 0x79, 0x80);
/// The colour of the grid.
const GRID: RGBAColor = RGBAColor(0x76, 0x79, 0x80, 0.25);

/// The colours of the series, which are neither light nor dark. The series also differ in their marks.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0x2f, 0x81, 0xd8),
    RGBColor(0xd0, 0x66, 0x10),
    RGBColor(0x2a, 0x94, 0x50),
    RGBColor(0x93, 0x66, 0xd2),
    RGBColor(0xdc, 0x48, 0x50),
    RGBColor(0x14, 0x8d, 0x9c),
    RGBColor(0x94, 0x7c, 0x1a),
    RGBColor(0xd0, 0x50, 0x8c),
];

/// A plot. Its file is written next to the tables that it is drawn from.
pub(crate) struct Plot {
    /// The name of the plot's file, without directory and without the extension `.svg`.
    pub(crate) name: String,
    pub(crate) title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
}

/// A series of a plot: points in one style.
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    mark: Mark,
}

/// The style in which the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Points that are joined by lines: a measurement.
    Line,
    /// A thin line without marks: the values of a formula. It has the colour of the series before it.
    Formula,
    /// Points without lines.
    Points,
    /// Bars: upwards from names on the x axis, or to the right from names on the y axis, where the first name is on
    /// top. Points are (name, value) or (value, name). The bars of several series are side by side.
    Bar,
}

impl Plot {
    pub(crate) fn new(name: &str, title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { name: name.to_owned(), title: title.into(), x, y, series: vec![] }
    }

    /// Adds a series of points with this mark and name.
    pub(crate) fn with(mut self, mark: Mark, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        self.series.push(Series { name: name.into(), points, mark });
        self
    }

    /// Adds a series of measured points, which are joined by lines.
    pub(crate) fn line(self, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        self.with(Mark::Line, name, points)
    }

    /// Adds a series of points that are not joined by lines.
    pub(crate) fn dots(self, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        self.with(Mark::Points, name, points)
    }

    /// Adds the values of a formula as a thin line.
    pub(crate) fn formula(self, name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        self.with(Mark::Formula, name, points)
    }

    /// Adds a series of bars: the i-th value is the length of the bar of the i-th name on the axis of names. There is
    /// no bar for NaN.
    pub(crate) fn bars(self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let lying = self.y.has_names();
        let place = |(i, value)| if lying { (value, i) } else { (i, value) };
        self.with(Mark::Bar, name, (0..).map(f64::from).zip(values).map(place).collect())
    }

    /// Adds a line for each of these names: the columns `x` and `y` of those rows of a table that have the cells that
    /// `only` gives for the name. A name without rows has no line.
    pub(crate) fn lines<'a, const N: usize>(
        self,
        table: &Table,
        [x, y]: [&str; 2],
        names: impl IntoIterator<Item = &'a str>,
        only: impl Fn(&'a str) -> [(&'static str, Cell); N],
    ) -> Self {
        names.into_iter().fold(self, |plot, name| match table.points(x, y, &only(name)) {
            points if points.is_empty() => plot,
            points => plot.line(name, points),
        })
    }

    /// Draws the picture as SVG. Points that an axis cannot show, such as 0 on a logarithmic one, are left out.
    pub(crate) fn svg(&self) -> Result<String, Box<dyn Error>> {
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            let (chart, legend) = area.split_horizontally(SIZE.0 - LEGEND);
            self.draw(&chart).map_err(|error| format!("cannot draw {}: {error}", self.name))?;
            self.draw_legend(&legend).map_err(|error| format!("cannot draw {}: {error}", self.name))?;
            area.present()?;
        }
        Ok(text)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let all = || self.series.iter().flat_map(|series| &series.points);
        let x = self.x.span(all().map(|point| point.0));
        let y = self.y.span(all().map(|point| point.1));
        let lying = self.y.has_names();
        let y = if lying { y.reversed() } else { y };
        let ink = |size: u32| ("sans-serif", size).into_font().color(&INK);
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ink(15))
            .margin(8)
            .x_label_area_size(40)
            .y_label_area_size(if lying { 210 } else { 64 })
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(ink(12))
            .axis_desc_style(ink(13))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .x_labels(x.ticks.len())
            .y_labels(y.ticks.len())
            .x_label_formatter(&|at| self.x.tick(*at))
            .y_label_formatter(&|at| self.y.tick(*at))
            .draw()?;
        let bars = self.series.iter().filter(|series| series.mark == Mark::Bar).count() as f64;
        let mut bar = 0.0;
        for (series, (colour, shape)) in self.series.iter().zip(self.styles()) {
            let place = |&(a, b): &(f64, f64)| Some((self.x.place(a)?, self.y.place(b)?));
            let points: Vec<_> = series.points.iter().filter_map(place).collect();
            let line = |width| LineSeries::new(points.iter().copied(), colour.stroke_width(width));
            let marks = || points.iter().map(|&at| mark(shape, at, colour));
            match series.mark {
                Mark::Formula => _ = chart.draw_series(line(1))?,
                Mark::Points => _ = chart.draw_series(marks())?,
                Mark::Line => {
                    chart.draw_series(line(2))?;
                    chart.draw_series(marks())?;
                }
                Mark::Bar => {
                    let width = 0.8 / bars;
                    let left = bar * width - 0.4;
                    bar += 1.0;
                    let across = |at: f64| (at + left, at + left + 0.9 * width);
                    chart.draw_series(points.iter().map(|&(a, b)| {
                        let corners = if lying {
                            [(self.x.bottom(&x), across(b).0), (a, across(b).1)]
                        } else {
                            [(across(a).0, self.y.bottom(&y)), (across(a).1, b)]
                        };
                        Rectangle::new(corners, colour.filled())
                    }))?;
                }
            }
        }
        Ok(())
    }

    fn draw_legend<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        if self.series.len() == 1 {
            return Ok(());
        }
        let mut y = 22;
        for (series, (colour, shape)) in self.series.iter().zip(self.styles()) {
            y += 22;
            let style = |width| colour.stroke_width(width);
            match series.mark {
                Mark::Bar => area.draw(&Rectangle::new([(4, y - 6), (22, y + 6)], colour.filled()))?,
                Mark::Formula => area.draw(&PathElement::new([(2, y), (24, y)], style(1)))?,
                Mark::Points => area.draw(&mark(shape, (13, y), colour))?,
                Mark::Line => {
                    area.draw(&PathElement::new([(2, y), (24, y)], style(2)))?;
                    area.draw(&mark(shape, (13, y), colour))?;
                }
            }
            let style = ("sans-serif", 12).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
            for (i, line) in lines(&series.name, LEGEND_LETTERS).into_iter().enumerate() {
                y += if i > 0 { 14 } else { 0 };
                area.draw(&Text::new(line, (32, y), style.clone()))?;
            }
        }
        Ok(())
    }

    /// The colour of each series, and the number of the shape of its marks.
    fn styles(&self) -> impl Iterator<Item = (RGBColor, usize)> {
        let mut next = 0;
        self.series.iter().map(move |series| {
            if series.mark != Mark::Formula || next == 0 {
                next += 1;
            }
            (COLOURS[(next - 1) % COLOURS.len()], next - 1 + (next - 1) / COLOURS.len())
        })
    }
}

/// Breaks a text at spaces into lines of at most `most` letters, if no word is longer.
fn lines(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A polygon in pixels around a point.
type Marked<C, B> = <EmptyElement<C, B> as Add<Polygon<(i32, i32)>>>::Output;

/// Draws the mark of a series at a point: one of a few shapes.
fn mark<C, B: DrawingBackend>(shape: usize, at: C, colour: RGBColor) -> Marked<C, B> {
    let corners: &[(i32, i32)] = match shape % 4 {
        0 => &[(-3, -1), (-1, -3), (1, -3), (3, -1), (3, 1), (1, 3), (-1, 3), (-3, 1)],
        1 => &[(-4, 3), (0, -4), (4, 3)],
        2 => &[(-3, -3), (3, -3), (3, 3), (-3, 3)],
        _ => &[(-4, 0), (0, -4), (4, 0), (0, 4)],
    };
    EmptyElement::at(at) + Polygon::new(corners, colour.filled())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of a colour, as in WCAG 2.
    fn luminance(colour: RGBColor) -> f64 {
        let part = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(colour.0) + 0.7152 * part(colour.1) + 0.0722 * part(colour.2)
    }

    #[test]
    fn colours_are_seen_on_white_and_on_black() {
        let contrast = |a: f64, b: f64| (a.max(b) + 0.05) / (a.min(b) + 0.05);
        for (colour, least) in COLOURS.map(|colour| (colour, 3.0)).into_iter().chain([(INK, 4.0)]) {
            for background in [RGBColor(255, 255, 255), RGBColor(0x0d, 0x11, 0x17)] {
                let found = contrast(luminance(colour), luminance(background));
                assert!(found >= least, "{colour:?} on {background:?}: {found:.2}");
            }
        }
    }

    #[test]
    fn every_mark_is_drawn_and_what_an_axis_cannot_show_is_left_out() {
        let points = vec![(1.0, 0.0), (10.0, 2.0), (1000.0, 3.0)];
        let plot = [Mark::Line, Mark::Formula, Mark::Points]
            .into_iter()
            .fold(Plot::new("marks", "Marks", Axis::log("n"), Axis::log("rate")), |plot, mark| {
                plot.with(mark, format!("{mark:?}"), points.clone())
            });
        let svg = plot.svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("Formula") && !svg.contains("NaN"), "{svg}");
        let long = Plot::new("long", "Long", Axis::linear("a"), Axis::linear("b"));
        let name = "Bloom, one page a key, keys wait in memory";
        let long = long.line(name, points.clone()).line("b", points);
        let svg = long.svg().unwrap();
        assert!(svg.contains(">\nBloom, one page a key, keys wait\n<") && svg.contains(">\nin memory\n<"), "{svg}");
        let bars = Plot::new("bars", "Bars", Axis::names("", ["one", "two"]), Axis::linear("ns"));
        let bars = bars.bars("b", [1.0, 5.0]);
        let svg = bars.svg().unwrap();
        assert!(svg.contains("two") && svg.matches("<rect").count() == 2, "{svg}");
        let lying = Plot::new("lying", "Lying", Axis::linear("ns"), Axis::names("", ["one", "two"]));
        let svg = lying.bars("b", [1.0, 5.0]).svg().unwrap();
        let first = [">\none\n<", ">\ntwo\n<"].map(|name| svg.find(name).unwrap());
        assert!(svg.matches("<rect").count() == 2 && first[0] < first[1], "{svg}");
    }
}
