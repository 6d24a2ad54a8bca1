//! The rules: positions, purses, and the effect of each action.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    sync::Arc,
    vec,
    vec::Vec,
};
use core::{cmp::Reverse, fmt::Write};
use netcore::{Standing, StateError};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::{
    config::{ConfigError, Rules},
    grid::{Cell, Direction, Grid, PASSAGE, ROOM},
    protocol::{Letter, Name},
};

/// The largest number of players in one game, including quitters.
pub const MAX_PLAYERS: usize = 26;
pub(crate) const PILE: u8 = b'*';

/// A player, numbered in order of joining, which determines the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u8);

impl PlayerId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A player that has joined, even if it has quit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Player {
    /// The letter, in order of joining.
    pub letter: Letter,
    /// The name.
    pub name: Name,
    /// Nuggets in its purse.
    pub purse: u32,
    /// The position; `None` once it has quit.
    pub cell: Option<Cell>,
}

/// An action of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// One step.
    Step(Direction),
    /// Steps until the next one is impossible.
    Run(Direction),
    /// Leave the game permanently.
    Quit,
}

impl Action {
    /// The action of a key; `None` if it has none.
    pub fn from_key(key: u8) -> Option<Self> {
        if key == b'Q' {
            return Some(Self::Quit);
        }
        let direction = Direction::from_key(key.to_ascii_lowercase())?;
        Some(if key.is_ascii_uppercase() { Self::Run(direction) } else { Self::Step(direction) })
    }
}

/// A change in the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A player appeared.
    Joined(PlayerId, Cell),
    /// A player moved to a neighbouring cell, or was swapped there.
    Moved {
        /// The player.
        player: PlayerId,
        /// Its old cell.
        from: Cell,
        /// Its new cell.
        to: Cell,
    },
    /// A player collected this many nuggets.
    Collected(PlayerId, u32),
    /// A player took gold from another player's purse.
    Stolen {
        /// The taker.
        thief: PlayerId,
        /// The owner of the purse.
        victim: PlayerId,
        /// The number of nuggets, at least 1.
        nuggets: u32,
    },
    /// A player left the map.
    Left(PlayerId, Cell),
    /// A quitter's purse was dropped on this cell.
    Dropped(Cell),
}

/// One game, from the drop of the gold to the last nugget.
#[derive(Debug, Clone)]
pub struct Game {
    grid: Arc<Grid>,
    rules: Rules,
    players: Vec<Player>,
    piles: BTreeMap<Cell, u32>,
    remaining: u32,
}

impl Game {
    /// A new game with its gold dropped on random room spots.
    ///
    /// The number of piles is drawn from the range of the rules, up to the number of nuggets and leaving one spot free.
    /// Each pile gets one nugget, and each further nugget goes to a random pile.
    ///
    /// # Errors
    /// [`ConfigError`] if the rules are invalid or the map has a single room spot.
    pub fn new(grid: Arc<Grid>, rules: Rules, rng: &mut impl Rng) -> Result<Self, ConfigError> {
        rules.check()?;
        let drawn = rng.random_range(rules.min_piles..=rules.max_piles);
        let mut spots: Vec<Cell> = grid.room_spots().to_vec();
        let room = u32::try_from(spots.len()).unwrap_or(u32::MAX);
        if room < 2 {
            return Err(ConfigError::OneSpot);
        }
        let count = drawn.min(rules.gold).min(room - 1);
        // The front of a shuffled list: each set of spots is equally likely.
        let mut chosen = vec![];
        for taken in 0..count {
            let pick = rng.random_range(taken..room);
            spots.swap(taken as usize, pick as usize);
            chosen.push((spots[taken as usize], 1));
        }
        for _ in count..rules.gold {
            chosen[rng.random_range(0..count) as usize].1 += 1;
        }
        let mut game = Self { grid, rules, players: vec![], piles: BTreeMap::new(), remaining: 0 };
        for (cell, nuggets) in chosen {
            game.pile_up(cell, nuggets);
        }
        Ok(game)
    }

    /// The map.
    pub const fn grid(&self) -> &Arc<Grid> {
        &self.grid
    }

    /// The rules.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// All players that have joined, in order, including quitters.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// The player with this number.
    pub fn player(&self, player: PlayerId) -> Option<&Player> {
        self.players.get(player.index())
    }

    /// The active players.
    pub fn active(&self) -> impl Iterator<Item = (PlayerId, &Player)> {
        (0..).map(PlayerId).zip(&self.players).filter(|(_, player)| player.cell.is_some())
    }

    /// The piles and their nuggets.
    pub const fn piles(&self) -> &BTreeMap<Cell, u32> {
        &self.piles
    }

    /// Unclaimed nuggets.
    pub const fn remaining(&self) -> u32 {
        self.remaining
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.remaining == 0
    }

    /// The character of `cell` for a viewer that sees it.
    pub fn content(&self, cell: Cell) -> u8 {
        if let Some(player) = self.standing_at(cell) {
            return self.players[player.index()].letter.byte();
        }
        if self.piles.contains_key(&cell) { PILE } else { self.grid.at(cell) }
    }

    pub(crate) fn has_free_spot(&self) -> bool {
        self.grid.room_spots().iter().any(|&spot| self.content(spot) == ROOM)
    }

    /// Adds a player on a random room spot without player and pile, if a letter and such a spot are left.
    pub fn join(&mut self, name: Name, rng: &mut impl Rng) -> Option<(PlayerId, Event)> {
        let free: Vec<Cell> =
            self.grid.room_spots().iter().copied().filter(|&spot| self.content(spot) == ROOM).collect();
        let count = u32::try_from(free.len()).unwrap_or(u32::MAX);
        if count == 0 || self.players.len() >= MAX_PLAYERS {
            return None;
        }
        let cell = free[rng.random_range(0..count) as usize];
        let player = self.add_player(name, 0, Some(cell))?;
        Some((player, Event::Joined(player, cell)))
    }

    fn add_player(&mut self, name: Name, purse: u32, cell: Option<Cell>) -> Option<PlayerId> {
        let letter = Letter::from_index(self.players.len())?;
        let id = PlayerId(u8::try_from(self.players.len()).ok()?);
        self.players.push(Player { letter, name, purse, cell });
        Some(id)
    }

    /// Applies an action; an impossible one causes no events. Returns `None` if the player is not active.
    pub fn apply(&mut self, player: PlayerId, action: Action) -> Option<Vec<Event>> {
        let cell = self.player(player)?.cell?;
        let mut events = vec![];
        match action {
            Action::Step(direction) => {
                self.step(player, cell, direction, &mut events);
            }
            Action::Run(direction) => {
                let mut cell = cell;
                while let Some(next) = self.step(player, cell, direction, &mut events) {
                    cell = next;
                    if self.rules.run_stop
                        && !matches!(events.last(), Some(Event::Moved { player: who, .. }) if *who == player)
                    {
                        break;
                    }
                }
            }
            Action::Quit => self.quit(player, cell, &mut events),
        }
        Some(events)
    }

    fn step(&mut self, player: PlayerId, from: Cell, way: Direction, events: &mut Vec<Event>) -> Option<Cell> {
        let to = self.grid.step(from, way)?;
        let met = self.standing_at(to);
        self.place(player, to);
        events.push(Event::Moved { player, from, to });
        if let Some(other) = met {
            self.place(other, from);
            events.push(Event::Moved { player: other, from: to, to: from });
            let nuggets = self.players[other.index()].purse * u32::from(self.rules.steal_percent) / 100;
            if nuggets > 0 {
                self.players[other.index()].purse -= nuggets;
                self.players[player.index()].purse += nuggets;
                events.push(Event::Stolen { thief: player, victim: other, nuggets });
            }
        }
        if let Some(nuggets) = self.piles.remove(&to) {
            self.remaining -= nuggets;
            self.players[player.index()].purse += nuggets;
            events.push(Event::Collected(player, nuggets));
        }
        Some(to)
    }

    fn quit(&mut self, player: PlayerId, cell: Cell, events: &mut Vec<Event>) {
        self.players[player.index()].cell = None;
        events.push(Event::Left(player, cell));
        let purse = self.players[player.index()].purse;
        if self.rules.drop_on_quit
            && purse > 0
            && let Some(spot) = self.nearest_free_spot(cell)
        {
            self.players[player.index()].purse = 0;
            self.pile_up(spot, purse);
            events.push(Event::Dropped(spot));
        }
    }

    // The nearest room spot without a player, possibly `cell` itself.
    fn nearest_free_spot(&self, cell: Cell) -> Option<Cell> {
        let mut met = vec![false; self.grid.text().len()];
        let free = |&cell: &Cell| self.grid.at(cell) == ROOM && self.standing_at(cell).is_none();
        self.grid.reach(cell, &mut met).find(free)
    }

    fn standing_at(&self, cell: Cell) -> Option<PlayerId> {
        self.active().find(|(_, player)| player.cell == Some(cell)).map(|(id, _)| id)
    }

    fn place(&mut self, player: PlayerId, to: Cell) {
        debug_assert!(matches!(self.grid.at(to), ROOM | PASSAGE), "players stand on spots");
        self.players[player.index()].cell = Some(to);
    }

    fn pile_up(&mut self, cell: Cell, nuggets: u32) {
        *self.piles.entry(cell).or_insert(0) += nuggets;
        self.remaining += nuggets;
    }
}

impl Game {
    /// The final ranking, including quitters. `None` while gold is left.
    pub fn outcome(&self) -> Option<Vec<Standing>> {
        self.is_over().then(|| self.standings())
    }

    /// Equal purses share a rank.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        let mut order: Vec<&Player> = self.players.iter().collect();
        order.sort_by_key(|player| Reverse(player.purse));
        let rank = |purse| order.iter().filter(|player| player.purse > purse).count() + 1;
        let row = |player: &&Player| Standing {
            rank: u32::try_from(rank(player.purse)).unwrap_or(u32::MAX),
            seat: player.letter.to_string(),
            name: player.name.to_string(),
            score: player.purse.into(),
        };
        order.iter().map(row).collect()
    }

    /// The final table: letter, purse in ten columns, and name of each player that joined, without a last newline.
    pub fn table(&self) -> String {
        let mut table = String::new();
        for Player { letter, name, purse, .. } in &self.players {
            let _ = write!(table, "{}{letter} {purse:>10} {name}", if table.is_empty() { "" } else { "\n" });
        }
        table
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GameState {
    // In order of joining, which determines the letters.
    players: Vec<PlayerState>,
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

    pub(crate) fn restore(grid: Arc<Grid>, rules: Rules, state: GameState) -> Result<Self, StateError> {
        let mut game = Self { grid, rules, players: vec![], piles: BTreeMap::new(), remaining: 0 };
        for PlayerState { name, purse, cell } in state.players {
            let name = Name::try_from(name).map_err(|_| "a player has an invalid name")?;
            game.add_player(name, purse, cell).ok_or("more players than letters")?;
        }
        for (cell, nuggets) in state.piles {
            game.pile_up(cell, nuggets);
        }
        Ok(game)
    }
}
