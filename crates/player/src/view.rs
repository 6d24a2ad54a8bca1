use std::time::Duration;

use blackjack::{Action, Card, Score, Verdict, cards::Suit};
use ratatui::{
    buffer::Buffer,
    layout::{Rect, Size},
    style::{Color, Modifier, Style},
    symbols::Marker,
    text::{Line, Span},
    widgets::{
        Clear, Paragraph, Widget,
        canvas::{Canvas, Line as Stroke},
    },
};
use termkit::{Footer, Header, Overlay, Palette, RETURN, Rank, Ranking, Title, Tone, TooSmall, wrap};
use tokio::time::Instant;

use crate::game::{Game, odds_in_words, time_in_words, total_in_words};

/// In columns and rows.
const SMALLEST: Size = Size::new(68, 10);
/// The minimum rows for framed and for large cards.
const FRAMED: u16 = 16;
const LARGE: u16 = 34;
/// A wider window centres the contents.
const WIDTH: u16 = 76;
const LARGE_WIDTH: u16 = 100;
/// Rows of the bankroll chart, and the minimum with its heading.
const CHART: u16 = 5;
const LARGE_CHART: u16 = 10;
const LEAST_CHART: u16 = 3;
/// The odds of both actions, or their replacement.
const BELOW_CARDS: u16 = 2;
/// Remaining seconds at which the clock is highlighted.
const SOON: u64 = 10;

const KEYS: &[(&str, &str)] = &[
    ("h", "hit: take a card"),
    ("s", "stand: take no more"),
    ("a", "show the odds and the advice: best play, unless you gave a table"),
    ("q", "leave; an unfinished hand is lost"),
    ("Ctrl-L", "redraw the screen"),
    ("Ctrl-Z", "suspend; the dealer's clock keeps running"),
    ("", ""),
    RETURN,
];

#[derive(Debug, Clone)]
pub struct View {
    palette: Palette,
    pub(crate) help: bool,
}

/// How long a result is shown before later messages are processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Until(Instant),
    Key,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) keys: bool,
    pub(crate) advised: bool,
    pub(crate) left: Option<u64>,
    /// Seconds since the user joined, until the first round begins.
    pub(crate) waited: Option<u64>,
    /// The warning about a message without its zero byte.
    pub(crate) unended: Option<&'a str>,
    /// The time limit of a dealer that is too fast for users.
    pub(crate) rushed: Option<Duration>,
    pub(crate) hold: Option<Hold>,
    pub(crate) closing: Option<Closing<'a>>,
}

impl Scene<'_> {
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

    fn connection(&self, game: &Game) -> (&'static str, Tone) {
        match &self.closing {
            _ if !self.keys => ("", Tone::Plain),
            Some(closing) if closing.again == Again::Joining => ("joining", Tone::Warning),
            Some(_) => ("closed", Tone::Plain),
            None if game.round() == 0 => ("waiting", Tone::Warning),
            None => ("online", Tone::Good),
        }
    }

    fn footer(&self, game: &Game) -> Vec<(&'static str, &'static str)> {
        let Some(closing) = &self.closing else {
            return match (self.hold, game.is_asked()) {
                (Some(Hold::Key), _) => vec![("Enter", "next hand"), ("?", "keys"), ("Q", "leave")],
                (Some(Hold::Until(_)), _) => vec![("Enter", "continue"), ("?", "keys"), ("Q", "leave")],
                (None, true) if self.advised => vec![("H", "hit"), ("S", "stand"), ("?", "keys"), ("Q", "leave")],
                (None, true) => {
                    vec![("H", "hit"), ("S", "stand"), ("A", "advice"), ("?", "keys"), ("Q", "leave")]
                }
                (None, false) => vec![("?", "keys"), ("Q", "leave")],
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
    pub const fn new(palette: Palette) -> Self {
        Self { palette, help: false }
    }

    pub(crate) const fn fits(area: Rect) -> bool {
        area.width >= SMALLEST.width && area.height >= SMALLEST.height
    }

    /// For a watcher, with the odds and without keys.
    pub fn render(&self, game: &Game, area: Rect, buffer: &mut Buffer) {
        self.render_scene(game, &Scene::LOOK, area, buffer);
    }

    pub(crate) fn render_scene(&self, game: &Game, scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if !Self::fits(area) {
            return TooSmall::new(SMALLEST, area.as_size()).render(area, buffer);
        }
        let (connection, tone) = scene.connection(game);
        let title = scene.keys.then_some(Title::BLACKJACK);
        Header::new(self.palette, title).fact(game.status()).right(connection, tone).render(area, buffer);
        let footer = u16::from(scene.keys);
        let body = Rect { y: area.y + 1, height: area.height - 1 - footer, ..area };
        let cards_end = self.table(game, scene, body, buffer);
        if let Some(closing) = scene.closing.filter(|closing| closing.ranked) {
            let below = Rect { y: cards_end, height: body.bottom() - cards_end, ..body };
            draw_closing(game, &closing, [below, body], buffer);
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
        let keys = scene.footer(game);
        let footer = Footer::new(&keys);
        let joining = scene.closing.is_some_and(|closing| closing.again == Again::Joining);
        let footer = match scene.left {
            _ if joining => footer.right("joining", Style::new()),
            Some(left) if scene.closing.is_none() => {
                let style =
                    if left <= SOON { self.palette.style(Color::LightRed, Modifier::BOLD) } else { Style::new() };
                footer.right(format!("{left} s left to answer"), style)
            }
            _ => footer,
        };
        footer.render(area, buffer);
    }

    // Returns the row below the cards.
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
            draw_bankroll(&game.bankroll, self.palette, place, buffer);
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
            _ if large => CardSize::Large,
            FRAMED.. => CardSize::Framed,
            _ => CardSize::Plain,
        };
        let size = size.fitting(game.hand().cards().len(), width);
        let row = |cards: &[Card], hidden| picture(cards, hidden, size, self.palette);
        if let Some(dealer) = &game.revealed {
            lines.push(Line::from(format!("Round {}. The dealer has {}", game.round(), total_in_words(dealer))));
            lines.extend(row(dealer.cards(), 0));
        } else {
            lines.push(Line::from(format!("Round {}. The dealer shows", game.round())));
            lines.extend(row(game.upcard().as_slice(), usize::from(game.upcard().is_some())));
        }
        lines.push(Line::from(format!("You have {}", game.total())));
        lines.extend(row(game.hand().cards(), 0));
        if size != CardSize::Plain || !scene.keys {
            lines.push(Line::default());
        }
        // A constant number of lines, so that the rows below do not move.
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
        "You have joined. Waiting for the first round, {seconds} s so far. If no seat is free, you wait for the \
         next table. Your place in the queue is only in the dealer's log: \"waits for a seat\". If no table is \
         left, the dealer ends the game."
    )
}

fn rushed(waited: Duration) -> String {
    format!(
        "The dealer does not wait for your answer: it continues after {}. Such dealers are made for programs; leave \
         with Q and use --best.",
        time_in_words(waited)
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

/// The dots of a braille cell are two columns wide.
const DOTS: usize = 2;

/// The line shows a round per dot.
fn draw_bankroll(bankroll: &std::collections::VecDeque<i64>, palette: Palette, area: Rect, buffer: &mut Buffer) {
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
    // At least one dot per round.
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

const TEXT: usize = 58;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    Never,
    Possible,
    Joining,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Closing<'a> {
    /// `None` if the dealer simply ended the game.
    pub(crate) reason: Option<&'a str>,
    pub(crate) ranked: bool,
    pub(crate) again: Again,
    pub(crate) ignores_keys: bool,
}

/// Adds a capital and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", rest.as_str())
}

/// Draws the ranks in the first area with enough room, or in the last. There are two, since each player plays against
/// the dealer alone.
fn draw_closing(game: &Game, closing: &Closing<'_>, areas: [Rect; 2], buffer: &mut Buffer) {
    let Score { wins, pushes, losses, busts } = game.session.score;
    let lost = losses + busts;
    let rank = |own: u64, other: u64| if own >= other { 1 } else { 2 };
    let row = |name: &str, own, other, mine| Rank {
        rank: rank(own, other),
        name: name.to_owned(),
        score: format!("{own} won"),
        value: u32::try_from(own).unwrap_or(u32::MAX),
        own: mine,
    };
    let mut ranks = [row(game.client().name().as_str(), wins, lost, true), row("the dealer", lost, wins, false)];
    ranks.sort_by_key(|row| row.rank);
    let mut text: Vec<String> = closing.reason.map(sentence).into_iter().collect();
    text.extend(last_hand(game));
    let forfeits = match game.session.forfeits {
        0 => String::new(),
        count => format!(", {count} forfeited"),
    };
    text.push(format!("Bankroll {:+}; {busts} bust, {pushes} pushed{forfeits}.", game.session.score.bankroll()));
    text.extend(game.coach.summary().map(|judgement| format!("{judgement}.")));
    let [below, whole] = areas;
    let width = TEXT.min(usize::from(whole.width).saturating_sub(4));
    let lines: Vec<&str> = text.iter().flat_map(|text| wrap(text, width)).collect();
    let ranking = Ranking::new("Game over", &ranks, &lines);
    if ranking.size().height <= below.height {
        // Remains of lines beside the box would be hard to read.
        Clear.render(below, buffer);
        ranking.render(below, buffer);
    } else {
        ranking.render(whole, buffer);
    }
}

fn last_hand(game: &Game) -> Option<String> {
    let outcome = game.outcome()?;
    if game.verdict().is_none() {
        // The hand on the table belongs to the next round, which has no result.
        return Some(outcome);
    }
    let own: Vec<String> = game.hand().cards().iter().map(|&card| short(card)).collect();
    let upcard = game.upcard().map(|card| format!(" against {}", short(card))).unwrap_or_default();
    Some(format!("{outcome} The hand was {} ({}){upcard}.", own.join(" "), total_in_words(game.hand())))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum CardSize {
    Plain,
    Framed,
    Large,
}

impl CardSize {
    /// The largest size up to `self` that fits.
    fn fitting(self, cards: usize, columns: u16) -> Self {
        let fits = |size: Self| cards * usize::from(size.columns()) <= usize::from(columns);
        [Self::Large, Self::Framed].into_iter().find(|&size| size <= self && fits(size)).unwrap_or(Self::Plain)
    }

    const fn columns(self) -> u16 {
        match self {
            Self::Plain => 5,
            Self::Framed => 6,
            Self::Large => 11,
        }
    }
}

/// `hidden` cards are face down.
fn picture(cards: &[Card], hidden: usize, size: CardSize, palette: Palette) -> Vec<Line<'static>> {
    let shown = cards.iter().map(|&card| Face::of(card, palette));
    let faces: Vec<Face> = shown.chain(std::iter::repeat_n(Face::hidden(), hidden)).collect();
    match size {
        CardSize::Plain => {
            let spans = faces.iter().flat_map(|face| [face.span(face.whole()), Span::raw("  ")]);
            vec![std::iter::once(Span::raw("  ")).chain(spans).collect()]
        }
        CardSize::Framed => {
            let row = |edge: &str| Line::from(edge.repeat(faces.len()));
            let middle = faces.iter().flat_map(|face| {
                let whole = face.whole();
                // Suits are one column wide, but several bytes long.
                let blanks = " ".repeat(4_usize.saturating_sub(whole.chars().count()));
                [Span::raw(format!("│{blanks}")), face.span(whole), Span::raw("│")]
            });
            vec![row("┌────┐"), middle.collect(), row("└────┘")]
        }
        CardSize::Large => {
            let edge = |edge: &str| Line::from(edge.repeat(faces.len()));
            let row = |text: fn(&Face) -> String| {
                let cells = faces.iter().flat_map(|face| [Span::raw("│"), face.span(text(face)), Span::raw("│")]);
                cells.collect::<Line<'static>>()
            };
            let blank = || row(|_| " ".repeat(9));
            vec![
                edge("┌─────────┐"),
                row(|face| format!(" {:<8}", face.rank)),
                blank(),
                row(|face| format!("{:^9}", face.suit)),
                blank(),
                row(|face| format!("{:>8} ", face.rank)),
                edge("└─────────┘"),
            ]
        }
    }
}

fn short(card: Card) -> String {
    Face::of(card, Palette::MONO).whole()
}

#[derive(Clone)]
struct Face {
    rank: String,
    suit: char,
    style: Style,
}

impl Face {
    fn of(card: Card, palette: Palette) -> Self {
        let rank = match card.rank() {
            1 => "A".to_owned(),
            11 => "J".to_owned(),
            12 => "Q".to_owned(),
            13 => "K".to_owned(),
            number => number.to_string(),
        };
        let suit = match card.suit() {
            Suit::Clubs => '♣',
            Suit::Diamonds => '♦',
            Suit::Hearts => '♥',
            Suit::Spades => '♠',
        };
        Self { rank, suit, style: style(card, palette) }
    }

    fn hidden() -> Self {
        Self { rank: "?".to_owned(), suit: '?', style: Style::new().add_modifier(Modifier::DIM) }
    }

    fn whole(&self) -> String {
        format!("{}{}", self.rank, self.suit)
    }

    fn span(&self, text: String) -> Span<'static> {
        Span::styled(text, self.style)
    }
}

fn style(card: Card, palette: Palette) -> Style {
    match card.suit() {
        Suit::Diamonds | Suit::Hearts => palette.style(Color::LightRed, Modifier::BOLD),
        Suit::Clubs | Suit::Spades => Style::new().add_modifier(Modifier::BOLD),
    }
}

#[cfg(test)]
mod card_tests {
    use super::*;

    #[test]
    fn cards_are_as_large_as_fits() {
        assert_eq!(CardSize::Large.fitting(2, 80), CardSize::Large);
        assert_eq!(CardSize::Large.fitting(8, 80), CardSize::Framed);
        assert_eq!(CardSize::Framed.fitting(2, 80), CardSize::Framed);
        assert_eq!(CardSize::Large.fitting(14, 80), CardSize::Plain);
        let (ten, red) = (Card::new(10).unwrap(), Card::new(14).unwrap());
        let lines = picture(&[ten, red], 1, CardSize::Large, Palette::MONO);
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "┌─────────┐┌─────────┐┌─────────┐",
                "│ 10      ││ A       ││ ?       │",
                "│         ││         ││         │",
                "│    ♣    ││    ♦    ││    ?    │",
                "│         ││         ││         │",
                "│      10 ││       A ││       ? │",
                "└─────────┘└─────────┘└─────────┘",
            ]
        );
    }

    #[test]
    fn red_suits_are_red_and_bold_without_colour() {
        let card = |number, palette| style(Card::new(number).unwrap(), palette);
        assert_eq!((card(14, Palette::COLOUR).fg, card(1, Palette::COLOUR).fg), (Some(Color::LightRed), None));
        assert_eq!(card(14, Palette::MONO).fg, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Advisor;
    use blackjack::{Card, Dialect, Hand, Name};

    const PLAYING: Scene<'static> = Scene { keys: true, advised: false, left: Some(24), ..Scene::LOOK };
    const DEAL: &str = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, DECISION";

    fn lines(buffer: &Buffer) -> Vec<String> {
        let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
        buffer
            .content
            .chunks(usize::from(buffer.area.width.max(1)))
            .map(|cells| row(cells).trim_end().to_owned())
            .collect()
    }

    fn drawn(game: &Game, scene: &Scene<'_>, width: u16, height: u16) -> Vec<String> {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        View::new(Palette::MONO).render_scene(game, scene, buffer.area, &mut buffer);
        lines(&buffer)
    }

    fn has(lines: &[String], text: &str) -> bool {
        lines.iter().any(|line| line.contains(text))
    }

    #[test]
    fn watcher_sees_cards_odds_and_advice_without_keys() {
        assert_eq!(
            drawn(&Game::after(DEAL), &Scene::LOOK, 76, 17),
            [
                "Ann: 0 won, 0 pushed, 0 lost, 0 bust, mean +0.000",
                "",
                "Round 1. The dealer shows",
                "┌────┐┌────┐",
                "│  3♦││  ??│",
                "└────┘└────┘",
                "You have 16",
                "┌────┐┌────┐",
                "│ 10♣││  6♥│",
                "└────┘└────┘",
                "",
                "Hit    win  24.5 %  push   4.8 %  lose  70.6 %  reward -0.461",
                "Stand  win  37.5 %  push   0.0 %  lose  62.5 %  reward -0.250  <- best play",
                "",
                "",
                "",
                ""
            ]
        );
    }

    #[test]
    fn advice_is_hidden_until_it_is_asked_for() {
        let asked = Game::after(DEAL);
        let hidden = drawn(&asked, &PLAYING, 80, 24);
        assert!(!has(&hidden, "the table"), "{hidden:#?}");
        assert_eq!(hidden[0], " GAME OF 21   Ann: 0 won, 0 pushed, 0 lost, 0 bust, mean +0.000           online");
        assert_eq!(hidden[23], "H hit   S stand   A advice   ? keys   Q leave                24 s left to answer");
        let shown = drawn(&asked, &Scene { advised: true, ..PLAYING }, 80, 24);
        assert!(has(&shown, "<- best play") && !has(&shown, "A advice"), "{shown:#?}");
    }

    #[test]
    fn a_decision_is_graded_and_a_result_stands_out() {
        let after = Game::after(&format!("{DEAL}, HIT, CARD Ten of Spades, RESULT BUST"));
        let result = drawn(&after, &Scene { hold: Some(Hold::Until(Instant::now())), left: None, ..PLAYING }, 80, 24);
        for said in [
            "Round 1: you are bust with 26.",
            "Hit was wrong: standing is worth 0.21 more.",
            "Bankroll -1 after 1 round",
            "0 of 1 decision right; mistakes cost 0.21 a round.",
            "Enter continue   ? keys   Q leave",
        ] {
            assert!(has(&result, said), "{said} is not in\n{result:#?}");
        }
        let view = View::new(Palette::COLOUR);
        assert_eq!(view.style(Some(Verdict::Bust)).fg, Some(Color::LightRed));
        assert_eq!(view.style(Some(Verdict::Win)).fg, Some(Color::LightGreen));
        let next = Game::after(&format!("{DEAL}, STAND, RESULT WIN, {DEAL}"));
        assert!(!has(&drawn(&next, &PLAYING, 80, 24), "was right"));
    }

    #[test]
    fn a_practice_dealer_shows_its_hand() {
        let mut after = Game::after(&format!("{DEAL}, STAND, RESULT LOOSE"));
        let mut dealer = Hand::new();
        for number in [30, 16] {
            dealer.push(Card::new(number).unwrap());
        }
        after.revealed = Some(dealer);
        let scene = Scene { hold: Some(Hold::Key), left: None, ..PLAYING };
        let lines = drawn(&after, &scene, 80, 24);
        assert!(
            has(&lines, "The dealer has 7") && has(&lines, "│  4♥││  3♦│") && has(&lines, "Enter next hand"),
            "{lines:#?}"
        );
    }

    #[test]
    fn small_window_has_no_frames_and_too_small_window_has_a_message() {
        let small = drawn(&Game::after(DEAL), &Scene { advised: true, ..PLAYING }, 68, 10);
        assert_eq!([&small[3], &small[5]], ["  3♦  ??", "  10♣  6♥"]);
        assert!(has(&small, "reward -0.250") && small[9].starts_with("H hit"), "{small:#?}");
        assert!(drawn(&Game::after(DEAL), &PLAYING, 40, 9).concat().contains("needs 10"));
        let closing = Closing { reason: Some("x"), ranked: true, again: Again::Possible, ignores_keys: false };
        for (width, height) in [(0, 0), (1, 1), (68, 10), (69, 11), (80, 24), (120, 40), (300, 100)] {
            for closing in [None, Some(closing)] {
                drawn(&Game::after("BEGIN, CARD Ten of Clubs"), &Scene { closing, ..PLAYING }, width, height);
            }
        }
    }

    #[test]
    fn decision_is_drawn_whole_at_common_sizes() {
        for (width, height, hidden, cards) in
            [(80, 24, "│  3♦││  ??│", "│ 10♣││  6♥│"), (120, 40, "│ 3       ││ ?       │", "│ 10      ││ 6       │")]
        {
            let lines = drawn(&Game::after(DEAL), &Scene { advised: true, ..PLAYING }, width, height);
            assert!(lines[0].starts_with(" GAME OF 21   Ann: 0 won") && lines[0].ends_with("online"), "{lines:#?}");
            let last = usize::from(height) - 1;
            assert!(lines[last].starts_with("H hit   S stand   ? keys   Q leave"), "{lines:#?}");
            assert!(lines[last].ends_with("24 s left to answer"), "{lines:#?}");
            let row = |text: &str| lines.iter().position(|line| line.contains(text));
            let order =
                ["Round 1. The dealer shows", hidden, "You have 16", cards, "reward -0.461", "<- best play"].map(row);
            assert!(order.is_sorted() && order.iter().all(Option::is_some), "{order:?} {lines:#?}");
            assert!(lines.iter().all(|line| line.chars().count() <= usize::from(width)), "{lines:#?}");
        }
    }

    #[test]
    fn first_screen_has_the_common_header_and_footer() {
        let game = Game::new(Name::new(b"Ann").unwrap(), Dialect::Text, Advisor::best());
        for (width, height) in [(80, 24), (120, 40)] {
            let lines = drawn(&game, &Scene { left: None, waited: Some(1), ..PLAYING }, width, height);
            assert!(lines[0].starts_with(" GAME OF 21   ") && lines[0].ends_with("  waiting"), "{lines:#?}");
            assert_eq!(lines[usize::from(height) - 1], "? keys   Q leave");
        }
    }

    #[test]
    fn a_large_window_has_large_cards_in_its_middle() {
        let lines = drawn(&Game::after(DEAL), &PLAYING, 200, 60);
        let top = lines.iter().position(|line| line.contains("Round 1. The dealer shows")).unwrap();
        assert!((12..30).contains(&top), "row {top}");
        assert_eq!(lines[top + 1].trim_start(), "┌─────────┐┌─────────┐");
        assert_eq!(lines[top + 1].find('┌'), Some(50));
    }

    #[test]
    fn waiting_player_sees_the_waiting_time() {
        let game = Game::new(Name::new(b"Ann").unwrap(), Dialect::Text, Advisor::best());
        let lines = drawn(&game, &Scene { left: None, waited: Some(12), ..PLAYING }, 80, 24);
        assert!(has(&lines, "12 s so far") && lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
        assert_eq!(lines[23], "? keys   Q leave");
    }

    #[test]
    fn warning_about_missing_zero_byte_replaces_the_waiting_time() {
        let mut game = Game::new(Name::new(b"Ann").unwrap(), Dialect::Text, Advisor::best());
        game.session.receive(b"BEGINCARD Ten of Clubs").unwrap();
        let unended = game.session.unended().unwrap();
        let scene = Scene { left: None, waited: Some(12), unended: Some(&unended), ..PLAYING };
        let lines = drawn(&game, &scene, 80, 24);
        assert!(has(&lines, "Warning: the dealer sent 'BEGINCARD Ten of Clubs' without the zero byte"), "{lines:#?}");
        assert!(!has(&lines, "so far"), "{lines:#?}");
        game.session.receive(b"\0").unwrap_err();
    }

    #[test]
    fn impatient_dealer_is_reported() {
        let scene = Scene { rushed: Some(Duration::from_millis(26)), ..PLAYING };
        let lines = drawn(&Game::after(DEAL), &scene, 80, 24);
        assert!(has(&lines, "The dealer does not wait for your answer: it continues after 0.03 s."), "{lines:#?}");
    }

    #[test]
    fn result_of_a_game_is_drawn_over_the_cards() {
        let game = Game::after(&format!("{DEAL}, STAND, RESULT WIN, QUIT"));
        let closing = Closing { reason: None, ranked: true, again: Again::Possible, ignores_keys: false };
        let scene = |closing| Scene { left: None, closing: Some(closing), ..PLAYING };
        let lines = drawn(&game, &scene(closing), 80, 24);
        for said in [
            "┌ Game over ─",
            "> 1. Ann         1 won ★",
            "  2. the dealer  0 won",
            "Round 1: you win with 16. The hand was 10♣ 6♥ (16)",
            "3♦.",
            "Bankroll +1; 0 bust, 0 pushed.",
            "1 of 1 decision right; mistakes cost 0.00 a round.",
        ] {
            assert!(has(&lines, said), "{said} is not in\n{lines:#?}");
        }
        assert_eq!(lines[23], "Enter play again   Tab cards   Q leave");
        let cards = drawn(&game, &scene(Closing { ranked: false, ..closing }), 80, 24);
        assert!(!has(&cards, "Game over") && has(&cards, "│ 10♣││  6♥│") && cards[23].contains("Tab result"));
        assert_eq!(drawn(&game, &scene(Closing { ignores_keys: true, ..closing }), 80, 24)[23], "");
        assert!(drawn(&game, &scene(Closing { again: Again::Joining, ..closing }), 80, 24)[23].ends_with("joining"));
        let reason = Closing { reason: Some("you did not answer"), ..closing };
        assert!(has(&drawn(&game, &scene(reason), 80, 24), "You did not answer."));
    }
}
