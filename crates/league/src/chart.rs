use picture::{
    GREY, INK, Pen, Picture, Point, Rgb, Text,
    chart::{Plot, spread},
};

use crate::standings::{Row, Standings};

const WIDTH: u16 = 1000;
const HEIGHT: u16 = 460;
/// Left, top, right and bottom of the plot, with the names to the right.
const PLACE: [f32; 4] = [70.0, 20.0, 830.0, 410.0];
const LINE: f32 = 17.0;
const MARKS: usize = 12;
/// Colours that most people with colour blindness can distinguish (Okabe and Ito 2008), with a darker yellow.
const COLOURS: [Rgb; 8] = [
    Rgb(0, 114, 178),
    Rgb(213, 94, 0),
    Rgb(0, 158, 115),
    Rgb(204, 121, 167),
    Rgb(86, 180, 233),
    Rgb(230, 159, 0),
    Rgb(120, 120, 120),
    Rgb(160, 140, 0),
];

pub(crate) fn draw(standings: &Standings) -> String {
    let about = "The rating of each player after each round; vertical lines show its uncertainty.";
    let mut picture = Picture::new(WIDTH, HEIGHT, "Ratings", about);
    let plot = plot(standings);
    draw_axes(&mut picture, &plot, standings.rounds.max(1));
    let ends: Vec<f32> = standings.rows.iter().map(|row| plot.up(row.rating().0)).collect();
    let names = spread(&ends, LINE, 0.0..=f32::from(HEIGHT) - LINE);
    let mut aside = 0.0;
    for ((row, colour), name_y) in standings.rows.iter().zip(COLOURS.into_iter().cycle()).zip(names) {
        let (points, sure) = row.rating();
        let says = format!("{}: {points:.0} ± {sure:.0}", row.name);
        picture.group("player", &says, |picture| draw_player(picture, &plot, row, colour, (name_y, aside)));
        // Otherwise, marks of several players at the same column would hide each other.
        aside = (aside + 4.0) % 40.0;
    }
    picture.to_svg()
}

fn draw_player(picture: &mut Picture, plot: &Plot, row: &Row, colour: Rgb, (name_y, aside): (f32, f32)) {
    let every = row.curve.len().div_ceil(MARKS).max(1);
    for (round, &(points, sure)) in row.curve.iter().enumerate().skip(1).rev().step_by(every) {
        let x = across(plot, round) - aside;
        let ends: [Point; 2] = [(x, plot.up(points - sure)), (x, plot.up(points + sure))];
        picture.line(&ends, Pen { opacity: 0.35, ..Pen::new(colour, 2.0) });
    }
    let line: Vec<Point> =
        row.curve.iter().enumerate().map(|(round, (points, _))| (across(plot, round), plot.up(*points))).collect();
    picture.line(&line, Pen::new(colour, 2.5));
    let (end, y) = (PLACE[2], plot.up(row.rating().0));
    picture.circle((end, y), 4.0, colour);
    picture.line(&[(end + 4.0, y), (end + 14.0, name_y)], Pen { opacity: 0.5, ..Pen::new(colour, 1.0) });
    picture.text(Text::new((end + 18.0, name_y + 5.0), 14.0, INK, row.name.clone()));
}

fn plot(standings: &Standings) -> Plot {
    let all = || standings.rows.iter().flat_map(|row| &row.curve);
    // The uncertainty of a new player is too large to show in full.
    let low = all().map(|(points, sure)| points - sure.min(200.0)).fold(f64::INFINITY, f64::min);
    let high = all().map(|(points, sure)| points + sure.min(200.0)).fold(f64::NEG_INFINITY, f64::max);
    let rounded = |value: f64, up: f64| (value / 100.0 + up).floor() * 100.0;
    Plot { place: PLACE, x: [0.0, f64::from(standings.rounds.max(1))], y: [rounded(low, 0.0), rounded(high, 1.0)] }
}

#[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
fn across(plot: &Plot, round: usize) -> f32 {
    plot.across(round as f64)
}

fn draw_axes(picture: &mut Picture, plot: &Plot, rounds: u32) {
    let step = ((plot.y[1] - plot.y[0]) / 600.0).ceil().max(1.0) * 100.0;
    plot.draw_levels(picture, step, (13.0, GREY), |points| format!("{points:.0}"));
    for round in (0..=rounds).step_by(rounds.div_ceil(10) as usize) {
        let at = (plot.across(f64::from(round)), PLACE[3] + 20.0);
        picture.text(Text::new(at, 13.0, GREY, round.to_string()).middle());
    }
    let middle = f32::midpoint(PLACE[0], PLACE[2]);
    picture.text(Text::new((middle, PLACE[3] + 42.0), 13.0, GREY, "round").middle());
}
