//! What is true in the game that the server under test hosts: a model that takes the same keys.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    iter,
};

use nuggets::{
    Letter,
    grid::{Cell, Direction, Grid, PASSAGE, ROCK, ROOM},
    visibility::{Field, Sight, Sighter, Vision},
};

/// What a key does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) steps: usize,
    pub(super) swaps: usize,
    pub(super) piles: u32,
}

#[derive(Clone)]
struct Walker {
    cell: Cell,
    // For each byte of the map's text, whether the player ever saw it.
    known: Vec<bool>,
    // The part of it that the player first saw from a spot to which another player pushed it.
    pushed: Vec<bool>,
    // The server moved the player in another way than the model, so that what it has seen is uncertain.
    is_lost: bool,
    sight: Sight,
}

/// The map, the piles that are left and the players that are on the map.
#[derive(Clone)]
pub(super) struct World {
    pub(super) grid: Grid,
    pub(super) piles: BTreeSet<Cell>,
    walkers: BTreeMap<Letter, Walker>,
    sighter: Sighter,
}

impl World {
    pub(super) fn new(grid: Grid, piles: BTreeSet<Cell>) -> Self {
        Self { grid, piles, walkers: BTreeMap::new(), sighter: Sighter::default() }
    }

    pub(super) fn place(&mut self, letter: Letter, cell: Cell) {
        let (known, pushed) = (vec![false; self.grid.text().len()], vec![false; self.grid.text().len()]);
        self.walkers.insert(letter, Walker { cell, known, pushed, is_lost: false, sight: Sight::default() });
        self.look(letter, false);
    }

    /// Puts a player where the server shows it. If the model has it elsewhere, what it has seen becomes uncertain.
    pub(super) fn correct(&mut self, letter: Letter, cell: Cell) {
        if self.cell(letter) == Some(cell) {
            return;
        }
        if !self.walkers.contains_key(&letter) {
            self.place(letter, cell);
        }
        if let Some(walker) = self.walkers.get_mut(&letter) {
            walker.is_lost = true;
        }
        self.go(letter, cell, false);
    }

    pub(super) fn letters(&self) -> impl Iterator<Item = Letter> {
        self.walkers.keys().copied()
    }

    pub(super) fn is_lost(&self, letter: Letter) -> bool {
        self.walkers.get(&letter).is_none_or(|walker| walker.is_lost)
    }

    pub(super) fn remove(&mut self, letter: Letter) {
        self.walkers.remove(&letter);
    }

    pub(super) fn cell(&self, letter: Letter) -> Option<Cell> {
        self.walkers.get(&letter).map(|walker| walker.cell)
    }

    /// Does what a player's key says. A key that is no step does nothing.
    pub(super) fn apply(&mut self, letter: Letter, key: u8) -> Effect {
        let mut effect = Effect::default();
        let Some(direction) = Direction::from_key(key.to_ascii_lowercase()) else { return effect };
        while let Some(from) = self.cell(letter)
            && let Some(to) = self.grid.step(from, direction)
        {
            effect.steps += 1;
            let other = self.walkers.iter().find(|(_, walker)| walker.cell == to).map(|(&letter, _)| letter);
            if let Some(other) = other {
                effect.swaps += 1;
                self.go(other, from, true);
            }
            self.go(letter, to, false);
            effect.piles += u32::from(self.piles.remove(&to));
            if key.is_ascii_lowercase() {
                break;
            }
        }
        effect
    }

    pub(super) fn forecast(&self, letter: Letter, key: u8) -> (Self, Effect) {
        let mut world = self.clone();
        let effect = world.apply(letter, key);
        (world, effect)
    }

    fn go(&mut self, letter: Letter, to: Cell, is_pushed: bool) {
        if let Some(walker) = self.walkers.get_mut(&letter) {
            walker.cell = to;
        }
        self.look(letter, is_pushed);
    }

    fn look(&mut self, letter: Letter, is_pushed: bool) {
        let Some(walker) = self.walkers.get_mut(&letter) else { return };
        walker.sight = self.sighter.sight(Field::from(&self.grid), walker.cell, Vision::default());
        for range in walker.sight.ranges() {
            for (pushed, known) in walker.pushed[range.clone()].iter_mut().zip(&mut walker.known[range]) {
                *pushed = if is_pushed { *pushed || !*known } else { false };
                *known = true;
            }
        }
    }

    /// The text of a spectator's DISPLAY.
    pub(super) fn board(&self) -> Vec<u8> {
        let piles = self.piles.iter().map(|&cell| (cell, b'*'));
        let players = self.walkers.iter().map(|(letter, walker)| (walker.cell, letter.byte()));
        let mut text = self.grid.text().to_vec();
        for (cell, byte) in piles.chain(players) {
            text[cell.index()] = byte;
        }
        text
    }

    /// The text of a player's DISPLAY.
    pub(super) fn view(&self, letter: Letter) -> Vec<u8> {
        let Some(walker) = self.walkers.get(&letter) else { return Vec::new() };
        let hide = |(&byte, &known): (&u8, &bool)| if known || byte == b'\n' { byte } else { ROCK };
        let mut text: Vec<u8> = self.grid.text().iter().zip(&walker.known).map(hide).collect();
        let board = self.board();
        for range in walker.sight.ranges() {
            text[range.clone()].copy_from_slice(&board[range]);
        }
        text[walker.cell.index()] = b'@';
        text
    }

    pub(super) fn sees(&self, letter: Letter, cell: Cell) -> bool {
        self.walkers.get(&letter).is_some_and(|walker| walker.sight.contains(cell))
    }

    pub(super) fn knows(&self, letter: Letter, cell: Cell) -> bool {
        self.walkers.get(&letter).is_some_and(|walker| walker.known[cell.index()])
    }

    /// Whether a player saw a cell first, and only, from where it was pushed.
    pub(super) fn knows_by_push(&self, letter: Letter, cell: Cell) -> bool {
        self.walkers.get(&letter).is_some_and(|walker| walker.pushed[cell.index()])
    }

    /// Whether a player remembers something of the map that it does not see.
    pub(super) fn remembers(&self, letter: Letter) -> bool {
        (0..=u16::MAX)
            .map(Cell)
            .take(self.grid.text().len())
            .any(|cell| self.knows(letter, cell) && !self.sees(letter, cell))
    }

    /// Whether a spot is in a passage and touches no room.
    pub(super) fn is_deep(&self, cell: Cell) -> bool {
        let room = |direction| self.grid.step(cell, direction).is_some_and(|next| self.grid.at(next) == ROOM);
        self.grid.at(cell) == PASSAGE && !Direction::ALL.into_iter().any(room)
    }

    /// The keys of a shortest way to a spot that is wanted, by the steps in `keys`; empty if it stands there.
    pub(super) fn path(&self, letter: Letter, keys: &[u8], wanted: impl Fn(Cell) -> bool) -> Option<Vec<u8>> {
        if wanted(self.cell(letter)?) {
            return Some(Vec::new());
        }
        self.search(letter, keys, |from, key| self.passed(from, key).last().is_some_and(&wanted))
    }

    /// The fewest keys after which a player has taken a pile.
    pub(super) fn hunt(&self, letter: Letter) -> Option<Vec<u8>> {
        // Runs first: they may take several.
        let taken = |from, key| self.passed(from, key).any(|cell| self.piles.contains(&cell));
        self.search(letter, b"HJKLYUBNhjklyubn", taken)
    }

    /// Whether a run from a spot goes on behind gold.
    pub(super) fn runs_over_gold(&self, from: Cell, key: u8) -> bool {
        let spots: Vec<Cell> = self.passed(from, key).collect();
        spots.split_last().is_some_and(|(_, before)| before.iter().any(|cell| self.piles.contains(cell)))
    }

    // The fewest of these keys of which the last is one that is wanted from where it is typed.
    fn search(&self, letter: Letter, keys: &[u8], wanted: impl Fn(Cell, u8) -> bool) -> Option<Vec<u8>> {
        let start = self.cell(letter)?;
        let mut seen = BTreeSet::from([start]);
        let mut queue = VecDeque::from([(start, Vec::new())]);
        while let Some((cell, path)) = queue.pop_front() {
            for &key in keys {
                let longer = [&path[..], &[key]].concat();
                if wanted(cell, key) {
                    return Some(longer);
                }
                if let Some(end) = self.passed(cell, key).last()
                    && seen.insert(end)
                {
                    queue.push_back((end, longer));
                }
            }
        }
        None
    }

    // The spots to which a key leads, one after the other.
    fn passed(&self, from: Cell, key: u8) -> impl Iterator<Item = Cell> {
        let direction = Direction::from_key(key.to_ascii_lowercase());
        let spots = iter::successors(Some(from), move |&at| self.grid.step(at, direction?)).skip(1);
        spots.take(if key.is_ascii_lowercase() { 1 } else { usize::MAX })
    }
}
