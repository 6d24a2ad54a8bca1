//! Pictures of cards.

use blackjack::{Card, cards::Suit};
use ratatui::{
    style::{Color, Modifier, Style},
    text::{Line, Span},
};
use termkit::Palette;

/// How large cards are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Size {
    /// One line, without a frame.
    Plain,
    /// Rank and suit in a frame.
    Framed,
    /// As on a table.
    Large,
}

impl Size {
    /// The largest size in which so many cards fit so many columns, up to this one.
    pub(super) fn fitting(self, cards: usize, columns: u16) -> Self {
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

/// A row of cards, and behind them so many that lie face down.
pub(super) fn picture(cards: &[Card], hidden: usize, size: Size, palette: Palette) -> Vec<Line<'static>> {
    let shown = cards.iter().map(|&card| Face::of(card, palette));
    let faces: Vec<Face> = shown.chain(std::iter::repeat_n(Face::hidden(), hidden)).collect();
    match size {
        Size::Plain => {
            let spans = faces.iter().flat_map(|face| [face.span(face.whole()), Span::raw("  ")]);
            vec![std::iter::once(Span::raw("  ")).chain(spans).collect()]
        }
        Size::Framed => {
            let row = |edge: &str| Line::from(edge.repeat(faces.len()));
            let middle = faces.iter().flat_map(|face| {
                let whole = face.whole();
                // The suits are one column wide, though not one byte long.
                let blanks = " ".repeat(4_usize.saturating_sub(whole.chars().count()));
                [Span::raw(format!("│{blanks}")), face.span(whole), Span::raw("│")]
            });
            vec![row("┌────┐"), middle.collect(), row("└────┘")]
        }
        Size::Large => {
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

/// A card in two words.
pub(super) fn short(card: Card) -> String {
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
mod tests {
    use super::*;

    #[test]
    fn cards_are_as_large_as_fits() {
        assert_eq!(Size::Large.fitting(2, 80), Size::Large);
        assert_eq!(Size::Large.fitting(8, 80), Size::Framed);
        assert_eq!(Size::Framed.fitting(2, 80), Size::Framed);
        assert_eq!(Size::Large.fitting(14, 80), Size::Plain);
        let (ten, red) = (Card::new(10).unwrap(), Card::new(14).unwrap());
        let lines = picture(&[ten, red], 1, Size::Large, Palette::MONO);
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
