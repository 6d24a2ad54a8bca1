use std::fmt::Write;

use blackjack::{Action, Policy, QTable, State, StateSpace, hand::BEST, policy::MIN_UPCARD};
use picture::{GREY, INK, MARGIN, Pen, Picture, Point, Rgb, Text, WHITE};

use crate::{
    judge::{Judge, facts},
    tables::{upcard_name, word},
};

#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub(crate) policy: Policy,
    /// `None` if the policy was not learned.
    pub(crate) table: Option<QTable>,
    differences: Vec<State>,
    // The states of the best policy, and the exact values of both.
    against: StateSpace,
    value: f64,
    best: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) state: State,
    pub(crate) action: Action,
    pub(crate) differs: bool,
    /// An action was never tried, so no comparison was learned.
    pub(crate) guessed: bool,
}

impl Chart {
    /// Compares with the best policy for the states `against`, by default those of `policy`.
    pub(crate) fn of_policy(policy: Policy, judge: &Judge, against: Option<StateSpace>) -> Self {
        let against = against.unwrap_or(policy.space());
        let differences = policy.differences(judge.best(against)).collect();
        let (value, best) = (judge.value(&policy), judge.optimum(against));
        Self { policy, table: None, differences, against, value, best }
    }

    pub(crate) fn of_table(table: QTable, judge: &Judge, against: Option<StateSpace>) -> Self {
        let chart = Self::of_policy(table.policy(), judge, against);
        Self { table: Some(table), ..chart }
    }

    pub(crate) fn space(&self) -> StateSpace {
        let soft = self.differences.iter().any(|state| state.is_soft());
        if soft { StateSpace::Soft } else { self.policy.space() }
    }

    pub(crate) fn cell(&self, state: State) -> Cell {
        let own = State::new(self.policy.space(), state.total(), state.is_soft(), state.upcard());
        // A coarse policy treats a soft hand like the hard hand of the same total.
        let own =
            own.or_else(|| State::new(self.policy.space(), state.total(), false, state.upcard())).unwrap_or(state);
        let guessed = self.table.as_ref().is_some_and(|table| {
            let entry = table.entry(own);
            own.total() < BEST && (entry.hit.n == 0 || entry.stand.n == 0)
        });
        Cell { state, action: self.policy.action(own), differs: self.differences.contains(&state), guessed }
    }

    pub(crate) fn worth(&self) -> String {
        let Self { value, best, against, .. } = self;
        format!("Worth {value:.4} a round; the best table on {} is worth {best:.4}", facts(*against))
    }

    pub(crate) fn differing(&self) -> String {
        let states = self.space().states().count();
        match self.differences.len() {
            0 => "Every decision is that of the best table".to_owned(),
            1 => format!("1 of {states} decisions differs from the best table"),
            many => format!("{many} of {states} decisions differ from the best table"),
        }
    }

    /// From 21 down, each row with the upcards from 2 to ace. A coarse chart has only hard hands.
    pub(crate) fn rows(&self, soft: bool) -> Vec<(u8, Vec<Cell>)> {
        let mut rows: Vec<(u8, Vec<Cell>)> = vec![];
        for state in self.space().states().filter(|state| state.is_soft() == soft) {
            match rows.last_mut() {
                Some((total, cells)) if *total == state.total() => cells.push(self.cell(state)),
                _ => rows.push((state.total(), vec![self.cell(state)])),
            }
        }
        rows.reverse();
        rows
    }
}

/// In lower case for a guess.
pub(crate) const fn letter(cell: Cell) -> char {
    match (cell.action, cell.guessed) {
        (Action::Hit, false) => 'H',
        (Action::Hit, true) => 'h',
        (Action::Stand, false) => 'S',
        (Action::Stand, true) => 's',
    }
}

/// As two cards, such as `A,7`.
pub(crate) fn soft_name(total: u8) -> String {
    match total.saturating_sub(11) {
        1 => "A,A".to_owned(),
        other => format!("A,{other}"),
    }
}

const BLACK: Rgb = Rgb(0, 0, 0);
const ORANGE: Rgb = Rgb(230, 159, 0);
const BLUE: Rgb = Rgb(0, 114, 178);
const PALE_ORANGE: Rgb = Rgb(251, 231, 190);
const PALE_BLUE: Rgb = Rgb(196, 222, 240);

const COLUMN: f32 = 42.0;
const ROW: f32 = 25.0;
const GAP: f32 = 2.0;
const LABELS: f32 = 64.0;
const TOP: f32 = 190.0;
const PANEL: f32 = LABELS + 10.0 * COLUMN;
const BETWEEN: f32 = 56.0;
const LEGEND: f32 = 350.0;

/// Fails if the width of the title cannot be computed.
pub(crate) fn picture(chart: &Chart, title: &str) -> anyhow::Result<Picture> {
    let (hard, soft) = (chart.rows(false), chart.rows(true));
    let right = MARGIN + PANEL + BETWEEN;
    // The legend is below the soft hands, or in its own column.
    let (beside, legend_left, legend_top) =
        if soft.is_empty() { (LEGEND, right, TOP) } else { (PANEL, right + LABELS, TOP + 10.0 * ROW + 34.0) };
    let width = right + beside + MARGIN;
    // Pictures use a typographic minus sign.
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
        // Black and white, which contrasts with both colours.
        for (inset, colour, thick) in [(1.5, BLACK, 3.0), (3.75, WHITE, 1.5)] {
            let place = [left + inset, top + inset, width - 2.0 * inset, height - 2.0 * inset];
            picture.rectangle(place, 3.0, None, Some(Pen::new(colour, thick)));
        }
    }
    let at = (left + width / 2.0, top + height / 2.0 + 5.0);
    picture.text(Text::new(at, 14.0, ink, letter(cell)).bold().middle());
}

fn explain(chart: &Chart, cell: Cell) -> String {
    let mut said = format!("{}: {}", cell.state, word(cell.action));
    if let Some(table) = &chart.table {
        let own = State::new(table.space(), cell.state.total(), cell.state.is_soft(), cell.state.upcard());
        let entry = table.entry(own.unwrap_or(cell.state));
        for (name, tally) in [("hit", entry.hit), ("stand", entry.stand)] {
            let _ = match tally.mean() {
                Some(mean) => write!(said, "; {name} {mean:.4} in {} rounds", tally.n),
                None => write!(said, "; {name} never tried"),
            };
        }
    }
    if cell.differs {
        said += "; the best table differs";
    }
    said
}

fn legend(picture: &mut Picture, chart: &Chart, left: f32, mut top: f32) {
    let Some(state) = chart.space().states().next() else { return };
    let sample = |action, differs, guessed| Cell { state, action, differs, guessed };
    let mut rows: Vec<(Vec<Cell>, &str)> = vec![
        (vec![sample(Action::Hit, false, false)], "Hit: take a card"),
        (vec![sample(Action::Stand, false, false)], "Stand: take no card"),
        (vec![sample(Action::Hit, true, false), sample(Action::Stand, true, false)], "The best table differs"),
    ];
    if chart.table.is_some() {
        rows.push((
            vec![sample(Action::Hit, false, true), sample(Action::Stand, false, true)],
            "Not learned: one action never tried",
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

// Of the 256 standard terminal colours, for a known contrast: above 6 to 1 for black on orange and white on blue, which
// are distinguishable with red-green colour blindness.
const HIT: &str = "\x1b[38;5;16;48;5;214m";
const STAND: &str = "\x1b[38;5;231;48;5;25m";
const DIFFERENT: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

pub(crate) fn text(chart: &Chart, title: &str, colours: bool) -> String {
    let mut text = format!("{title}\n\n");
    text += &cells(chart, colours);
    text += "\nH hit, S stand; [ ] the best table differs";
    if chart.table.is_some() {
        text += "; a small letter: not learned, an action was never tried";
    }
    let _ = write!(text, "\n{}.\n{}.\n", chart.worth(), chart.differing());
    text
}

pub(crate) fn cells(chart: &Chart, colours: bool) -> String {
    let mut text = String::new();
    let (hard, soft) = (chart.rows(false), chart.rows(true));
    let heading = if soft.is_empty() { "total" } else { "hard" };
    text_panel(&mut text, heading, &hard, |total| total.to_string(), colours);
    if !soft.is_empty() {
        text.push('\n');
        text_panel(&mut text, "soft", &soft, |total| format!("{total} ({})", soft_name(total)), colours);
    }
    text
}

fn text_panel(text: &mut String, heading: &str, rows: &[(u8, Vec<Cell>)], name: impl Fn(u8) -> String, colours: bool) {
    let upcards: Vec<String> = (MIN_UPCARD..=11).map(upcard_name).collect();
    let _ = write!(text, "{heading:>10}  ");
    for upcard in &upcards {
        let _ = write!(text, "{upcard:^4}");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    for (total, cells) in rows {
        let _ = write!(text, "{:>10}  ", name(*total));
        let line: String = cells.iter().map(|&cell| text_cell(cell, colours)).collect();
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn text_cell(cell: Cell, colours: bool) -> String {
    let letter = letter(cell);
    let shown = if cell.differs { format!("[{letter}] ") } else { format!(" {letter}  ") };
    if !colours {
        return shown;
    }
    let paint = if cell.action == Action::Hit { HIT } else { STAND };
    let mark = if cell.differs { DIFFERENT } else { "" };
    format!("{paint}{mark}{shown}{RESET}")
}
