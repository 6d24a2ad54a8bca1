//! What is worth a mark on a timeline: what a game's state shows before and after an arrival.

use std::time::Duration;

use mastermind::{
    protocol::HowOver,
    view::{Board, Line},
};
use netcore::{Protocol, Recorded};

/// How long a message counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// Until the next round.
    ForItsRound,
    /// Until the end of the match: the result of a round.
    ForEver,
    /// Until the next round, which it is the first message of.
    AsTheFirst,
}

/// An engine whose matches can be shown again.
pub(crate) trait Marked: Recorded<Protocol: Protocol<Decoder: Sync>> + Clone + Send + Sync + 'static {
    /// What is compared.
    type Probe;

    /// Whether a match has rounds, of which the engine can tell only the present one to a page that begins anywhere.
    const HAS_ROUNDS: bool = false;

    /// The present state.
    fn probe(&self) -> Self::Probe;

    /// What happened between two states, as kinds and words.
    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<(&'static str, String)>;

    /// What a message means for pages that begin after it, in a game that [has rounds](Self::HAS_ROUNDS).
    fn lasts(_frame: &bytes::Bytes) -> Lasts {
        Lasts::ForItsRound
    }

    /// The day of the puzzle of a match that begins at this time of its room, in days since 1970, if it has one.
    fn day(_setup: &Self::Setup, _begins: Duration) -> Option<u32> {
        None
    }

    /// A message as it is sent over a WebSocket, in case it was sent in another form.
    fn frame(bytes: &bytes::Bytes) -> bytes::Bytes {
        bytes.clone()
    }
}

impl Marked for nuggets::Server {
    // Name, purse and place of each player.
    type Probe = Vec<(String, u32, Option<usize>)>;

    fn probe(&self) -> Self::Probe {
        let player = |player: &nuggets::game::Player| {
            (player.name.to_string(), player.purse, player.cell.map(nuggets::Cell::index))
        };
        self.game().players().iter().map(player).collect()
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<(&'static str, String)> {
        let mut changes = vec![];
        let both = || before.iter().zip(after);
        for ((_, had, _), (name, has, _)) in both().filter(|(before, after)| after.1 > before.1) {
            changes.push(("gold", format!("{name}: {} nuggets", has - had)));
        }
        for (index, (was, is)) in both().enumerate().filter(|(_, (was, is))| was.2 != is.2) {
            let others = both().skip(index + 1);
            // Two that stand where the other stood.
            let other =
                others.filter(|(_, other)| other.2.is_some() && other.2 == was.2).find(|(other, _)| other.2 == is.2);
            if let Some((_, (name, ..))) = other {
                changes.push(("swap", format!("{} and {name} swap places", is.0)));
            }
        }
        changes
    }
}

impl Marked for robots::Server {
    // The number of deaths of each robot.
    type Probe = Vec<(String, u32)>;

    fn probe(&self) -> Self::Probe {
        let names = self.players().values().map(|player| player.name.to_string());
        let robots = self.game().map(robots::Game::robots).unwrap_or_default();
        names.zip(robots.iter().map(|robot| robot.score)).collect()
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<(&'static str, String)> {
        let both = before.iter().zip(after);
        let died = both.filter(|(before, after)| after.1 > before.1);
        died.map(|(_, (name, _))| ("death", format!("{name} is destroyed"))).collect()
    }
}

impl Marked for blackjack::Server {
    // The rounds of each table that are over.
    type Probe = Vec<(u32, u32)>;

    const HAS_ROUNDS: bool = true;

    fn probe(&self) -> Self::Probe {
        let rounds = |table: &blackjack::Table| (table.number(), table.game().map_or(0, blackjack::Game::played));
        self.tables().map(rounds).collect()
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<(&'static str, String)> {
        let is_over = |(table, rounds): &&(u32, u32)| before.iter().any(|(other, had)| other == table && had < rounds);
        after.iter().filter(is_over).map(|(_, rounds)| ("round", format!("round {rounds} is over"))).collect()
    }

    fn lasts(frame: &bytes::Bytes) -> Lasts {
        if frame.starts_with(b"BEGIN") {
            Lasts::AsTheFirst
        } else if frame.starts_with(b"RESULT") {
            Lasts::ForEver
        } else {
            Lasts::ForItsRound
        }
    }

    fn frame(bytes: &bytes::Bytes) -> bytes::Bytes {
        use blackjack::protocol::{DealerDecoder, Dialect};
        // A binary message begins with its length, whose first byte is zero; no text does.
        if bytes.first() != Some(&0) {
            return bytes.clone();
        }
        let decoded = DealerDecoder::new(Dialect::Binary).decode_whole(bytes);
        decoded.map_or_else(|_| bytes.clone(), |message| message.to_bytes(Dialect::Text))
    }
}

impl Marked for mastermind::Server {
    // Of each player who has a game: the name, the number of the game, what took turns, and how it is over.
    type Probe = Vec<(String, u32, Vec<Line>, Option<HowOver>)>;

    fn probe(&self) -> Self::Probe {
        let game = |(name, board): (&mastermind::Name, Option<Board>)| {
            let Board { number, lines, over, .. } = board?;
            Some((name.to_string(), number, lines, over.map(|over| over.how)))
        };
        self.boards().filter_map(game).collect()
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<(&'static str, String)> {
        let mut changes = vec![];
        for (name, number, lines, how) in after {
            let known = before.iter().find(|(other, game, ..)| other == name && game == number);
            let (seen, was) = known.map_or((0, None), |(_, _, lines, how)| (lines.len(), *how));
            for line in lines.iter().skip(seen) {
                changes.push(match line {
                    Line::Row { feedback, .. } => ("guess", format!("{name}: {feedback}")),
                    Line::Lifeline { lifeline, .. } => ("lifeline", format!("{name} uses {lifeline}")),
                });
            }
            if let Some(how) = how.filter(|_| was.is_none()) {
                changes.push(("over", format!("{name}: {}", how.word())));
            }
        }
        changes
    }

    fn day(setup: &Self::Setup, begins: Duration) -> Option<u32> {
        const DAY: u64 = 86_400;
        let first = setup.first_day?;
        let later = begins.checked_sub(first.lasts).map_or(0, |since| since.as_secs() / DAY + 1);
        Some(first.day.saturating_add(u32::try_from(later).unwrap_or(u32::MAX)))
    }

    fn frame(bytes: &bytes::Bytes) -> bytes::Bytes {
        // Over a stream a line feed ends a message.
        bytes.strip_suffix(b"\n").map_or_else(|| bytes.clone(), |line| bytes.slice_ref(line))
    }
}
