//! Finds the sent actions that explain the players' events of a turn.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use robots::{Action, Board, BombId, Event, Position};

/// In turns, within which the server must read sent data.
const MOST_TURNS: u16 = 8;

pub(super) struct Pending {
    pub(super) action: Action,
    at: Instant,
    // The turn that arrived when the server had read the action, and the number of turns when it had not.
    read: Option<u16>,
    overlooked: u16,
    /// The same for actions of one batch.
    pub(super) batch: u32,
    /// May have been played without an effect, or dropped.
    pub(super) optional: bool,
}

impl Pending {
    /// Whether the server had read the action in time for an earlier turn, or has not read it for many turns.
    pub(super) fn is_old(&self, turn: u16, duration: Duration) -> bool {
        let is_read = self.read.is_some_and(|read| turn > read) && self.at.elapsed() >= duration * 3 / 2;
        is_read || self.overlooked >= MOST_TURNS
    }
}

pub(super) struct Robot {
    pub(super) position: Position,
    /// Turns in which the robot was destroyed.
    pub(super) score: u32,
    /// Bombs that destroyed it.
    pub(super) hits: u32,
    pub(super) pending: Vec<Pending>,
    pub(super) has_left: bool,
}

impl Robot {
    pub(super) fn new(position: Position) -> Self {
        Self { position, score: 0, hits: 0, pending: vec![], has_left: false }
    }

    pub(super) fn sent(&mut self, actions: &[Action], batch: u32) {
        let at = Instant::now();
        self.pending.extend(actions.iter().map(|&action| Pending {
            action,
            at,
            read: None,
            overlooked: 0,
            batch,
            optional: false,
        }));
    }

    /// The number of pending actions that must have arrived by this turn.
    pub(super) fn arrived(&self, turn: u16, duration: Duration) -> usize {
        let last = self.pending.iter().rposition(|pending| pending.is_old(turn, duration) && !pending.optional);
        last.map_or(0, |last| last + 1)
    }

    pub(super) fn has_unread(&self) -> bool {
        self.pending.iter().any(|pending| pending.read.is_none())
    }

    pub(super) fn note_reading(&mut self, turn: u16, is_read: bool) {
        for pending in self.pending.iter_mut().filter(|pending| pending.read.is_none()) {
            if is_read {
                pending.read = Some(turn);
            } else {
                pending.overlooked += 1;
            }
        }
    }
}

pub(super) enum Effect {
    Moved(Position),
    Bomb(Position),
    Block(Position),
}

/// The actions of the first players, if they explain the events up to this point.
#[derive(Clone)]
pub(super) struct Trial {
    pub(super) board: Board,
    pub(super) positions: Vec<Position>,
    pub(super) bombs: Vec<(BombId, Position)>,
    /// For each player, the number of pending actions that have arrived, and whether one had an event.
    pub(super) choices: Vec<(usize, bool)>,
}

/// `None` if the action of a robot at `from` has no event.
pub(super) fn effect(board: &Board, from: Position, action: Option<Action>) -> Option<Effect> {
    match action? {
        Action::PlaceBomb => Some(Effect::Bomb(from)),
        Action::PlaceBlock => (!board.is_block(from)).then_some(Effect::Block(from)),
        Action::Move(way) => board.step(from, way).filter(|&to| !board.is_block(to)).map(Effect::Moved),
    }
}

pub(super) struct Turn<'a> {
    pub(super) number: u16,
    pub(super) duration: Duration,
    /// After the explosions.
    pub(super) board: &'a Board,
    pub(super) robots: &'a [Robot],
    /// The field of rebirth, if known, of each destroyed robot.
    pub(super) reborn: &'a BTreeMap<u8, Option<Position>>,
    pub(super) events: &'a [Event],
}

impl Turn<'_> {
    /// An action sent just before the end of a turn may fall into the next one.
    pub(super) fn explain(&self) -> Option<Trial> {
        let positions = self.robots.iter().map(|robot| robot.position).collect();
        let start = Trial { board: self.board.clone(), positions, bombs: vec![], choices: vec![] };
        self.fit(&start, self.events)
    }

    pub(super) fn has_moved(&self, of: u8, to: Option<Position>) -> bool {
        let moves: Vec<_> = self.events.iter().filter_map(|event| moved(event, of)).collect();
        moves.len() == 1 && moves.first().copied() == to
    }

    // Explains the remaining events by actions of the remaining players.
    fn fit(&self, trial: &Trial, events: &[Event]) -> Option<Trial> {
        let index = trial.choices.len();
        let Some(robot) = self.robots.get(index) else { return events.is_empty().then(|| trial.clone()) };
        let id = u8::try_from(index).ok()?;
        if let Some(&place) = self.reborn.get(&id) {
            let Some((Event::PlayerMoved { id: moved, position }, rest)) = events.split_first() else { return None };
            if moved.0 != id || place.is_some_and(|place| place != *position) || !self.board.contains(*position) {
                return None;
            }
            let mut trial = trial.clone();
            trial.positions[index] = *position;
            trial.choices.push((0, true));
            return self.fit(&trial, rest);
        }
        let least = robot.arrived(self.number, self.duration);
        (least..=robot.pending.len()).rev().find_map(|arrived| {
            let (trial, rest) = self.attempt(trial, index, arrived, events)?;
            self.fit(&trial, rest)
        })
    }

    // Plays the last of the player's first `arrived` pending actions.
    fn attempt<'e>(
        &self,
        trial: &Trial,
        index: usize,
        arrived: usize,
        events: &'e [Event],
    ) -> Option<(Trial, &'e [Event])> {
        let action = self.robots[index].pending[..arrived].last().map(|pending| pending.action);
        let from = trial.positions[index];
        let mut trial = trial.clone();
        let Some(effect) = effect(&trial.board, from, action) else {
            trial.choices.push((arrived, false));
            return Some((trial, events));
        };
        let (event, rest) = events.split_first()?;
        match (effect, event) {
            (Effect::Moved(to), Event::PlayerMoved { id, position })
                if usize::from(id.0) == index && to == *position =>
            {
                trial.positions[index] = to;
            }
            (Effect::Bomb(at), Event::BombPlaced { id, position }) if at == *position => trial.bombs.push((*id, at)),
            (Effect::Block(at), Event::BlockPlaced { position }) if at == *position => {
                trial.board.put_block(at);
            }
            _ => return None,
        }
        trial.choices.push((arrived, true));
        Some((trial, rest))
    }
}

pub(super) fn moved(event: &Event, of: u8) -> Option<Position> {
    match event {
        Event::PlayerMoved { id, position } if id.0 == of => Some(*position),
        _ => None,
    }
}
