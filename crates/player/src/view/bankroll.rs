//! The bankroll as a line.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    symbols::Marker,
    text::Line,
    widgets::{
        Widget,
        canvas::{Canvas, Line as Stroke},
    },
};
use termkit::Palette;

/// Dots of a cell of braille, side by side.
const DOTS: usize = 2;

/// Draws what was won and lost so far, as a heading and a line below it that shows as many rounds as there are dots.
pub(super) fn draw(bankroll: &std::collections::VecDeque<i64>, palette: Palette, area: Rect, buffer: &mut Buffer) {
    let Some(&now) = bankroll.back() else { return };
    let shown = bankroll.len().min(usize::from(area.width) * DOTS);
    let values = || bankroll.iter().skip(bankroll.len() - shown).copied();
    let (low, high) = (values().min().unwrap_or(0).min(0), values().max().unwrap_or(0).max(0));
    let heading = match shown - 1 {
        0 => format!("Bankroll {now:+}"),
        1 => format!("Bankroll {now:+} after 1 round"),
        rounds => format!("Bankroll {now:+}, between {low:+} and {high:+} in {rounds} rounds"),
    };
    let (place, style) = (Rect { height: area.height.min(1), ..area }, Style::new().add_modifier(Modifier::DIM));
    Line::styled(heading, style).render(place, buffer);
    let place = Rect { y: area.y + place.height, height: area.height - place.height, ..area };
    if shown < 2 || place.is_empty() {
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "numbers to be drawn, far below 2^52")]
    let points: Vec<(f64, f64)> = values().enumerate().map(|(round, value)| (round as f64, value as f64)).collect();
    let colour = match now {
        1.. => Color::LightGreen,
        0 => Color::Reset,
        _ => Color::LightRed,
    };
    let colour = palette.style(colour, Modifier::empty()).fg.unwrap_or(Color::Reset);
    // A line that begins at the left edge, with a dot for each round at least.
    #[expect(clippy::cast_precision_loss, reason = "numbers to be drawn, far below 2^52")]
    let bounds = ([0.0, (usize::from(place.width) * DOTS - 1) as f64], [low as f64, (high.max(low + 1)) as f64]);
    let stretch = if shown * 4 <= usize::from(place.width) * DOTS { 4.0 } else { 1.0 };
    Canvas::default()
        .marker(Marker::Braille)
        .x_bounds(bounds.0)
        .y_bounds(bounds.1)
        .paint(|canvas| {
            for pair in points.windows(2) {
                let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
                canvas.draw(&Stroke { x1: x1 * stretch, y1, x2: x2 * stretch, y2, color: colour });
            }
        })
        .render(place, buffer);
}
