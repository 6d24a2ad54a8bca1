//! A server and all connections to it, which are told the same.

use std::{collections::BTreeMap, net::SocketAddr};

use robots::{Action, ClientMessage, Direction, Event, Player, PlayerId, Position, ServerMessage};

use super::{
    mirror::Mirror,
    rules::{
        ACCEPTED, ADDRESS, ADDRESS_OF_PEER, ENDED, GAME_STARTED, LATE, NEWCOMER, NEXT_SCORES, SAME_FOR_ALL, SCORE_ONCE,
        SCORE_ZEROS, SCORES, TURN_NUMBERS,
    },
    setup::{Guest, Host, Setup},
};
use crate::{
    judge::{Judge, Played},
    robots::{context::Context, draws::Draws, show},
    rule::Rule,
};

pub(super) struct Table<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) judge: &'a mut Judge,
    pub(super) host: Host,
    pub(super) setup: Setup,
    pub(super) guests: Vec<Guest>,
    /// Who was accepted for the game or the coming one.
    pub(super) players: Vec<Player>,
    pub(super) mirror: Option<Mirror>,
    // What everybody was told of the lobby or the game.
    log: Vec<ServerMessage>,
    // Of the coming game.
    draws: Option<Draws>,
    blocks: Option<u16>,
    games: u32,
}

// Lists that are sets, in one order.
fn canonical(message: &ServerMessage) -> ServerMessage {
    let mut message = message.clone();
    if let ServerMessage::Turn { events, .. } = &mut message {
        for event in events {
            if let Event::BombExploded { robots_destroyed, blocks_destroyed, .. } = event {
                robots_destroyed.sort_unstable();
                blocks_destroyed.sort_unstable();
            }
        }
    }
    message
}

impl<'a> Table<'a> {
    pub(super) fn open(context: &'a Context<'a>, judge: &'a mut Judge, setup: Setup) -> Played<Self> {
        let host = context.host(judge, &setup)?;
        Ok(Self::at(context, judge, host, setup, true))
    }

    /// A server that is there already, and whose seed and blocks may be `known`.
    pub(super) fn at(context: &'a Context<'a>, judge: &'a mut Judge, host: Host, setup: Setup, known: bool) -> Self {
        let (draws, blocks) = (known.then_some(Draws(setup.seed)), known.then_some(setup.blocks));
        let (guests, players, log) = (vec![], vec![], vec![]);
        Self { context, judge, host, setup, guests, players, mirror: None, log, draws, blocks, games: 0 }
    }

    /// Connects somebody, who is told what all others were told. Returns its index.
    pub(super) fn connect(&mut self, label: &str) -> Played<usize> {
        let mut guest = self.context.guest(self.judge, &mut self.host, label)?;
        let rule = if self.mirror.is_some() { &LATE } else { &NEWCOMER };
        for (index, right) in self.log.iter().enumerate() {
            let told = guest.expect(self.judge, rule, self.context.options.deadline(), &show::message(right))?;
            self.judge.require(rule, canonical(&told) == canonical(right), || {
                let number = index + 2;
                format!(
                    "message {number} to {label} is {}; {} would be right",
                    show::message(&told),
                    show::message(right)
                )
            })?;
        }
        self.guests.push(guest);
        Ok(self.guests.len() - 1)
    }

    /// Takes the next message to everybody, which must be the same.
    pub(super) fn broadcast(&mut self, rule: &'static Rule, what: &str) -> Played<ServerMessage> {
        let by = self.context.options.deadline() + self.setup.duration;
        let mut told: Option<ServerMessage> = None;
        for guest in &mut self.guests {
            let message = guest.expect(self.judge, rule, by, what)?;
            match &told {
                None => told = Some(message),
                Some(first) => {
                    self.judge.require(&SAME_FOR_ALL, canonical(first) == canonical(&message), || {
                        let (first, other) = (show::message(first), show::message(&message));
                        format!("{} got {other} where others got {first}", guest.label)
                    })?;
                }
            }
        }
        told.ok_or_else(|| anyhow::anyhow!("nobody is connected").into())
    }

    /// Somebody sends Join.
    pub(super) fn ask(&mut self, index: usize, name: &str) -> Played {
        Ok(self.guests[index].join(name)?)
    }

    /// Somebody sends Join; everybody is told.
    pub(super) fn join(&mut self, index: usize, name: &str) -> Played {
        self.join_for(index, name, &ACCEPTED)
    }

    /// As [`Table::join`], to show whether `rule` is kept.
    pub(super) fn join_for(&mut self, index: usize, name: &str, rule: &'static Rule) -> Played {
        self.ask(index, name)?;
        self.accepted(index, name, rule)
    }

    /// Everybody is told that somebody has joined.
    pub(super) fn accepted(&mut self, index: usize, name: &str, rule: &'static Rule) -> Played {
        let message = self.broadcast(rule, &format!("an AcceptedPlayer of \"{name}\""))?;
        let due = self.players.len();
        let ServerMessage::AcceptedPlayer { id, player } = &message else {
            return self.judge.broken(rule, || {
                let came = show::message(&message);
                format!("{came} came where an AcceptedPlayer of \"{name}\" with id {due} would be right")
            });
        };
        self.judge.require(rule, usize::from(id.0) == due && *player.name == *name, || {
            format!(
                "{} came after the Join of \"{name}\"; id {due} and that name would be right",
                show::message(&message)
            )
        })?;
        let address: Option<SocketAddr> = player.address.parse().ok();
        self.judge.check(&ADDRESS, address.is_some(), || {
            format!(
                "the address of \"{name}\" is \"{}\"; one like 127.0.0.1:4000 or [::1]:4000 would be right",
                player.address
            )
        });
        if let Some(address) = address {
            let guest = &mut self.guests[index];
            let (told, local) = (plain(address), plain(guest.local));
            self.judge.check(&ADDRESS_OF_PEER, told == local, || {
                format!("the address of \"{name}\" is {told}; its end of the connection is {local}")
            });
            guest.seat = Some(id.0);
        }
        self.players.push(player.clone());
        self.log.push(message);
        Ok(())
    }

    /// The lobby is full: everybody is told that the game starts, and turn 0.
    pub(super) fn start(&mut self) -> Played {
        let message = self.broadcast(&GAME_STARTED, "GameStarted")?;
        let kept = match &message {
            ServerMessage::GameStarted { players } => {
                players.iter().map(|(id, player)| (*id, player)).eq(PlayerId::all().zip(&self.players))
            }
            _ => false,
        };
        self.judge.require(&GAME_STARTED, kept, || {
            let right = show::players(&PlayerId::all().zip(self.players.iter().cloned()).collect());
            format!("{} came; GameStarted with the accepted players {right} would be right", show::message(&message))
        })?;
        let turn = self.broadcast(&GAME_STARTED, "turn 0")?;
        let ServerMessage::Turn { turn: 0, events } = &turn else {
            return self.judge.broken(&GAME_STARTED, || {
                format!("{} came behind GameStarted; turn 0 would be right", show::message(&turn))
            });
        };
        let known = (self.blocks, self.draws, self.games == 0);
        self.games += 1;
        let mirror = Mirror::begin(self.judge, &self.host.parameters, self.setup.duration, known, events)?;
        self.draws = mirror.draws;
        self.mirror = Some(mirror);
        self.log = vec![message, turn];
        Ok(())
    }

    /// Somebody sends actions all at once.
    pub(super) fn act(&mut self, index: usize, actions: &[Action]) {
        let guest = &mut self.guests[index];
        if let (Some(seat), Some(mirror)) = (guest.seat, &mut self.mirror) {
            mirror.sent(seat, actions);
        }
        guest.send(actions.iter().copied().map(ClientMessage::Action));
    }

    /// The next turn, which shows whether `focus` is kept.
    pub(super) fn turn(&mut self, focus: &'static Rule) -> Played {
        let Some(due) = self.mirror.as_ref().map(|mirror| mirror.turn + 1) else { return Ok(()) };
        let message = self.broadcast(&TURN_NUMBERS, &format!("turn {due}"))?;
        let (number, events) = match &message {
            ServerMessage::Turn { turn, events } => (Some(*turn), &**events),
            _ => (None, &[][..]),
        };
        self.judge.require(&TURN_NUMBERS, number == Some(due), || {
            format!(
                "{} came; turn {due} of {} would be right",
                show::message(&message),
                self.host.parameters.game_length
            )
        })?;
        if let Some(mirror) = &mut self.mirror {
            mirror.turn(self.judge, focus, events)?;
            self.draws = mirror.draws;
        }
        self.log.push(message);
        Ok(())
    }

    /// Somebody sends actions all at once, and the turns follow until they are played.
    pub(super) fn play(&mut self, index: usize, actions: &[Action], focus: &'static Rule) -> Played {
        self.act(index, actions);
        self.turn(focus)?;
        while self.is_running() && self.mirror.as_ref().is_some_and(Mirror::waits) {
            self.turn(focus)?;
        }
        Ok(())
    }

    /// Whether there are turns to come.
    pub(super) fn is_running(&self) -> bool {
        self.mirror.as_ref().is_some_and(|mirror| mirror.turn < self.host.parameters.game_length)
    }

    /// Where the robot of a player stands.
    pub(super) fn robot(&self, seat: usize) -> Position {
        self.mirror.as_ref().map_or(Position::new(0, 0), |mirror| mirror.robots[seat].position)
    }

    /// A direction in which the robot of a player can go, if there is one.
    pub(super) fn any_way(&self, seat: usize) -> Direction {
        let from = self.robot(seat);
        let board = self.mirror.as_ref().map(|mirror| &mirror.board);
        let free =
            |way: &Direction| board.is_some_and(|board| board.step(from, *way).is_some_and(|to| !board.is_block(to)));
        Direction::ALL.into_iter().find(free).unwrap_or(Direction::Up)
    }

    /// All turns that are left, and the end of the game.
    pub(super) fn finish(&mut self, focus: &'static Rule) -> Played {
        while self.is_running() {
            self.turn(focus)?;
        }
        self.ended()
    }

    /// Everybody is told that the game is over.
    pub(super) fn ended(&mut self) -> Played {
        let message = self.broadcast(&ENDED, "GameEnded")?;
        let ServerMessage::GameEnded { scores } = &message else {
            return self.judge.broken(&ENDED, || {
                let length = self.host.parameters.game_length;
                format!("{} came behind turn {length}; GameEnded would be right", show::message(&message))
            });
        };
        self.judge.check(&ENDED, true, String::new);
        let Some(mirror) = self.mirror.take() else { return Ok(()) };
        let right: BTreeMap<_, _> = PlayerId::all().zip(mirror.robots.iter().map(|robot| robot.score)).collect();
        let hits: BTreeMap<_, _> = PlayerId::all().zip(mirror.robots.iter().map(|robot| robot.hits)).collect();
        let several = hits != right;
        let told = |id| scores.get(id).copied();
        let only_zeros_missing = right.iter().all(|(id, score)| told(id).unwrap_or(0) == *score);
        let rule = match (several && *scores == hits, scores.len() < right.len() && only_zeros_missing) {
            (true, _) => &SCORE_ONCE,
            (false, true) => &SCORE_ZEROS,
            (false, false) if self.games > 1 && self.judge.has_failed(&NEXT_SCORES) => &NEXT_SCORES,
            (false, false) => &SCORES,
        };
        let kept = *scores == right;
        if kept && several {
            self.judge.check(&SCORE_ONCE, true, String::new);
        }
        if kept && right.values().any(|score| *score == 0) {
            self.judge.check(&SCORE_ZEROS, true, String::new);
        }
        self.judge.require(rule, kept, || {
            format!("the scores {} came; {} would be right", show::scores_of(scores), show::scores_of(&right))
        })?;
        self.players.clear();
        self.log.clear();
        for guest in &mut self.guests {
            guest.seat = None;
        }
        Ok(())
    }

    /// A game whose turns are counted and not judged. `rule` is broken if it does not go on. Returns what everybody was told, from the
    /// lobby on.
    pub(super) fn blind_game(&mut self, rule: &'static Rule) -> Played<Vec<ServerMessage>> {
        for what in ["GameStarted", "turn 0", "turn 1", "GameEnded"] {
            let message = self.broadcast(rule, what)?;
            let right = match &message {
                ServerMessage::GameStarted { .. } => what == "GameStarted",
                ServerMessage::Turn { turn, .. } => what == format!("turn {turn}"),
                ServerMessage::GameEnded { .. } => what == "GameEnded",
                ServerMessage::Hello(_) | ServerMessage::AcceptedPlayer { .. } => false,
            };
            self.judge
                .require(rule, right, || format!("{} came where {what} would be right", show::message(&message)))?;
            self.log.push(message);
        }
        self.players.clear();
        Ok(std::mem::take(&mut self.log))
    }

    pub(super) fn leave(&mut self, index: usize) {
        drop(self.guests.remove(index));
    }
}

// An IPv4 address may be written as an IPv6 one.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
