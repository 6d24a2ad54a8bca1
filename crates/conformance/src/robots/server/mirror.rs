//! A game as it must go on, folded from what the server told, and the judgement of each turn.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use netcore::MinStd;
use robots::{Action, Blast, Board, BombId, Event, Parameters, PlayerId, Position};

use super::rules::{BLAST, BOMB_IDS, BOMB_TIMER, BUSY, DRAWS, EVENT_ORDER, NOT_RESET, REBIRTH, TURN_0, UNITED};
use crate::{
    judge::{Judge, Played},
    report::Rule,
    robots::show,
};

/// The generator of the protocol. Its state is the number drawn last.
#[derive(Clone, Copy, Debug)]
pub(in crate::robots) struct Draws(pub(in crate::robots) u32);

impl Draws {
    /// The next number below `bound`, which is not 0.
    pub(in crate::robots) fn below(&mut self, bound: u16) -> u16 {
        self.0 = MinStd::new(self.0).draw();
        u16::try_from(self.0 % u32::from(bound.max(1))).unwrap_or(0)
    }

    pub(in crate::robots) fn field(&mut self, board: &Board) -> Position {
        let x = self.below(board.size_x());
        Position { x, y: self.below(board.size_y()) }
    }
}

// An action that was sent and not seen yet.
struct Pending {
    action: Action,
    // After this turn had arrived.
    turn: u16,
    at: Instant,
    // Actions that were sent at once have the same.
    burst: u32,
    // It may have been played without an effect, or dropped.
    optional: bool,
}

/// A player's robot.
pub(super) struct Robot {
    pub(super) position: Position,
    /// In how many turns it was destroyed.
    pub(super) score: u32,
    /// By how many bombs.
    pub(super) hits: u32,
    pending: Vec<Pending>,
}

/// A game.
pub(super) struct Mirror {
    pub(super) board: Board,
    pub(super) robots: Vec<Robot>,
    pub(super) turn: u16,
    /// The generator after this turn, if its seed is known.
    pub(super) draws: Option<Draws>,
    radius: u16,
    timer: u16,
    duration: Duration,
    // The field and the turn of the explosion.
    bombs: BTreeMap<BombId, (Position, u32)>,
    used: BTreeSet<BombId>,
    bursts: u32,
    splits: u32,
}

enum Effect {
    Moved(Position),
    Bomb(Position),
    Block(Position),
}

// What each of the first players did, if the events up to here are explained by it.
#[derive(Clone)]
struct Trial {
    board: Board,
    positions: Vec<Position>,
    bombs: Vec<(BombId, Position)>,
    // How many of the pending actions have arrived, and whether there was an event.
    choices: Vec<(usize, bool)>,
}

fn effect(board: &Board, from: Position, action: Option<Action>) -> Option<Effect> {
    match action? {
        Action::PlaceBomb => Some(Effect::Bomb(from)),
        Action::PlaceBlock => (!board.is_block(from)).then_some(Effect::Block(from)),
        Action::Move(way) => board.step(from, way).filter(|&to| !board.is_block(to)).map(Effect::Moved),
    }
}

impl Mirror {
    /// Judges turn 0. `blocks` and `draws` are those of a server whose options are known, `first` whether it is its first game.
    pub(super) fn begin(
        judge: &mut Judge,
        parameters: &Parameters,
        duration: Duration,
        (blocks, draws, first): (Option<u16>, Option<Draws>, bool),
        events: &[Event],
    ) -> Played<Self> {
        let mut board = Board::new(parameters.size_x, parameters.size_y);
        let mut positions = vec![];
        for (index, event) in events.iter().enumerate() {
            let told = || format!("event {index} of turn 0 is {}", show::event(event));
            let right = match event {
                Event::PlayerMoved { id, position } => {
                    let due = usize::from(id.0) == positions.len() && positions.len() < parameters.players_count.into();
                    positions.push(*position);
                    due && index + 1 == positions.len() && board.contains(*position)
                }
                Event::BlockPlaced { position } => board.put_block(*position),
                Event::BombPlaced { .. } | Event::BombExploded { .. } => false,
            };
            judge.require(&TURN_0, right, || {
                let Parameters { size_x, size_y, players_count, .. } = parameters;
                format!(
                    "{}; a PlayerMoved for each of {players_count} players by id and then a BlockPlaced for each block would be \
                     right, on a board of {size_x} x {size_y} and no block twice",
                    told()
                )
            })?;
        }
        let count = board.blocks().len();
        judge.require(&TURN_0, positions.len() == usize::from(parameters.players_count), || {
            format!("turn 0 places {} of {} players", positions.len(), parameters.players_count)
        })?;
        judge.require(&TURN_0, blocks.is_none_or(|blocks| count <= usize::from(blocks)), || {
            format!("turn 0 has {count} blocks, and initial-blocks is {}", blocks.unwrap_or(0))
        })?;
        let draws = match (draws, blocks) {
            (Some(draws), Some(blocks)) => Some(drawn(judge, &board, &positions, blocks, draws, first, events)?),
            _ => None,
        };
        let robot = |position| Robot { position, score: 0, hits: 0, pending: vec![] };
        Ok(Self {
            board,
            robots: positions.into_iter().map(robot).collect(),
            turn: 0,
            draws,
            radius: parameters.explosion_radius,
            timer: parameters.bomb_timer,
            duration,
            bombs: BTreeMap::new(),
            used: BTreeSet::new(),
            bursts: 0,
            splits: 0,
        })
    }

    /// Notes that a player sends actions all at once.
    pub(super) fn sent(&mut self, seat: u8, actions: &[Action]) {
        self.bursts += 1;
        let (turn, at, burst) = (self.turn, Instant::now(), self.bursts);
        if let Some(robot) = self.robots.get_mut(usize::from(seat)) {
            robot.pending.extend(actions.iter().map(|&action| Pending { action, turn, at, burst, optional: false }));
        }
    }

    /// Whether an action must still be played.
    pub(super) fn waits(&self) -> bool {
        self.robots.iter().any(|robot| robot.pending.iter().any(|pending| !pending.optional))
    }

    /// Judges a turn. `focus` is the rule that is broken when the players' events are not what their actions lead to.
    pub(super) fn turn(&mut self, judge: &mut Judge, focus: &'static Rule, events: &[Event]) -> Played {
        self.turn = self.turn.saturating_add(1);
        let explosions = events.iter().take_while(|event| matches!(event, Event::BombExploded { .. })).count();
        let (explosions, rest) = events.split_at(explosions);
        let turn = self.turn;
        let late = rest.iter().find(|event| matches!(event, Event::BombExploded { .. }));
        judge.require(&EVENT_ORDER, late.is_none(), || {
            format!("turn {turn}: {} has an explosion behind an event of a player", show::events(events))
        })?;
        let destroyed = self.explode(judge, explosions)?;
        let mut ids = BTreeSet::new();
        for event in rest {
            if let Event::BombPlaced { id, .. } = event {
                let new = !self.used.contains(id) && ids.insert(*id);
                judge.require(&BOMB_IDS, new, || {
                    format!("turn {turn}: {}, but that id was used before", show::event(event))
                })?;
            }
        }
        // The draws do not depend on what the others do.
        let mut draws = self.draws;
        let reborn: BTreeMap<u8, Option<Position>> =
            destroyed.iter().map(|id| (id.0, draws.as_mut().map(|draws| draws.field(&self.board)))).collect();
        let start = Trial {
            board: self.board.clone(),
            positions: self.robots.iter().map(|robot| robot.position).collect(),
            bombs: vec![],
            choices: vec![],
        };
        let Some(fit) = self.fit(&start, rest, &reborn) else {
            return self.diagnose(judge, focus, start, rest, &reborn);
        };
        if !reborn.is_empty() {
            judge.check(&REBIRTH, true, String::new);
            if draws.is_some() {
                judge.check(&DRAWS, true, String::new);
            }
        }
        if rest.len() > 1 {
            judge.check(&EVENT_ORDER, true, String::new);
        }
        self.draws = draws;
        self.settle(judge, focus, fit, &reborn, rest)
    }

    // Judges the explosions, takes the blocks away, and returns who was destroyed.
    fn explode(&mut self, judge: &mut Judge, events: &[Event]) -> Played<BTreeSet<PlayerId>> {
        let turn = self.turn;
        let mut due: BTreeMap<BombId, Position> = BTreeMap::new();
        for (&id, &(position, explodes)) in &self.bombs {
            if explodes == u32::from(turn) {
                due.insert(id, position);
            }
        }
        let rule = if due.len() > 1 { &UNITED } else { &BLAST };
        let mut destroyed = BTreeSet::new();
        let mut hit = vec![];
        for event in events {
            let Event::BombExploded { id, robots_destroyed, blocks_destroyed } = event else { continue };
            let Some(center) = due.remove(id) else {
                return judge.broken(&BOMB_TIMER, || match self.bombs.get(id) {
                    Some((_, right)) => format!("turn {turn}: bomb {} explodes; turn {right} would be right", id.0),
                    None => {
                        format!("turn {turn}: bomb {} explodes, but there is no such bomb or it has exploded", id.0)
                    }
                });
            };
            self.bombs.remove(id);
            let blast = Blast::new(&self.board, center, self.radius);
            let struck = |robot: &&(PlayerId, Position)| blast.contains(robot.1);
            let standing: Vec<_> = PlayerId::all().zip(self.robots.iter().map(|robot| robot.position)).collect();
            let robots: BTreeSet<_> = standing.iter().filter(struck).map(|(id, _)| *id).collect();
            let blocks: BTreeSet<_> = blast.blocks().collect();
            let kept = same(robots_destroyed, &robots) && same(blocks_destroyed, &blocks);
            judge.require(rule, kept, || {
                let robots: Vec<_> = robots.iter().map(|id| id.0).collect();
                format!(
                    "turn {turn}: {}; robots {robots:?} and blocks {} would be right for a bomb at {} with radius {}, with robots \
                     at {} and blocks at {}",
                    show::event(event),
                    show::fields(&blocks),
                    show::field(center),
                    self.radius,
                    show::fields(standing.iter().map(|(_, position)| position)),
                    show::fields(&self.board.blocks().collect::<Vec<_>>()),
                )
            })?;
            for id in &robots {
                if let Some(robot) = self.robots.get_mut(usize::from(id.0)) {
                    robot.hits += 1;
                }
            }
            destroyed.extend(robots);
            hit.extend(blocks);
        }
        if let Some((id, position)) = due.first_key_value() {
            let (id, position) = (id.0, show::field(*position));
            return judge.broken(&BOMB_TIMER, || {
                format!(
                    "turn {turn}: bomb {id} at {position} does not explode, and its timer of {} turns is over",
                    self.timer
                )
            });
        }
        if !events.is_empty() {
            judge.check(&BOMB_TIMER, true, String::new);
        }
        for position in hit {
            self.board.remove_block(position);
        }
        for id in &destroyed {
            if let Some(robot) = self.robots.get_mut(usize::from(id.0)) {
                robot.score += 1;
            }
        }
        Ok(destroyed)
    }

    fn is_old(&self, pending: &Pending) -> bool {
        // It arrived in time for the turn after next, unless the tester itself was held up.
        self.turn >= pending.turn.saturating_add(2) && pending.at.elapsed() >= self.duration * 3 / 2
    }

    // Finds out which of the pending actions explain the events. An action that was sent just before the end of a turn may fall
    // into the next one.
    fn fit(&self, trial: &Trial, events: &[Event], reborn: &BTreeMap<u8, Option<Position>>) -> Option<Trial> {
        let index = trial.choices.len();
        let Some(robot) = self.robots.get(index) else { return events.is_empty().then(|| trial.clone()) };
        let id = u8::try_from(index).ok()?;
        if let Some(&place) = reborn.get(&id) {
            let Some((Event::PlayerMoved { id: told, position }, rest)) = events.split_first() else { return None };
            if told.0 != id || place.is_some_and(|place| place != *position) || !self.board.contains(*position) {
                return None;
            }
            let mut trial = trial.clone();
            *trial.positions.get_mut(index)? = *position;
            trial.choices.push((0, true));
            return self.fit(&trial, rest, reborn);
        }
        let due = robot.pending.iter().rposition(|pending| self.is_old(pending) && !pending.optional);
        let least = due.map_or(0, |last| last + 1);
        (least..=robot.pending.len()).rev().find_map(|arrived| {
            let (trial, rest) = self.attempt(trial, index, arrived, events)?;
            self.fit(&trial, rest, reborn)
        })
    }

    // The first `arrived` pending actions of a player are there, and the last of them is played.
    fn attempt<'e>(
        &self,
        trial: &Trial,
        index: usize,
        arrived: usize,
        events: &'e [Event],
    ) -> Option<(Trial, &'e [Event])> {
        let pending = &self.robots.get(index)?.pending;
        let action = arrived.checked_sub(1).and_then(|last| pending.get(last)).map(|pending| pending.action);
        let from = *trial.positions.get(index)?;
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
                *trial.positions.get_mut(index)? = to;
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

    // Takes over what the turn was found to be.
    fn settle(
        &mut self,
        judge: &mut Judge,
        focus: &'static Rule,
        fit: Trial,
        reborn: &BTreeMap<u8, Option<Position>>,
        events: &[Event],
    ) -> Played {
        let mut splits = 0;
        for (id, &(arrived, event)) in (0_u8..).zip(&fit.choices) {
            let Some(robot) = self.robots.get_mut(usize::from(id)) else { continue };
            let pending = &mut robot.pending;
            if reborn.contains_key(&id) {
                // They may have been dropped, or be late.
                for pending in pending {
                    pending.optional = true;
                }
            } else if event {
                let burst = arrived.checked_sub(1).and_then(|last| pending.get(last)).map(|last| last.burst);
                splits +=
                    u32::from(pending.get(arrived).is_some_and(|next| Some(next.burst) == burst && !next.optional));
                pending.drain(..arrived);
            } else {
                // Without an effect one cannot tell whether they have arrived.
                for pending in pending.iter_mut().take(arrived) {
                    pending.optional = true;
                }
            }
        }
        self.splits += splits;
        let turn = self.turn;
        // One turn may end between two actions that are sent at once. A second such turn is a fault.
        judge.require(focus, self.splits <= 1, || {
            format!(
                "turn {turn}: {} is not what the last of the actions leads to that were sent at once after turn {}",
                show::events(events),
                turn.saturating_sub(1)
            )
        })?;
        judge.check(focus, true, String::new);
        self.board = fit.board;
        for (robot, position) in self.robots.iter_mut().zip(fit.positions) {
            robot.position = position;
        }
        for (id, position) in fit.bombs {
            self.used.insert(id);
            self.bombs.insert(id, (position, u32::from(turn) + u32::from(self.timer)));
        }
        let mut robots = std::mem::take(&mut self.robots);
        for robot in &mut robots {
            robot.pending.retain(|pending| !(pending.optional && self.is_old(pending)));
        }
        self.robots = robots;
        Ok(())
    }

    // Says what is wrong with the events of the players.
    fn diagnose(
        &self,
        judge: &mut Judge,
        focus: &'static Rule,
        mut trial: Trial,
        events: &[Event],
        reborn: &BTreeMap<u8, Option<Position>>,
    ) -> Played {
        let turn = self.turn;
        let mut right = vec![];
        let mut next = self.used.last().map_or(0, |id| id.0.wrapping_add(1));
        for (index, robot) in self.robots.iter().enumerate() {
            let Ok(id) = u8::try_from(index) else { continue };
            let from = trial.positions.get(index).copied().unwrap_or(robot.position);
            if let Some(place) = reborn.get(&id) {
                let came: Vec<_> = moves(events, id).collect();
                judge.require(&REBIRTH, came.len() == 1, || {
                    format!(
                        "turn {turn}: {} has {} PlayerMoved of player {id}, whose robot was destroyed; one would be right, and \
                         no other event of that player",
                        show::events(events),
                        came.len()
                    )
                })?;
                let position = place.or_else(|| came.first().copied()).unwrap_or(from);
                judge.require(&DRAWS, came.first() == Some(&position), || {
                    format!(
                        "turn {turn}: player {id} is reborn at {}; {} would be right, with the players' draws in the order of ids",
                        show::fields(&came),
                        show::field(position)
                    )
                })?;
                right.push(Event::PlayerMoved { id: PlayerId(id), position });
                continue;
            }
            match effect(&trial.board, from, robot.pending.last().map(|pending| pending.action)) {
                None => {}
                Some(Effect::Moved(position)) => right.push(Event::PlayerMoved { id: PlayerId(id), position }),
                Some(Effect::Bomb(position)) => {
                    right.push(Event::BombPlaced { id: BombId(next), position });
                    next = next.wrapping_add(1);
                }
                Some(Effect::Block(position)) => {
                    trial.board.put_block(position);
                    right.push(Event::BlockPlaced { position });
                }
            }
        }
        let plain = |list: &[Event]| {
            let mut list: Vec<_> = list.iter().map(without_id).collect();
            list.sort();
            list
        };
        let order = right.len() > 1 && plain(events) == plain(&right);
        // In the other scenarios something else is more likely.
        let extra = focus == &BUSY && !reborn.is_empty() && events.len() > right.len();
        let rule = if order {
            &EVENT_ORDER
        } else if extra {
            &REBIRTH
        } else {
            focus
        };
        judge.broken(rule, || {
            let sent: Vec<_> = (0_u8..)
                .zip(&self.robots)
                .filter(|(_, robot)| !robot.pending.is_empty())
                .map(|(id, robot)| {
                    let actions: Vec<_> = robot.pending.iter().map(|pending| pending.action).collect();
                    format!("player {id} at {} sent {}", show::field(robot.position), show::value(&actions))
                })
                .collect();
            let sent = if sent.is_empty() { "no player had sent an action".to_owned() } else { sent.join(", ") };
            format!(
                "turn {turn}: the players' events are {}; {} would be right, since {sent}",
                show::events(events),
                show::events(&right)
            )
        })
    }
}

fn moves(events: &[Event], of: u8) -> impl Iterator<Item = Position> {
    events.iter().filter_map(move |event| match event {
        Event::PlayerMoved { id, position } if id.0 == of => Some(*position),
        _ => None,
    })
}

// Bombs may have any ids.
fn without_id(event: &Event) -> String {
    match event {
        Event::BombPlaced { position, .. } => format!("BombPlaced {}", show::field(*position)),
        other => show::event(other),
    }
}

fn same<T: Ord + Copy>(told: &[T], right: &BTreeSet<T>) -> bool {
    told.len() == right.len() && told.iter().copied().collect::<BTreeSet<_>>() == *right
}

// Whether turn 0 is what the generator draws.
fn drawn(
    judge: &mut Judge,
    board: &Board,
    positions: &[Position],
    blocks: u16,
    mut draws: Draws,
    first: bool,
    events: &[Event],
) -> Played<Draws> {
    let mut right = vec![];
    for (id, _) in PlayerId::all().zip(positions) {
        right.push(Event::PlayerMoved { id, position: draws.field(board) });
    }
    let mut seen = BTreeSet::new();
    for _ in 0..blocks {
        let position = draws.field(board);
        if seen.insert(position) {
            right.push(Event::BlockPlaced { position });
        }
    }
    let rule = if first { &DRAWS } else { &NOT_RESET };
    judge.require(rule, events == right, || {
        let place = events.iter().zip(&right).take_while(|(told, right)| told == right).count();
        let from = |list: &[Event]| show::events(list.iter().skip(place).take(3));
        format!("turn 0 has from event {place} on {}; {} would be right", from(events), from(&right))
    })?;
    Ok(draws)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_draws_the_published_numbers() {
        let mut draws = Draws(1234);
        let numbers: Vec<_> = (0..6)
            .map(|_| {
                draws.below(1);
                draws.0
            })
            .collect();
        assert_eq!(numbers, [59_566_414, 1_997_250_508, 148_423_250, 533_254_358, 982_122_076, 165_739_424]);
    }
}
