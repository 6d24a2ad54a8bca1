//! What the screen shows: how it went so far, the cards, the odds and the table's advice.

mod bankroll;
mod cards;
mod closing;

use std::time::Duration;

use blackjack::{Action, Verdict};
use ratatui::{
    buffer::Buffer,
    layout::{Rect, Size},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Paragraph, Widget},
};
use termkit::{Overlay, Palette, StatusLine, TooSmall, wrap};
use tokio::time::Instant;

pub(crate) use self::closing::{Again, Closing, sentence};
use crate::{
    clock::in_words,
    game::{Game, odds_in_words, total_in_words},
};

/// The least columns and rows.
const SMALLEST: Size = Size::new(68, 10);
/// From how many rows on cards have frames, and are large.
const FRAMED: u16 = 16;
const LARGE: u16 = 34;
/// Columns of what is shown, which stands in the middle of a wider window.
const WIDTH: u16 = 76;
const LARGE_WIDTH: u16 = 100;
/// Rows of the bankroll's line, and how many it needs with its heading to be shown.
const CHART: u16 = 5;
const LARGE_CHART: u16 = 10;
const LEAST_CHART: u16 = 3;
/// Lines below the cards: the odds of both actions, or what takes their place.
const BELOW_CARDS: u16 = 2;
/// Seconds that are left when the clock begins to stand out.
const SOON: u64 = 10;

const KEYS: &[(&str, &str)] = &[
    ("h", "hit: take a card"),
    ("s", "stand: take no more"),
    ("a", "show the odds and the advice: best play, unless you gave a table"),
    ("q", "leave; a hand that is not played to its end is lost"),
    ("Ctrl-L", "draw everything again"),
    ("Ctrl-Z", "stop until the shell goes on; the dealer's clock does not stop"),
    ("", ""),
    ("", "Any key goes on."),
];

/// What the person looks at.
#[derive(Debug, Clone)]
pub struct View {
    palette: Palette,
    /// Whether the keys are shown.
    pub(crate) help: bool,
}

/// Until when a result is shown and nothing that has come behind it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Until then, or until a key is pressed.
    Until(Instant),
    /// Until a key is pressed.
    Key,
}

/// What is shown besides the game.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    /// Whether there is somebody to press keys.
    pub(crate) keys: bool,
    /// Whether the odds and the advice are shown.
    pub(crate) advised: bool,
    /// Seconds that are left to answer.
    pub(crate) left: Option<u64>,
    /// Seconds since the person has joined, as long as no round has begun.
    pub(crate) waited: Option<u64>,
    /// The warning about a message of the dealer without its zero byte.
    pub(crate) unended: Option<&'a str>,
    /// How long a dealer waits for an answer that waits too short a time for people.
    pub(crate) rushed: Option<Duration>,
    /// How long a result is shown, if one is.
    pub(crate) hold: Option<Hold>,
    /// How the game ended, if it has.
    pub(crate) closing: Option<Closing<'a>>,
}

impl Scene<'_> {
    /// A game to look at.
    const LOOK: Self = Self {
        keys: false,
        advised: true,
        left: None,
        waited: None,
        unended: None,
        rushed: None,
        hold: None,
        closing: None,
    };

    // The keys that do something now.
    fn footer(&self, game: &Game) -> Vec<(&'static str, &'static str)> {
        let Some(closing) = &self.closing else {
            return match (self.hold, game.is_asked()) {
                (Some(Hold::Key), _) => vec![("Enter", "next hand"), ("Q", "leave")],
                (Some(Hold::Until(_)), _) => vec![("Enter", "go on"), ("Q", "leave")],
                (None, true) if self.advised => vec![("H", "hit"), ("S", "stand"), ("Q", "leave")],
                (None, true) => vec![("H", "hit"), ("S", "stand"), ("A", "advice"), ("Q", "leave")],
                (None, false) => vec![("Q", "leave")],
            };
        };
        if closing.ignores_keys {
            return vec![];
        }
        let other = if closing.ranked { "cards" } else { "result" };
        let enter = (closing.again == Again::Possible).then_some(("Enter", "play again"));
        enter.into_iter().chain([("Tab", other), ("Q", "leave")]).collect()
    }
}

impl View {
    /// A view in these colours.
    pub const fn new(palette: Palette) -> Self {
        Self { palette, help: false }
    }

    /// Whether a window of this size shows the game.
    pub(crate) const fn fits(area: Rect) -> bool {
        area.width >= SMALLEST.width && area.height >= SMALLEST.height
    }

    /// Draws the game for somebody who looks on: with the odds and without keys. Changes nothing.
    pub fn render(&self, game: &Game, area: Rect, buffer: &mut Buffer) {
        self.render_scene(game, &Scene::LOOK, area, buffer);
    }

    /// Draws the game and what is shown besides it. Changes nothing.
    pub(crate) fn render_scene(&self, game: &Game, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if !Self::fits(area) {
            return TooSmall::new(SMALLEST, area.as_size()).render(area, buffer);
        }
        StatusLine::new(&game.status()).right(if scene.keys { "? keys" } else { "" }).render(area, buffer);
        let footer = u16::from(scene.keys);
        let body = Rect { y: area.y + 1, height: area.height - 1 - footer, ..area };
        let cards_end = self.table(game, scene, body, buffer);
        if let Some(closing) = scene.closing.filter(|closing| closing.ranked) {
            let below = Rect { y: cards_end, height: body.bottom() - cards_end, ..body };
            closing::draw(game, &closing, [below, body], buffer);
        }
        if scene.keys {
            let place = Rect { y: area.bottom() - 1, height: 1, ..area };
            self.footer(game, scene, place, buffer);
        }
        if self.help {
            Overlay::new("Game of 21", KEYS).render(area, buffer);
        }
    }

    fn footer(&self, game: &Game, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let spans = scene
            .footer(game)
            .into_iter()
            .flat_map(|(key, does)| [Span::styled(key, bold), Span::raw(format!(" {does}   "))]);
        spans.collect::<Line<'_>>().render(area, buffer);
        let joining = scene.closing.is_some_and(|closing| closing.again == Again::Joining);
        let right = match scene.left {
            _ if joining => Line::from("joining"),
            Some(left) if scene.closing.is_none() => {
                let style =
                    if left <= SOON { self.palette.style(Color::LightRed, Modifier::BOLD) } else { Style::new() };
                Line::styled(format!("{left} s left to answer"), style)
            }
            _ => Line::default(),
        };
        right.right_aligned().render(area, buffer);
    }

    // The table in the middle of its area. Gives the row below the cards.
    fn table(&self, game: &Game, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) -> u16 {
        let large = area.height + 2 >= LARGE && area.width >= LARGE_WIDTH;
        let width = area.width.min(if large { LARGE_WIDTH } else { WIDTH });
        let lines = self.lines(game, scene, width, area.height, large);
        let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(area.height);
        let room = area.height - rows;
        let chart =
            if scene.keys && room > LEAST_CHART { (room - 1).min(if large { LARGE_CHART } else { CHART }) } else { 0 };
        let judgement = game.coach.summary().filter(|_| scene.keys && room > chart + 1);
        let whole = rows + if chart > 0 { chart + 1 } else { 0 } + u16::from(judgement.is_some());
        let top = area.y + if large { (area.height - whole) / 2 } else { 0 };
        let place = Rect { x: area.x + (area.width - width) / 2, y: top, width, height: rows };
        Paragraph::new(lines).render(place, buffer);
        let place = Rect { y: place.bottom() + 1, height: chart, ..place };
        if chart > 0 {
            bankroll::draw(&game.bankroll, self.palette, place, buffer);
        }
        if let Some(judgement) = judgement {
            Line::from(format!("{judgement}.")).render(Rect { y: top + whole - 1, height: 1, ..place }, buffer);
        }
        top + rows.saturating_sub(BELOW_CARDS)
    }

    fn lines(&self, game: &Game, scene: &Scene<'_>, width: u16, height: u16, large: bool) -> Vec<Line<'static>> {
        let text = |text: &str| -> Vec<Line<'static>> {
            wrap(text, usize::from(width)).into_iter().map(|line| Line::from(line.to_owned())).collect()
        };
        let verdict = game.verdict();
        let mut lines = vec![Line::styled(game.outcome().unwrap_or_default(), self.style(verdict))];
        let playing = verdict.is_some() || game.in_round();
        if game.round() == 0 || (!playing && scene.closing.is_none()) {
            let waits = || scene.waited.map_or_else(|| "Waiting for the dealer.".to_owned(), waiting);
            let waits = scene.unended.map_or_else(waits, |warning| format!("Warning: {warning}."));
            lines.extend(if scene.closing.is_some() { vec![] } else { text(&waits) });
            return lines;
        }
        let size = match height {
            _ if large => cards::Size::Large,
            FRAMED.. => cards::Size::Framed,
            _ => cards::Size::Plain,
        };
        let size = size.fitting(game.hand().cards().len(), width);
        let row = |cards: &[blackjack::Card], hidden| cards::picture(cards, hidden, size, self.palette);
        if let Some(dealer) = &game.revealed {
            lines.push(Line::from(format!("Round {}. The dealer has {}", game.round(), total_in_words(dealer))));
            lines.extend(row(dealer.cards(), 0));
        } else {
            lines.push(Line::from(format!("Round {}. The dealer shows", game.round())));
            lines.extend(row(game.upcard().as_slice(), usize::from(game.upcard().is_some())));
        }
        lines.push(Line::from(format!("You have {}", game.total())));
        lines.extend(row(game.hand().cards(), 0));
        if size != cards::Size::Plain || !scene.keys {
            lines.push(Line::default());
        }
        // As many lines in any case, so that nothing below moves.
        let mut below = match (game.advice(), scene.rushed) {
            _ if scene.unended.is_some() => text(&format!("Warning: {}.", scene.unended.unwrap_or_default())),
            (_, Some(waited)) => text(&rushed(waited)),
            (Some(_), None) if scene.advised => advice(game),
            _ => game
                .grade
                .map(|grade| Line::styled(grade.in_words(), self.graded(grade.is_right())))
                .into_iter()
                .collect(),
        };
        below.resize(usize::from(BELOW_CARDS), Line::default());
        lines.extend(below);
        lines
    }

    fn style(&self, verdict: Option<Verdict>) -> Style {
        match verdict {
            None => Style::new(),
            Some(Verdict::Win) => self.palette.style(Color::LightGreen, Modifier::BOLD),
            Some(Verdict::Push) => self.palette.style(Color::LightYellow, Modifier::BOLD),
            Some(Verdict::Lose | Verdict::Bust) => self.palette.style(Color::LightRed, Modifier::BOLD),
        }
    }

    fn graded(&self, right: bool) -> Style {
        let colour = if right { Color::LightGreen } else { Color::LightRed };
        self.palette.style(colour, Modifier::empty())
    }
}

fn waiting(seconds: u64) -> String {
    format!(
        "You have joined and wait for the first round, {seconds} s so far. Who finds no free seat waits for the next table. The \
         dealer does not tell players their place, but its log does: \"waits for a seat\". If no table is left, it says goodbye."
    )
}

fn rushed(waited: Duration) -> String {
    format!(
        "The dealer does not wait for your answer: it goes on after {}. Such dealers are made for programs; leave with Q \
         and let --best play.",
        in_words(waited)
    )
}

fn advice(game: &Game) -> Vec<Line<'static>> {
    let Some(advice) = game.advice() else { return vec![] };
    let line = |action: Action, key: &'static str| {
        let odds = advice.odds.map(|(stand, hit)| if action == Action::Hit { hit } else { stand });
        let advised = advice.action == action;
        let mark = match (advised, advice.by_table) {
            (true, false) => "<- best play",
            (true, true) => "<- the table",
            (false, _) => "",
        };
        let words = odds.map_or_else(String::new, odds_in_words);
        let style = if advised { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        Line::styled(format!("{key:<6} {words}  {mark}"), style)
    };
    vec![line(Action::Hit, "Hit"), line(Action::Stand, "Stand")]
}

#[cfg(test)]
mod tests;
