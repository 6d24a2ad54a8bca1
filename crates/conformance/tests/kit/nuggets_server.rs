//! The tester of nuggets servers passes a correct server and finds what a crooked one does.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

use std::{
    collections::BTreeMap,
    fs,
    net::{SocketAddr, UdpSocket},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use conformance::{NUGGETS_SERVER as TESTER, Values, Verdict};
use netcore::{
    Admission, Engine as _, Framing, GameEvent, Input, Link, Outbox, Output, PeerId, Protocol as _, Role, Time, To,
};
use nuggets::{
    ClientMessage, Config, Direction, Grid, Nuggets, Rules, Server, ServerMessage,
    visibility::{Field, Sighter, Vision},
};

use crate::support::{Console, assert_all_pass, crimes, find_out, tried, tried_for, value};

crimes! {
    None,
    /// Says everything twice and the state of the gold all the time, which is allowed.
    Talkative,
    NoPort => "announces-port",
    EndsOnPercent => "keeps-running",
    GoldWithNewline => "message-form",
    DisplayCutShort => "display-shape",
    GridBeforeOk => "welcome-player",
    OkForSpectator => "welcome-spectator",
    WrongGrid => "grid-size",
    WallMissing => "spectator-sees-all",
    FivePiles => "pile-count",
    WrongLetter => "letters-in-order",
    InTheWall => "joining-place",
    NamelessPlays => "name-required",
    FullIsError => "full-game",
    SecondSeat => "no-second-seat",
    OnlyMoverIsShown => "display-to-all",
    MirroredStep => "step",
    RunIsAStep => "run",
    RunStops => "run-over-gold",
    BlockedGoesElsewhere => "blocked-step",
    NoSwap => "swap",
    PilesStay => "gold-taken",
    NoAt => "own-place",
    ShortSight => "sight",
    Forgets => "memory",
    ShowsGoldFromMemory => "memory-is-bare",
    OneTooMuch => "gold-collected",
    OthersNotTold => "gold-others",
    Short => "gold-total",
    NoGoodbye => "quit-reply",
    QuitterStays => "quitter-leaves",
    TalksAfterQuit => "nothing-after-quit",
    QuitsEarly => "no-early-quit",
    StrangerMoves => "strangers-ignored",
    TwoKeysMove => "malformed-ignored",
    SpectatorMoves => "spectator-keys",
    SpectatorStays => "spectator-replaced",
    LostClientStopsAll => "lost-client",
    OtherEnd => "game-over",
    NarrowTable => "final-table",
    WildNames => "names",
    NoSummary => "summary",
    ExitStatus => "exit-status",
    OwnSeed => "same-seed",
    AnyArguments => "bad-arguments",
    OtherTexts => "quit-texts",
    DisplayFirst => "gold-before-display",
    NoErrors => "unknown-key",
    NoLastGold => "last-gold",
    NoLastDisplay => "last-display",
    Returns => "no-return",
    Silent => "welcome-spectator",
    Garbage => "message-form",
    Flood => "welcome-spectator",
}

struct CrookedServer {
    crime: Crime,
    server: Server,
    grid: Grid,
    piles: Vec<u8>,
    peers: BTreeMap<SocketAddr, PeerId>,
    addresses: BTreeMap<PeerId, SocketAddr>,
    /// Players in order of joining.
    players: Vec<SocketAddr>,
    spectator: Option<SocketAddr>,
    quits: u32,
    keys: u32,
    summary: Option<String>,
    shown: BTreeMap<SocketAddr, Vec<u8>>,
}

fn host(crime: Crime, values: Values<'_>, console: &Console) -> i32 {
    let map = value::<String>(values, "map").and_then(|path| fs::read(path).ok());
    let has = |name| values.iter().any(|(given, _)| *given == name);
    // Without one it is another each time.
    let any = (!has("seed")).then(|| 1_000 + u64::from(console.number));
    let seed = value::<u64>(values, "seed").or(any).filter(|&seed| seed > 0 && !has("extra"));
    let (Some(Ok((grid, _))), Some(seed)) = (map.map(|map| Grid::parse(&map)), seed) else {
        console.complain("wrong arguments");
        return i32::from(crime != C::AnyArguments);
    };
    let seed = if crime == C::OwnSeed { seed + u64::from(console.number) } else { seed };
    let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    if crime == C::NoPort {
        console.print("Ready to play");
        return 0;
    }
    console.print(format!("Ready to play, waiting at port {}", socket.local_addr().unwrap().port()));
    let mut rules = Rules::default();
    match crime {
        C::FivePiles => (rules.min_piles, rules.max_piles) = (5, 5),
        C::ShortSight => rules.vision = Vision { radius: Some(2) },
        C::Short => rules.gold = 249,
        C::RunStops => rules.run_stop = true,
        _ => {}
    }
    let server = Server::new(Arc::new(grid.clone()), Config { rules, seed: seed.into(), ..Config::default() }).unwrap();
    let mut crooked = CrookedServer {
        crime,
        server,
        grid,
        piles: Vec::new(),
        peers: BTreeMap::new(),
        addresses: BTreeMap::new(),
        players: Vec::new(),
        spectator: None,
        quits: 0,
        keys: 0,
        summary: None,
        shown: BTreeMap::new(),
    };
    let mut buffer = vec![0; 70_000];
    let started = Instant::now();
    while !console.is_stopped() {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        let datagram = &buffer[..length];
        match crime {
            C::Silent => continue,
            C::Garbage => {
                let _ = socket.send_to(b"\xff\x00%s DISPLAY", from);
                continue;
            }
            C::Flood => {
                for _ in 0..10_000 {
                    let _ = socket.send_to(b"GOLD 0 0 250", from);
                }
                continue;
            }
            C::EndsOnPercent if datagram.starts_with(b"%") => return 1,
            _ => {}
        }
        let now = Time::ZERO.plus(started.elapsed());
        for (to, message) in crooked.answer(now, from, datagram) {
            let _ = socket.send_to(&message, to);
        }
        if crooked.server.outcome().is_some() {
            if let Some(summary) = crooked.summary.filter(|_| crime != C::NoSummary) {
                summary.lines().for_each(|line| console.print(line));
            }
            return if crime == C::ExitStatus { 3 } else { 0 };
        }
    }
    1
}

impl CrookedServer {
    fn answer(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> Vec<(SocketAddr, Vec<u8>)> {
        if self.crime == C::QuitterStays && datagram == b"KEY Q" && self.players.contains(&from) {
            self.peers.remove(&from);
            return vec![(from, b"QUIT Thanks for playing!".to_vec())];
        }
        let Some((from, datagram)) = self.bent(from, datagram) else { return Vec::new() };
        let request = Nuggets::decode(&mut (), &datagram, Framing::Whole);
        let message = request.as_ref().map_err(Clone::clone);
        if self.crime == C::SecondSeat && matches!(message, Ok(ClientMessage::Play(Some(_)))) {
            self.peers.remove(&from);
        }
        let mut out = Outbox::new();
        let peer = match self.peers.get(&from) {
            Some(&peer) => peer,
            None if Nuggets::admits(message) == Admission::Ignored => return Vec::new(),
            None => {
                let peer = PeerId(self.addresses.len() as u64);
                self.peers.insert(from, peer);
                self.addresses.insert(peer, from);
                // A new address each time makes the server take whoever comes back for somebody else.
                let forgets = matches!(self.crime, C::SecondSeat | C::Returns);
                let number = if forgets { self.addresses.len() } else { 0 };
                let address = format!("{from}/{number}");
                let input =
                    Input::Connected { peer, role: Role::Player, link: Link::Datagram, address: (&address).into() };
                self.server.input(now, input, &mut out);
                peer
            }
        };
        let is_key = matches!(request, Ok(ClientMessage::Key(_)));
        let is_spectate = matches!(request, Ok(ClientMessage::Spectate));
        let input = match request {
            Ok(message) => Input::Message { peer, message },
            Err(why) => Input::Malformed { peer, why },
        };
        self.server.input(now, input, &mut out);
        if is_spectate && self.peers.contains_key(&from) {
            self.spectator = Some(from);
        }
        let mut sent = Vec::new();
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    let to = self.addresses[&peer];
                    if frame.starts_with(b"OK ") && !self.players.contains(&to) {
                        self.players.push(to);
                    }
                    sent.extend(self.bend(to, &frame, from).map(|frame| (to, frame)));
                }
                Output::Close { peer } => self.peers.retain(|_, known| *known != peer),
                Output::Event(GameEvent::Summary(text)) => self.summary = Some(text),
                _ => {}
            }
        }
        self.rearrange(from, is_key, is_spectate, &mut sent);
        sent
    }

    // What the server takes a datagram for.
    fn bent(&mut self, from: SocketAddr, datagram: &[u8]) -> Option<(SocketAddr, Vec<u8>)> {
        let player = self.players.first().copied();
        let mut own = datagram.to_vec();
        let is_key = datagram.starts_with(b"KEY ") && datagram.len() == 5;
        let key = own.last_mut();
        match (self.crime, key) {
            (C::NamelessPlays, _) if datagram == b"PLAY " => own.push(b'x'),
            (C::MirroredStep, Some(key)) if is_key && *key == b'j' => *key = b'k',
            (C::RunIsAStep, Some(key)) if is_key && *key != b'Q' => key.make_ascii_lowercase(),
            (C::TwoKeysMove, _) if datagram.starts_with(b"KEY ") => own.truncate(5),
            (C::StrangerMoves, _) if is_key && !self.peers.contains_key(&from) => return Some((player?, own)),
            (C::SpectatorMoves, Some(key)) if is_key && *key != b'Q' && self.spectator == Some(from) => {
                return Some((player?, own));
            }
            (C::BlockedGoesElsewhere | C::NoSwap, Some(key)) if is_key => {
                let players = self.server.game().players();
                let place = self.players.iter().position(|&player| player == from);
                let cell = place.and_then(|place| players[place].cell);
                if let (Some(cell), Some(direction)) = (cell, Direction::from_key(key.to_ascii_lowercase())) {
                    let to = self.grid.step(cell, direction);
                    if self.crime == C::NoSwap
                        && players.iter().any(|player| player.cell.is_some() && player.cell == to)
                    {
                        return None;
                    }
                    if self.crime == C::BlockedGoesElsewhere && to.is_none() {
                        let free = Direction::ALL.into_iter().find(|&free| self.grid.step(cell, free).is_some());
                        *key = free.map_or(*key, Direction::key);
                    }
                }
            }
            _ => {}
        }
        Some((from, own))
    }

    // What the server sends instead of a message.
    #[expect(clippy::match_same_arms, reason = "each crime has a line of its own")]
    fn bend(&mut self, to: SocketAddr, frame: &Bytes, from: SocketAddr) -> Option<Vec<u8>> {
        let mut own = frame.to_vec();
        let is_player = self.players.contains(&to);
        let message = ServerMessage::parse(frame).unwrap();
        let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        match (self.crime, message) {
            (C::GoldWithNewline, ServerMessage::Gold { .. }) => own.push(b'\n'),
            (C::DisplayCutShort, ServerMessage::Display(_)) => drop(own.pop()),
            (C::WrongGrid, ServerMessage::Grid { rows, cols }) => own = format!("GRID {cols} {rows}").into(),
            (C::WallMissing, ServerMessage::Display(_)) if !is_player => {
                let wall = own.iter().position(|&byte| byte == b'|').unwrap();
                own[wall] = b'.';
            }
            (C::WrongLetter, ServerMessage::Ok(_)) => own = b"OK Z".to_vec(),
            (C::InTheWall, ServerMessage::Display(_)) if !is_player => {
                if let Some(at) = own.iter().skip(8).position(u8::is_ascii_uppercase) {
                    own.swap(8 + at, 8);
                }
            }
            (C::FullIsError, ServerMessage::Quit(text)) if text.starts_with(b"Game is full") => {
                own = b"ERROR full".to_vec();
            }
            (C::OnlyMoverIsShown, ServerMessage::Display(_)) if to != from => return None,
            (C::PilesStay, ServerMessage::Display(_)) if !is_player => {
                if self.piles.is_empty() {
                    self.piles.clone_from(&own);
                }
                for (byte, &before) in own.iter_mut().zip(&self.piles) {
                    if *byte == b'.' && before == b'*' {
                        *byte = before;
                    }
                }
            }
            (C::NoAt, ServerMessage::Display(_)) => {
                own.iter_mut().filter(|byte| **byte == b'@').for_each(|byte| *byte = b'.');
            }
            (C::Forgets, ServerMessage::Display(_)) if is_player => {
                let at = own.iter().position(|&byte| byte == b'@').unwrap() - 8;
                let cell = nuggets::Cell(u16::try_from(at).unwrap());
                let sight = Sighter::default().sight(Field::from(&self.grid), cell, Vision::default());
                for (index, byte) in own.iter_mut().skip(8).enumerate() {
                    if *byte != b'\n' && !sight.contains(nuggets::Cell(u16::try_from(index).unwrap())) {
                        *byte = b' ';
                    }
                }
            }
            (C::ShowsGoldFromMemory, ServerMessage::Display(_)) if is_player => {
                for cell in self.server.game().piles().keys() {
                    let byte = &mut own[8 + cell.index()];
                    *byte = if *byte == b'.' { b'*' } else { *byte };
                }
            }
            (C::OneTooMuch, ServerMessage::Gold { collected: collected @ 1.., purse, remaining }) => {
                own = format!("GOLD {} {purse} {remaining}", collected + 1).into();
            }
            (C::OthersNotTold, ServerMessage::Gold { .. }) if to != from => return None,
            (C::NoLastGold, ServerMessage::Gold { remaining: 0, .. }) => return None,
            (C::NoLastDisplay, ServerMessage::Display(_)) if self.server.outcome().is_some() => return None,
            (C::NoGoodbye, ServerMessage::Quit(text)) if text.starts_with(b"Thanks") => return None,
            (C::SpectatorStays, ServerMessage::Quit(text)) if text.starts_with(b"You have been") => return None,
            (C::OtherEnd, ServerMessage::Quit(text)) if text.starts_with(b"GAME OVER") => own = b"QUIT bye".to_vec(),
            (C::NarrowTable, ServerMessage::Quit(quit)) => {
                own = format!("QUIT {}", text(quit).replace("A  ", "A ")).into();
            }
            (C::WildNames, ServerMessage::Quit(quit)) => own = format!("QUIT {}", text(quit).replace('_', "?")).into(),
            (C::OtherTexts, ServerMessage::Quit(text)) if !text.starts_with(b"GAME OVER") => own = b"QUIT bye".to_vec(),
            (C::Talkative, ServerMessage::Quit(_)) => own.push(b'\n'),
            (C::NoErrors, ServerMessage::Error(_)) => return None,
            _ => {}
        }
        Some(own)
    }

    // What is sent for one datagram, all in all.
    fn rearrange(&mut self, from: SocketAddr, is_key: bool, is_spectate: bool, sent: &mut Vec<(SocketAddr, Vec<u8>)>) {
        let quit = sent.iter().any(|(to, message)| *to == from && message.starts_with(b"QUIT Thanks"));
        self.quits += u32::from(quit);
        self.keys += u32::from(is_key);
        match self.crime {
            C::GridBeforeOk if sent.first().is_some_and(|(_, first)| first.starts_with(b"OK")) => sent.swap(0, 1),
            C::OkForSpectator if is_spectate => sent.insert(0, (from, b"OK Z".to_vec())),
            C::TalksAfterQuit if quit => sent.push((from, b"GOLD 0 0 250".to_vec())),
            C::QuitsEarly if is_key && self.keys == 5 => sent.push((from, b"QUIT bye".to_vec())),
            C::LostClientStopsAll if is_key && self.players.len() == 3 && self.quits == 1 => {
                let kept = self.players[2];
                sent.retain(|(to, _)| *to == kept);
            }
            C::Talkative if self.server.outcome().is_none() => {
                let game = self.server.game();
                for (to, message) in sent.clone() {
                    if message.starts_with(b"DISPLAY") {
                        let before = self.shown.insert(to, message.clone());
                        let place = self.players.iter().position(|&player| player == to);
                        let purse = place.map_or(0, |place| game.players()[place].purse);
                        sent.push((to, before.unwrap_or_else(|| message.clone())));
                        sent.push((to, format!("GOLD 0 {purse} {}", game.remaining()).into()));
                        sent.push((to, b"ERROR so it is".to_vec()));
                        sent.push((to, message));
                    }
                }
            }
            C::DisplayFirst if is_key => sent.sort_by_key(|(_, message)| !message.starts_with(b"DISPLAY")),
            _ => {}
        }
    }
}

#[test]
fn a_correct_server_passes_every_rule() {
    assert_all_pass(&tried(&TESTER, host, C::None, 20_000));
}

#[test]
fn a_talkative_server_breaks_no_rule() {
    let report = tried(&TESTER, host, C::Talkative, 20_000);
    for rule in report.rules.iter().filter(|rule| rule.is_required()) {
        assert_eq!(rule.verdict, Verdict::Passed, "{}\n{report}", rule.id);
    }
}

#[test]
fn every_rule_finds_a_server_that_breaks_it() {
    find_out(&TESTER, CRIMES, 6, |crime, rule| tried_for(&TESTER, host, crime, rule, 700));
}
