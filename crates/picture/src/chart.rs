//! Line charts: a plot with its scales, and the names of the lines beside their ends.

use std::ops::RangeInclusive;

use crate::{Pen, Picture, Point, Rgb, Text};

pub const GRID: Rgb = Rgb(226, 226, 226);

/// The plot of a chart: its place in the picture, and its linear scales.
#[derive(Debug, Clone, Copy)]
pub struct Plot {
    /// Left, top, right and bottom.
    pub place: [f32; 4],
    /// The values at the left and at the right edge.
    pub x: [f64; 2],
    /// The values at the bottom and at the top edge.
    pub y: [f64; 2],
}

impl Plot {
    pub fn at(&self, x: f64, y: f64) -> Point {
        (self.across(x), self.up(y))
    }

    /// The position of a value, from left to right.
    #[expect(clippy::cast_possible_truncation, reason = "a place in a picture")]
    pub fn across(&self, x: f64) -> f32 {
        let ([left, _, right, _], [from, to]) = (self.place, self.x);
        left + ((x - from) / (to - from)) as f32 * (right - left)
    }

    /// The position of a value, from bottom to top within the plot.
    #[expect(clippy::cast_possible_truncation, reason = "a place in a picture")]
    pub fn up(&self, y: f64) -> f32 {
        let ([_, top, _, bottom], [low, high]) = (self.place, self.y);
        bottom - ((y - low) / (high - low)).clamp(0.0, 1.0) as f32 * (bottom - top)
    }

    /// A line of the grid at each `step` of `y`, with a label left of it.
    pub fn draw_levels(
        &self,
        picture: &mut Picture,
        step: f64,
        (size, colour): (f32, Rgb),
        label: impl Fn(f64) -> String,
    ) {
        let [left, _, right, _] = self.place;
        let [low, high] = self.y;
        for level in
            (0..u8::MAX).map(|number| low + f64::from(number) * step).take_while(|level| *level < high + step / 2.0)
        {
            let y = self.up(level);
            picture.line(&[(left, y), (right, y)], Pen::new(GRID, 1.0));
            picture.text(Text::new((left - 10.0, y + size / 3.0), size, colour, label(level)).end());
        }
    }
}

/// Moves ascending places at least `distance` apart, each as little as possible, and within `range` if there is room.
pub fn spread(wanted: &[f32], distance: f32, range: RangeInclusive<f32>) -> Vec<f32> {
    // Groups of places that touch: the first place and their number.
    let mut groups: Vec<(f32, u8)> = vec![];
    let length = |count: u8| f32::from(count) * distance;
    let within = |start: f32, count: u8| start.min(range.end() - length(count - 1)).max(*range.start());
    for &place in wanted {
        groups.push((within(place, 1), 1));
        while let [.., (above, more), (below, count)] = groups[..]
            && above + length(more) > below
        {
            // The middle of both, weighted by their numbers.
            let (first, second) = (f32::from(more), f32::from(count));
            let middle = |start: f32, count: u8| start + length(count - 1) / 2.0;
            let joined = (middle(above, more) * first + middle(below, count) * second) / (first + second);
            groups.truncate(groups.len() - 2);
            groups.push((within(joined - length(more + count - 1) / 2.0, more + count), more + count));
        }
    }
    groups.into_iter().flat_map(|(start, count)| (0..count).map(move |at| start + length(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_places_do_not_touch_and_move_little() {
        for (wanted, places) in [
            (&[100.0, 200.0][..], vec![100.0, 200.0]),
            (&[100.0, 100.0], vec![79.0, 121.0]),
            (&[100.0, 110.0, 300.0], vec![84.0, 126.0, 300.0]),
            (&[100.0, 110.0, 120.0], vec![68.0, 110.0, 152.0]),
            (&[390.0, 395.0], vec![358.0, 400.0]),
            (&[2.0, 3.0], vec![0.0, 42.0]),
            (&[], vec![]),
        ] {
            assert_eq!(spread(wanted, 42.0, 0.0..=400.0), places);
        }
    }

    #[test]
    fn scales_are_linear_and_limited_upwards() {
        let plot = Plot { place: [10.0, 20.0, 110.0, 220.0], x: [0.0, 10.0], y: [-1.0, 1.0] };
        assert_eq!(
            [plot.at(0.0, -1.0), plot.at(5.0, 0.0), plot.at(10.0, 9.0)],
            [(10.0, 220.0), (60.0, 120.0), (110.0, 20.0)]
        );
    }
}
