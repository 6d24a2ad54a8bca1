//! A room of the hub: a journalled engine with admission control, a delay for spectators, and a panic guard.
//!
//! Admission may reject an input. The engine processes it, and the journal records it. Its outputs update the metrics
//! and the facts for results. In a rated match, outputs for spectators are delayed. Then the state for the lobby is
//! published.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use cmdkit::display_name;
use journal_core::{Facts, Journalled, Peer as JournalPeer};
use netcore::{
    Admission as DatagramAdmission, DecodeError, DecoderOf, DisconnectReason, Input, Link, Occupant, Outbox, Outcome,
    PeerId, Phase, Progress, Protocol as _, Recorded, Role, Room, Split, Status, Time,
};
use prometheus_client::metrics::{counter::Counter, histogram::Histogram};
use tokio::sync::watch;

use super::{
    admission::{Admission, Hints},
    info::Info,
    mailbox::CloseReason,
    register::{Register, SeatFact},
    roster::{Alias, Peer, Roster},
    spectators::Spectators,
};
use crate::{
    games::{Game, PageState},
    player_name::{check_name, is_plain, to_ascii},
};

const FAULT: &str = "A fault of the hub has ended this game; the room is restarted.";

#[derive(Debug, Clone)]
pub(crate) struct Counters {
    pub(crate) received: Counter,
    pub(crate) malformed: Counter,
    /// Messages written to browsers.
    pub(crate) sent: Counter,
    /// The delay with which deadlines, such as that of a turn, were processed.
    pub(crate) lateness: Histogram,
    /// Engines that panicked.
    pub(crate) broken: Counter,
}

impl Default for Counters {
    // Not registered anywhere.
    fn default() -> Self {
        let counter = Counter::default;
        let lateness = Histogram::new([]);
        Self { received: counter(), malformed: counter(), sent: counter(), lateness, broken: counter() }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Broken(Arc<AtomicBool>);

impl Broken {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

pub(crate) struct PreviousRun {
    /// When the run stopped.
    pub(crate) at: Time,
    pub(crate) peers: Vec<(PeerId, Link, SocketAddr)>,
    pub(crate) occupants: Vec<Occupant>,
    /// The names of occupants in messages of the game, if they are others.
    pub(crate) wires: BTreeMap<PeerId, String>,
    pub(crate) farewells: Vec<(SocketAddr, Vec<Bytes>)>,
}

impl PreviousRun {
    /// Replaces the names of occupants in messages of the game by real ones, which the facts of the journal have.
    pub(crate) fn reveal_names(&mut self, facts: &Facts) {
        let facts = SeatFact::all(facts);
        for Occupant { peer, name, seat } in &mut self.occupants {
            let fact = facts.get(seat).filter(|fact| fact.wire.as_ref() == Some(name) && !fact.left);
            if let Some(fact) = fact {
                self.wires.insert(*peer, std::mem::replace(name, fact.name.clone()));
            }
        }
    }

    /// The occupants with another name in messages of the game: their name, address, and that name.
    pub(crate) fn renamed(&self) -> impl Iterator<Item = (&str, SocketAddr, &String)> {
        self.occupants.iter().filter_map(|occupant| {
            let (_, _, address) = self.peers.iter().find(|(peer, ..)| *peer == occupant.peer)?;
            Some((occupant.name.as_str(), *address, self.wires.get(&occupant.peer)?))
        })
    }
}

pub(crate) struct Setting {
    pub(crate) game: Game,
    pub(crate) roster: Arc<Roster>,
    pub(crate) register: Arc<Register>,
    pub(crate) info: Arc<watch::Sender<Info>>,
    pub(crate) counters: Counters,
    pub(crate) hints: Arc<Hints>,
    /// For spectators of rated matches.
    pub(crate) delay: Duration,
    pub(crate) broken: Broken,
}

pub(crate) struct HubRoom<E: Recorded> {
    room: Journalled<E>,
    setting: Setting,
    admission: Admission,
    // `None` in unrated rooms, and while an input is processed.
    spectators: Option<Box<Spectators>>,
    // Splitting off a message panicked. The next input ends the room, because only then outputs can be sent to peers.
    split_failed: bool,
    status: Status,
    // The last published version of the engine's state.
    version: Option<u64>,
}

impl<E: Recorded + PageState> HubRoom<E> {
    pub(crate) fn new(room: Journalled<E>, setting: Setting, before: Option<&PreviousRun>) -> Self {
        let status = room.status();
        let (is_rated, hides) = {
            let info = setting.info.borrow();
            (info.counts.rated, info.game.hides())
        };
        // Over datagrams, only peers that play or watch are retained.
        let is_watching = |before: &PreviousRun, peer: PeerId, link: Link| {
            link == Link::Datagram && !before.occupants.iter().any(|occupant| occupant.peer == peer)
        };
        let peers = before.into_iter().flat_map(|before| before.peers.iter().map(move |peer| (before, peer)));
        let watchers = peers.filter(|(before, (peer, link, _))| is_watching(before, *peer, *link));
        let watchers = watchers.map(|(_, &(peer, ..))| peer);
        let spectators = is_rated
            .then(|| Box::new(Spectators::new((hides, setting.delay), watchers, (status.phase, room.room().engine()))));
        let (roster, hints) = (Arc::clone(&setting.roster), Arc::clone(&setting.hints));
        let admission = Admission::new(setting.game, roster, hints, status.seats);
        Self { room, setting, admission, spectators, split_failed: false, status, version: None }
    }

    fn engine(&self) -> Option<&E> {
        (!self.setting.broken.is_set()).then(|| self.room.room().engine())
    }

    fn engine_deadline(&self) -> Option<Time> {
        if self.setting.broken.is_set() { None } else { self.room.deadline() }
    }

    fn refuse(&mut self, now: Time, id: PeerId, peer: &Peer, (why, ending): (&str, CloseReason), out: &mut Outbox) {
        self.setting.roster.close_peer(id);
        if let Some(farewell) = self.setting.game.farewell(why, peer.link.framing()) {
            out.send(id, farewell);
        }
        if let Some(address) = peer.address {
            self.setting.roster.set_close_reason(address, ending);
        }
        self.process(now, Input::Disconnected { peer: id, why: DisconnectReason::Broken }, out);
        out.close(id);
    }

    fn process(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        let Some(mut spectators) = self.spectators.take() else {
            let progress = self.run(now, input, out);
            self.publish(now, None);
            return progress;
        };
        for peer in spectators.release(now, &self.setting.info, out) {
            self.run_delayed(now, Input::Refresh { peer }, &mut spectators, out);
        }
        let mut gone = None;
        let mut is_only_release = false;
        match &input {
            Input::Connected { peer, role: Role::Watcher, .. } => spectators.connect(*peer, out),
            Input::Refresh { peer } => spectators.refresh(*peer, out),
            Input::Disconnected { peer, .. } => gone = Some(*peer),
            Input::Elapsed => is_only_release = self.engine_deadline().is_none_or(|due| due > now),
            _ => {}
        }
        let progress =
            if is_only_release { Progress::Ignored } else { self.run_delayed(now, input, &mut spectators, out) };
        if let Some(peer) = gone {
            spectators.remove(peer);
        }
        self.spectators = Some(spectators);
        progress
    }

    fn run_delayed(
        &mut self,
        now: Time,
        input: Input<'_, &[u8]>,
        spectators: &mut Spectators,
        out: &mut Outbox,
    ) -> Progress {
        let mut staged = std::mem::take(&mut spectators.staged);
        let progress = self.run(now, input, &mut staged);
        spectators.staged = staged;
        let view = (self.status.phase, self.engine());
        if spectators.forward(now, view, (&self.setting.roster, &self.setting.info), out) {
            self.version = None;
        }
        self.publish(now, Some(spectators));
        progress
    }

    // Passes an input to the engine, and records the facts that follow from its outputs.
    fn run(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        if self.setting.broken.is_set() {
            return Progress::Ignored;
        }
        if self.split_failed {
            self.end_broken(out);
            return Progress::Ignored;
        }
        let is_message = matches!(input, Input::Message { .. } | Input::Malformed { .. });
        if let (Input::Elapsed, Some(due)) = (&input, self.room.deadline()) {
            self.setting.counters.lateness.observe(now.since(due).as_secs_f64());
        }
        let start = out.position();
        // After a panic, the engine is no longer used.
        let Ok(progress) = catch_unwind(AssertUnwindSafe(|| self.room.input(now, input, out))) else {
            self.end_broken(out);
            return Progress::Ignored;
        };
        match &progress {
            Progress::Decoded if is_message => drop(self.setting.counters.received.inc()),
            Progress::Malformed(_) if is_message => drop(self.setting.counters.malformed.inc()),
            _ => {}
        }
        self.status = self.room.status();
        let room = &self.room;
        let address = |peer| room.peer(peer).map(|JournalPeer { address, .. }| address.as_str());
        self.setting.register.follow(out.since_mut(start), self.status.phase, address);
        progress
    }

    // The message with which a browser joins, and the real name, if the game cannot carry the name in it or another
    // player has it on the wire.
    fn rename(&self, id: PeerId, peer: &Peer, message: &[u8]) -> Option<(Vec<u8>, String)> {
        let prefix = self.setting.game.join_prefix().filter(|_| peer.link == Link::Message)?;
        let typed = str::from_utf8(message).ok()?.strip_prefix(prefix)?;
        let name = typed.trim_end_matches(['\0', '\r', '\n']);
        let (roster, register, address) = (&self.setting.roster, &self.setting.register, peer.address?);
        let is_valid = || check_name(name).is_ok() || roster.is_proven(Some(&address.to_string()), name);
        let is_carried = is_plain(name) && !roster.is_alias(name, address);
        if is_carried || !(is_plain(name) || is_valid()) {
            roster.set_alias(address, None);
            return None;
        }
        let players = self.engine()?.roster();
        let is_taken = |wire: &str| {
            let mut others = players.iter().filter(|player| player.peer != id);
            others.any(|player| player.name.eq_ignore_ascii_case(wire))
                || register.is_left(wire)
                || roster.is_alias(wire, address)
        };
        let wire = to_ascii(name, is_taken);
        let renamed = [prefix, &wire, &typed[name.len()..]].concat().into_bytes();
        roster.set_alias(address, Some(Alias { wire, name: name.to_owned() }));
        Some((renamed, name.to_owned()))
    }

    // All peers are disconnected with a message. The journal already has the input.
    fn end_broken(&mut self, out: &mut Outbox) {
        self.setting.broken.0.store(true, Ordering::Release);
        self.setting.counters.broken.inc();
        self.status = Status { phase: Phase::Over, taken: 0, seats: self.status.seats };
        for (peer, link) in self.setting.roster.peers() {
            if let Some(farewell) = self.setting.game.farewell(FAULT, link.framing()) {
                out.send(peer, farewell);
            }
            out.close(peer);
        }
    }

    fn publish(&mut self, now: Time, spectators: Option<&mut Spectators>) {
        let Some(engine) = self.engine() else { return };
        let version = Some(engine.version());
        if version == self.version {
            return;
        }
        let mut show = engine.show();
        self.version = version;
        let delayed = spectators.filter(|spectators| spectators.delay_scores(self.status.phase));
        self.setting.info.send_if_modified(|info| {
            if let Some(spectators) = delayed {
                let scores = std::mem::replace(&mut show.scores, info.show.scores.clone());
                spectators.push_scores(now, scores);
            }
            let changed = info.show != show;
            info.show = show;
            changed
        });
    }
}

// The name in a request for a seat, as in the list of players.
fn name_in<E: PageState>(message: &[u8], link: Link) -> Option<String> {
    let request = E::Protocol::decode(&mut DecoderOf::<E>::default(), message, link.framing()).ok()?;
    E::name_in(&request).map(|name| display_name(name).into_owned())
}

impl<E: Recorded + PageState> Room for HubRoom<E> {
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split {
        let split = catch_unwind(AssertUnwindSafe(|| self.room.split(peer, bytes)));
        split.unwrap_or_else(|_| {
            self.split_failed = true;
            Split::Malformed(DecodeError::Incomplete)
        })
    }

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        let (mut gone, mut renamed) = (None, None);
        match &input {
            Input::Connected { peer: id, role, link, address } => {
                let address = address.parse().ok();
                self.setting.roster.connect(*id, *role, *link, address);
                // The engine may send the match to a native client that has sent no message.
                if let Some(peer) =
                    self.setting.roster.peer(*id).filter(|peer| peer.link != Link::Message && peer.plays)
                    && let Some((why, _)) = self.setting.roster.native_refusal(address)
                {
                    self.setting.roster.close_peer(*id);
                    if let Some(farewell) = self.setting.game.farewell(why, peer.link.framing()) {
                        out.send(*id, farewell);
                    }
                    out.close(*id);
                    return Progress::Ignored;
                }
            }
            Input::Message { peer: id, .. } | Input::Malformed { peer: id, .. } => {
                if let Some(peer) = self.setting.roster.peer(*id) {
                    if let Input::Message { message, .. } = &input {
                        renamed = self.rename(*id, &peer, message);
                    }
                    let name = match (&input, &renamed) {
                        (_, Some((_, name))) => Some(name.clone()),
                        (Input::Message { message, .. }, None)
                            if !peer.joined || self.setting.roster.checks_messages() =>
                        {
                            name_in::<E>(message, peer.link)
                        }
                        _ => None,
                    };
                    if let Some(why) = self.admission.refuses(now, &peer, self.status, name.as_deref()) {
                        self.refuse(now, *id, &peer, why, out);
                        return Progress::Ignored;
                    }
                    if let Input::Message { message, .. } = &input
                        && let Some(answer) = self.admission.postpones(&peer, message)
                    {
                        out.send(*id, answer);
                        return Progress::Decoded;
                    }
                }
            }
            Input::Disconnected { peer, .. } => gone = Some(*peer),
            _ => {}
        }
        let input = match (input, &renamed) {
            (Input::Message { peer, .. }, Some((message, _))) => Input::Message { peer, message: message.as_slice() },
            (input, _) => input,
        };
        let start = out.position();
        let progress = self.process(now, input, out);
        self.admission.follow(now, self.status, out.since(start));
        if let Some(peer) = gone {
            self.setting.roster.close_peer(peer);
        }
        progress
    }

    fn admits(&self, datagram: &[u8]) -> DatagramAdmission {
        self.room.admits(datagram)
    }

    fn deadline(&self) -> Option<Time> {
        let released = self.spectators.as_ref().and_then(|spectators| spectators.due());
        self.engine_deadline().into_iter().chain(released).min()
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.setting.broken.is_set() { Some(Outcome::Stopped) } else { self.room.outcome() }
    }

    fn status(&self) -> Status {
        self.status
    }
}

#[cfg(test)]
mod tests {
    //! A room of nuggets with a simulated clock, as a player and a spectator see it.

    use std::{collections::BTreeSet, net::SocketAddr};

    use bytes::BytesMut;
    use netcore::{GameEvent, HostId, Leave, Output, To};
    use testkit::TempDir;

    use super::*;
    use crate::room::fixtures::nuggets_room;

    /// Two halls without a line of sight between them.
    const HALLS: &[u8] = b"+---------+    +---------+\n|.........|    |.........|\n|.........######.........|\n|.........|    |.........|\n+---------+    +---------+\n";
    const DELAY: Duration = Duration::from_secs(30);
    const ANN: PeerId = PeerId(1);
    const EVE: PeerId = PeerId(2);

    struct Stand {
        room: HubRoom<nuggets::Server>,
        now: Time,
        // To each peer, since the last call of `sent`.
        sent: BTreeMap<PeerId, Vec<String>>,
        info: watch::Receiver<Info>,
        next: u64,
        // Of all events.
        joined: Vec<(String, String)>,
        ended: BTreeSet<String>,
        _directory: TempDir,
    }

    impl Stand {
        fn new(delay: Duration, is_rated: bool) -> Self {
            Self::with_countdown(delay, is_rated, None)
        }

        fn with_countdown(delay: Duration, is_rated: bool, countdown: Option<Duration>) -> Self {
            let config = nuggets::Config {
                rules: nuggets::Rules { gold: 250, min_piles: 20, max_piles: 30, ..Default::default() },
                rematch: true,
                countdown,
                seed: 3,
                ..nuggets::Config::default()
            };
            let (room, info, directory) = nuggets_room(&Arc::default(), HALLS, config, is_rated.then_some(delay));
            let mut stand = Self {
                room,
                now: Time::ZERO,
                sent: BTreeMap::new(),
                info,
                next: 0,
                joined: vec![],
                ended: BTreeSet::new(),
                _directory: directory,
            };
            stand.connect(ANN, Role::Player);
            stand
        }

        fn take(&mut self, mut out: Outbox) {
            for output in out.drain() {
                match output {
                    Output::Send { to: To::Peer(peer), frame } => {
                        self.sent.entry(peer).or_default().push(String::from_utf8_lossy(&frame).into_owned());
                    }
                    Output::Event(GameEvent::Joined { name, seat, .. }) if !name.is_empty() => {
                        self.joined.push((name, seat));
                    }
                    Output::Event(GameEvent::Ended { standings, .. }) => {
                        self.ended = standings.into_iter().map(|standing| standing.name).collect();
                    }
                    _ => {}
                }
            }
        }

        fn input(&mut self, input: Input<'_, &[u8]>) {
            let mut out = Outbox::new();
            self.room.input(self.now, input, &mut out);
            self.take(out);
        }

        fn connect(&mut self, peer: PeerId, role: Role) {
            let address = format!("10.0.0.{}:1", peer.0).into();
            self.input(Input::Connected { peer, role, link: Link::Message, address });
        }

        fn send(&mut self, peer: PeerId, text: &str) {
            let mut out = Outbox::new();
            self.room.receive(self.now, peer, &mut BytesMut::from(text), &mut out);
            self.take(out);
        }

        fn wait(&mut self, time: Duration) {
            let end = self.now.plus(time);
            while let Some(due) = self.room.deadline().filter(|due| *due <= end) {
                self.now = self.now.max(due);
                self.input(Input::Elapsed);
            }
            self.now = end;
        }

        fn sent(&mut self, peer: PeerId) -> Vec<String> {
            self.sent.remove(&peer).unwrap_or_default()
        }

        fn step(&mut self, key: char) {
            self.wait(Duration::from_millis(500));
            self.send(ANN, &format!("KEY {key}"));
        }

        fn find_all(&mut self) {
            // The first and the last row of a hall, and then the middle one, which leads through the passage.
            let hall = ['K', 'H', 'L', 'J', 'H', 'L', 'k'];
            for key in hall.into_iter().chain(['H', 'L']).chain(hall).chain(['H']).chain(hall) {
                if self.room.status().phase != Phase::Playing {
                    return;
                }
                self.step(key);
            }
        }
    }

    #[test]
    fn browsers_join_with_names_that_the_wire_cannot_carry() {
        let mut stand = Stand::new(DELAY, false);
        let roster = Arc::clone(&stand.room.setting.roster);
        let names = ["Łukasz", "Lukasz", "שרה", "Ann", "Bob\u{202e}", "🎲 🎲"];
        for (number, name) in (1..).zip(names) {
            if number > 1 {
                stand.connect(PeerId(number), Role::Player);
            }
            roster.open_seat(format!("10.0.0.{number}:1").parse().unwrap());
            stand.send(PeerId(number), &format!("PLAY {name}"));
            assert!(stand.sent(PeerId(number))[0].starts_with("OK "), "{name}");
        }
        // The seat of a player who leaves keeps its names.
        stand.send(PeerId(3), "KEY Q");
        stand.find_all();
        let table = stand.sent(ANN).into_iter().find(|text| text.starts_with("QUIT GAME OVER")).unwrap();
        let wires: Vec<&str> = table.lines().skip(1).filter_map(|line| line.get(13..)).collect();
        assert_eq!(wires, ["Lukasz", "Lukasz_2", "shrh", "Ann", "Bob___", "game_die_game_die"], "{table}");
        let shown: Vec<String> = stand.joined.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(shown, ["Łukasz", "Lukasz", "שרה", "Ann", "Bob___", "🎲 🎲"]);
        assert_eq!(
            stand.ended,
            BTreeSet::from(["Łukasz", "Lukasz", "שרה", "Ann", "Bob___", "🎲 🎲"].map(str::to_owned))
        );
    }

    #[test]
    fn names_that_are_paths_are_refused() {
        let mut stand = Stand::new(DELAY, false);
        for name in [".", ".."] {
            stand.connect(EVE, Role::Player);
            stand.send(EVE, &format!("PLAY {name}"));
            assert!(stand.sent(EVE).iter().any(|text| text.starts_with("QUIT Choose a name other than")), "{name}");
        }
    }

    #[test]
    fn joined_member_of_class_cannot_take_another_name() {
        let mut stand = Stand::new(Duration::ZERO, false);
        let roster = Arc::clone(&stand.room.setting.roster);
        roster.set_members_only();
        for (peer, name) in [(ANN, "Ann"), (EVE, "Łucja")] {
            let seat = format!("10.0.0.{}:1", peer.0).parse().unwrap();
            roster.open_seat(seat);
            roster.set_member(seat, name);
        }
        stand.send(ANN, "PLAY Ann");
        stand.sent(ANN);
        stand.send(ANN, "PLAY Łucja");
        assert_eq!(stand.sent(ANN), [format!("QUIT {}", super::super::roster::MEMBERS)]);
        stand.connect(EVE, Role::Player);
        stand.send(EVE, "PLAY Łucja");
        assert_eq!(stand.joined.last().unwrap().0, "Łucja");
    }

    #[test]
    fn native_client_receives_nothing_of_a_class() {
        let mut stand = Stand::new(Duration::ZERO, false);
        stand.room.setting.roster.set_members_only();
        let address = "127.0.0.1:5".to_owned().into();
        stand.input(Input::Connected { peer: EVE, role: Role::Player, link: Link::Datagram, address });
        stand.send(EVE, "SPECTATE");
        assert_eq!(stand.sent(EVE), [format!("QUIT {}", super::super::roster::OUTSIDE)]);
    }

    fn displays(texts: &[String]) -> Vec<&str> {
        texts.iter().filter_map(|text| text.strip_prefix("DISPLAY\n")).collect()
    }

    #[test]
    fn spectator_sees_each_step_later_and_the_end_immediately() {
        let mut stand = Stand::new(DELAY, true);
        stand.connect(EVE, Role::Watcher);
        assert!(!displays(&stand.sent(EVE)).is_empty(), "the match has not begun");
        stand.send(ANN, "PLAY Ann");
        stand.step('H');
        stand.step('L');
        assert!(displays(&stand.sent(ANN)).len() >= 3);
        stand.wait(DELAY.saturating_sub(Duration::from_millis(1_001)));
        assert_eq!(stand.sent(EVE), [] as [&str; 0], "a second early");
        stand.wait(Duration::from_millis(1_001));
        let shown = stand.sent(EVE).join("");
        assert!(shown.contains('A'), "{shown}");
        // The end of the match is shown immediately.
        stand.find_all();
        assert_eq!(stand.room.status().phase, Phase::Lobby, "all is found");
        assert!(stand.sent(EVE).iter().any(|text| text.starts_with("QUIT")), "all that waited was sent");
    }

    #[test]
    fn gold_that_no_player_has_seen_is_not_shown() {
        let mut stand = Stand::new(DELAY, true);
        stand.connect(EVE, Role::Watcher);
        let before = stand.sent(EVE).join("");
        assert!(before.contains("DISPLAY") && !before.contains('*'), "nobody has seen anything: {before}");
        stand.send(ANN, "PLAY Ann");
        stand.step('H');
        let unseen: Vec<usize> = stand.room.engine().unwrap().unseen_gold().map(|(at, _)| at).collect();
        assert!(!unseen.is_empty(), "the other hall");
        stand.wait(2 * DELAY);
        let told = stand.sent(EVE);
        let shown = displays(&told);
        assert!(shown.iter().any(|text| text.contains('*')), "what she sees: {shown:?}");
        for text in shown {
            assert!(unseen.iter().all(|&at| text.as_bytes()[at] != b'*'), "{text}");
        }
        // Unseen gold is hidden from native spectators as well.
        stand.connect(PeerId(3), Role::Player);
        stand.send(PeerId(3), "SPECTATE");
        stand.wait(2 * DELAY);
        let told = stand.sent(PeerId(3));
        assert!(!displays(&told).is_empty());
        assert!(displays(&told).iter().all(|text| unseen.iter().all(|&at| text.as_bytes()[at] != b'*')), "{told:?}");
    }

    #[test]
    fn late_spectator_sees_the_match_as_it_was_and_pages_get_scores_later() {
        let mut stand = Stand::new(DELAY, true);
        stand.send(ANN, "PLAY Ann");
        stand.sent(ANN);
        for key in ['H', 'K', 'L', 'j', 'H'] {
            stand.step(key);
        }
        let found = |stand: &Stand| stand.info.borrow().show.scores.get("A").copied().unwrap_or(0);
        assert_eq!(found(&stand), 0);
        stand.connect(EVE, Role::Watcher);
        let first = stand.sent(EVE);
        assert_eq!(first.join("\0"), before_the_match(), "as it was before the match began");
        stand.wait(DELAY + Duration::from_secs(2));
        assert!(found(&stand) > 0);
        let later = stand.sent(EVE);
        assert!(displays(&later).last().unwrap().contains('A'));
        // Now a picture of the match is old enough.
        stand.connect(PeerId(3), Role::Watcher);
        assert!(stand.sent(PeerId(3)).join("").contains('A'));
    }

    fn before_the_match() -> String {
        let map = String::from_utf8_lossy(HALLS);
        format!("GRID 5 26\0GOLD 0 0 250\0DISPLAY\n{map}")
    }

    #[test]
    fn first_picture_of_a_rated_match_shows_neither_players_nor_gold() {
        let mut stand = Stand::with_countdown(DELAY, true, Some(Duration::from_secs(8)));
        let join = |stand: &mut Stand, peer, says: Option<&str>| {
            stand.connect(PeerId(peer), if says.is_some() { Role::Player } else { Role::Watcher });
            if let Some(text) = says {
                stand.send(PeerId(peer), text);
            }
            assert_eq!(stand.sent(PeerId(peer)).join("\0"), before_the_match(), "at {:?}", stand.now);
        };
        join(&mut stand, 10, None);
        stand.send(ANN, "PLAY Ann");
        assert!(stand.sent(ANN).join("").contains('*'), "she sees gold");
        // During the countdown, at the beginning of the match, and after some moves.
        join(&mut stand, 11, None);
        join(&mut stand, 12, Some("SPECTATE"));
        stand.wait(Duration::from_secs(8));
        assert_eq!(stand.room.status().phase, Phase::Playing);
        join(&mut stand, 13, None);
        stand.step('H');
        join(&mut stand, 14, None);
        join(&mut stand, 15, Some("SPECTATE"));
        // A spectator that missed messages receives the same.
        stand.input(Input::Refresh { peer: PeerId(13) });
        assert_eq!(stand.sent(PeerId(13)).join("\0"), before_the_match());
        // All of them have the same delay.
        assert_eq!(stand.sent(PeerId(10)), [] as [&str; 0]);
        stand.wait(DELAY);
        for peer in [10, 11, 13, 14, 15] {
            let told = stand.sent(PeerId(peer));
            assert!(displays(&told).last().is_some_and(|text| text.contains('A')), "{peer}: {told:?}");
        }
    }

    #[test]
    fn next_match_is_hidden_from_its_start() {
        let mut stand = Stand::with_countdown(DELAY, true, Some(Duration::from_secs(8)));
        stand.send(ANN, "PLAY Ann");
        stand.wait(Duration::from_secs(8));
        stand.find_all();
        assert_eq!(stand.room.status().phase, Phase::Lobby, "all is found");
        assert!(stand.info.borrow().show.scores.is_empty(), "those of the match before are gone");
        stand.connect(EVE, Role::Watcher);
        assert_eq!(stand.sent(EVE).join("\0"), before_the_match());
        stand.connect(PeerId(3), Role::Player);
        stand.send(PeerId(3), "PLAY Bob");
        stand.connect(PeerId(4), Role::Watcher);
        assert_eq!(stand.sent(PeerId(4)).join("\0"), before_the_match());
        assert_eq!(stand.sent(EVE), [] as [&str; 0]);
    }

    #[test]
    fn unrated_match_is_shown_immediately_and_whole() {
        for (delay, is_rated) in [(DELAY, false), (Duration::ZERO, true)] {
            let mut stand = Stand::new(delay, is_rated);
            stand.connect(EVE, Role::Watcher);
            assert_eq!(stand.sent(EVE).join("").contains('*'), !is_rated);
            stand.send(ANN, "PLAY Ann");
            assert!(stand.sent(EVE).join("").contains('A'));
        }
    }

    #[test]
    fn spectator_of_a_full_queue_receives_the_end_of_the_room() {
        let mut stand = Stand::new(Duration::from_hours(1), true);
        stand.connect(EVE, Role::Watcher);
        stand.send(ANN, "PLAY Ann");
        stand.sent(EVE);
        for number in 0..20_000_u32 {
            stand.wait(Duration::from_millis(20));
            stand.send(ANN, if number % 2 == 0 { "KEY H" } else { "KEY L" });
            stand.sent(ANN);
        }
        assert!(stand.sent(EVE).is_empty());
        stand.input(Input::Stop(Leave::Over));
        assert!(stand.sent(EVE).iter().any(|text| text.starts_with("QUIT")));
    }

    const SMALL: &[u8] = b"+---------+\n|.........|\n|.........|\n|.........|\n|.........|\n+---------+\n";

    impl Stand {
        fn small() -> Self {
            let rules = nuggets::Rules { gold: 250, min_piles: 2, max_piles: 3, ..Default::default() };
            let config = nuggets::Config { rules, rematch: true, seed: 1, ..nuggets::Config::default() };
            let (room, info, directory) = nuggets_room(&Arc::default(), SMALL, config, None);
            Self {
                room,
                now: Time::ZERO,
                sent: BTreeMap::new(),
                info,
                next: 0,
                joined: vec![],
                ended: BTreeSet::new(),
                _directory: directory,
            }
        }

        /// Returns the peer and the keyword of the response.
        fn play(&mut self, address: &str, link: Link) -> (PeerId, String) {
            let peer = PeerId(self.next);
            self.next += 1;
            let address: SocketAddr = address.parse().unwrap();
            if link == Link::Message {
                self.room.setting.roster.open_seat(address);
            }
            let address = address.to_string();
            self.input(Input::Connected { peer, role: Role::Player, link, address: address.into() });
            self.wait(Duration::from_secs(1));
            self.send(peer, &format!("PLAY P{}", peer.0));
            let response = self.sent(peer).into_iter().next().unwrap_or_default();
            (peer, response.split(' ').next().unwrap_or_default().to_owned())
        }
    }

    #[test]
    fn host_that_reconnects_spends_half_of_the_letters_over_any_link() {
        let mut stand = Stand::small();
        let seat = |stand: &Stand, port: u16| {
            let mut seat = stand.room.setting.roster.mask.seat(HostId::of("10.0.0.9:1")).unwrap();
            seat.set_port(port);
            seat.to_string()
        };
        let (_, ann) = stand.play("10.0.0.1:1", Link::Datagram);
        assert_eq!(ann, "OK");
        for port in 1..=13 {
            // Alternately as a browser and as a native client.
            let (eve, answer) = if port % 2 == 0 {
                stand.play(&seat(&stand, port), Link::Message)
            } else {
                stand.play(&format!("10.0.0.9:{port}"), Link::Datagram)
            };
            assert_eq!(answer, "OK", "port {port}");
            stand.send(eve, "KEY Q");
        }
        let (address, status) = (seat(&stand, 99), stand.room.status());
        assert_eq!((status.taken, status.seats), (1, 13));
        let (eve, answer) = stand.play(&address, Link::Message);
        assert!(
            answer == "QUIT"
                && stand.room.setting.roster.close_reason(address.parse().unwrap()) == CloseReason::Refused
        );
        stand.send(eve, "PLAY Eve");
        assert_eq!(stand.sent(eve), [] as [&str; 0], "it is not connected any more");
        assert_eq!(stand.play("10.0.0.9:99", Link::Datagram).1, "QUIT");
        // The game has not received any of these attempts.
        assert_eq!(stand.room.status(), status);
        for port in 1..=12 {
            assert_eq!(stand.play(&format!("10.0.1.{port}:1"), Link::Datagram).1, "OK");
        }
    }

    #[test]
    fn present_players_do_not_count_and_the_next_match_starts_from_zero() {
        let mut stand = Stand::small();
        let class: Vec<PeerId> = (0..26)
            .map(|port| {
                let (pupil, answer) = stand.play(&format!("10.0.0.9:{}", 1_000 + port), Link::Datagram);
                assert_eq!(answer, "OK", "pupil {port}");
                pupil
            })
            .collect();
        for pupil in class {
            stand.send(pupil, "KEY Q");
        }
        // All have left, so another match has begun.
        assert_eq!((stand.room.status().taken, stand.room.status().seats), (0, 26));
        assert_eq!(stand.play("10.0.0.9:2", Link::Datagram).1, "OK");
        // Seats that were left in the previous match do not count in this one.
        let (pupil, answer) = stand.play("10.0.0.9:3", Link::Datagram);
        assert_eq!(answer, "OK");
        stand.send(pupil, "KEY Q");
        assert_eq!(stand.play("10.0.0.9:4", Link::Datagram).1, "OK");
    }
}
