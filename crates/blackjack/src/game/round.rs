//! One round: the deal, the players' turns, the dealer's draw and the results.
//!
//! The deal: a card to each seat, the dealer's hole card, a second card to each seat, the dealer's upcard. Then each
//! seat in order plays its hand to the end. The dealer draws only if a player stands.
//!
//! Sources: the requirements of the course's project, "Rules" and "Dealer"; the deal alternates as in its tournament
//! dealer.

use alloc::vec::Vec;
use netcore::StateError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    cards::{Card, Deck, DeckEmpty},
    hand::Hand,
    verdict::Verdict,
    view::{Stage, View},
};

/// The maximum number of seats at a table.
pub const MAX_SEATS: usize = 6;

/// A player's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Take a card.
    Hit,
    /// Take no card.
    Stand,
}

/// Why a round cannot be dealt or a decision is invalid. The round is then unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RoundError {
    /// The deck ran out.
    #[error(transparent)]
    DeckEmpty(#[from] DeckEmpty),
    /// There are no players, or too many seats.
    #[error("a round is dealt to one seat at least and {MAX_SEATS} at most")]
    Seats,
    /// It is not the turn of this seat, counted from 0.
    #[error("seat {0} decides out of turn")]
    NotAsked(usize),
}

#[derive(Debug, Clone, Copy)]
struct Dealt {
    hand: Hand,
    stage: Stage,
}

/// A round from the deal to the results.
#[derive(Debug, Clone)]
pub struct Round {
    deck: Deck,
    places: [Dealt; MAX_SEATS],
    // Hole card first, then the upcard.
    dealer: Hand,
    upcard: Card,
    turn: Option<usize>,
}

/// The progress of each seat's hand, without trailing absent seats.
#[derive(Serialize, Deserialize)]
pub(super) struct RoundState(Vec<PlaceState>);

#[derive(Serialize, Deserialize)]
struct PlaceState {
    stage: Stage,
    hits: usize,
}

impl Round {
    /// Deals from a shuffled deck to the seats that are `present`, at most [`MAX_SEATS`].
    pub fn deal(mut deck: Deck, present: &[bool]) -> Result<Self, RoundError> {
        if present.len() > MAX_SEATS || !present.contains(&true) {
            return Err(RoundError::Seats);
        }
        let mut places = [Dealt { hand: Hand::new(), stage: Stage::Absent }; MAX_SEATS];
        for (place, _) in places.iter_mut().zip(present).filter(|(_, present)| **present) {
            place.stage = Stage::Playing;
        }
        let mut to_each = |deck: &mut Deck| -> Result<(), DeckEmpty> {
            places.iter_mut().filter(|place| place.stage == Stage::Playing).try_for_each(|place| {
                place.hand.push(deck.deal()?);
                Ok(())
            })
        };
        let mut dealer = Hand::new();
        to_each(&mut deck)?;
        dealer.push(deck.deal()?);
        to_each(&mut deck)?;
        let upcard = deck.deal()?;
        dealer.push(upcard);
        let turn = places.iter().position(|place| place.stage == Stage::Playing);
        Ok(Self { deck, places, dealer, upcard, turn })
    }

    /// The seat whose decision is due; `None` if the round is over.
    pub const fn turn(&self) -> Option<usize> {
        self.turn
    }

    /// Whether every hand is played and the results are known.
    pub const fn is_over(&self) -> bool {
        self.turn.is_none()
    }

    /// Applies the decision of a seat.
    pub fn apply(&mut self, seat: usize, action: Action) -> Result<(), RoundError> {
        let Some(place) = self.places.get_mut(seat).filter(|_| self.turn == Some(seat)) else {
            return Err(RoundError::NotAsked(seat));
        };
        match action {
            Action::Hit => {
                place.hand.push(self.deck.deal()?);
                if place.hand.points().is_bust() {
                    place.stage = Stage::Bust;
                }
            }
            Action::Stand => place.stage = Stage::Stood,
        }
        self.advance();
        Ok(())
    }

    /// Forfeits the hand of a seat that broke the rules of play. Has no effect after the round.
    pub fn forfeit(&mut self, seat: usize) {
        let Some(place) = self.places.get_mut(seat) else { return };
        if self.turn.is_some() && place.stage != Stage::Absent {
            place.stage = Stage::Forfeited;
            self.advance();
        }
    }

    /// The view of a seat; `None` without cards.
    pub fn view(&self, seat: usize) -> Option<View<'_>> {
        let place = self.places.get(seat).filter(|place| place.stage != Stage::Absent)?;
        let verdict = self.is_over().then(|| match place.stage {
            Stage::Forfeited => Verdict::Lose,
            _ => Verdict::of(place.hand.total(), self.dealer.total()),
        });
        Some(View { cards: place.hand.cards(), upcard: self.upcard, asked: self.turn == Some(seat), verdict })
    }

    pub(crate) fn is_playing(&self, seat: usize) -> bool {
        self.places.get(seat).is_some_and(|place| place.stage == Stage::Playing)
    }

    pub(crate) fn is_forfeited(&self, seat: usize) -> bool {
        self.places.get(seat).is_some_and(|place| place.stage == Stage::Forfeited)
    }

    /// The public cards of a seat and the stage of its hand; `None` without cards.
    pub fn public_hand(&self, seat: usize) -> Option<(Hand, Stage)> {
        let place = self.places.get(seat).filter(|place| place.stage != Stage::Absent)?;
        Some((place.hand, place.stage))
    }

    /// The dealer's upcard.
    pub const fn upcard(&self) -> Card {
        self.upcard
    }

    /// The dealer's hand, hole card first; `None` until the round is over.
    pub fn revealed(&self) -> Option<&Hand> {
        self.is_over().then_some(&self.dealer)
    }

    fn advance(&mut self) {
        self.turn = self.places.iter().position(|place| place.stage == Stage::Playing);
        if self.turn.is_some() || !self.places.iter().any(|place| place.stage == Stage::Stood) {
            return;
        }
        while self.dealer.points().dealer_hits() {
            // Seven hands of at most 31 points each are less than the deck's 340 points.
            let Ok(card) = self.deck.deal() else { break };
            self.dealer.push(card);
        }
    }

    pub(super) fn state(&self) -> RoundState {
        let seats = self.places.iter().rposition(|place| place.stage != Stage::Absent).map_or(0, |last| last + 1);
        let place = |place: &Dealt| PlaceState { stage: place.stage, hits: place.hand.cards().len().saturating_sub(2) };
        RoundState(self.places.iter().take(seats).map(place).collect())
    }

    /// Restores a round by replaying it; fails if the state is unreachable. Seats take their cards one after the other,
    /// so the time of a forfeit does not matter.
    pub(super) fn restore(RoundState(state): &RoundState, deck: Deck) -> Result<Self, StateError> {
        let impossible = || StateError::from("a round that cannot have come so far");
        let present: Vec<bool> = state.iter().map(|place| place.stage != Stage::Absent).collect();
        let mut round = Self::deal(deck, &present).map_err(|_| impossible())?;
        for (seat, place) in state.iter().enumerate() {
            for _ in 0..place.hits {
                round.apply(seat, Action::Hit).map_err(|_| impossible())?;
            }
            match place.stage {
                Stage::Stood => round.apply(seat, Action::Stand).map_err(|_| impossible())?,
                Stage::Forfeited => round.forfeit(seat),
                Stage::Absent | Stage::Playing | Stage::Bust => {}
            }
        }
        Ok(round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;
    use std::collections::BTreeSet;

    fn deck(seed: u64) -> Deck {
        let mut deck = Deck::new();
        deck.shuffle(&mut Pcg64::seed_from_u64(seed));
        deck
    }

    #[test]
    fn seats_decide_in_turn_and_decisions_out_of_turn_are_rejected() {
        let mut round = Round::deal(deck(1), &[true, false, true]).unwrap();
        for seat in [1, 2, 5, 6, usize::MAX] {
            assert_eq!(round.apply(seat, Action::Hit), Err(RoundError::NotAsked(seat)));
        }
        assert!(round.view(0).unwrap().asked && !round.view(2).unwrap().asked);
        round.apply(0, Action::Stand).unwrap();
        assert_eq!(round.turn(), Some(2));
        assert_eq!(round.view(0).unwrap().verdict, None);
        round.apply(2, Action::Stand).unwrap();
        assert!(round.is_over());
        assert_eq!(round.apply(2, Action::Stand), Err(RoundError::NotAsked(2)));
        assert!(round.view(0).unwrap().verdict.is_some());
    }

    #[test]
    fn dealer_does_not_draw_for_bust_hands() {
        for seed in 0..200 {
            let mut round = Round::deal(deck(seed), &[true, true]).unwrap();
            while round.turn() == Some(0) {
                round.apply(0, Action::Hit).unwrap();
            }
            assert_eq!(round.view(0).unwrap().verdict, None);
            let mut everybody_bust = round.clone();
            while everybody_bust.turn() == Some(1) {
                everybody_bust.apply(1, Action::Hit).unwrap();
            }
            assert_eq!(everybody_bust.revealed().unwrap().cards().len(), 2);
            assert_eq!(everybody_bust.view(0).unwrap().verdict, Some(Verdict::Bust));
            round.apply(1, Action::Stand).unwrap();
            assert!(round.revealed().unwrap().total() >= 17);
            assert_eq!(round.view(0).unwrap().verdict, Some(Verdict::Bust));
        }
    }

    #[test]
    fn a_forfeited_hand_is_lost_even_when_the_dealer_is_bust() {
        for seed in 0..200 {
            let mut round = Round::deal(deck(seed), &[true, true, true]).unwrap();
            round.forfeit(2);
            round.apply(0, Action::Stand).unwrap();
            round.forfeit(0);
            round.apply(1, Action::Stand).unwrap();
            assert_eq!([0, 2].map(|seat| round.view(seat).unwrap().verdict), [Some(Verdict::Lose); 2]);
            let own = round.view(1).unwrap();
            let total =
                own.cards.iter().fold(crate::hand::Points::EMPTY, |points, card| points.with(card.value())).total();
            assert_eq!(own.verdict, Some(Verdict::of(total, round.revealed().unwrap().total())));
        }
        let mut round = Round::deal(deck(1), &[true]).unwrap();
        round.forfeit(0);
        assert_eq!(round.revealed().unwrap().cards().len(), 2, "nobody is left to draw for");
    }

    #[test]
    fn six_greedy_seats_neither_exhaust_the_deck_nor_share_a_card() {
        for seed in 0..300 {
            let mut round = Round::deal(deck(seed), &[true; MAX_SEATS]).unwrap();
            while let Some(seat) = round.turn() {
                let total = round.places[seat].hand.total();
                round.apply(seat, if total < 19 { Action::Hit } else { Action::Stand }).unwrap();
            }
            let hands = round.places.iter().map(|place| &place.hand).chain([&round.dealer]);
            let cards: Vec<Card> = hands.flat_map(|hand| hand.cards().to_vec()).collect();
            assert_eq!(cards.iter().collect::<BTreeSet<_>>().len(), cards.len());
        }
    }

    #[test]
    fn a_round_that_cannot_be_dealt_is_an_error() {
        assert_eq!(Round::deal(deck(1), &[]).err(), Some(RoundError::Seats));
        assert_eq!(Round::deal(deck(1), &[false; 3]).err(), Some(RoundError::Seats));
        assert_eq!(Round::deal(deck(1), &[true; 7]).err(), Some(RoundError::Seats));
        let mut short = deck(1);
        for _ in 0..49 {
            short.deal().unwrap();
        }
        assert_eq!(Round::deal(short, &[true]).err(), Some(RoundError::DeckEmpty(DeckEmpty)));
    }
}
