//! A game as it must go on, folded from what the server told, and the judgement of each turn.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use robots::{Action, Blast, Board, BombId, Event, Parameters, PlayerId, Position};

use super::{
    diagnosis::diagnose,
    explanation::{Robot, Trial, Turn},
    rules::{
        BLAST, BOMB_IDS, BOMB_TIMER, DRAWS, EVENT_ORDER, LISTED_ONCE, NOT_RESET, ON_BOMBED_BLOCK, OWN_BOMB, REBIRTH,
        SHELTER, STOOD, TIMER_ONE, TURN_0, UNITED,
    },
};
use crate::{
    judge::{Judge, Played},
    robots::{draws::Draws, show},
    rule::Rule,
};

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

impl Mirror {
    /// Judges turn 0, which places the robots and the blocks. `blocks` and `draws` are those of a server whose options are known,
    /// `first` whether it is its first game.
    pub(super) fn begin(
        judge: &mut Judge,
        parameters: &Parameters,
        duration: Duration,
        (blocks, mut draws, first): (Option<u16>, Option<Draws>, bool),
        events: &[Event],
    ) -> Played<Self> {
        let mut board = Board::new(parameters.size_x, parameters.size_y);
        let mut positions = vec![];
        for (index, event) in events.iter().enumerate() {
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
                    "event {index} of turn 0 is {}; a PlayerMoved for each of {players_count} players by id and then a \
                     BlockPlaced for each block would be right, on a board of {size_x} x {size_y} and no block twice",
                    show::event(event)
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
        let mut known = true;
        if let (Some(draws), Some(blocks)) = (&mut draws, blocks) {
            let ids = PlayerId::all().zip(&positions).map(|(id, _)| id);
            let mut right: Vec<_> = ids.map(|id| Event::PlayerMoved { id, position: draws.field(&board) }).collect();
            let mut seen = BTreeSet::new();
            for _ in 0..blocks {
                let position = draws.field(&board);
                if seen.insert(position) {
                    right.push(Event::BlockPlaced { position });
                }
            }
            let rule = if first { &DRAWS } else { &NOT_RESET };
            let kept = judge.check(rule, events == right, || {
                let place = events.iter().zip(&right).take_while(|(told, right)| told == right).count();
                let from = |list: &[Event]| show::events(list.iter().skip(place).take(3));
                format!("turn 0 has from event {place} on {}; {} would be right", from(events), from(&right))
            });
            known = kept;
        }
        // Whoever draws otherwise can still keep all other rules.
        let draws = draws.filter(|_| known);
        Ok(Self {
            board,
            robots: positions.into_iter().map(Robot::new).collect(),
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
        self.robots[usize::from(seat)].sent(actions, self.turn, self.bursts);
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
        let players = Turn {
            number: turn,
            duration: self.duration,
            robots: &self.robots,
            reborn: &reborn,
            events: rest,
            board: &self.board,
        };
        let Some(fit) = players.explain() else {
            let next = self.used.last().map_or(0, |id| id.0.wrapping_add(1));
            return diagnose(judge, focus, &players, next);
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
        let is_due = |(_, bomb): &(&BombId, &(Position, u32))| bomb.1 == u32::from(turn);
        let mut due: BTreeMap<BombId, Position> =
            self.bombs.iter().filter(is_due).map(|(&id, bomb)| (id, bomb.0)).collect();
        let usual = if due.len() > 1 { &UNITED } else { &BLAST };
        // What a small game has shown is seen in others too.
        let known = [&SHELTER, &ON_BOMBED_BLOCK, &OWN_BOMB, &STOOD];
        let rule = known.into_iter().find(|rule| judge.has_failed(rule)).unwrap_or(usual);
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
            let standing: Vec<_> = self.robots.iter().map(|robot| robot.position).collect();
            let struck = PlayerId::all().zip(&standing).filter(|(_, place)| blast.contains(**place));
            let robots: BTreeSet<_> = struck.map(|(id, _)| id).collect();
            let blocks: BTreeSet<_> = blast.blocks().collect();
            let kept = same(robots_destroyed, &robots) && same(blocks_destroyed, &blocks);
            let twice = holds(robots_destroyed, &robots) && holds(blocks_destroyed, &blocks);
            judge.require(if twice && !kept { &LISTED_ONCE } else { rule }, kept, || {
                let robots = show::values(robots.iter().map(|id| id.0));
                format!(
                    "turn {turn}: {}; robots {robots} and blocks {} would be right for a bomb at {} with radius {}, with robots \
                     at {} and blocks at {}",
                    show::event(event),
                    show::fields(&blocks),
                    show::field(center),
                    self.radius,
                    show::fields(&standing),
                    show::fields(&self.board.blocks().collect::<Vec<_>>()),
                )
            })?;
            if !robots.is_empty() || !blocks.is_empty() {
                judge.check(&LISTED_ONCE, true, String::new);
            }
            for id in &robots {
                self.robots[usize::from(id.0)].hits += 1;
            }
            destroyed.extend(robots);
            hit.extend(blocks);
        }
        if let Some((id, position)) = due.first_key_value() {
            let (id, position) = (id.0, show::field(*position));
            let rule = if self.timer == 1 && judge.has_failed(&TIMER_ONE) { &TIMER_ONE } else { &BOMB_TIMER };
            return judge.broken(rule, || {
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
            self.robots[usize::from(id.0)].score += 1;
        }
        Ok(destroyed)
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
        for ((id, robot), &(arrived, event)) in (0..=u8::MAX).zip(&mut self.robots).zip(&fit.choices) {
            let pending = &mut robot.pending;
            if reborn.contains_key(&id) {
                // They may have been dropped, or be late.
                for pending in pending {
                    pending.optional = true;
                }
            } else if event {
                let burst = pending[..arrived].last().map(|last| last.burst);
                let next = pending.get(arrived).filter(|next| !next.optional);
                splits += u32::from(next.is_some_and(|next| Some(next.burst) == burst));
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
        for robot in &mut self.robots {
            robot.pending.retain(|pending| !(pending.optional && pending.is_old(turn, self.duration)));
        }
        Ok(())
    }
}

fn same<T: Ord + Copy>(told: &[T], right: &BTreeSet<T>) -> bool {
    told.len() == right.len() && holds(told, right)
}

// As `same`, however often each is there.
fn holds<T: Ord + Copy>(told: &[T], right: &BTreeSet<T>) -> bool {
    told.iter().copied().collect::<BTreeSet<_>>() == *right
}
