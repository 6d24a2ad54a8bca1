//! The game according to the server's messages, with the checks of each turn.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use robots::{Action, Blast, Board, BombId, Event, PlayerId, Position};

use super::{
    BLAST, BOMB_IDS, BOMB_TIMER, DRAWS, EVENT_ORDER, LISTED_ONCE, NOT_RESET, OWN_EVENTS, REBIRTH, TURN_0, UNITED,
    diagnosis::diagnose,
    explanation::{Robot, Trial, Turn},
    setup::Setup,
};
use crate::{
    judge::Judge,
    robots::{context::Context, draws::Draws, show},
    rule::Rule,
};

pub(super) struct Model {
    pub(super) board: Board,
    pub(super) robots: Vec<Robot>,
    pub(super) turn: u16,
    pub(super) draws: Option<Draws>,
    radius: u16,
    timer: u16,
    duration: Duration,
    // The field and the explosion turn of each bomb.
    bombs: BTreeMap<BombId, (Position, u32)>,
    used: BTreeSet<BombId>,
    overdue: BTreeSet<BombId>,
    last: Vec<Event>,
    batches: u32,
    splits: u32,
}

impl Model {
    /// Judges turn 0 and adopts its positions. `blocks` and `draws` are set if the server's options are known. `first`
    /// marks the server's first game.
    pub(super) fn begin(
        context: &Context<'_>,
        judge: &mut Judge,
        setup: &Setup,
        (blocks, draws, first): (Option<u16>, Option<Draws>, bool),
        events: &[Event],
    ) -> Self {
        let (size_x, size_y) = setup.size;
        let players = usize::from(setup.players);
        let mut board = Board::new(size_x, size_y);
        let mut places = BTreeMap::new();
        let mut wrong = None;
        for (index, event) in events.iter().enumerate() {
            let right = match event {
                Event::PlayerMoved { id, position } => {
                    let due = usize::from(id.0) == places.len() && places.len() < players;
                    if board.contains(*position) && usize::from(id.0) < players {
                        places.insert(*id, *position);
                    }
                    due && index + 1 == places.len()
                }
                Event::BlockPlaced { position } => board.contains(*position) && board.put_block(*position),
                Event::BombPlaced { .. } | Event::BombExploded { .. } => false,
            };
            if !right && wrong.is_none() {
                wrong = Some(format!(
                    "event {index} of turn 0: expected PlayerMoved for each of {players} players by id and then BlockPlaced for \
                     each block, none twice, on a board of {size_x} x {size_y}, received {}",
                    show::value(event)
                ));
            }
        }
        let count = board.blocks().len();
        if wrong.is_none() && places.len() != players {
            wrong = Some(format!("turn 0: expected {players} players, received {}", places.len()));
        }
        if wrong.is_none() && blocks.is_some_and(|blocks| count > usize::from(blocks)) {
            wrong = Some(format!("turn 0: expected at most {} blocks, received {count}", blocks.unwrap_or(0)));
        }
        context.check(judge, &TURN_0, wrong.is_none(), || wrong.unwrap_or_default());
        let positions: Vec<_> =
            PlayerId::all().take(players).map(|id| places.get(&id).copied().unwrap_or(Position::new(0, 0))).collect();
        let draws = draws.zip(blocks).and_then(|(mut draws, blocks)| {
            let fields: Vec<_> = positions.iter().map(|_| draws.field(&board)).collect();
            let right: BTreeSet<_> = (0..blocks).map(|_| draws.field(&board)).collect();
            let rule = if first { &DRAWS } else { &NOT_RESET };
            // A server with other draws can still keep all other rules.
            let kept = context.check(
                judge,
                rule,
                positions == fields && board.blocks().collect::<BTreeSet<_>>() == right,
                || {
                    let blocks =
                        |blocks: &mut dyn Iterator<Item = Position>| show::fields(&blocks.take(5).collect::<Vec<_>>());
                    format!(
                        "turn 0: expected robots at {} and blocks {}, received robots at {} and blocks {}",
                        show::fields(&fields),
                        blocks(&mut right.iter().copied()),
                        show::fields(&positions),
                        blocks(&mut board.blocks())
                    )
                },
            );
            kept.then_some(draws)
        });
        Self {
            board,
            robots: positions.into_iter().map(Robot::new).collect(),
            turn: 0,
            draws,
            radius: setup.radius,
            timer: setup.bomb_timer,
            duration: setup.duration,
            bombs: BTreeMap::new(),
            used: BTreeSet::new(),
            overdue: BTreeSet::new(),
            last: events.to_vec(),
            batches: 0,
            splits: 0,
        }
    }

    pub(super) fn sent(&mut self, seat: u8, actions: &[Action]) {
        self.batches += 1;
        self.robots[usize::from(seat)].sent(actions, self.batches);
    }

    pub(super) fn waits(&self) -> bool {
        self.robots.iter().any(|robot| robot.pending.iter().any(|pending| !pending.optional))
    }

    /// Breaks `rule` if the players' events do not follow from their actions. Adopts the events in any case.
    pub(super) fn turn(&mut self, context: &Context<'_>, judge: &mut Judge, rule: &'static Rule, events: &[Event]) {
        self.turn = self.turn.saturating_add(1);
        let turn = self.turn;
        let last = std::mem::replace(&mut self.last, events.to_vec());
        let again = !last.is_empty() && events.starts_with(&last);
        context.check(judge, &OWN_EVENTS, !again, || {
            format!("turn {turn}: expected no events of turn {}, received {}", turn - 1, show::events(events))
        });
        let events = if again { &events[last.len()..] } else { events };
        let (explosions, rest): (Vec<Event>, Vec<Event>) =
            events.iter().cloned().partition(|event| matches!(event, Event::BombExploded { .. }));
        let first = events.iter().take_while(|event| matches!(event, Event::BombExploded { .. })).count();
        if first < explosions.len() {
            context.check(judge, &EVENT_ORDER, false, || {
                format!(
                    "turn {turn}: expected explosions before the players' events, received {}",
                    show::events(events)
                )
            });
        }
        let destroyed = self.explode(context, judge, &explosions);
        let mut ids = BTreeSet::new();
        for event in &rest {
            if let Event::BombPlaced { id, .. } = event {
                let new = !self.used.contains(id) && ids.insert(*id);
                context.check(judge, &BOMB_IDS, new, || {
                    format!("turn {turn}: expected an unused bomb id, received {}", show::value(event))
                });
            }
        }
        // Draws do not depend on the other players' actions.
        let mut draws = self.draws;
        let reborn: BTreeMap<u8, Option<Position>> =
            destroyed.iter().map(|id| (id.0, draws.as_mut().map(|draws| draws.field(&self.board)))).collect();
        let players = Turn {
            number: turn,
            duration: self.duration,
            robots: &self.robots,
            reborn: &reborn,
            events: &rest,
            board: &self.board,
        };
        let Some(fit) = players.explain() else {
            let next = self.used.last().map_or(0, |id| id.0.wrapping_add(1));
            diagnose(context, judge, rule, &players, next);
            self.draws = draws.filter(|_| reborn.iter().all(|(&id, place)| players.has_moved(id, *place)));
            self.adopt(&rest);
            return;
        };
        if !reborn.is_empty() {
            context.check(judge, &REBIRTH, true, String::new);
            if draws.is_some() {
                context.check(judge, &DRAWS, true, String::new);
            }
        }
        if rest.len() > 1 {
            context.check(judge, &EVENT_ORDER, true, String::new);
        }
        self.draws = draws;
        self.settle(context, judge, rule, fit, &reborn, &rest);
    }

    fn adopt(&mut self, events: &[Event]) {
        for robot in &mut self.robots {
            robot.pending.clear();
        }
        for event in events {
            match event {
                Event::PlayerMoved { id, position } if self.board.contains(*position) => {
                    if let Some(robot) = self.robots.get_mut(usize::from(id.0)) {
                        robot.position = *position;
                    }
                }
                Event::BlockPlaced { position } if self.board.contains(*position) => {
                    self.board.put_block(*position);
                }
                Event::BombPlaced { id, position } if self.board.contains(*position) => self.place_bomb(*id, *position),
                _ => {}
            }
        }
    }

    fn place_bomb(&mut self, id: BombId, position: Position) {
        self.used.insert(id);
        self.bombs.insert(id, (position, u32::from(self.turn) + u32::from(self.timer)));
    }

    fn explode(&mut self, context: &Context<'_>, judge: &mut Judge, events: &[Event]) -> BTreeSet<PlayerId> {
        let turn = self.turn;
        let due = self.bombs.values().filter(|bomb| bomb.1 == u32::from(turn)).count();
        let general = if due > 1 { &UNITED } else { &BLAST };
        let mut destroyed: BTreeSet<PlayerId> = BTreeSet::new();
        let mut hit = vec![];
        for event in events {
            let Event::BombExploded { id, robots_destroyed, blocks_destroyed } = event else { continue };
            destroyed.extend(robots_destroyed.iter().filter(|id| usize::from(id.0) < self.robots.len()));
            hit.extend(blocks_destroyed.iter().copied());
            let bomb = self.bombs.remove(id);
            let is_due = bomb.is_some_and(|(_, right)| right == u32::from(turn));
            let is_overdue = self.overdue.remove(id);
            if !is_due && !is_overdue {
                context.check(judge, &BOMB_TIMER, false, || match bomb {
                    Some((_, right)) => {
                        format!("turn {turn}: expected the explosion of bomb {} in turn {right}, received it now", id.0)
                    }
                    None => {
                        format!("turn {turn}: expected explosions of existing bombs, received one of bomb {}", id.0)
                    }
                });
            }
            let Some((center, _)) = bomb else { continue };
            let blast = Blast::new(&self.board, center, self.radius);
            let standing: Vec<_> = self.robots.iter().map(|robot| robot.position).collect();
            let struck = PlayerId::all().zip(&standing).filter(|(_, place)| blast.contains(**place));
            let robots: BTreeSet<_> = struck.map(|(id, _)| id).collect();
            let blocks: BTreeSet<_> = blast.blocks().collect();
            let kept = same(robots_destroyed, &robots) && same(blocks_destroyed, &blocks);
            let twice = holds(robots_destroyed, &robots) && holds(blocks_destroyed, &blocks);
            for id in robots_destroyed.iter().collect::<BTreeSet<_>>() {
                if let Some(robot) = self.robots.get_mut(usize::from(id.0)) {
                    robot.hits += 1;
                }
            }
            let wrong = || {
                let robots = show::values(robots.iter().map(|id| id.0));
                format!(
                    "turn {turn}: expected robots {robots} and blocks {}, received {}, for a bomb at {} with radius {}, with \
                     robots at {} and blocks at {}",
                    show::fields(&blocks),
                    show::value(event),
                    show::value(&center),
                    self.radius,
                    show::fields(&standing),
                    show::fields(&self.board.blocks().collect::<Vec<_>>()),
                )
            };
            if twice && !kept {
                judge.check(&LISTED_ONCE, false, wrong);
            } else {
                context.check(judge, general, kept, wrong);
            }
            if kept && (!robots.is_empty() || !blocks.is_empty()) {
                judge.check(&LISTED_ONCE, true, String::new);
            }
        }
        let late: Vec<_> =
            self.bombs.iter().filter(|(_, bomb)| bomb.1 == u32::from(turn)).map(|(id, bomb)| (*id, bomb.0)).collect();
        for (id, position) in late {
            self.overdue.insert(id);
            context.check(judge, &BOMB_TIMER, false, || {
                format!(
                    "turn {turn}: expected the explosion of bomb {} at {} after {} turns, received none",
                    id.0,
                    show::value(&position),
                    self.timer
                )
            });
        }
        if !events.is_empty() {
            context.check(judge, &BOMB_TIMER, true, String::new);
        }
        for position in hit {
            self.board.remove_block(position);
        }
        for id in &destroyed {
            self.robots[usize::from(id.0)].score += 1;
        }
        destroyed
    }

    fn settle(
        &mut self,
        context: &Context<'_>,
        judge: &mut Judge,
        rule: &'static Rule,
        fit: Trial,
        reborn: &BTreeMap<u8, Option<Position>>,
        events: &[Event],
    ) {
        let mut splits = 0;
        for ((id, robot), &(arrived, event)) in (0..=u8::MAX).zip(&mut self.robots).zip(&fit.choices) {
            let least = robot.arrived(self.turn, self.duration);
            let pending = &mut robot.pending;
            if reborn.contains_key(&id) {
                // The actions may have been dropped, or be late.
                for pending in pending {
                    pending.optional = true;
                }
            } else if event {
                let batch = pending[..arrived].last().map(|last| last.batch);
                let next = pending.get(arrived).filter(|next| !next.optional);
                splits += u32::from(next.is_some_and(|next| Some(next.batch) == batch));
                // The last of several equal actions may still be on its way.
                let action = pending[arrived - 1].action;
                let first = (least.max(1)..=arrived).find(|&first| pending[first - 1].action == action);
                let first = first.unwrap_or(arrived);
                pending[first..arrived].iter_mut().for_each(|pending| pending.optional = true);
                pending.drain(..first);
            } else {
                // Whether an action without an effect has arrived is unknown.
                for pending in pending.iter_mut().take(arrived) {
                    pending.optional = true;
                }
            }
        }
        self.splits += splits;
        let turn = self.turn;
        // One turn may end between two actions of a batch. A second such turn is an error.
        context.check(judge, rule, splits == 0 || self.splits == 1, || {
            format!(
                "turn {turn}: expected the effect of the last action sent in one batch after turn {}, received {}",
                turn.saturating_sub(1),
                show::events(events)
            )
        });
        self.board = fit.board;
        for (robot, position) in self.robots.iter_mut().zip(fit.positions) {
            robot.position = position;
        }
        for (id, position) in fit.bombs {
            self.place_bomb(id, position);
        }
        for robot in &mut self.robots {
            robot.pending.retain(|pending| !(pending.optional && pending.is_old(turn, self.duration)));
        }
    }
}

fn same<T: Ord + Copy>(listed: &[T], right: &BTreeSet<T>) -> bool {
    listed.len() == right.len() && holds(listed, right)
}

// Like `same`, but ignores repetitions.
fn holds<T: Ord + Copy>(listed: &[T], right: &BTreeSet<T>) -> bool {
    listed.iter().copied().collect::<BTreeSet<_>>() == *right
}
