//! A game as plain data, and the way back.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    sync::Arc,
    vec,
    vec::Vec,
};
use netcore::{Digest, StateError};
use serde::{Deserialize, Serialize};

use super::{Game, Player};
use crate::{
    config::Rules,
    grid::{Cell, Grid, PASSAGE, ROOM},
    protocol::Name,
};

/// What a game is beyond its map and its rules.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GameState {
    // In the order of joining, which gives the letters.
    players: Vec<PlayerState>,
    // In the order of the cells.
    piles: Vec<(Cell, u32)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PlayerState {
    name: String,
    purse: u32,
    cell: Option<Cell>,
}

impl Game {
    pub(crate) fn state(&self) -> GameState {
        let player =
            |player: &Player| PlayerState { name: player.name.to_string(), purse: player.purse, cell: player.cell };
        GameState {
            players: self.players.iter().map(player).collect(),
            piles: self.piles.iter().map(|(&cell, &nuggets)| (cell, nuggets)).collect(),
        }
    }

    /// The game that had this state, on that map and by those rules, which have been checked.
    ///
    /// # Errors
    /// [`StateError`] when no such game can be in that state.
    pub(crate) fn restore(grid: Arc<Grid>, rules: Rules, state: GameState) -> Result<Self, StateError> {
        let nuggets = state.players.iter().map(|player| player.purse).chain(state.piles.iter().map(|&(_, pile)| pile));
        if nuggets.map(u64::from).sum::<u64>() != u64::from(rules.gold) {
            return Err("the purses and piles do not hold the gold of the game".into());
        }
        let mut game =
            Self { grid, rules, players: vec![], piles: BTreeMap::new(), remaining: 0, digest: Digest::default() };
        for player in state.players {
            game.put_player(player)?;
        }
        for (cell, nuggets) in state.piles {
            let is_next = game.piles.last_key_value().is_none_or(|(&last, _)| last < cell);
            if !is_next || nuggets == 0 || game.grid.at(cell) != ROOM || game.standing_at(cell).is_some() {
                return Err("a pile lies where none can, or holds nothing".into());
            }
            game.pile_up(cell, nuggets);
        }
        Ok(game)
    }

    fn put_player(&mut self, PlayerState { name, purse, cell }: PlayerState) -> Result<(), StateError> {
        let name = Name::try_from(name).map_err(|_| "a name that no player has")?;
        let stands = |cell| matches!(self.grid.at(cell), ROOM | PASSAGE) && self.standing_at(cell).is_none();
        if cell.is_some_and(|cell| !stands(cell)) {
            return Err("a player stands where none can".into());
        }
        self.add_player(name, purse, cell).ok_or("more players than letters")?;
        Ok(())
    }
}
