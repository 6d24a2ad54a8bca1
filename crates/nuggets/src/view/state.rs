//! What players may know as plain data, and the way back.
//!
//! What somebody knows follows from the map and from the spots that it has been on, so those are all that is kept: one
//! bit for each cell of the map. Finding out what they know from that takes one sight for each spot that somebody has been on,
//! about as much as it took when they went there.

use alloc::{vec, vec::Vec};
use netcore::StateError;

use super::{Picture, SELF, Spots, Viewer, Views, drawn};
use crate::{
    game::{Game, PlayerId},
    grid::{Cell, Grid, PASSAGE, ROCK, ROOM},
    server::facts::VISITED,
    sights::SightCache,
};

/// After how many sights it is looked up who knows the whole map by then.
const ROUND: u32 = 64;

impl Views {
    /// The spots that each who plays has been on, in the order of the players.
    pub(crate) fn state(&self) -> Vec<Spots> {
        self.viewers.values().map(|viewer| viewer.visited.clone()).collect()
    }

    /// The pictures of a game in which those who play have been on these spots.
    ///
    /// # Errors
    /// [`StateError`] when they cannot have been.
    pub(crate) fn restore(game: &Game, visited: Vec<Spots>) -> Result<Self, StateError> {
        let grid = game.grid();
        let players: Vec<(PlayerId, Cell)> =
            game.active().filter_map(|(id, player)| Some((id, player.cell?))).collect();
        if visited.len() != players.len() {
            return Err("not everybody who plays has been somewhere".into());
        }
        for (spots, &(_, cell)) in visited.iter().zip(&players) {
            let is_spot = |cell: Cell| matches!(grid.at(cell), ROOM | PASSAGE);
            if spots.0.len() != Spots::none(grid).0.len() || !spots.contains(cell) || !spots.cells().all(is_spot) {
                return Err("a player has been where nobody can be, or not where it stands".into());
            }
        }
        let mut views = Self::new(game);
        views.board.draw(game, players.iter().map(|&(_, cell)| cell));
        let known = known(grid, &visited, &mut views.sights);
        for (index, ((player, cell), visited)) in players.into_iter().zip(visited).enumerate() {
            for spot in visited.cells() {
                views.digest.toggle(VISITED, player.0.into(), spot.0.into());
            }
            let sight = views.sights.sight(grid, cell);
            let shown = |(&byte, known): (&u8, &u32)| {
                if byte == b'\n' || known >> index & 1 != 0 { byte } else { ROCK }
            };
            let text: Vec<u8> = grid.text().iter().zip(&known).map(shown).collect();
            let known = drawn(&text);
            let mut picture = Picture::of(&text);
            picture.edit(|text| {
                let board = views.board.text();
                sight.ranges().for_each(|range| text[range.clone()].copy_from_slice(&board[range]));
                text[cell.index()] = SELF;
            });
            views.viewers.insert(player, Viewer { cell, picture, sight, looked_from: cell, visited, known });
        }
        Ok(views)
    }
}

// Who has seen each cell of the map: bit `i` is set for whoever has been on the spots `visited[i]`.
//
// Each spot is looked around from once, whoever was there, and not at all if those who were know everything.
fn known(grid: &Grid, visited: &[Spots], sights: &mut SightCache) -> Vec<u32> {
    let mut known = vec![0_u32; grid.text().len()];
    let (mut complete, mut looked) = (0, 0);
    for (cell, &byte) in (0..).map(Cell).zip(grid.text()) {
        if !matches!(byte, ROOM | PASSAGE) {
            continue;
        }
        let who = visited.iter().zip(0..).fold(0, |who, (spots, bit)| who | u32::from(spots.contains(cell)) << bit);
        if who & !complete == 0 {
            continue;
        }
        for range in sights.sight(grid, cell).ranges() {
            known[range].iter_mut().for_each(|known| *known |= who);
        }
        looked += 1;
        if looked % ROUND == 0 {
            let cells = known.iter().zip(grid.text()).filter(|&(_, &byte)| byte != ROCK && byte != b'\n');
            complete = cells.fold(u32::MAX, |all, (known, _)| all & known);
        }
    }
    known
}
