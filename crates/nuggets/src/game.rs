//! The rules: who stands where, who has how much, and what one action changes.

mod outcome;
pub(crate) mod state;

use alloc::{collections::BTreeMap, sync::Arc, vec, vec::Vec};
use netcore::Digest;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::{
    config::{ConfigError, Rules},
    grid::{Cell, Direction, Grid, PASSAGE, ROOM},
    protocol::{Letter, Name},
    server::facts::{AT, NAMED, PILED, PURSE, hash},
};

/// Players in one game, over its whole life: quitters count.
pub const MAX_PLAYERS: usize = 26;
/// How a pile of gold is shown.
pub(crate) const PILE: u8 = b'*';

/// A player, by number of joining; the letter is made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u8);

impl PlayerId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One who joined, also after quitting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Player {
    /// `A` for the first who joined.
    pub letter: Letter,
    /// The name for the final table.
    pub name: Name,
    /// Nuggets collected.
    pub purse: u32,
    /// Where the player stands; `None` once it has quit.
    pub cell: Option<Cell>,
}

/// What a player can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// One step.
    Step(Direction),
    /// Steps in one direction until the next is not possible.
    Run(Direction),
    /// Leave the game for good.
    Quit,
}

impl Action {
    /// What a key stands for; `None` if it stands for nothing.
    pub fn from_key(key: u8) -> Option<Self> {
        if key == b'Q' {
            return Some(Self::Quit);
        }
        let direction = Direction::from_key(key.to_ascii_lowercase())?;
        Some(if key.is_ascii_uppercase() { Self::Run(direction) } else { Self::Step(direction) })
    }
}

/// Something that happened in the game. One action brings several, in the order in which they happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A player appeared on a cell.
    Joined(PlayerId, Cell),
    /// A player went to a neighbouring cell, on its own or pushed back by another.
    Moved {
        /// Who.
        player: PlayerId,
        /// Where it stood.
        from: Cell,
        /// Where it stands.
        to: Cell,
    },
    /// A pile of so many nuggets went into a player's purse.
    Collected(PlayerId, u32),
    /// Gold went from one purse to another.
    Stolen {
        /// Who took it.
        thief: PlayerId,
        /// Who had it.
        victim: PlayerId,
        /// How much, at least 1.
        nuggets: u32,
    },
    /// A player is not on the map any more, and stood on that cell.
    Left(PlayerId, Cell),
    /// A quitter's purse lies on a cell of the map again.
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
    digest: Digest,
}

impl Game {
    /// A new game with its gold dropped on random room spots.
    ///
    /// The number of piles is drawn from the range of the rules; on a small map there are as many as fit beside one
    /// player. Each pile gets one nugget and each further nugget goes to a random pile.
    ///
    /// # Errors
    /// [`ConfigError`] when no game can have these rules.
    pub fn new(grid: Arc<Grid>, rules: Rules, rng: &mut impl Rng) -> Result<Self, ConfigError> {
        rules.check()?;
        let drawn = rng.random_range(rules.min_piles..=rules.max_piles);
        let mut spots: Vec<Cell> = grid.room_spots().to_vec();
        let room = u32::try_from(spots.len()).unwrap_or(u32::MAX);
        if room < 2 {
            return Err(ConfigError::OneSpot);
        }
        let count = drawn.min(rules.gold).min(room - 1);
        // The front of a shuffled list: each set of spots is as likely as any other.
        let mut chosen = vec![];
        for taken in 0..count {
            let pick = rng.random_range(taken..room);
            spots.swap(taken as usize, pick as usize);
            chosen.push((spots[taken as usize], 1));
        }
        for _ in count..rules.gold {
            chosen[rng.random_range(0..count) as usize].1 += 1;
        }
        let mut game =
            Self { grid, rules, players: vec![], piles: BTreeMap::new(), remaining: 0, digest: Digest::default() };
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

    /// All who joined, in order, quitters too.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// The player with that number, if one joined.
    pub fn player(&self, player: PlayerId) -> Option<&Player> {
        self.players.get(player.index())
    }

    /// Those who still play.
    pub fn active(&self) -> impl Iterator<Item = (PlayerId, &Player)> {
        (0..).map(PlayerId).zip(&self.players).filter(|(_, player)| player.cell.is_some())
    }

    /// The piles and their nuggets.
    pub const fn piles(&self) -> &BTreeMap<Cell, u32> {
        &self.piles
    }

    /// Nuggets that nobody has found yet.
    pub const fn remaining(&self) -> u32 {
        self.remaining
    }

    /// Whether the last nugget is taken.
    pub(crate) const fn is_over(&self) -> bool {
        self.remaining == 0
    }

    /// A fingerprint of positions, purses, piles and names, kept as they change.
    pub const fn digest(&self) -> u64 {
        self.digest.value()
    }

    /// What everybody who sees `cell` sees there: a player's letter, `*`, or the map.
    pub fn content(&self, cell: Cell) -> u8 {
        if let Some(player) = self.standing_at(cell) {
            return self.players[player.index()].letter.byte();
        }
        if self.piles.contains_key(&cell) { PILE } else { self.grid.at(cell) }
    }

    /// Whether there is a room spot without player and pile.
    pub(crate) fn has_free_spot(&self) -> bool {
        self.grid.room_spots().iter().any(|&spot| self.content(spot) == ROOM)
    }

    /// Lets a player in, on a random room spot without player and pile. `None` when there is no letter or no such spot
    /// left; nothing has changed then.
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

    // `None` when all letters are given away.
    fn add_player(&mut self, name: Name, purse: u32, cell: Option<Cell>) -> Option<PlayerId> {
        let letter = Letter::from_index(self.players.len())?;
        let id = PlayerId(u8::try_from(self.players.len()).ok()?);
        self.digest.toggle(NAMED, id.0.into(), hash(name.as_str().as_bytes()));
        self.digest.toggle(PURSE, id.0.into(), purse.into());
        if let Some(cell) = cell {
            self.digest.toggle(AT, id.0.into(), cell.0.into());
        }
        self.players.push(Player { letter, name, purse, cell });
        Some(id)
    }

    /// Carries out an action; what is not possible brings no events. `None` when nobody of that number plays.
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
                    // Whatever was met but plain ground stops a run, if the rules want that.
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

    // One step. The mover's own `Moved` comes before what it led to.
    fn step(&mut self, player: PlayerId, from: Cell, way: Direction, events: &mut Vec<Event>) -> Option<Cell> {
        let to = self.grid.step(from, way)?;
        let met = self.standing_at(to);
        self.place(player, from, to);
        events.push(Event::Moved { player, from, to });
        if let Some(other) = met {
            self.place(other, to, from);
            events.push(Event::Moved { player: other, from: to, to: from });
            let nuggets = self.players[other.index()].purse * u32::from(self.rules.steal_percent) / 100;
            if nuggets > 0 {
                self.set_purse(other, self.players[other.index()].purse - nuggets);
                self.set_purse(player, self.players[player.index()].purse + nuggets);
                events.push(Event::Stolen { thief: player, victim: other, nuggets });
            }
        }
        if let Some(nuggets) = self.piles.remove(&to) {
            self.digest.toggle(PILED, to.0.into(), nuggets.into());
            self.remaining -= nuggets;
            self.set_purse(player, self.players[player.index()].purse + nuggets);
            events.push(Event::Collected(player, nuggets));
        }
        Some(to)
    }

    fn quit(&mut self, player: PlayerId, cell: Cell, events: &mut Vec<Event>) {
        self.players[player.index()].cell = None;
        self.digest.toggle(AT, player.0.into(), cell.0.into());
        events.push(Event::Left(player, cell));
        let purse = self.players[player.index()].purse;
        if self.rules.drop_on_quit
            && purse > 0
            && let Some(spot) = self.nearest_free_spot(cell)
        {
            self.set_purse(player, 0);
            self.pile_up(spot, purse);
            events.push(Event::Dropped(spot));
        }
    }

    // The nearest room spot without player, `cell` itself if it is one: gold does not lie in passages, and never under
    // a player. A pile there grows.
    fn nearest_free_spot(&self, cell: Cell) -> Option<Cell> {
        let mut met = vec![false; self.grid.text().len()];
        let free = |&cell: &Cell| self.grid.at(cell) == ROOM && self.standing_at(cell).is_none();
        self.grid.reach(cell, &mut met).find(free)
    }

    fn standing_at(&self, cell: Cell) -> Option<PlayerId> {
        self.active().find(|(_, player)| player.cell == Some(cell)).map(|(id, _)| id)
    }

    fn place(&mut self, player: PlayerId, from: Cell, to: Cell) {
        debug_assert!(matches!(self.grid.at(to), ROOM | PASSAGE), "players stand on spots");
        self.players[player.index()].cell = Some(to);
        self.digest.change(AT, player.0.into(), from.0.into(), to.0.into());
    }

    fn set_purse(&mut self, player: PlayerId, purse: u32) {
        let old = core::mem::replace(&mut self.players[player.index()].purse, purse);
        self.digest.change(PURSE, player.0.into(), old.into(), purse.into());
    }

    fn pile_up(&mut self, cell: Cell, nuggets: u32) {
        let pile = self.piles.entry(cell).or_insert(0);
        if *pile > 0 {
            self.digest.toggle(PILED, cell.0.into(), (*pile).into());
        }
        *pile += nuggets;
        self.digest.toggle(PILED, cell.0.into(), (*pile).into());
        self.remaining += nuggets;
    }
}
