//! All connections to a server must receive the same messages.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

use robots::{Action, ClientMessage, Direction, Event, Player, PlayerId, Position, ServerMessage};

use super::{
    ACCEPTED, ADDRESS, ADDRESS_OF_PEER, ENDED, GAME_STARTED, HELLO, LATE, NEVER_READS, NEWCOMER, NEXT_GAME, NOT_RESET,
    SAME_FOR_ALL, SCORE_ONCE, SCORE_ZEROS, SCORES, TURN_DURATION, TURN_NUMBERS, WELL_FORMED,
    model::Model,
    setup::{Client, Host, Received, Setup},
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    robots::{context::Context, draws::Draws, show},
    rule::Rule,
};

const MOMENT: Duration = Duration::from_millis(50);
/// On a board of at most this many fields, two games may start alike by chance.
const FEW_FIELDS: u32 = 20;
/// Unexpected messages that are skipped before the expected one.
const MAX_UNEXPECTED: usize = 20;

pub(super) struct Session<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) judge: &'a mut Judge,
    pub(super) host: Host,
    pub(super) setup: Setup,
    pub(super) clients: Vec<Client>,
    pub(super) players: Vec<Player>,
    pub(super) model: Option<Model>,
    log: Vec<ServerMessage>,
    // Maps received ids to the expected ones.
    renamed: BTreeMap<PlayerId, PlayerId>,
    // For the next game.
    draws: Option<Draws>,
    blocks: Option<u16>,
    games: u32,
    turn_offset: u16,
    // The duration of a turn, if known, and the time of the last Join, which precedes turn 0.
    pace: Option<Duration>,
    last_join: Instant,
    // The events of the first turn 0.
    first: Option<Vec<Event>>,
}

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

impl<'a> Session<'a> {
    pub(super) fn open(context: &'a Context<'a>, judge: &'a mut Judge, setup: Setup) -> ScenarioResult<Self> {
        let host = context.host(judge, &setup)?;
        Ok(Self::at(context, judge, host, setup, true))
    }

    /// `known` is whether the seed and blocks of a running server are known.
    pub(super) fn at(context: &'a Context<'a>, judge: &'a mut Judge, host: Host, setup: Setup, known: bool) -> Self {
        let (draws, blocks) = (known.then_some(Draws(setup.seed)), known.then_some(setup.blocks));
        let (clients, players, log, renamed) = (vec![], vec![], vec![], BTreeMap::new());
        let pace = known.then_some(setup.duration);
        Self {
            context,
            judge,
            host,
            setup,
            clients,
            players,
            model: None,
            log,
            renamed,
            draws,
            blocks,
            games: 0,
            turn_offset: 0,
            pace,
            last_join: Instant::now(),
            first: None,
        }
    }

    /// Returns the client's index. It must receive everything that the other clients have received.
    pub(super) fn connect(&mut self, label: &str) -> ScenarioResult<usize> {
        let connected = self.context.connect(self.judge, &mut self.host, label);
        if connected.is_err() {
            // A server that does not wait for further players may accept no further client either.
            for index in 0..self.clients.len() {
                while let Received::Message(message) = self.clients[index].next(Instant::now() + MOMENT) {
                    self.check_no_early_start(&message)?;
                }
            }
        }
        let mut client = connected?;
        let general = if self.model.is_some() { &LATE } else { &NEWCOMER };
        let rule = self.context.attributed(self.judge, general);
        let mut wrong = None;
        let mut due = 0;
        while let Some(right) = self.log.get(due).cloned() {
            let right = &right;
            let by = self.context.options.deadline();
            let Some(arrived) = client.receive(self.judge, rule, by, &show::message(right)) else { break };
            self.check_no_early_start(&arrived)?;
            // After a wrong message, the next correct one shows where to continue.
            let place = self.log.iter().skip(due).position(|right| canonical(&arrived) == canonical(right));
            if place != Some(0) && wrong.is_none() {
                wrong = Some((due, arrived.clone()));
            }
            let is_other = place.is_none() && kind(&arrived) == kind(right) && turn_of(&arrived) == turn_of(right);
            due += place.map_or(usize::from(is_other), |place| place + 1);
            if kind(&arrived) > kind(right) && place.is_none() {
                client.put_back(arrived);
                break;
            }
        }
        if !self.log.is_empty() {
            self.context.check(self.judge, general, wrong.is_none(), || {
                let Some((index, arrived)) = &wrong else { return String::new() };
                let (number, arrived, right) = (index + 2, show::message(arrived), show::message(&self.log[*index]));
                format!("{label}: expected {right} as message {number}, received {arrived}")
            });
        }
        self.clients.push(client);
        Ok(self.clients.len() - 1)
    }

    /// Receives the next message of this kind at all clients. If none arrives, `rule` is broken. An unexpected message
    /// breaks a rule and is skipped. `None` if it shows that the expected one was omitted.
    pub(super) fn broadcast(
        &mut self,
        rule: &'static Rule,
        what: &str,
        due: Kind,
    ) -> ScenarioResult<Option<ServerMessage>> {
        let by = self.context.options.deadline() + self.setup.duration;
        let mut arrived: Option<ServerMessage> = None;
        let mut is_left_out = false;
        for index in 0..self.clients.len() {
            if self.clients[index].is_lost {
                continue;
            }
            // A server that also omits the message in other scenarios breaks one rule. A GameEnded that only some
            // clients miss is a fault of the end, not of the turns.
            let is_same_for_all = arrived.is_some() && due != Kind::Ended && !self.judge.has_failed(rule);
            let rule = if is_same_for_all { &SAME_FOR_ALL } else { rule };
            let Some(message) = self.next_of(index, rule, what, due, by)? else {
                is_left_out |= !self.clients[index].is_lost;
                continue;
            };
            match &arrived {
                None => arrived = Some(message),
                Some(first) => {
                    self.judge.check(&SAME_FOR_ALL, canonical(first) == canonical(&message), || {
                        let (first, other) = (show::message(first), show::message(&message));
                        format!(
                            "{}: expected {first}, as at other clients, received {other}",
                            self.clients[index].label
                        )
                    });
                }
            }
        }
        if arrived.is_none() && !is_left_out {
            Err(Halt::Broken)
        } else {
            Ok(arrived.map(|message| self.with_expected_ids(message)))
        }
    }

    fn next_of(
        &mut self,
        index: usize,
        rule: &'static Rule,
        what: &str,
        due: Kind,
        by: Instant,
    ) -> ScenarioResult<Option<ServerMessage>> {
        for _ in 0..MAX_UNEXPECTED {
            let Some(message) = self.clients[index].receive(self.judge, rule, by, what) else { return Ok(None) };
            if due == Kind::Accepted {
                self.check_no_early_start(&message)?;
            }
            let is_repeated = due == Kind::Accepted && self.log.contains(&message);
            if kind(&message) == due && !is_repeated {
                return Ok(Some(message));
            }
            let is_next = kind(&message) == due.next() || kind(&message) > due && due != Kind::Accepted;
            let blamed = match message {
                _ if is_next || due == Kind::Ended => rule,
                ServerMessage::Hello(_) if self.games > 0 => &NEXT_GAME,
                ServerMessage::Hello(_) => &HELLO,
                ServerMessage::AcceptedPlayer { .. } => &ACCEPTED,
                _ => &WELL_FORMED,
            };
            self.judge.check(blamed, false, || {
                let label = &self.clients[index].label;
                format!("{label}: expected {what}, received {}", show::message(&message))
            });
            if is_next {
                self.clients[index].put_back(message);
                return Ok(None);
            }
        }
        self.clients[index].is_lost = true;
        Ok(None)
    }

    // The scenario cannot continue if the game starts before the lobby is full.
    fn check_no_early_start(&mut self, message: &ServerMessage) -> ScenarioResult {
        let count = usize::from(self.setup.players);
        let is_early = matches!(message, ServerMessage::GameStarted { players } if players.len() < count);
        if self.model.is_some() || !is_early {
            return Ok(());
        }
        self.judge.broken(&GAME_STARTED, || {
            format!("expected no game before {count} players have joined, received {}", show::message(message))
        })
    }

    fn with_expected_ids(&self, mut message: ServerMessage) -> ServerMessage {
        let right = |id: PlayerId| self.renamed.get(&id).copied().unwrap_or(id);
        if self.renamed.is_empty() {
            return message;
        }
        match &mut message {
            ServerMessage::GameStarted { players } => {
                *players = std::mem::take(players).into_iter().map(|(id, player)| (right(id), player)).collect();
            }
            ServerMessage::GameEnded { scores } => {
                *scores = std::mem::take(scores).into_iter().map(|(id, score)| (right(id), score)).collect();
            }
            ServerMessage::Turn { events, .. } => {
                for event in events {
                    match event {
                        Event::PlayerMoved { id, .. } => *id = right(*id),
                        Event::BombExploded { robots_destroyed, .. } => {
                            for id in robots_destroyed.iter_mut() {
                                *id = right(*id);
                            }
                        }
                        Event::BombPlaced { .. } | Event::BlockPlaced { .. } => {}
                    }
                }
            }
            ServerMessage::Hello(_) | ServerMessage::AcceptedPlayer { .. } => {}
        }
        message
    }

    pub(super) fn send_join(&mut self, index: usize, name: &str) -> ScenarioResult {
        let at = self.clients[index].join(name)?;
        if self.model.is_none() {
            self.last_join = at;
        }
        Ok(())
    }

    pub(super) fn join(&mut self, index: usize, name: &str) -> ScenarioResult {
        self.join_for(index, name, &ACCEPTED)
    }

    pub(super) fn join_for(&mut self, index: usize, name: &str, rule: &'static Rule) -> ScenarioResult {
        self.send_join(index, name)?;
        self.accepted(index, name, rule)
    }

    pub(super) fn accepted(&mut self, index: usize, name: &str, rule: &'static Rule) -> ScenarioResult {
        let rule = if *rule == ACCEPTED && self.games > 0 { &NEXT_GAME } else { rule };
        let blamed = self.context.attributed(self.judge, rule);
        let arrived = self.broadcast(blamed, &format!("an AcceptedPlayer of \"{name}\""), Kind::Accepted)?;
        let Some(ServerMessage::AcceptedPlayer { id, player }) = &arrived else { return Err(Halt::Broken) };
        let due = PlayerId(u8::try_from(self.players.len())?);
        self.context.check(self.judge, rule, *id == due && *player.name == *name, || {
            format!(
                "expected AcceptedPlayer of \"{name}\" with id {}, received \"{}\" with id {}",
                due.0, &*player.name, id.0
            )
        });
        if *id != due {
            self.renamed.insert(*id, due);
        }
        self.judge.check(&ADDRESS, is_address(&player.address), || {
            let address = &player.address;
            format!("expected an address such as 127.0.0.1:4000 or [::1]:4000 for \"{name}\", received \"{address}\"")
        });
        let client = &mut self.clients[index];
        let (address, local) = (player.address.parse().ok().map(plain), plain(client.local));
        self.judge.check(&ADDRESS_OF_PEER, address == Some(local), || {
            format!("expected the address {local} for \"{name}\", received \"{}\"", player.address)
        });
        client.seat = Some(due.0);
        self.players.push(player.clone());
        self.log.extend(arrived);
        Ok(())
    }

    pub(super) fn start(&mut self) -> ScenarioResult {
        let is_next = self.games > 0;
        let general = if is_next { &NEXT_GAME } else { &GAME_STARTED };
        let rule = self.context.attributed(self.judge, general);
        let started = self.broadcast(rule, "GameStarted", Kind::Started)?;
        if let Some(ServerMessage::GameStarted { players }) = &started {
            let kept = players.iter().map(|(id, player)| (*id, player)).eq(PlayerId::all().zip(&self.players));
            self.context.check(self.judge, &GAME_STARTED, kept, || {
                let right: BTreeMap<_, _> = PlayerId::all().zip(self.players.iter().cloned()).collect();
                let (right, players) = (show::value(&right), show::value(players));
                format!("expected GameStarted with the accepted players {right}, received {players}")
            });
        }
        let arrived = self.broadcast(rule, "turn 0", Kind::Turn)?;
        let Some(ServerMessage::Turn { turn, events }) = &arrived else { return Err(Halt::Broken) };
        self.context.check(self.judge, general, *turn == 0, || {
            format!("expected turn 0 after GameStarted, received turn {turn}")
        });
        self.turn_offset = *turn;
        let places = events.iter().filter(|event| matches!(event, Event::PlayerMoved { .. })).count();
        if is_next && *turn != 0 && places < usize::from(self.setup.players) {
            // It is a later turn, and the positions of the robots are unknown.
            return Err(Halt::Broken);
        }
        let mut events = events.clone();
        // For wrong player ids, the order of the robots is unknown.
        let is_renamed = !self.renamed.is_empty();
        if is_renamed {
            events.sort_by_key(|event| match event {
                Event::PlayerMoved { id, .. } => usize::from(id.0),
                _ => usize::MAX,
            });
        }
        let is_known = !is_renamed && (!is_next || *turn == 0);
        let (blocks, draws) = if is_known { (self.blocks, self.draws) } else { (None, None) };
        let fields = u32::from(self.setup.size.0) * u32::from(self.setup.size.1);
        if is_next && draws.is_none() && fields > FEW_FIELDS {
            // The right fields are unknown, but those of the first game are wrong.
            let is_again = self.first.as_ref() == Some(&events);
            self.context.check(self.judge, &NOT_RESET, !is_again, || {
                format!("expected other draws than in the first game, received {} again", show::events(&events))
            });
        }
        self.first.get_or_insert_with(|| events.clone());
        let known = (blocks, draws, !is_next);
        self.games += 1;
        let model = Model::begin(self.context, self.judge, &self.setup, known, &events);
        self.draws = model.draws;
        self.model = Some(model);
        self.host.is_playing = true;
        self.log = started.into_iter().chain(arrived).collect();
        Ok(())
    }

    pub(super) fn act(&mut self, index: usize, actions: &[Action]) {
        if self.model.is_some() && !self.is_current() {
            // The server will play them later than the scenario expects.
            self.judge.fall_behind();
        }
        let client = &mut self.clients[index];
        if let (Some(seat), Some(model)) = (client.seat, &mut self.model) {
            model.sent(seat, actions);
        }
        client.send(actions.iter().copied().map(ClientMessage::Action));
    }

    pub(super) fn turn(&mut self, rule: &'static Rule) -> ScenarioResult {
        let Some(due) = self.model.as_ref().map(|model| model.turn + 1) else { return Ok(()) };
        if !self.is_running() {
            // The tester was delayed until the game was over.
            self.judge.fall_behind();
            return Err(Halt::Broken);
        }
        let general = if self.games > 1 { &NEXT_GAME } else { &TURN_NUMBERS };
        let blamed = self.context.attributed(self.judge, general);
        let arrived = self.broadcast(blamed, &format!("turn {due}"), Kind::Turn)?;
        let Some(ServerMessage::Turn { turn, events }) = &arrived else { return Err(Halt::Broken) };
        self.context.check(self.judge, general, turn.wrapping_sub(self.turn_offset) == due, || {
            let length = self.host.parameters.game_length;
            format!("expected turn {due} of {length}, received turn {turn}")
        });
        if let Some(pace) = self.pace {
            let (least, took) = (pace * u32::from(due), self.last_join.elapsed());
            // The server's clock may have a resolution of milliseconds.
            let is_early = took + pace / 10 + Duration::from_millis(u64::from(due) + 5) < least;
            self.context.check(self.judge, &TURN_DURATION, !is_early, || {
                format!(
                    "turn {turn}: expected at least {} ms after the last Join, since turns last {} ms, received after {} ms",
                    least.as_millis(),
                    pace.as_millis(),
                    took.as_millis()
                )
            });
        }
        if let Some(model) = &mut self.model {
            let unread = (0..=u8::MAX).zip(&mut model.robots).filter(|(_, robot)| robot.has_unread());
            let noted: Vec<_> = unread
                .map(|(seat, robot)| {
                    let player = self.clients.iter().find(|client| client.seat == Some(seat));
                    (robot, player.is_none_or(|client| !client.has_unread(&self.host)))
                })
                .collect();
            // An arrived next turn may be older than the data that was read since.
            if !noted.is_empty() && is_current(&mut self.clients) {
                for (robot, is_read) in noted {
                    robot.note_reading(due, is_read);
                }
            }
            model.turn(self.context, self.judge, rule, events);
            self.draws = model.draws;
        }
        self.log.extend(arrived);
        Ok(())
    }

    /// Receives turns until all of the actions are played.
    pub(super) fn play(&mut self, index: usize, actions: &[Action], focus: &'static Rule) -> ScenarioResult {
        // Turns that have already arrived are older than the actions.
        while self.is_running() && !self.is_current() {
            self.turn(focus)?;
        }
        self.act(index, actions);
        self.pass(1, focus)
    }

    pub(super) fn is_current(&mut self) -> bool {
        is_current(&mut self.clients)
    }

    pub(super) fn is_running(&self) -> bool {
        let length = self.host.parameters.game_length;
        self.model.as_ref().is_some_and(|model| model.turn.saturating_add(self.turn_offset) < length)
    }

    pub(super) fn robot(&self, seat: usize) -> Position {
        self.model.as_ref().map_or(Position::new(0, 0), |model| model.robots[seat].position)
    }

    pub(super) fn any_way(&self, seat: usize) -> Direction {
        let from = self.robot(seat);
        let board = self.model.as_ref().map(|model| &model.board);
        let free =
            |way: &Direction| board.is_some_and(|board| board.step(from, *way).is_some_and(|to| !board.is_block(to)));
        Direction::ALL.into_iter().find(free).unwrap_or(Direction::Up)
    }

    pub(super) fn finish(&mut self, focus: &'static Rule) -> ScenarioResult {
        self.finish_turns(focus)?;
        self.ended()
    }

    /// Receives the remaining turns of the game, but not its end.
    pub(super) fn finish_turns(&mut self, focus: &'static Rule) -> ScenarioResult {
        while self.is_running() {
            self.turn(focus)?;
        }
        Ok(())
    }

    pub(super) fn ended(&mut self) -> ScenarioResult {
        self.ended_for(&ENDED)
    }

    pub(super) fn ended_for(&mut self, rule: &'static Rule) -> ScenarioResult {
        let arrived = self.broadcast(rule, "GameEnded", Kind::Ended).inspect_err(|_| {
            let broken = if self.judge.has_failed(&WELL_FORMED) { &WELL_FORMED } else { rule };
            self.judge.leave_out_for([&SCORES, &SCORE_ONCE, &SCORE_ZEROS], broken);
        })?;
        let Some(ServerMessage::GameEnded { scores }) = &arrived else { return Err(Halt::Broken) };
        self.judge.check(rule, true, String::new);
        let Some(model) = self.model.take() else { return Ok(()) };
        self.host.is_playing = false;
        let right: BTreeMap<_, _> = PlayerId::all().zip(model.robots.iter().map(|robot| robot.score)).collect();
        if scores.len() < right.len() && self.has_rest_of_scores() {
            self.judge.leave_out_for([&SCORES, &SCORE_ONCE, &SCORE_ZEROS], &WELL_FORMED);
            self.clear();
            return Ok(());
        }
        let hits: BTreeMap<_, _> = PlayerId::all().zip(model.robots.iter().map(|robot| robot.hits)).collect();
        let several_messages = hits != right;
        let arrived = |id| scores.get(id).copied();
        let only_zeros_missing = right.iter().all(|(id, score)| arrived(id).unwrap_or(0) == *score);
        let rule = match (several_messages && *scores == hits, scores.len() < right.len() && only_zeros_missing) {
            (true, _) => &SCORE_ONCE,
            (false, true) => &SCORE_ZEROS,
            (false, false) => &SCORES,
        };
        let kept = *scores == right;
        if kept && several_messages {
            self.judge.check(&SCORE_ONCE, true, String::new);
        }
        if kept && right.values().any(|score| *score == 0) {
            self.judge.check(&SCORE_ZEROS, true, String::new);
        }
        let wrong = || format!("expected the scores {}, received {}", show::value(&right), show::value(scores));
        if *rule == SCORES {
            self.context.check(self.judge, rule, kept, wrong);
        } else {
            self.judge.check(rule, kept, wrong);
        }
        self.clear();
        Ok(())
    }

    // Whether bytes follow a GameEnded with too few scores. A map without its count looks empty, and the rest like
    // further messages, which are not judged.
    fn has_rest_of_scores(&mut self) -> bool {
        let mut has_rest = false;
        for client in self.clients.iter_mut().filter(|client| !client.is_lost) {
            if matches!(client.next(Instant::now() + MOMENT), Received::Closed | Received::Timeout)
                && client.drop_rest().is_empty()
            {
                continue;
            }
            client.drop_rest();
            has_rest = true;
            self.judge.check(&WELL_FORMED, false, || {
                format!(
                    "{}: expected a score for each player in GameEnded, received fewer, followed by invalid bytes",
                    client.label
                )
            });
        }
        has_rest
    }

    fn clear(&mut self) {
        self.players.clear();
        self.log.clear();
        self.renamed.clear();
        for client in &mut self.clients {
            client.seat = None;
        }
    }

    /// Plays a game with the first client, without judging messages. A missing message breaks `rule`, or the rule of
    /// `GameEnded` after the last turn of a game that is read by all. Returns the messages from the lobby on.
    pub(super) fn blind_game(&mut self, rule: &'static Rule) -> ScenarioResult<Vec<ServerMessage>> {
        if self.judge.has_failed(&WELL_FORMED) {
            // Invalid bytes may follow the last message.
            self.clients[0].connection.more(Instant::now() + MOMENT);
            self.clients[0].drop_rest();
        }
        self.send_join(0, "Ann")?;
        // A server that finds fields slowly may need a multiple of the patience on a busy machine.
        let by = self.context.options.deadline() + self.context.options.patience * 5 + self.setup.duration * 2;
        let mut arrived = Vec::new();
        let mut rule = rule;
        loop {
            let message = self.clients[0].expect(self.judge, rule, by, "a game up to GameEnded")?;
            let is_end = kind(&message) == Kind::Ended;
            if turn_of(&message) >= Some(self.setup.length) && *rule != NEVER_READS {
                rule = &ENDED;
            }
            arrived.push(message);
            if is_end {
                return Ok(arrived);
            }
        }
    }

    /// The client's robot stays on the board.
    pub(super) fn leave(&mut self, index: usize) {
        let client = self.clients.remove(index);
        if let (Some(seat), Some(model)) = (client.seat, &mut self.model) {
            model.robots[usize::from(seat)].has_left = true;
        }
    }
}

fn is_current(clients: &mut [Client]) -> bool {
    !clients.iter_mut().filter(|client| !client.is_lost).any(Client::has_more)
}

fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Messages for all clients, in the order of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Hello,
    Accepted,
    Started,
    Turn,
    Ended,
}

impl Kind {
    fn next(self) -> Self {
        match self {
            Self::Hello | Self::Ended => Self::Accepted,
            Self::Accepted => Self::Started,
            Self::Started => Self::Turn,
            Self::Turn => Self::Ended,
        }
    }
}

fn kind(message: &ServerMessage) -> Kind {
    match message {
        ServerMessage::Hello(_) => Kind::Hello,
        ServerMessage::AcceptedPlayer { .. } => Kind::Accepted,
        ServerMessage::GameStarted { .. } => Kind::Started,
        ServerMessage::Turn { .. } => Kind::Turn,
        ServerMessage::GameEnded { .. } => Kind::Ended,
    }
}

fn turn_of(message: &ServerMessage) -> Option<u16> {
    match message {
        ServerMessage::Turn { turn, .. } => Some(*turn),
        _ => None,
    }
}

fn is_address(text: &str) -> bool {
    let host = text.rsplit_once(':').map_or(text, |(host, _)| host);
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    text.parse::<IpAddr>().is_ok() || host.parse::<IpAddr>().is_ok()
}
