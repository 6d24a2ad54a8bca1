//! The chart as text, with or without colours.
//!
//! A colour never says anything alone: H and S are letters, and what differs from the best stands in brackets.

use std::fmt::Write;

use blackjack::policy::MIN_UPCARD;

use super::{Cell, Chart, letter, soft_name};
use crate::tables::upcard_name;
use blackjack::Action;

// Of the 256 colours that terminals agree on, so that the contrast is known: black on orange and white on blue, both more
// than 6 to 1, and told apart by people who see no red or no green.
const HIT: &str = "\x1b[38;5;16;48;5;214m";
const STAND: &str = "\x1b[38;5;231;48;5;25m";
const DIFFERENT: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// The whole chart: title, both kinds of hands, legend and summary.
pub(crate) fn chart(chart: &Chart, title: &str, colours: bool) -> String {
    let mut text = format!("{title}\n\n");
    text += &cells(chart, colours);
    text += "\nH hit, S stand; [ ] the best table does the other";
    if chart.table.is_some() {
        text += "; a small letter: not learned, an action was never tried";
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "\n{}.\n{}.\n", chart.worth(), chart.differing());
    text
}

/// The cells with their headings.
pub(crate) fn cells(chart: &Chart, colours: bool) -> String {
    let mut text = String::new();
    let (hard, soft) = (chart.rows(false), chart.rows(true));
    let heading = if soft.is_empty() { "total" } else { "hard" };
    panel(&mut text, heading, &hard, |total| total.to_string(), colours);
    if !soft.is_empty() {
        text.push('\n');
        panel(&mut text, "soft", &soft, |total| format!("{total} ({})", soft_name(total)), colours);
    }
    text
}

fn panel(text: &mut String, heading: &str, rows: &[(u8, Vec<Cell>)], name: impl Fn(u8) -> String, colours: bool) {
    let upcards: Vec<String> = (MIN_UPCARD..=11).map(upcard_name).collect();
    let _ = write!(text, "{heading:>10}  ");
    for upcard in &upcards {
        let _ = write!(text, "{upcard:^4}");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    for (total, cells) in rows {
        let _ = write!(text, "{:>10}  ", name(*total));
        let line: String = cells.iter().map(|&cell| place(cell, colours)).collect();
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn place(cell: Cell, colours: bool) -> String {
    let letter = letter(cell);
    let shown = if cell.differs { format!("[{letter}] ") } else { format!(" {letter}  ") };
    if !colours {
        return shown;
    }
    let paint = if cell.action == Action::Hit { HIT } else { STAND };
    let mark = if cell.differs { DIFFERENT } else { "" };
    format!("{paint}{mark}{shown}{RESET}")
}
