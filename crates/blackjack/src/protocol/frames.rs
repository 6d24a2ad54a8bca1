//! All messages of a dealer as they go over the wire.

use super::{BEGIN, CARD, DECISION, DealerMessage, Dialect, QUIT, RESULT, UPCARD};
use crate::{cards::DECK, verdict::Verdict};

macro_rules! texts {
    ($word:literal: $($suit:literal)*) => { [$(
        concat!($word, " Ace of ", $suit, "\0"), concat!($word, " Two of ", $suit, "\0"),
        concat!($word, " Three of ", $suit, "\0"), concat!($word, " Four of ", $suit, "\0"),
        concat!($word, " Five of ", $suit, "\0"), concat!($word, " Six of ", $suit, "\0"),
        concat!($word, " Seven of ", $suit, "\0"), concat!($word, " Eight of ", $suit, "\0"),
        concat!($word, " Nine of ", $suit, "\0"), concat!($word, " Ten of ", $suit, "\0"),
        concat!($word, " Jack of ", $suit, "\0"), concat!($word, " Queen of ", $suit, "\0"),
        concat!($word, " King of ", $suit, "\0"),
    )*] };
}

static CARD_TEXTS: [&str; DECK] = texts!("CARD": "Clubs" "Diamonds" "Hearts" "Spades");
static UPCARD_TEXTS: [&str; DECK] = texts!("DEALER": "Clubs" "Diamonds" "Hearts" "Spades");
static CARD_BYTES: [[u8; 6]; DECK] = pairs(CARD);
static UPCARD_BYTES: [[u8; 6]; DECK] = pairs(UPCARD);

// A kind with each card's number, 1 to 52.
const fn pairs(kind: u8) -> [[u8; 6]; DECK] {
    let mut pairs = [[0, 0, 0, 2, kind, 0]; DECK];
    let mut number: u8 = 1;
    while number as usize <= DECK {
        pairs[number as usize - 1][5] = number;
        number += 1;
    }
    pairs
}

/// The bytes of a message.
pub(super) const fn of(message: DealerMessage, dialect: Dialect) -> &'static [u8] {
    match dialect {
        Dialect::Text => match message {
            DealerMessage::Begin => b"BEGIN\0",
            DealerMessage::Card(card) => CARD_TEXTS[card.number() as usize - 1].as_bytes(),
            DealerMessage::Upcard(card) => UPCARD_TEXTS[card.number() as usize - 1].as_bytes(),
            DealerMessage::Decision => b"DECISION\0",
            DealerMessage::Result(Verdict::Win) => b"RESULT WIN\0",
            DealerMessage::Result(Verdict::Lose) => b"RESULT LOOSE\0",
            DealerMessage::Result(Verdict::Bust) => b"RESULT BUST\0",
            DealerMessage::Result(Verdict::Push) => b"RESULT PUSH\0",
            DealerMessage::Quit => b"QUIT\0",
        },
        Dialect::Binary => match message {
            DealerMessage::Begin => &[0, 0, 0, 1, BEGIN],
            DealerMessage::Card(card) => &CARD_BYTES[card.number() as usize - 1],
            DealerMessage::Upcard(card) => &UPCARD_BYTES[card.number() as usize - 1],
            DealerMessage::Decision => &[0, 0, 0, 1, DECISION],
            DealerMessage::Result(Verdict::Win) => &[0, 0, 0, 2, RESULT, 1],
            DealerMessage::Result(Verdict::Lose) => &[0, 0, 0, 2, RESULT, 2],
            DealerMessage::Result(Verdict::Bust) => &[0, 0, 0, 2, RESULT, 3],
            DealerMessage::Result(Verdict::Push) => &[0, 0, 0, 2, RESULT, 4],
            DealerMessage::Quit => &[0, 0, 0, 1, QUIT],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cards::Card;
    use std::string::ToString;

    #[test]
    fn each_card_is_where_its_number_says() {
        for card in Card::all() {
            for message in [DealerMessage::Card(card), DealerMessage::Upcard(card)] {
                let text = of(message, Dialect::Text);
                assert_eq!(text, [message.to_string().as_bytes(), &[0]].concat());
                assert_eq!(DealerMessage::parse_text(&text[..text.len() - 1]), Ok(message));
                assert_eq!(DealerMessage::parse_binary(&of(message, Dialect::Binary)[4..]), Ok(message));
            }
        }
    }
}
