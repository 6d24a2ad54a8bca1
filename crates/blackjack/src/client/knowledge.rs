//! The state of a player's game, reconstructed from the dealer's messages.

use thiserror::Error;

use crate::{cards::Card, hand::Hand, learn::Episode, policy::StateSpace, protocol::DealerMessage, verdict::Verdict};

/// The effect of a dealer's message on the player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageEffect {
    /// A round has begun.
    Began,
    /// A card was dealt; no decision is due yet.
    Dealt,
    /// A decision is due: call [`Client::decide`](crate::Client::decide).
    DecisionDue,
    /// The round is over.
    Ended {
        /// The result of the hand.
        verdict: Verdict,
        /// The total of the hand.
        total: u8,
        /// The decisions of the round; `None` after an anomaly, or if some were made before the connection was lost.
        lesson: Option<Episode>,
    },
    /// The message was ignored as an anomaly.
    Ignored,
    /// The dealer has ended the game.
    Quit,
}

/// Unexpected behaviour of a dealer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Anomaly {
    /// A card that was dealt before in this round.
    #[error("received the {0} twice in one round")]
    Repeated(Card),
    /// A round that began before the result of the last one.
    #[error("a round began before the end of the last one, whose hand is dropped")]
    Dropped,
    /// A card that was not requested.
    #[error("received a card that was not requested; the round probably began before the connection was lost")]
    Unasked,
    /// A result outside a round.
    #[error("received a result outside a round; it is not counted")]
    StrayResult,
    /// A result before the hand was played.
    #[error("received a result before the hand was played")]
    EarlyResult,
    /// A result that this total cannot have.
    #[error("the result is {0}, which a hand of {1} cannot have")]
    Impossible(Verdict, u8),
}

/// A message of the dealer that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Event {
    /// The message.
    pub message: DealerMessage,
    /// Its effect.
    pub effect: MessageEffect,
    /// The anomaly, for the log.
    pub anomaly: Option<Anomaly>,
}

/// A message that is not valid in this phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the dealer sent {got}, expected {expected}")]
pub struct UnexpectedMessage {
    /// The received message.
    pub got: DealerMessage,
    /// The messages that are valid in this phase.
    pub expected: &'static str,
}

/// No decision is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the dealer is not waiting for a decision")]
pub struct NoDecisionDue;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    First,
    Second,
    Upcard,
    Between,
    Asked,
    Hit,
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

#[derive(Debug, Clone)]
pub(super) struct Knowledge {
    pub(super) space: StateSpace,
    pub(super) phase: Phase,
    pub(super) hand: Hand,
    pub(super) upcard: Option<Card>,
    // One bit for each card of the round, by number.
    seen: u64,
    pub(super) episode: Episode,
    // Earlier decisions of this round are unknown, so it cannot be learned from.
    resumed: bool,
}

impl Knowledge {
    pub(super) fn new(space: StateSpace) -> Self {
        Self {
            space,
            phase: Phase::Idle,
            hand: Hand::new(),
            upcard: None,
            seen: 0,
            episode: Episode::default(),
            resumed: false,
        }
    }

    /// On failure the state is unchanged.
    pub(super) fn apply(&mut self, message: DealerMessage) -> Result<Event, UnexpectedMessage> {
        let (effect, anomaly) = match (message, self.phase) {
            (got, Phase::Over) => return Err(UnexpectedMessage { got, expected: Phase::Over.expected() }),
            (DealerMessage::Quit, _) => {
                self.phase = Phase::Over;
                (MessageEffect::Quit, None)
            }
            (DealerMessage::Begin, was) => {
                *self = Self { phase: Phase::First, ..Self::new(self.space) };
                (MessageEffect::Began, (was != Phase::Idle).then_some(Anomaly::Dropped))
            }
            (DealerMessage::Card(card), Phase::First | Phase::Second | Phase::Hit | Phase::Between) => {
                let unasked = self.phase == Phase::Between;
                self.resumed |= unasked;
                self.hand.push(card);
                self.phase = match self.phase {
                    Phase::First => Phase::Second,
                    Phase::Second => Phase::Upcard,
                    _ if self.hand.points().is_bust() => Phase::Done,
                    _ => Phase::Between,
                };
                (MessageEffect::Dealt, self.see(card).or(unasked.then_some(Anomaly::Unasked)))
            }
            (DealerMessage::Upcard(card), Phase::Upcard) => {
                self.upcard = Some(card);
                self.phase = Phase::Between;
                (MessageEffect::Dealt, self.see(card))
            }
            (DealerMessage::Decision, Phase::Between) => {
                self.phase = Phase::Asked;
                (MessageEffect::DecisionDue, None)
            }
            (DealerMessage::Result(_), Phase::Idle) => (MessageEffect::Ignored, Some(Anomaly::StrayResult)),
            (DealerMessage::Result(verdict), was) => {
                self.phase = Phase::Idle;
                let anomaly = self.judge(was, verdict);
                let sound = anomaly.is_none() && !self.resumed;
                let lesson = sound.then(|| self.episode.clone());
                (MessageEffect::Ended { verdict, total: self.hand.total(), lesson }, anomaly)
            }
            (got, phase) => return Err(UnexpectedMessage { got, expected: phase.expected() }),
        };
        Ok(Event { message, effect, anomaly })
    }

    fn see(&mut self, card: Card) -> Option<Anomaly> {
        let bit = 1 << card.number();
        let repeated = self.seen & bit != 0;
        self.seen |= bit;
        repeated.then_some(Anomaly::Repeated(card))
    }

    // Some dealers send BUST for a bust hand, others LOOSE.
    fn judge(&self, was: Phase, verdict: Verdict) -> Option<Anomaly> {
        let bust = self.hand.points().is_bust();
        if was != Phase::Done {
            Some(Anomaly::EarlyResult)
        } else if verdict != Verdict::Lose && (verdict == Verdict::Bust) != bust {
            Some(Anomaly::Impossible(verdict, self.hand.total()))
        } else {
            None
        }
    }
}
