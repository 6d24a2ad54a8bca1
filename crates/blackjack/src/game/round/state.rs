//! A round as plain data. The deck in which it was dealt and what the seats did are all that it follows from.

use alloc::vec::Vec;
use netcore::StateError;
use serde::{Deserialize, Serialize};

use super::{Action, Round};
use crate::{cards::Deck, view::Stage};

/// How far the hand of each seat is, seats that were dealt none at the end left out.
#[derive(Serialize, Deserialize)]
pub(in crate::game) struct RoundState(Vec<PlaceState>);

#[derive(Serialize, Deserialize)]
struct PlaceState {
    stage: Stage,
    // Cards that it took beside the two that it was dealt.
    hits: usize,
}

impl Round {
    pub(in crate::game) fn state(&self) -> RoundState {
        let seats = self.places.iter().rposition(|place| place.stage != Stage::Absent).map_or(0, |last| last + 1);
        let place =
            |place: &super::Dealt| PlaceState { stage: place.stage, hits: place.hand.cards().len().saturating_sub(2) };
        RoundState(self.places.iter().take(seats).map(place).collect())
    }

    /// The round that was dealt from this deck and is that far. It is played again: seats take their cards one after the
    /// other, so it does not matter when in between a hand was forfeited.
    /// Fails with [`StateError`] when no round can get there.
    pub(in crate::game) fn restore(RoundState(state): &RoundState, deck: Deck) -> Result<Self, StateError> {
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
        let same = state.iter().zip(&round.places).all(|(state, place)| state.stage == place.stage);
        if same { Ok(round) } else { Err(impossible()) }
    }
}
