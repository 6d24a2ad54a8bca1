//! The curves of the ratings.

use picture::{GREY, INK, Pen, Picture, Point, Rgb, Text};

use crate::standings::{Row, Standings};

const WIDTH: u16 = 1000;
const HEIGHT: u16 = 460;
/// Left, top, right and bottom of the curves; names stand right of them.
const PLACE: [f32; 4] = [70.0, 20.0, 830.0, 410.0];
/// The least distance of two names, one above the other.
const LINE: f32 = 17.0;
/// The most marks of uncertainty on a curve.
const MARKS: usize = 12;
/// Colours that can be told apart, also by most people who see few (Okabe and Ito 2008), with a darker yellow.
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

/// Draws the rating of each player after each round, with its uncertainty, as SVG.
pub(crate) fn draw(standings: &Standings) -> String {
    let about = "The rating of each player after each round; vertical lines show its uncertainty.";
    let mut picture = Picture::new(WIDTH, HEIGHT, "Ratings", about);
    let scale = Scale::of(standings);
    scale.draw_axes(&mut picture);
    let names = spread(standings.rows.iter().map(|row| scale.y(row.rating().0)).collect());
    let mut aside = 0.0;
    for ((row, colour), name_y) in standings.rows.iter().zip(COLOURS.into_iter().cycle()).zip(names) {
        let (points, sure) = row.rating();
        let says = format!("{}: {points:.0} ± {sure:.0}", row.name);
        picture.group("player", &says, |picture| draw_player(picture, &scale, row, colour, (name_y, aside)));
        // Marks of several players would hide each other.
        aside = (aside + 4.0) % 40.0;
    }
    picture.to_svg()
}

fn draw_player(picture: &mut Picture, scale: &Scale, row: &Row, colour: Rgb, (name_y, aside): (f32, f32)) {
    let every = row.curve.len().div_ceil(MARKS).max(1);
    for (round, &(points, sure)) in row.curve.iter().enumerate().skip(1).rev().step_by(every) {
        let x = scale.x(round) - aside;
        let ends: [Point; 2] = [(x, scale.y(points - sure)), (x, scale.y(points + sure))];
        picture.line(&ends, Pen { opacity: 0.35, ..Pen::new(colour, 2.0) });
    }
    let line: Vec<Point> =
        row.curve.iter().enumerate().map(|(round, (points, _))| (scale.x(round), scale.y(*points))).collect();
    picture.line(&line, Pen::new(colour, 2.5));
    let (end, y) = (PLACE[2], scale.y(row.rating().0));
    picture.circle((end, y), 4.0, colour);
    picture.line(&[(end + 4.0, y), (end + 14.0, name_y)], Pen { opacity: 0.5, ..Pen::new(colour, 1.0) });
    picture.text(Text::new((end + 18.0, name_y + 5.0), 14.0, INK, row.name.clone()));
}

/// Where points and rounds are drawn.
struct Scale {
    low: f64,
    high: f64,
    rounds: usize,
}

impl Scale {
    fn of(standings: &Standings) -> Self {
        let all = || standings.rows.iter().flat_map(|row| &row.curve);
        // A new player is far too uncertain to show all of it.
        let low = all().map(|(points, sure)| points - sure.min(200.0)).fold(f64::INFINITY, f64::min);
        let high = all().map(|(points, sure)| points + sure.min(200.0)).fold(f64::NEG_INFINITY, f64::max);
        let rounded = |value: f64, up: f64| (value / 100.0 + up).floor() * 100.0;
        Self { low: rounded(low, 0.0), high: rounded(high, 1.0), rounds: standings.rounds.max(1) as usize }
    }

    #[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
    fn x(&self, round: usize) -> f32 {
        PLACE[0] + (PLACE[2] - PLACE[0]) * round as f32 / self.rounds as f32
    }

    #[expect(clippy::cast_possible_truncation, reason = "a place in a picture")]
    fn y(&self, points: f64) -> f32 {
        let part = ((points - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        PLACE[3] - (PLACE[3] - PLACE[1]) * part as f32
    }

    fn draw_axes(&self, picture: &mut Picture) {
        let grid = Pen::new(Rgb(225, 225, 225), 1.0);
        let step = ((self.high - self.low) / 600.0).ceil().max(1.0) * 100.0;
        let mut points = self.low;
        while points <= self.high {
            let y = self.y(points);
            picture.line(&[(PLACE[0], y), (PLACE[2], y)], grid);
            picture.text(Text::new((PLACE[0] - 8.0, y + 5.0), 13.0, GREY, format!("{points:.0}")).end());
            points += step;
        }
        for round in (0..=self.rounds).step_by(self.rounds.div_ceil(10)) {
            let text = Text::new((self.x(round), PLACE[3] + 20.0), 13.0, GREY, round.to_string());
            picture.text(text.middle());
        }
        let middle = f32::midpoint(PLACE[0], PLACE[2]);
        picture.text(Text::new((middle, PLACE[3] + 42.0), 13.0, GREY, "round").middle());
    }
}

// Moves names apart that would stand on each other. They come from above.
fn spread(mut heights: Vec<f32>) -> Vec<f32> {
    for at in 1..heights.len() {
        heights[at] = heights[at].max(heights[at - 1] + LINE);
    }
    // Not below the picture, as far as there is room.
    let mut most = f32::from(HEIGHT) - LINE;
    for height in heights.iter_mut().rev() {
        *height = height.min(most);
        most = *height - LINE;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_stand_on_each_other() {
        assert_eq!(spread(vec![10.0, 12.0, 100.0]), [10.0, 27.0, 100.0]);
        assert_eq!(spread(vec![430.0, 440.0]), [426.0, 443.0]);
    }
}
