//! The chart as a picture.
//!
//! Orange and blue are told apart by people who see no red or no green, both carry their letter with a contrast of more
//! than 5 to 1, and a decision that differs from the best has a double frame: no colour says anything alone.

use std::fmt::Write;

use blackjack::{Action, policy::MIN_UPCARD};
use picture::{GREY, INK, MARGIN, Pen, Picture, Point, Rgb, Text, WHITE};

use super::{Cell, Chart, letter, soft_name};
use crate::tables::{upcard_name, word};

const BLACK: Rgb = Rgb(0, 0, 0);
const ORANGE: Rgb = Rgb(230, 159, 0);
const BLUE: Rgb = Rgb(0, 114, 178);
const PALE_ORANGE: Rgb = Rgb(251, 231, 190);
const PALE_BLUE: Rgb = Rgb(196, 222, 240);

/// From one cell to the next.
const COLUMN: f32 = 42.0;
const ROW: f32 = 25.0;
const GAP: f32 = 2.0;
/// What stands left of the cells.
const LABELS: f32 = 64.0;
/// The first row of cells.
const TOP: f32 = 190.0;
const PANEL: f32 = LABELS + 10.0 * COLUMN;
const BETWEEN: f32 = 56.0;
const LEGEND: f32 = 350.0;

/// Draws it. Fails when the width of the title cannot be computed.
pub(crate) fn picture(chart: &Chart, title: &str) -> anyhow::Result<Picture> {
    let (hard, soft) = (chart.rows(false), chart.rows(true));
    let right = MARGIN + PANEL + BETWEEN;
    // The legend takes the place under the soft hands, or one of its own.
    let (beside, legend_left, legend_top) =
        if soft.is_empty() { (LEGEND, right, TOP) } else { (PANEL, right + LABELS, TOP + 10.0 * ROW + 34.0) };
    let width = right + beside + MARGIN;
    // With the minus sign of print.
    let (worth, differing) = (chart.worth().replace('-', "\u{2212}"), chart.differing());
    let description =
        format!("What to do with each total against each upcard of the dealer: hit or stand. {worth}. {differing}.");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of small constants")]
    let mut picture = Picture::headed((width as u16, 680), title, &description, &[&worth, &differing])?;
    let heading = if soft.is_empty() { "Your total" } else { "Your total, no ace counts 11 (hard)" };
    panel(&mut picture, chart, MARGIN, heading, &hard, |total| total.to_string());
    if !soft.is_empty() {
        panel(&mut picture, chart, right, "Your total, an ace counts 11 (soft)", &soft, soft_name);
    }
    legend(&mut picture, chart, legend_left, legend_top);
    Ok(picture)
}

fn panel(
    picture: &mut Picture,
    chart: &Chart,
    left: f32,
    heading: &str,
    rows: &[(u8, Vec<Cell>)],
    name: impl Fn(u8) -> String,
) {
    let cells = left + LABELS;
    picture.text(Text::new((left, TOP - 44.0), 16.0, INK, heading).bold());
    let against = Text::new((left + PANEL - GAP, TOP - 44.0), 14.0, GREY, "against the dealer\u{2019}s card");
    picture.text(against.end());
    let mut middle = cells + (COLUMN - GAP) / 2.0;
    for upcard in MIN_UPCARD..=11 {
        picture.text(Text::new((middle, TOP - 12.0), 16.0, INK, upcard_name(upcard)).bold().middle());
        middle += COLUMN;
    }
    let mut top = TOP;
    for (total, row) in rows {
        picture.text(Text::new((cells - 12.0, top + 17.0), 16.0, INK, name(*total)).bold().end());
        let mut left = cells;
        for &cell in row {
            place(picture, chart, cell, (left, top));
            left += COLUMN;
        }
        top += ROW;
    }
}

fn place(picture: &mut Picture, chart: &Chart, cell: Cell, at: Point) {
    let class = match (cell.action, cell.differs) {
        (Action::Hit, false) => "hit",
        (Action::Hit, true) => "hit differs",
        (Action::Stand, false) => "stand",
        (Action::Stand, true) => "stand differs",
    };
    picture.group(class, &explain(chart, cell), |picture| tile(picture, cell, at));
}

fn tile(picture: &mut Picture, cell: Cell, (left, top): Point) {
    let (width, height) = (COLUMN - GAP, ROW - GAP);
    let (fill, ink) = match (cell.action, cell.guessed) {
        (Action::Hit, false) => (ORANGE, BLACK),
        (Action::Stand, false) => (BLUE, WHITE),
        (Action::Hit, true) => (PALE_ORANGE, INK),
        (Action::Stand, true) => (PALE_BLUE, INK),
    };
    picture.rectangle([left, top, width, height], 3.0, Some(fill), None);
    if cell.differs {
        // Black and white, so that it stands out on either colour.
        for (inset, colour, thick) in [(1.5, BLACK, 3.0), (3.75, WHITE, 1.5)] {
            let place = [left + inset, top + inset, width - 2.0 * inset, height - 2.0 * inset];
            picture.rectangle(place, 3.0, None, Some(Pen::new(colour, thick)));
        }
    }
    let at = (left + width / 2.0, top + height / 2.0 + 5.0);
    picture.text(Text::new(at, 14.0, ink, letter(cell)).bold().middle());
}

// What is said when one points at a cell.
fn explain(chart: &Chart, cell: Cell) -> String {
    let mut said = format!("{}: {}", cell.state, word(cell.action));
    if let Some(table) = &chart.table {
        let own = blackjack::State::new(table.space(), cell.state.total(), cell.state.is_soft(), cell.state.upcard());
        let entry = table.entry(own.unwrap_or(cell.state));
        // Writing to a string cannot fail.
        for (name, tally) in [("hit", entry.hit), ("stand", entry.stand)] {
            let _ = match tally.mean() {
                Some(mean) => write!(said, "; {name} {mean:.4} in {} rounds", tally.n),
                None => write!(said, "; {name} never tried"),
            };
        }
    }
    if cell.differs {
        said += "; the best table does the other";
    }
    said
}

fn legend(picture: &mut Picture, chart: &Chart, left: f32, mut top: f32) {
    let Some(state) = chart.space().states().next() else { return };
    let sample = |action, differs, guessed| Cell { state, action, differs, guessed };
    let mut rows: Vec<(Vec<Cell>, &str)> = vec![
        (vec![sample(Action::Hit, false, false)], "Hit: take a card"),
        (vec![sample(Action::Stand, false, false)], "Stand: take no card"),
        (vec![sample(Action::Hit, true, false), sample(Action::Stand, true, false)], "The best table does the other"),
    ];
    if chart.table.is_some() {
        rows.push((
            vec![sample(Action::Hit, false, true), sample(Action::Stand, false, true)],
            "Not learned: one was never tried",
        ));
    }
    for (cells, says) in rows {
        let mut at = left;
        for cell in cells {
            tile(picture, cell, (at, top));
            at += COLUMN;
        }
        picture.text(Text::new((left + 2.0 * COLUMN + 12.0, top + 17.0), 16.0, INK, says));
        top += ROW + 8.0;
    }
}
