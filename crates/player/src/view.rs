//! What the screen shows: how it went so far, the cards, the odds and the table's advice.

use blackjack::{Action, Card, cards::Suit};
use ratatui::{
    buffer::Buffer,
    layout::{Rect, Size},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Paragraph, Widget},
};
use termkit::{Overlay, Palette, StatusLine, TooSmall};

use crate::game::{Game, odds_in_words};

/// The least columns and rows; with fewer rows than [`ROOMY`] cards have no frames.
const SMALLEST: Size = Size::new(68, 9);
const ROOMY: u16 = 15;
/// Columns of a card with its frame, and of the longest hand without one.
const CARD: u16 = 6;

const KEYS: &[(&str, &str)] = &[
    ("h", "hit: take a card"),
    ("s", "stand: take no more"),
    ("a", "do as the table would"),
    ("q", "leave; a hand that is not played to its end is lost"),
    ("Ctrl-L", "draw everything again"),
    ("Ctrl-Z", "stop until the shell goes on"),
    ("", ""),
    ("", "Any key goes on."),
];

/// What the person looks at.
#[derive(Debug, Clone)]
pub struct View {
    palette: Palette,
    help: bool,
}

impl View {
    /// A view in these colours.
    pub const fn new(palette: Palette) -> Self {
        Self { palette, help: false }
    }

    /// Shows the keys, or the game again.
    pub const fn toggle_help(&mut self) {
        self.help = !self.help;
    }

    /// Whether the keys are shown.
    pub const fn shows_help(&self) -> bool {
        self.help
    }

    /// Whether a window of this size shows the game.
    pub const fn fits(area: Rect) -> bool {
        area.width >= SMALLEST.width && area.height >= SMALLEST.height
    }

    /// Draws the game. Changes nothing.
    pub fn render(&self, game: &Game, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if !Self::fits(area) {
            return TooSmall::new(SMALLEST, area.as_size()).render(area, buffer);
        }
        StatusLine::new(&game.status()).right("? keys").render(area, buffer);
        let framed = area.height >= ROOMY && game.hand().cards().len() * usize::from(CARD) <= usize::from(area.width);
        let mut lines = vec![Line::from(game.outcome().unwrap_or_default())];
        if game.in_round() {
            lines.push(Line::from(format!("Round {}. The dealer shows", game.round())));
            let hole = usize::from(game.upcard().is_some());
            lines.extend(self.cards(game.upcard().as_slice(), hole, framed));
            lines.push(Line::from(format!("You have {}", game.total())));
            lines.extend(self.cards(game.hand().cards(), 0, framed));
            lines.extend(advice(game));
        } else {
            lines.push(Line::from("Waiting for the dealer."));
        }
        let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
        Paragraph::new(lines).render(below, buffer);
        if self.help {
            Overlay::new("Game of 21", KEYS).render(area, buffer);
        }
    }

    fn cards(&self, cards: &[Card], hidden: usize, framed: bool) -> Vec<Line<'static>> {
        let faces = || {
            let shown = cards.iter().map(|&card| (face(card), self.style(card)));
            shown.chain(std::iter::repeat_n(("??".to_owned(), Style::new().add_modifier(Modifier::DIM)), hidden))
        };
        if !framed {
            let spans = faces().flat_map(|(face, style)| [Span::styled(face, style), Span::raw("  ")]);
            return vec![std::iter::once(Span::raw("  ")).chain(spans).collect()];
        }
        let row = |edge: &str| Line::from(edge.repeat(faces().count()));
        let middle = faces().flat_map(|(face, style)| {
            // The suits are one column wide, though not one byte long.
            let blanks = " ".repeat(4_usize.saturating_sub(face.chars().count()));
            [Span::raw(format!("│{blanks}")), Span::styled(face, style), Span::raw("│")]
        });
        vec![row("┌────┐"), middle.collect(), row("└────┘")]
    }

    fn style(&self, card: Card) -> Style {
        match card.suit() {
            Suit::Diamonds | Suit::Hearts => self.palette.style(Color::LightRed, Modifier::BOLD),
            Suit::Clubs | Suit::Spades => Style::new().add_modifier(Modifier::BOLD),
        }
    }
}

fn face(card: Card) -> String {
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
    format!("{rank}{suit}")
}

fn advice(game: &Game) -> Vec<Line<'static>> {
    let Some(advice) = game.advice() else { return vec![] };
    let line = |action: Action, key: &'static str| {
        let odds = advice.odds.map(|(stand, hit)| if action == Action::Hit { hit } else { stand });
        let advised = advice.action == action;
        let mark = if advised { "<- the table" } else { "" };
        let words = odds.map_or_else(String::new, odds_in_words);
        let style = if advised { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        Line::styled(format!("{key:<6} {words}  {mark}"), style)
    };
    vec![Line::default(), line(Action::Hit, "Hit"), line(Action::Stand, "Stand")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::Advisor;
    use blackjack::{DealerMessage, Dialect, Name};

    fn game(script: &str) -> Game {
        let mut game = Game::new(Name::new(b"Ann").unwrap(), Dialect::Text, Advisor::best());
        for text in script.split(", ") {
            game.hear(DealerMessage::parse_text(text.as_bytes()).unwrap()).unwrap();
        }
        game
    }

    fn drawn(view: &View, game: &Game, width: u16, height: u16) -> Vec<String> {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        view.render(game, buffer.area, &mut buffer);
        let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
        buffer.content.chunks(usize::from(width.max(1))).map(|cells| row(cells).trim_end().to_owned()).collect()
    }

    const DEAL: &str = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, DECISION";

    #[test]
    fn cards_odds_and_advice_are_shown() {
        assert_eq!(
            drawn(&View::new(Palette::MONO), &game(DEAL), 76, 15),
            [
                "Ann: 0 won, 0 pushed, 0 lost, 0 bust, mean +0.000                     ? keys",
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
                "Stand  win  37.5 %  push   0.0 %  lose  62.5 %  reward -0.250  <- the table",
                "",
                ""
            ]
        );
    }

    #[test]
    fn a_small_window_has_no_frames_and_a_smaller_one_says_so() {
        let view = View::new(Palette::MONO);
        let lines = drawn(&view, &game(DEAL), 76, 9);
        assert_eq!([&lines[3], &lines[5]], ["  3♦  ??", "  10♣  6♥"]);
        assert!(lines[8].ends_with("<- the table"), "{lines:#?}");
        assert!(drawn(&view, &game(DEAL), 40, 9).concat().contains("needs 9"));
        for (width, height) in [(0, 0), (1, 1), (68, 9), (300, 100)] {
            drawn(&view, &game("BEGIN, CARD Ten of Clubs"), width, height);
        }
    }

    #[test]
    fn between_rounds_the_outcome_is_shown() {
        let game = game("BEGIN, CARD Ten of Clubs, RESULT WIN");
        let lines = drawn(&View::new(Palette::MONO), &game, 76, 9);
        assert_eq!(lines[1..3], ["Round 1: you win with 10.", "Waiting for the dealer."]);
    }

    #[test]
    fn red_suits_are_red_and_bold_without_colour() {
        let card = |number| View::new(Palette::COLOUR).style(Card::new(number).unwrap());
        assert_eq!((card(14).fg, card(1).fg), (Some(Color::LightRed), None));
        assert_eq!(View::new(Palette::MONO).style(Card::new(14).unwrap()).fg, None);
    }
}
