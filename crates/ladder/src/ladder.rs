use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use netcore::{HostId, Time};

use crate::{
    pairing::{self, ProgramId, Ready, Seat, Waiting},
    records::{NameRecord, NameRecords},
    settings::{SILENCE, Settings},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatchId(pub u64);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playing {
    pub seats: [Seat; 2],
    pub since: Time,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Replaces a waiting program of the same name, so the caller must have verified the name. If a program of this
    /// name has lost its connection during a match, the new connection replaces it.
    Connected {
        /// Must be new.
        program: ProgramId,
        name: String,
        host: HostId,
        rating: i64,
    },
    /// Forfeits a running match after [`Settings::reconnect`], unless the program has finished its part.
    Disconnected(ProgramId),
    /// Forfeits a running match immediately.
    Removed(ProgramId),
    Requested(ProgramId),
    Answered(ProgramId),
    /// The program owes no more answers, and may leave.
    Finished(ProgramId),
    /// Also reported if the match cannot take place.
    MatchEnded(MatchId),
    Elapsed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    Start {
        number: MatchId,
        seats: [Seat; 2],
    },
    Rejected(ProgramId, Rejection),
    /// The connection of `by` replaces that of `program`, which stays in its match under its number.
    Reconnected {
        program: ProgramId,
        by: ProgramId,
    },
    /// Also removes the program from the match.
    Forfeited(MatchId, ProgramId, Forfeit),
    /// No opponent is left, or the time is up.
    Stop(MatchId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    Full,
    Host,
    /// Another program of this name has connected.
    Replaced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forfeit {
    TimedOut,
    Left,
}

#[derive(Debug, Clone)]
struct Player {
    name: String,
    host: HostId,
    number: MatchId,
    // The time of the outstanding request; `None` if no answer is due.
    request: Option<Time>,
    // When the time to reconnect is over; `None` while the program is connected.
    lost: Option<Time>,
    has_reconnected: bool,
    state: PlayerState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlayerState {
    Playing,
    Finished,
    Lost,
}

impl Player {
    fn finish(&mut self, state: PlayerState) {
        (self.state, self.request, self.lost) = (state, None, None);
    }

    fn may_reconnect(&self, grace: Duration) -> bool {
        self.state == PlayerState::Playing && !self.has_reconnected && !grace.is_zero()
    }
}

#[derive(Debug)]
pub struct Ladder {
    settings: Settings,
    waiting: BTreeMap<ProgramId, Waiting>,
    players: BTreeMap<ProgramId, Player>,
    playing: BTreeMap<MatchId, Playing>,
    stopped: BTreeSet<MatchId>,
    records: NameRecords,
    next: u64,
}

impl Ladder {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            waiting: BTreeMap::new(),
            players: BTreeMap::new(),
            playing: BTreeMap::new(),
            stopped: BTreeSet::new(),
            records: NameRecords::default(),
            next: 0,
        }
    }

    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    pub const fn waiting(&self) -> &BTreeMap<ProgramId, Waiting> {
        &self.waiting
    }

    pub const fn playing(&self) -> &BTreeMap<MatchId, Playing> {
        &self.playing
    }

    pub fn name(&self, program: ProgramId) -> Option<&str> {
        let waits = self.waiting.get(&program).map(|waiting| &waiting.name);
        waits.or_else(|| self.players.get(&program).map(|player| &player.name)).map(String::as_str)
    }

    #[must_use]
    pub fn input(&mut self, now: Time, input: Input) -> Vec<Output> {
        let mut out = vec![];
        match input {
            Input::Connected { program, name, host, rating } => {
                self.arrive(program, Waiting { name, host, rating, since: now }, &mut out);
            }
            Input::Disconnected(program) if self.lose_connection(now, program) => {}
            Input::Disconnected(program) | Input::Removed(program) => {
                self.waiting.remove(&program);
                if let Some(number) = self.forfeit(now, program, Forfeit::Left, &mut out) {
                    self.stop(number, &mut out);
                }
            }
            Input::Requested(program) => self.set_request(program, |request| request.or(Some(now))),
            Input::Answered(program) => {
                let again = self.settings.continuous.then_some(now);
                self.set_request(program, |_| again);
            }
            Input::Finished(program) => {
                if let Some(player) =
                    self.players.get_mut(&program).filter(|player| player.state == PlayerState::Playing)
                {
                    player.finish(PlayerState::Finished);
                }
            }
            Input::MatchEnded(number) => self.end(now, number),
            Input::Elapsed => {}
        }
        self.reconnect(now, &mut out);
        self.apply_time_limits(now, &mut out);
        self.pair(now, &mut out);
        out
    }

    /// When to send [`Input::Elapsed`].
    pub fn deadline(&self) -> Option<Time> {
        let owed = self.players.values().filter_map(|player| self.due(player));
        let silent = self.waiting.values().filter_map(|waiting| self.replaced_at(&waiting.name).map(|(_, at)| at));
        let limits = self.playing.iter().filter(|(number, _)| !self.stopped.contains(number));
        let limits = limits.map(|(_, playing)| playing.since.plus(self.settings.limit));
        let is_free = self.playing.len() < self.settings.matches;
        let pairs = is_free.then(|| pairing::due(&self.settings, &self.ready())).flatten();
        owed.chain(silent).chain(limits).chain(pairs).min()
    }

    fn arrive(&mut self, program: ProgramId, mut new: Waiting, out: &mut Vec<Output>) {
        let before = self.waiting.iter().find(|(_, waiting)| waiting.name == new.name).map(|(program, _)| *program);
        if let Some((before, waiting)) = before.and_then(|before| self.waiting.remove_entry(&before)) {
            // Inherits the waiting time. Two programs that keep replacing each other would otherwise never play.
            new.since = waiting.since;
            out.push(Output::Rejected(before, Rejection::Replaced));
        }
        if self.replaced_at(&new.name).is_some() {
            self.waiting.insert(program, new);
            return;
        }
        let hosts = self.waiting.values().map(|waiting| waiting.host);
        let hosts = hosts.chain(self.players.values().map(|player| player.host));
        if hosts.filter(|host| *host == new.host).count() >= self.settings.per_host {
            out.push(Output::Rejected(program, Rejection::Host));
        } else if self.waiting.len() + self.players.len() >= self.settings.programs {
            out.push(Output::Rejected(program, Rejection::Full));
        } else {
            self.waiting.insert(program, new);
        }
    }

    fn set_request(&mut self, program: ProgramId, change: impl FnOnce(Option<Time>) -> Option<Time>) {
        if let Some(player) = self.players.get_mut(&program).filter(|player| player.state == PlayerState::Playing) {
            player.request = change(player.request);
        }
    }

    // Returns whether the program may reconnect.
    fn lose_connection(&mut self, now: Time, program: ProgramId) -> bool {
        let grace = self.settings.reconnect;
        let player = self.players.get_mut(&program).filter(|player| player.may_reconnect(grace));
        player.map(|player| player.lost = Some(now.plus(grace))).is_some()
    }

    // When the program forfeits its match.
    fn due(&self, player: &Player) -> Option<Time> {
        player.lost.or_else(|| Some(player.request?.plus(self.settings.patience)))
    }

    // The player of this name whose connection a new one replaces, and from when on.
    fn replaced_at(&self, name: &str) -> Option<(ProgramId, Time)> {
        let (program, player) = self.players.iter().find(|(_, player)| player.name == name)?;
        if !player.may_reconnect(self.settings.reconnect) {
            return None;
        }
        if player.lost.is_some() {
            return Some((*program, Time::ZERO));
        }
        let silent = player.request.filter(|_| self.settings.datagrams)?;
        Some((*program, silent.plus(SILENCE)))
    }

    fn reconnect(&mut self, now: Time, out: &mut Vec<Output>) {
        let found: Vec<_> = self
            .waiting
            .iter()
            .filter_map(|(by, waiting)| Some((*by, self.replaced_at(&waiting.name)?)))
            .filter(|(_, (_, since))| *since <= now)
            .collect();
        for (by, (program, _)) in found {
            let (Some(waiting), Some(player)) = (self.waiting.remove(&by), self.players.get_mut(&program)) else {
                continue;
            };
            (player.host, player.lost, player.has_reconnected) = (waiting.host, None, true);
            // The program needs time to read the state.
            player.request = player.request.map(|_| now);
            out.push(Output::Reconnected { program, by });
        }
    }

    // Returns the forfeited match; `None` if the program does not play.
    fn forfeit(&mut self, now: Time, program: ProgramId, how: Forfeit, out: &mut Vec<Output>) -> Option<MatchId> {
        let player = self.players.get_mut(&program).filter(|player| player.state == PlayerState::Playing)?;
        player.finish(PlayerState::Lost);
        let (number, name) = (player.number, player.name.clone());
        let settings = self.settings.clone();
        self.record(now, &name).add_forfeit(now, &settings);
        out.push(Output::Forfeited(number, program, how));
        Some(number)
    }

    // Does not penalize the remaining players.
    fn stop(&mut self, number: MatchId, out: &mut Vec<Output>) {
        if !self.playing.contains_key(&number) || !self.stopped.insert(number) {
            return;
        }
        for player in
            self.players.values_mut().filter(|player| player.number == number && player.state == PlayerState::Playing)
        {
            player.finish(PlayerState::Finished);
        }
        out.push(Output::Stop(number));
    }

    fn record(&mut self, now: Time, name: &str) -> &mut NameRecord {
        let (waiting, players) = (&self.waiting, &self.players);
        let is_connected = |name: &str| {
            waiting.values().any(|waiting| waiting.name == name) || players.values().any(|player| player.name == name)
        };
        self.records.update(now, name, is_connected)
    }

    fn end(&mut self, now: Time, number: MatchId) {
        self.playing.remove(&number);
        self.stopped.remove(&number);
        let mut done = vec![];
        self.players.retain(|_, player| {
            if player.number == number && player.state != PlayerState::Lost {
                done.push(player.name.clone());
            }
            player.number != number
        });
        for name in done {
            self.record(now, &name).reset_forfeits();
        }
    }

    fn apply_time_limits(&mut self, now: Time, out: &mut Vec<Output>) {
        let is_late = |since: Time, most: Duration| since.plus(most) <= now;
        let late = self.players.iter().filter(|(_, player)| self.due(player).is_some_and(|due| due <= now));
        let late: Vec<_> = late
            .map(|(program, player)| (*program, if player.lost.is_some() { Forfeit::Left } else { Forfeit::TimedOut }))
            .collect();
        // A match has two seats, so a forfeit leaves no opponent.
        let lost: Vec<_> = late.into_iter().filter_map(|(program, how)| self.forfeit(now, program, how, out)).collect();
        for number in lost {
            self.stop(number, out);
        }
        let long = self.playing.iter().filter(|(_, playing)| is_late(playing.since, self.settings.limit));
        let long: Vec<MatchId> = long.map(|(number, _)| *number).collect();
        for number in long {
            self.stop(number, out);
        }
    }

    // Waiting programs whose names are in no match, longest waiting first.
    fn ready(&self) -> Vec<Ready<'_>> {
        let plays = |name: &str| self.players.values().any(|player| player.name == name);
        let ready = self.waiting.iter().filter(|(_, waiting)| !plays(&waiting.name));
        let mut ready: Vec<Ready<'_>> =
            ready.map(|(program, waiting)| (*program, waiting, self.records.of(&waiting.name))).collect();
        ready.sort_by_key(|(program, waiting, _)| (waiting.since, *program));
        ready
    }

    fn pair(&mut self, now: Time, out: &mut Vec<Output>) {
        while self.playing.len() < self.settings.matches {
            let ready: Vec<Ready<'_>> =
                self.ready().into_iter().filter(|(_, _, record)| record.not_before <= now).collect();
            let Some(seats) = pairing::next(&self.settings, now, &ready) else { return };
            self.start(now, seats, out);
        }
    }

    fn start(&mut self, now: Time, seats: [Seat; 2], out: &mut Vec<Output>) {
        let number = MatchId(self.next);
        self.next += 1;
        let mut names = vec![];
        for seat in seats {
            let Seat::Program(program) = seat else { continue };
            let Some(Waiting { name, host, .. }) = self.waiting.remove(&program) else { continue };
            names.push(name.clone());
            let request = self.settings.continuous.then_some(now);
            self.players.insert(
                program,
                Player { name, host, number, request, lost: None, has_reconnected: false, state: PlayerState::Playing },
            );
        }
        for (at, name) in names.iter().enumerate() {
            let opponent = names.iter().enumerate().find(|(other, _)| *other != at).map(|(_, name)| name.clone());
            let record = self.record(now, name);
            record.since_bot = if opponent.is_some() { record.since_bot.saturating_add(1) } else { 0 };
            if let Some(level) = seats.iter().find_map(|seat| match seat {
                Seat::Fixed(level) => Some(*level),
                Seat::Program(_) => None,
            }) {
                record.level = Some(level);
            }
            record.opponent = opponent;
        }
        self.playing.insert(number, Playing { seats, since: now });
        out.push(Output::Start { number, seats });
    }
}
