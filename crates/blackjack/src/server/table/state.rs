//! A table of a lobby as plain data.

use alloc::vec::Vec;
use netcore::{Outcome, PeerId, StateError};
use serde::{Deserialize, Serialize};

use super::{Table, seat::Seat};
use crate::{
    config::Config,
    game::{Game, GameState, MAX_SEATS, Round},
};

/// The state of a table that has begun.
#[derive(Serialize, Deserialize)]
pub(in crate::server) struct TableState {
    number: u32,
    ended: Option<Outcome>,
    game: GameState,
    places: Vec<PlaceState>,
}

#[derive(Serialize, Deserialize)]
enum PlaceState {
    Free,
    Occupied(Seat),
    Held(PeerId),
}

impl Table {
    pub(in crate::server) fn state(&self) -> TableState {
        let place = |(seat, held): (&Option<Seat>, &Option<PeerId>)| match (seat, held) {
            (Some(seat), _) => PlaceState::Occupied(seat.clone()),
            (None, Some(peer)) => PlaceState::Held(*peer),
            (None, None) => PlaceState::Free,
        };
        TableState {
            number: self.number,
            ended: self.ended,
            game: self.game.state(),
            places: self.seats.iter().zip(&self.held).take(self.config.players).map(place).collect(),
        }
    }

    /// The table that had this state.
    /// Fails with [`StateError`] when no table of a dealer that is set up so can be in it.
    pub(in crate::server) fn restore(config: Config, state: TableState) -> Result<Self, StateError> {
        let TableState { number, ended, game, places } = state;
        let mut table = Self::of(config, number, Game::restore(&config, number, game)?);
        if places.len() != config.players {
            return Err("a table with another number of seats".into());
        }
        for (seat, place) in places.into_iter().enumerate() {
            match place {
                PlaceState::Free => {}
                PlaceState::Occupied(occupant) => {
                    occupant.check(table.game.view(seat))?;
                    table.seats[seat] = Some(occupant);
                }
                PlaceState::Held(peer) => table.held[seat] = Some(peer),
            }
        }
        let sound = match ended {
            Some(_) => table.is_taking_leave(),
            None => table.is_played(),
        };
        if !sound {
            return Err("a table whose seats and round do not go together".into());
        }
        table.ended = ended;
        Ok(table)
    }

    // Whether everybody who is still there is on its way out, and somebody is.
    fn is_taking_leave(&self) -> bool {
        let mut seats = self.seats.iter().flatten().peekable();
        seats.peek().is_some() && seats.all(|seat| seat.leaving) && self.held.iter().all(Option::is_none)
    }

    // Whether it is somebody's turn, or a seat is held; and whether cards are dealt to those who sit there, and to nobody else.
    fn is_played(&self) -> bool {
        let round = self.game.round();
        let held = self.held.iter().any(Option::is_some);
        let goes_on = match round {
            Some(round) => !round.is_over() && !held,
            None => held,
        };
        let sound = |seat: usize| {
            let stays = self.seats[seat].as_ref().is_some_and(|seat| !seat.leaving) || self.held[seat].is_some();
            let mute = self.seats[seat].as_ref().is_some_and(|seat| seat.mute && !seat.leaving);
            let dealt = round.is_some_and(|round| round.view(seat).is_some());
            let playing = round.is_some_and(|round: &Round| round.is_playing(seat));
            self.game.wants_cards(seat) == stays && (!stays || round.is_none() || dealt) && (!playing || stays && !mute)
        };
        goes_on && (0..MAX_SEATS).all(sound)
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = PeerId> {
        self.seats.iter().flatten().map(|seat| seat.peer)
    }

    pub(crate) fn held_seats(&self) -> impl Iterator<Item = usize> {
        (0..MAX_SEATS).filter(|&seat| self.held[seat].is_some())
    }
}
