//! All messages of a dealer in their wire form.

use super::{BEGIN, CARD, DECISION, DealerMessage, Dialect, QUIT, RESULT, UPCARD};
use crate::{
    cards::{DECK, names},
    verdict::Verdict,
};

static CARD_TEXTS: [&str; DECK] = names!("CARD ", "\0");
static UPCARD_TEXTS: [&str; DECK] = names!("DEALER ", "\0");
static CARD_BYTES: [[u8; 6]; DECK] = pairs(CARD);
static UPCARD_BYTES: [[u8; 6]; DECK] = pairs(UPCARD);

const fn pairs(kind: u8) -> [[u8; 6]; DECK] {
    let mut pairs = [[0, 0, 0, 2, kind, 0]; DECK];
    let mut number: u8 = 1;
    while number as usize <= DECK {
        pairs[number as usize - 1][5] = number;
        number += 1;
    }
    pairs
}

pub(super) const fn text(message: DealerMessage) -> &'static str {
    match message {
        DealerMessage::Begin => "BEGIN\0",
        DealerMessage::Card(card) => CARD_TEXTS[card.number() as usize - 1],
        DealerMessage::Upcard(card) => UPCARD_TEXTS[card.number() as usize - 1],
        DealerMessage::Decision => "DECISION\0",
        DealerMessage::Result(Verdict::Win) => "RESULT WIN\0",
        DealerMessage::Result(Verdict::Lose) => "RESULT LOOSE\0",
        DealerMessage::Result(Verdict::Bust) => "RESULT BUST\0",
        DealerMessage::Result(Verdict::Push) => "RESULT PUSH\0",
        DealerMessage::Quit => "QUIT\0",
    }
}

pub(super) const fn of(message: DealerMessage, dialect: Dialect) -> &'static [u8] {
    match (dialect, message) {
        (Dialect::Text, _) => text(message).as_bytes(),
        (Dialect::Binary, DealerMessage::Begin) => &[0, 0, 0, 1, BEGIN],
        (Dialect::Binary, DealerMessage::Card(card)) => &CARD_BYTES[card.number() as usize - 1],
        (Dialect::Binary, DealerMessage::Upcard(card)) => &UPCARD_BYTES[card.number() as usize - 1],
        (Dialect::Binary, DealerMessage::Decision) => &[0, 0, 0, 1, DECISION],
        (Dialect::Binary, DealerMessage::Result(Verdict::Win)) => &[0, 0, 0, 2, RESULT, 1],
        (Dialect::Binary, DealerMessage::Result(Verdict::Lose)) => &[0, 0, 0, 2, RESULT, 2],
        (Dialect::Binary, DealerMessage::Result(Verdict::Bust)) => &[0, 0, 0, 2, RESULT, 3],
        (Dialect::Binary, DealerMessage::Result(Verdict::Push)) => &[0, 0, 0, 2, RESULT, 4],
        (Dialect::Binary, DealerMessage::Quit) => &[0, 0, 0, 1, QUIT],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cards::Card;

    #[test]
    fn card_number_is_its_index() {
        for card in Card::all() {
            for message in [DealerMessage::Card(card), DealerMessage::Upcard(card)] {
                assert_eq!(DealerMessage::parse_text(std::format!("{message}").as_bytes()), Ok(message));
                assert_eq!(DealerMessage::parse_binary(&of(message, Dialect::Binary)[4..]), Ok(message));
            }
        }
    }
}
