//! A player without its socket: folds what a dealer says into a hand, and says when to decide.
//!
//! The owner hands over the dealer's messages as they come, decides when [`Event::Asked`] comes back, and sends the answer
//! at once: some dealers wait no longer than 26 ms.
//!
//! A dealer may begin a round anew at any time, and may leave at any time; both are taken as they come. What no dealer of
//! one deck would do, but can be lived with, is an [`Oddity`]. What leaves no sense in a game is a [`PlayerError`].

use thiserror::Error;

use crate::{
    cards::Card,
    hand::{Hand, Points},
    learn::{Choice, Episode},
    policy::{State, StateSpace},
    protocol::{DealerMessage, PlayerMessage},
    round::{Action, Verdict},
};

/// What a message of the dealer means for the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A round has begun.
    Began,
    /// A card came; the next message says more.
    Dealt,
    /// The player is asked: [`Player::decide`].
    Asked,
    /// The round is over.
    Ended {
        /// How.
        verdict: Verdict,
        /// Whether the course of the round makes sense, so that something can be learned from it.
        sound: bool,
    },
    /// What came is strange and changes nothing.
    Ignored,
    /// The dealer has taken leave; nothing more comes.
    Quit,
}

/// Something that a dealer should not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Oddity {
    /// A card that was dealt before in this round.
    #[error("the {0} came twice in one round")]
    Repeated(Card),
    /// A round that began before the last one had its result.
    #[error("a round began before the last one was over; its hand is dropped")]
    Dropped,
    /// A result though no round is on.
    #[error("a result came though no round was on; it is not counted")]
    StrayResult,
    /// A result though no decision was made, or before the hand was played.
    #[error("a result came before the hand was played")]
    EarlyResult,
    /// A result that the hand cannot have.
    #[error("the result is {verdict}, which a hand of {total} cannot have")]
    Impossible {
        /// The result.
        verdict: Verdict,
        /// What the hand counts.
        total: u8,
    },
}

/// What came of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Heard {
    /// What it means.
    pub event: Event,
    /// What is strange about it, for the log.
    pub oddity: Option<Oddity>,
}

/// A message that makes no sense where it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the dealer sent {got} where {expected} was due")]
pub struct PlayerError {
    /// What came.
    pub got: DealerMessage,
    /// What could have come.
    pub expected: &'static str,
}

/// Nobody asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the dealer is not waiting for a decision")]
pub struct NotAsked;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    // Before the first round and between rounds.
    Idle,
    // Waits for the first card, the second, the upcard.
    First,
    Second,
    Upcard,
    // Waits to be asked.
    Between,
    Asked,
    // Has said HIT and waits for the card.
    Hit,
    // Has stood or is bust, and waits for the result.
    Done,
    Over,
}

impl Phase {
    const fn expected(self) -> &'static str {
        match self {
            Self::Idle => "BEGIN or QUIT",
            Self::First | Self::Second | Self::Hit => "CARD",
            Self::Upcard => "DEALER",
            Self::Between => "DECISION",
            Self::Asked => "nothing before the answer",
            Self::Done => "RESULT",
            Self::Over => "nothing after QUIT",
        }
    }
}

/// One player's knowledge of the game.
#[derive(Debug, Clone)]
pub struct Player {
    space: StateSpace,
    phase: Phase,
    hand: Hand,
    upcard: Option<Card>,
    // One bit for each card of the round, by number.
    seen: u64,
    episode: Episode,
}

impl Player {
    /// A player that has joined, and tells states apart as `space` does.
    pub const fn new(space: StateSpace) -> Self {
        Self { space, phase: Phase::Idle, hand: Hand::new(), upcard: None, seen: 0, episode: Episode::new() }
    }

    /// The own hand.
    pub const fn hand(&self) -> &Hand {
        &self.hand
    }

    /// The dealer's card that lies face up, once it does.
    pub const fn upcard(&self) -> Option<Card> {
        self.upcard
    }

    /// The state to decide in; none unless the dealer waits for a decision.
    pub fn state(&self) -> Option<State> {
        let upcard = self.upcard.filter(|_| self.phase == Phase::Asked)?;
        Some(State::of(self.space, self.hand.points(), upcard.value()))
    }

    /// The decisions of the round and which of them count; to be learned from when it ended in a sound way.
    pub const fn episode(&self) -> &Episode {
        &self.episode
    }

    /// Whether a round is begun and not over.
    pub const fn in_round(&self) -> bool {
        !matches!(self.phase, Phase::Idle | Phase::Over)
    }

    /// Takes in a message of the dealer.
    ///
    /// # Errors
    /// [`PlayerError`] if it makes no sense where it came; the player is as it was then.
    pub fn hear(&mut self, message: DealerMessage) -> Result<Heard, PlayerError> {
        let heard = |event| Heard { event, oddity: None };
        match (message, self.phase) {
            (got, Phase::Over) => Err(PlayerError { got, expected: Phase::Over.expected() }),
            (DealerMessage::Quit, _) => {
                self.phase = Phase::Over;
                Ok(heard(Event::Quit))
            }
            (DealerMessage::Begin, was) => {
                *self = Self { phase: Phase::First, ..Self::new(self.space) };
                Ok(Heard { event: Event::Began, oddity: (was != Phase::Idle).then_some(Oddity::Dropped) })
            }
            (DealerMessage::Card(card), Phase::First | Phase::Second | Phase::Hit) => {
                self.hand.push(card);
                self.phase = match self.phase {
                    Phase::First => Phase::Second,
                    Phase::Second => Phase::Upcard,
                    _ if self.hand.points().is_bust() => Phase::Done,
                    _ => Phase::Between,
                };
                Ok(Heard { event: Event::Dealt, oddity: self.see(card) })
            }
            (DealerMessage::Upcard(card), Phase::Upcard) => {
                self.upcard = Some(card);
                self.phase = Phase::Between;
                Ok(Heard { event: Event::Dealt, oddity: self.see(card) })
            }
            (DealerMessage::Decision, Phase::Between) => {
                self.phase = Phase::Asked;
                Ok(heard(Event::Asked))
            }
            (DealerMessage::Result(_), Phase::Idle) => {
                Ok(Heard { event: Event::Ignored, oddity: Some(Oddity::StrayResult) })
            }
            (DealerMessage::Result(verdict), was) => {
                self.phase = Phase::Idle;
                let oddity = self.judge(was, verdict);
                Ok(Heard { event: Event::Ended { verdict, sound: oddity.is_none() }, oddity })
            }
            (got, phase) => Err(PlayerError { got, expected: phase.expected() }),
        }
    }

    /// Decides, and gives the message to send.
    ///
    /// # Errors
    /// [`NotAsked`] unless the dealer waits for a decision.
    pub fn decide(&mut self, choice: Choice) -> Result<PlayerMessage, NotAsked> {
        let state = self.state().ok_or(NotAsked)?;
        self.episode.record(state, choice);
        self.phase = match choice.action {
            Action::Hit => Phase::Hit,
            Action::Stand => Phase::Done,
        };
        Ok(choice.action.into())
    }

    /// What the hand counts.
    pub const fn points(&self) -> Points {
        self.hand.points()
    }

    fn see(&mut self, card: Card) -> Option<Oddity> {
        let bit = 1 << card.number();
        let repeated = self.seen & bit != 0;
        self.seen |= bit;
        repeated.then_some(Oddity::Repeated(card))
    }

    // What is strange about a result. A bust hand may be told BUST or LOOSE, which dealers differ in.
    fn judge(&self, was: Phase, verdict: Verdict) -> Option<Oddity> {
        let bust = self.hand.points().is_bust();
        if was != Phase::Done {
            Some(Oddity::EarlyResult)
        } else if verdict != Verdict::Loose && (verdict == Verdict::Bust) != bust {
            Some(Oddity::Impossible { verdict, total: self.hand.total() })
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qtable::QTable;
    use std::{format, string::String, vec::Vec};

    const HIT: Choice = Choice::sure(Action::Hit);
    const STAND: Choice = Choice::sure(Action::Stand);

    // Plays a script of dealer's messages; `HIT` and `STAND` are the player's answers. Gives what was strange.
    fn play(player: &mut Player, table: &mut QTable, script: &str) -> Result<String, String> {
        let mut odd = Vec::new();
        for line in script.split(", ") {
            match line {
                "HIT" | "STAND" => {
                    let choice = if line == "HIT" { HIT } else { STAND };
                    player.decide(choice).map_err(|error| format!("{error}"))?;
                }
                _ => {
                    let message = DealerMessage::parse_text(line.as_bytes()).expect("a message");
                    let heard = player.hear(message).map_err(|error| format!("{error}"))?;
                    odd.extend(heard.oddity.map(|oddity| format!("{oddity}")));
                    if let Event::Ended { verdict, sound: true } = heard.event {
                        player.episode().teach(table, verdict);
                    }
                }
            }
        }
        Ok(odd.join("; "))
    }

    const DEAL: &str = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, DECISION";

    fn after(script: &str) -> (Result<String, String>, String) {
        let (mut player, mut table) = (Player::new(StateSpace::Coarse), QTable::new(StateSpace::Coarse));
        let odd = play(&mut player, &mut table, &script.replace("DEAL,", &format!("{DEAL},")));
        (odd, table.dump().trim_end().into())
    }

    #[test]
    fn rounds_are_folded_and_learned_from() {
        for (script, learned) in [
            ("DEAL, STAND, RESULT WIN", "16 3 - 0 1.000000 1"),
            ("DEAL, HIT, CARD Nine of Clubs, RESULT BUST", "16 3 -1.000000 1 - 0"),
            ("DEAL, HIT, CARD Nine of Clubs, RESULT LOOSE", "16 3 -1.000000 1 - 0"),
            ("DEAL, HIT, CARD Five of Clubs, DECISION, STAND, RESULT PUSH", "16 3 0.000000 1 - 0\n21 3 - 0 0.000000 1"),
            ("DEAL, STAND, RESULT WIN, DEAL, STAND, RESULT LOOSE, QUIT", "16 3 - 0 0.000000 2"),
        ] {
            assert_eq!(after(script), (Ok(String::new()), learned.into()), "{script}");
        }
    }

    #[test]
    fn what_can_be_lived_with_is_reported_and_teaches_nothing() {
        for (script, told) in [
            ("RESULT WIN", "no round was on"),
            ("RESULT LOSE, RESULT BUST, BEGIN, QUIT", "not counted; a result came though no round"),
            ("BEGIN, RESULT WIN", "before the hand was played"),
            ("DEAL, RESULT WIN", "before the hand was played"),
            ("DEAL, HIT, RESULT BUST", "before the hand was played"),
            ("DEAL, HIT, CARD Nine of Clubs, RESULT WIN", "a hand of 25 cannot have"),
            ("DEAL, STAND, RESULT BUST", "a hand of 16 cannot have"),
            ("DEAL, STAND, BEGIN", "before the last one was over"),
        ] {
            let (odd, learned) = after(script);
            assert!(odd.as_ref().is_ok_and(|odd| odd.contains(told)), "{script}: {odd:?}");
            assert_eq!(learned, "", "{script}");
        }
        let (odd, learned) = after("DEAL, HIT, CARD Ten of Clubs, RESULT BUST");
        assert_eq!(odd, Ok("the Ten of Clubs came twice in one round".into()));
        assert_eq!(learned, "16 3 -1.000000 1 - 0");
    }

    #[test]
    fn the_dealer_may_begin_anew_and_leave_at_any_time() {
        let script = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, DECISION, HIT, \
                      CARD Two of Clubs, DECISION, STAND, RESULT WIN";
        let steps: Vec<&str> = script.split(", ").collect();
        for length in 0..=steps.len() {
            let part = steps[..length].iter().fold(String::new(), |part, step| part + step + ", ");
            let (odd, learned) = after(&format!("{part}QUIT"));
            assert_eq!((odd, learned.is_empty()), (Ok(String::new()), length < steps.len()), "{part}");
            let (odd, learned) = after(&format!("{part}DEAL, STAND, RESULT WIN, QUIT"));
            assert_eq!(odd.map(|odd| odd.is_empty()), Ok(length == 0 || length == steps.len()), "{part}");
            assert!(learned.ends_with("1.000000 1"), "{learned}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for (script, expected) in [
            ("CARD Ten of Clubs", "BEGIN or QUIT"),
            ("DECISION", "BEGIN or QUIT"),
            ("BEGIN, DECISION", "CARD"),
            ("BEGIN, DEALER Ten of Clubs", "CARD"),
            ("BEGIN, CARD Ten of Clubs, CARD Six of Hearts, CARD Two of Clubs", "DEALER"),
            ("BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DECISION", "DEALER"),
            ("DEAL, DECISION", "nothing before the answer"),
            ("DEAL, CARD Two of Clubs", "nothing before the answer"),
            ("DEAL, HIT, DECISION", "CARD"),
            ("DEAL, HIT, CARD Nine of Clubs, DECISION", "RESULT"),
            ("DEAL, STAND, CARD Nine of Clubs", "RESULT"),
            ("DEAL, STAND, DECISION", "RESULT"),
            ("QUIT, BEGIN", "nothing after QUIT"),
            ("QUIT, QUIT", "nothing after QUIT"),
        ] {
            let error = after(script).0.expect_err(script);
            assert!(error.ends_with(&format!("where {expected} was due")), "{script}: {error}");
        }
        assert_eq!(after("BEGIN, HIT").0, Err("the dealer is not waiting for a decision".into()));
        assert_eq!(after("DEAL, STAND, STAND").0, Err("the dealer is not waiting for a decision".into()));
    }

    #[test]
    fn a_dealer_of_aces_alone_is_survived() {
        let mut player = Player::new(StateSpace::Soft);
        let ace = DealerMessage::Card(Card::new(1).unwrap());
        let hear = |player: &mut Player, message| player.hear(message).unwrap().event;
        hear(&mut player, DealerMessage::Begin);
        hear(&mut player, ace);
        hear(&mut player, ace);
        hear(&mut player, DealerMessage::Upcard(Card::new(1).unwrap()));
        let mut hits = 0;
        while player.hear(DealerMessage::Decision).is_ok() {
            player.decide(HIT).unwrap();
            hear(&mut player, ace);
            hits += 1;
        }
        assert_eq!((hits, player.hand().total()), (20, 22));
        let ended = Event::Ended { verdict: Verdict::Bust, sound: true };
        assert_eq!(hear(&mut player, DealerMessage::Result(Verdict::Bust)), ended);
        let mut table = QTable::new(StateSpace::Soft);
        player.episode().teach(&mut table, Verdict::Bust);
        assert_eq!(table.visited().map(|(_, entry)| entry.hit.n).sum::<u64>(), 20);
    }
}
