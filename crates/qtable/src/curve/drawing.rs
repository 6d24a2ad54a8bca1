//! Each series has a colour that is distinguishable with red-green colour blindness, its own mark, and its name at its
//! end, so that no information depends on colour alone.
//!
//! Thin lines are single runs, and the thick line is their mean.

use picture::{
    GREY, INK, Pen, Picture, Point, Rgb, Text, WHITE,
    chart::{GRID, Plot, spread},
};

use super::{Curves, FIRST, LineEnd, Series, power};
use crate::{args::ExploreKind, judge::facts};

const WIDTH: u16 = 1120;
const HEIGHT: u16 = 630;
const LEFT: f32 = 104.0;
const RIGHT: f32 = 812.0;
const TOP: f32 = 122.0;
const BOTTOM: f32 = 540.0;
/// The minimum distance between two names.
const NAMES: f32 = 42.0;

/// Fails if the width of the title cannot be computed.
pub(crate) fn picture(curves: &Curves, title: Option<&str>) -> anyhow::Result<Picture> {
    let runs = curves.series.first().map_or(0, |series| series.runs.len());
    let each = if runs == 1 { "one run each".to_owned() } else { format!("{runs} runs each, and their mean") };
    let facts = format!("Exact value of the table on {} by rounds of training; {each}", facts(curves.space));
    let (plot, step) = plot(curves);
    let mut picture = Picture::headed((WIDTH, HEIGHT), title.unwrap_or(super::TITLE), &facts, &[&facts])?;
    axes(&mut picture, &plot, step);
    for (value, says, dashes) in
        [(curves.optimum, "best table", &[10.0, 5.0][..]), (curves.mimic, "dealer's strategy", &[2.0, 4.0][..])]
    {
        let y = plot.up(value);
        let pen = Pen { dashes, ..Pen::new(INK, 2.0) };
        picture.group("reference", &format!("{says}: {value:.4} a round"), |picture| {
            picture.line(&[(LEFT, y), (RIGHT, y)], pen);
        });
    }
    for series in &curves.series {
        draw_runs(&mut picture, series, &plot);
    }
    for series in &curves.series {
        draw_mean(&mut picture, series, &plot);
    }
    write_names(&mut picture, curves, &plot);
    Ok(picture)
}

// With powers of ten of rounds from left to right. Also returns the distance between two lines of the grid.
fn plot(curves: &Curves) -> (Plot, f64) {
    let points = || curves.series.iter().flat_map(|series| &series.runs).flat_map(|run| &run.points);
    let last = points().map(|&(rounds, _)| rounds).max().unwrap_or(FIRST).max(10 * FIRST);
    let values = || points().map(|&(_, value)| value).chain([curves.optimum, curves.mimic]);
    let (low, high) = (values().fold(0.0, f64::min), values().fold(-1.0, f64::max));
    let step = [0.005, 0.01, 0.02, 0.05].into_iter().find(|step| (high - low) / step <= 9.0).unwrap_or(0.1);
    // Whole steps, with room at both ends.
    let y = [(low / step).floor() * step, ((high / step).floor() + 1.0) * step];
    (Plot { place: [LEFT, TOP, RIGHT, BOTTOM], x: [power(FIRST), power(last)], y }, step)
}

fn line(plot: &Plot, points: &[(u64, f64)]) -> Vec<Point> {
    points.iter().map(|&(rounds, value)| plot.at(power(rounds), value)).collect()
}

fn axes(picture: &mut Picture, plot: &Plot, step: f64) {
    plot.draw_levels(picture, step, (16.0, INK), |value| number(value, 2));
    let mut line = |points: &[Point], colour, width| picture.line(points, Pen::new(colour, width));
    let mut labels = vec![];
    let mut rounds = FIRST;
    while plot.across(power(rounds)) <= RIGHT + 0.5 {
        let x = plot.across(power(rounds));
        line(&[(x, TOP), (x, BOTTOM)], GRID, 1.0);
        line(&[(x, BOTTOM), (x, BOTTOM + 6.0)], INK, 1.5);
        labels.push(Text::new((x, BOTTOM + 26.0), 16.0, INK, short(rounds)).middle());
        // Small ticks, as usual on a logarithmic scale.
        for part in 2..10 {
            let x = plot.across(power(rounds * part));
            if x <= RIGHT {
                line(&[(x, BOTTOM), (x, BOTTOM + 3.5)], INK, 1.0);
            }
        }
        rounds *= 10;
    }
    line(&[(LEFT, BOTTOM), (RIGHT, BOTTOM)], INK, 1.5);
    let middle = f32::midpoint(LEFT, RIGHT);
    labels.push(Text::new((middle, BOTTOM + 58.0), 17.0, INK, "Rounds of training (log scale)").bold().middle());
    let middle = f32::midpoint(TOP, BOTTOM);
    labels.push(Text::new((40.0, middle), 17.0, INK, "Reward per round").bold().middle().upwards());
    for label in labels {
        picture.text(label);
    }
}

// Uses a typographic minus sign.
fn number(value: f64, digits: usize) -> String {
    format!("{value:.digits$}").replace('-', "\u{2212}")
}

fn short(rounds: u64) -> String {
    match rounds {
        0..=999_999 => format!("{} thousand", rounds / 1_000),
        1_000_000..=999_999_999 => format!("{} million", rounds / 1_000_000),
        _ => format!("{} billion", rounds / 1_000_000_000),
    }
}

const fn colour(way: ExploreKind) -> Rgb {
    match way {
        ExploreKind::Random => Rgb(213, 94, 0),
        ExploreKind::Epsilon => Rgb(0, 114, 178),
        ExploreKind::UntilConfident => Rgb(0, 128, 96),
    }
}

fn draw_runs(picture: &mut Picture, series: &Series, plot: &Plot) {
    let pen = Pen { opacity: 0.35, ..Pen::new(colour(series.way), 1.25) };
    for run in series.runs.iter().filter(|_| series.runs.len() > 1) {
        let says = format!("{}, seed {}", series.name, run.seed);
        picture.group("run", &says, |picture| picture.line(&line(plot, &run.points), pen));
    }
}

fn draw_mean(picture: &mut Picture, series: &Series, plot: &Plot) {
    let mean = series.mean();
    let points = line(plot, &mean);
    picture.group("mean", &series.name, |picture| {
        picture.line(&points, Pen::new(WHITE, 5.0));
        picture.line(&points, Pen::new(colour(series.way), 3.0));
        for (&at, (rounds, value)) in points.iter().zip(mean) {
            let says = format!("{}: {value:.4} after {rounds} rounds", series.name);
            picture.group("point", &says, |picture| mark(picture, series.way, at));
        }
    });
}

// With a white edge.
fn mark(picture: &mut Picture, way: ExploreKind, (x, y): Point) {
    let (fill, edge) = (colour(way), Pen::new(WHITE, 1.5));
    match way {
        ExploreKind::Random => picture.polygon(&[(x, y - 6.5), (x + 6.0, y + 4.5), (x - 6.0, y + 4.5)], fill, edge),
        ExploreKind::Epsilon => {
            picture.circle((x, y), 6.0, WHITE);
            picture.circle((x, y), 5.0, fill);
        }
        ExploreKind::UntilConfident => picture.rectangle([x - 5.0, y - 5.0, 10.0, 10.0], 0.0, Some(fill), Some(edge)),
    }
}

// Writes each name as close to the end of its line as possible, connected by a thin line.
fn write_names(picture: &mut Picture, curves: &Curves, plot: &Plot) {
    let mut ends: Vec<(f32, LineEnd<'_>)> = curves.ends().into_iter().map(|end| (plot.up(end.value), end)).collect();
    ends.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let wanted: Vec<f32> = ends.iter().map(|&(y, _)| y).collect();
    let places = spread(&wanted, NAMES, 0.0..=f32::from(HEIGHT));
    for ((y, LineEnd { value, name, way }), place) in ends.into_iter().zip(places) {
        picture.line(&[(RIGHT + 8.0, y), (RIGHT + 26.0, place), (RIGHT + 34.0, place)], Pen::new(GREY, 1.0));
        let left = RIGHT + 46.0;
        if let Some(way) = way {
            mark(picture, way, (left, place));
        }
        let left = left + if way.is_some() { 14.0 } else { -6.0 };
        picture.text(Text::new((left, place - 1.0), 17.0, way.map_or(INK, colour), name).bold());
        let said = format!("{} a round", number(value, 4));
        picture.text(Text::new((left, place + 17.0), 15.0, GREY, said));
    }
}
