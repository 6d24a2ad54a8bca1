//! What nobody may see: random games over every link, and every byte that was sent.
//!
//! The journal of a room determines what its engine gave out, and what was true at each moment. So each connection must have got what
//! the engine gave out for it and nothing else, and none of that may show what was hidden from its role just then.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream, UdpSocket},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use blackjack::{Card, DealerMessage, Deck, Dialect, protocol::DealerDecoder};
use bytes::Bytes;
use hmac::{Hmac, Mac as _};
use journal_core::{Entry, Replay};
use netcore::{GameEvent, Input, Outbox, Output, PeerId, Recorded, Role, To};
use nuggets::visibility::{Sighter, Vision};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use sha2::Sha256;
use testkit::PATIENCE;
use tungstenite::{Message, WebSocket, protocol::Role as Side};

use crate::support::{Browser, Hub, native};

/// Stands for the address of whoever only looks on, which nobody is told.
const WATCHER: &str = "watcher";

/// The address of the seat that a token is for.
fn seat_in(token: &str) -> SocketAddr {
    let ticket = URL_SAFE_NO_PAD.decode(token.split_once('.').unwrap().0).unwrap();
    let ip: [u8; 16] = ticket[8..24].try_into().unwrap();
    SocketAddr::new(ip.into(), u16::from_be_bytes([ticket[24], ticket[25]]))
}

/// The pseudonym that a room has for the address of a stream.
fn pseudonym(secret: &[u8], room: &str, address: SocketAddr) -> SocketAddr {
    let code = |key: &[u8], text: String| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(text.as_bytes());
        mac.finalize().into_bytes()
    };
    let key = code(secret, format!("mask\n{room}"));
    let (host, rest) = (code(&key, format!("host\n{}", address.ip())), code(&key, format!("address\n{address}")));
    let ip: [u8; 16] = [&[0xfd], &host[..7], &rest[..8]].concat().try_into().unwrap();
    SocketAddr::new(ip.into(), u16::from_be_bytes([rest[8], rest[9]]).max(1))
}

/// A connection: how to speak over it, and what it has heard.
struct Connection {
    // As the room has it, except for streams.
    address: String,
    mouth: Mouth,
    ear: JoinHandle<Vec<Vec<u8>>>,
}

enum Mouth {
    Browser(Box<WebSocket<TcpStream>>),
    Stream(TcpStream),
    Datagrams(UdpSocket),
    Nobody,
}

/// What a connection has heard: its number, and the message or the bytes.
type Heard = (usize, Vec<u8>);

/// The connections of a test, and everything that they hear.
struct Party {
    connections: Vec<Connection>,
    told: Sender<Heard>,
    hear: Receiver<Heard>,
    over: Arc<AtomicBool>,
}

impl Party {
    fn new() -> Self {
        let (told, hear) = channel();
        Self { connections: vec![], told, hear, over: Arc::default() }
    }

    fn browser(&mut self, hub: &Hub, room: &Value, watch: bool) -> usize {
        let query = if watch { "?watch=true" } else { "" };
        let path = format!("/rooms/{}/socket{query}", room["id"].as_str().unwrap());
        let mut browser = hub.socket(&path, None).unwrap();
        let hello: Value = serde_json::from_str(&browser.until("{")).unwrap();
        // The token names the address that the room has for the seat.
        let address = hello["seat"].as_str().map_or_else(|| WATCHER.into(), |token| seat_in(token).to_string());
        let Browser(socket) = browser;
        let copy = socket.get_ref().try_clone().unwrap();
        let mouth = if watch {
            Mouth::Nobody
        } else {
            Mouth::Browser(Box::new(WebSocket::from_raw_socket(copy, Side::Client, None)))
        };
        self.listen(address, mouth, |tell| {
            let mut socket = socket;
            while let Ok(message) = socket.read() {
                match message {
                    // Those are the hub's own.
                    Message::Text(text) if text.starts_with('{') => {}
                    Message::Text(text) => tell(text.as_bytes().to_vec()),
                    Message::Binary(bytes) => tell(bytes.to_vec()),
                    _ => {}
                }
            }
        })
    }

    fn stream(&mut self, room: &Value) -> usize {
        let stream = TcpStream::connect(native(room)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (address, mouth) = (stream.local_addr().unwrap().to_string(), Mouth::Stream(stream.try_clone().unwrap()));
        self.listen(address, mouth, |tell| {
            let (mut stream, mut bytes) = (stream, [0; 4_096]);
            while let Ok(length @ 1..) = stream.read(&mut bytes) {
                tell(bytes[..length].to_vec());
            }
        })
    }

    fn datagrams(&mut self, room: &Value) -> usize {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        socket.connect(native(room)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let (address, mouth) =
            (socket.local_addr().unwrap().to_string(), Mouth::Datagrams(socket.try_clone().unwrap()));
        let over = Arc::clone(&self.over);
        self.listen(address, mouth, move |tell| {
            let mut bytes = vec![0; 65_536];
            while !over.load(Ordering::Acquire) {
                if let Ok(length) = socket.recv(&mut bytes) {
                    tell(bytes[..length].to_vec());
                }
            }
        })
    }

    fn listen(
        &mut self,
        address: String,
        mouth: Mouth,
        listen: impl FnOnce(&mut dyn FnMut(Vec<u8>)) + Send + 'static,
    ) -> usize {
        let (number, told) = (self.connections.len(), self.told.clone());
        let ear = thread::spawn(move || {
            let mut heard = vec![];
            listen(&mut |bytes| {
                // The test may be over.
                let _ = told.send((number, bytes.clone()));
                heard.push(bytes);
            });
            heard
        });
        self.connections.push(Connection { address, mouth, ear });
        number
    }

    fn say(&mut self, number: usize, bytes: &[u8]) {
        match &mut self.connections[number].mouth {
            Mouth::Browser(socket) => {
                let is_text = bytes.iter().all(u8::is_ascii_graphic) || bytes.contains(&b' ');
                let message = if is_text {
                    Message::text(String::from_utf8_lossy(bytes).into_owned())
                } else {
                    Message::binary(bytes.to_vec())
                };
                socket.send(message).unwrap();
            }
            Mouth::Stream(stream) => stream.write_all(bytes).unwrap(),
            Mouth::Datagrams(socket) => drop(socket.send(bytes).unwrap()),
            Mouth::Nobody => panic!("a watcher says nothing"),
        }
    }

    fn next(&self) -> Heard {
        self.hear.recv_timeout(PATIENCE).expect("something is heard")
    }

    /// Waits until a connection hears what is wanted.
    fn until(&self, wanted: impl Fn(usize, &[u8]) -> bool) {
        loop {
            let (number, bytes) = self.next();
            if wanted(number, &bytes) {
                return;
            }
        }
    }

    /// Ends the hub, and gives the journal of the room and what each connection has heard, by its address.
    fn end(self, hub: Hub, game: &str) -> (PathBuf, BTreeMap<String, Vec<Vec<u8>>>) {
        let (finished, data) = hub.end();
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        self.over.store(true, Ordering::Release);
        let mut heard = BTreeMap::new();
        let secret = std::fs::read(data.path().join("secret")).unwrap();
        for Connection { address, mouth, ear } in self.connections {
            let address = if let Mouth::Stream(_) = mouth {
                pseudonym(&secret, &format!("{game}-1"), address.parse().unwrap()).to_string()
            } else {
                address
            };
            drop(mouth);
            heard.insert(address, ear.join().unwrap());
        }
        let journals = journal_core::list(&data.path().join("journals")).unwrap();
        let own = |path: &&PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(game);
        let path = journals.iter().find(own).unwrap();
        // The data goes with the hub, the journal stays.
        let kept = std::env::temp_dir().join(format!("hidden-{}-{game}.journal", std::process::id()));
        std::fs::copy(path, &kept).unwrap();
        (kept, heard)
    }
}

/// A page that is sent pictures of a room.
struct Drawn {
    parts: Receiver<(String, Value)>,
    seen: Vec<(String, Value)>,
}

impl Drawn {
    fn new(hub: &Hub, room: &Value) -> Self {
        let id = room["id"].as_str().unwrap().to_owned();
        let mut page = hub.socket("/live", None).unwrap();
        page.say(&json!({ "pictures": [id] }).to_string());
        let (told, parts) = channel();
        thread::spawn(move || {
            while let Ok(message) = page.0.read() {
                let Message::Text(text) = message else { continue };
                let message: Value = serde_json::from_str(&text).unwrap();
                for (_, picture) in message["pictures"][&id].as_object().into_iter().flatten() {
                    for (name, part) in picture.as_object().unwrap() {
                        // The test may be over.
                        let _ = told.send((name.clone(), part.clone()));
                    }
                }
            }
        });
        Self { parts, seen: vec![] }
    }

    /// Waits until the page is sent a part that is as `wanted`.
    fn until(&mut self, wanted: impl Fn(&str, &Value) -> bool) {
        loop {
            let (name, part) = self.parts.recv_timeout(PATIENCE).expect("a picture is sent");
            let found = wanted(&name, &part);
            self.seen.push((name, part));
            if found {
                return;
            }
        }
    }

    /// All that the page was sent until the hub has ended.
    fn end(mut self) -> Vec<(String, Value)> {
        self.seen.extend(self.parts.iter());
        self.seen
    }
}

/// What a connection was told, line by line.
fn lines(heard: &[Vec<u8>]) -> BTreeSet<String> {
    let texts = heard.iter().map(|frame| String::from_utf8_lossy(frame).into_owned());
    texts.flat_map(|text| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()).collect()
}

/// Replays a journal, and has `judge` look at what the engine gives out for each peer at each arrival. Compares what the peers got over
/// their links with that.
fn judge<E: Recorded>(
    path: PathBuf,
    heard: BTreeMap<String, Vec<Vec<u8>>>,
    mut judge: impl FnMut(&Replay<E>, &Input<'_, Bytes>, &[Output]),
) {
    let mut reader = journal_core::open(&path).unwrap().reader().unwrap();
    let mut replay = Replay::<E>::start(reader.head()).unwrap();
    let mut given: BTreeMap<PeerId, (String, Vec<Vec<u8>>)> = BTreeMap::new();
    let mut out = Outbox::new();
    while let Some(entry) = reader.next().unwrap() {
        let Entry::Arrival(arrival) = entry else { continue };
        if let Input::Connected { peer, address, role, .. } = &arrival.input {
            let address = if *role == Role::Watcher { WATCHER } else { address };
            given.insert(*peer, (address.to_owned(), vec![]));
        }
        let present: BTreeSet<PeerId> = replay.peers().map(|peer| peer.peer).chain(arrival.input.peer()).collect();
        replay.apply(&arrival, &mut out).unwrap();
        let outputs: Vec<Output> = out.drain().collect();
        judge(&replay, &arrival.input, &outputs);
        for output in outputs {
            let (to, frames): (Vec<PeerId>, Vec<Vec<u8>>) = match output {
                Output::Send { to: To::Peer(peer), frame } => (vec![peer], vec![frame.to_vec()]),
                Output::Send { to: To::Everyone, frame } => (present.iter().copied().collect(), vec![frame.to_vec()]),
                Output::Replay { to, history } => (vec![to], history.frames().map(|frame| frame.to_vec()).collect()),
                _ => continue,
            };
            for peer in to {
                given.entry(peer).or_default().1.extend(frames.iter().cloned());
            }
        }
    }
    std::fs::remove_file(path).unwrap();
    for (address, heard) in heard {
        let given: Vec<Vec<u8>> =
            given.values().filter(|(own, _)| *own == address).flat_map(|(_, frames)| frames.clone()).collect();
        assert!(!heard.is_empty(), "{address} has heard nothing");
        // On streams messages are not told apart; browsers get no zero byte at the end of a text.
        let bare = |frame: &Vec<u8>| frame.strip_suffix(b"\0").unwrap_or(frame).to_vec();
        let whole: Vec<u8> = given.concat();
        let mut rest = given.iter();
        let in_order = heard.iter().all(|frame| rest.any(|given| given == frame || bare(given) == *frame));
        assert!(in_order || whole.starts_with(&heard.concat()), "{address} was sent what no engine gave out for it");
    }
}

#[test]
fn nobody_sees_more_of_a_map_of_nuggets_than_its_role_does() {
    let hub = Hub::with(&["--drain", "0", "--no-default-rooms"]);
    let room = hub.make(&json!({ "game": "nuggets", "map": "donuts" }));
    let mut party = Party::new();
    let players = [party.browser(&hub, &room, false), party.datagrams(&room), party.browser(&hub, &room, false)];
    let watcher = party.browser(&hub, &room, true);
    let (watcher, mut drawn) = (party.connections[watcher].address.clone(), Drawn::new(&hub, &room));
    drawn.until(|name, _| name == "size");
    let spectator = party.datagrams(&room);
    party.say(spectator, b"SPECTATE");
    for (player, name) in players.into_iter().zip(["Ann", "Bob", "Eve"]) {
        party.say(player, format!("PLAY {name}").as_bytes());
        party.until(|number, bytes| number == player && bytes.starts_with(b"OK "));
    }
    let mut chance = Pcg64::seed_from_u64(1);
    let mut directions = [b'h'; 3];
    for _ in 0..150 {
        for (player, direction) in players.into_iter().zip(&mut directions) {
            if chance.random_range(0..4) == 0 {
                *direction = b"hjklyubn"[chance.random_range(0..8)];
            }
            // Single steps, so that everything that was seen was seen between two arrivals.
            party.say(player, &[b"KEY ", &[*direction][..]].concat());
        }
    }
    drawn.until(|_, row| row.as_str().is_some_and(|row| row.contains('A')));
    for player in [players[0], players[2]] {
        party.say(player, b"KEY ~");
        party.until(|number, bytes| number == player && bytes.starts_with(b"ERROR"));
    }
    let (path, heard) = party.end(hub, "nuggets");
    // Pictures show what a watcher is told, and nothing else.
    let (drawn, told) = (drawn.end(), lines(&heard[&watcher]));
    let rows: Vec<&str> = drawn.iter().filter_map(|(_, part)| part.as_str()).collect();
    let secret: Vec<&&str> = rows.iter().filter(|row| !told.contains(**row)).collect();
    assert!(rows.len() > 24 && secret.is_empty(), "{secret:#?} of {} rows", rows.len());
    let mut letters: BTreeMap<PeerId, u8> = BTreeMap::new();
    let mut seen: BTreeMap<u8, BTreeSet<usize>> = BTreeMap::new();
    let mut sighter = Sighter::default();
    let mut displays = 0;
    judge::<nuggets::Server>(path, heard, |replay, _, outputs| {
        let game = replay.room().engine().game();
        let grid = game.grid();
        let cells: Vec<_> = (0..grid.rows())
            .flat_map(|row| (0..grid.cols()).map(move |col| nuggets::Position::new(row, col)))
            .filter_map(|position| grid.cell(position))
            .collect();
        let mut sights = BTreeMap::new();
        for (_, player) in game.active() {
            let Some(from) = player.cell else { continue };
            let sight = sighter.sight((&**grid).into(), from, Vision::default());
            let visible: BTreeSet<usize> =
                cells.iter().filter(|cell| sight.contains(**cell)).map(|cell| cell.index()).collect();
            seen.entry(player.letter.byte()).or_default().extend(&visible);
            sights.insert(player.letter.byte(), visible);
        }
        for output in outputs {
            match output {
                Output::Event(GameEvent::Joined { peer, name, seat }) if !name.is_empty() => {
                    letters.insert(*peer, seat.as_bytes()[0]);
                }
                Output::Send { to: To::Peer(peer), frame } => {
                    // Spectators and watchers see everything.
                    let Some(&letter) = letters.get(peer) else { continue };
                    if let Some(picture) = frame.strip_prefix(b"DISPLAY\n") {
                        displays += 1;
                        for cell in &cells {
                            let shown = picture[cell.index()];
                            let may = match (
                                sights[&letter].contains(&cell.index()),
                                seen[&letter].contains(&cell.index()),
                            ) {
                                (true, _) if game.content(*cell) == letter => b'@',
                                (true, _) => game.content(*cell),
                                (false, true) => grid.at(*cell),
                                (false, false) => b' ',
                            };
                            assert_eq!(char::from(shown), char::from(may), "{} at {cell:?}", char::from(letter));
                        }
                    } else if let Some(gold) = frame.strip_prefix(b"GOLD ") {
                        let purse = game.players().iter().find(|player| player.letter.byte() == letter).unwrap().purse;
                        let told: Vec<u32> =
                            String::from_utf8_lossy(gold).split(' ').map(|number| number.parse().unwrap()).collect();
                        assert_eq!((told[1], told[2]), (purse, game.remaining()));
                    }
                }
                _ => {}
            }
        }
    });
    assert!(displays > 300, "{displays} pictures");
}

#[test]
fn nobody_learns_what_others_chose_for_a_turn_of_robots() {
    let hub = Hub::with(&["--drain", "0", "--no-default-rooms"]);
    let options = json!({ "game": "robots", "players": 2, "columns": 8, "rows": 8, "turns": 60, "turn_duration": 30 });
    let room = hub.make(&options);
    let mut party = Party::new();
    let players = [party.browser(&hub, &room, false), party.stream(&room)];
    party.browser(&hub, &room, true);
    party.stream(&room);
    for (player, name) in players.into_iter().zip([&b"\0\x03Ann"[..], b"\0\x03Bob"]) {
        party.say(player, name);
    }
    let mut chance = Pcg64::seed_from_u64(2);
    // As often as something is heard, so in every turn.
    loop {
        let (number, bytes) = party.next();
        if number == players[0] && bytes[0] == 4 {
            break;
        }
        let action: &[u8] = match chance.random_range(0..4) {
            0 => &[1],
            1 => &[2],
            _ => &[3, chance.random_range(0..4)],
        };
        if number == players[0] {
            for player in players {
                party.say(player, action);
            }
        }
    }
    let (path, heard) = party.end(hub, "robots");
    let mut actions = 0;
    judge::<robots::Server>(path, heard, |replay, arrival, outputs| {
        if matches!(arrival, Input::Message { .. }) && replay.room().engine().game().is_some() {
            let sent = outputs.iter().any(|output| matches!(output, Output::Send { .. } | Output::Replay { .. }));
            // The last one to join has the game announced.
            let begins = outputs.iter().any(|output| matches!(output, Output::Event(GameEvent::Started { .. })));
            assert!(!sent || begins, "an action tells something before its turn is over: {outputs:?}");
            actions += 1;
        }
    });
    assert!(actions > 50, "{actions} actions");
}

/// The order of the deck in a round of a table, counted from 1, by the same shuffles.
fn deck(seed: blackjack::Seed, table: u32, round: u32) -> Vec<Card> {
    let mut chance = seed.generator(table);
    let mut deck = Deck::new();
    (0..round).for_each(|_| deck.shuffle(&mut chance));
    std::iter::from_fn(|| deck.deal().ok()).collect()
}

fn card_of(frame: &[u8]) -> Option<Card> {
    match DealerDecoder::new(Dialect::Text).decode_whole(frame) {
        Ok(DealerMessage::Card(card) | DealerMessage::Upcard(card)) => Some(card),
        _ => None,
    }
}

#[test]
fn nobody_sees_the_hole_card_or_the_deck_of_blackjack() {
    let hub = Hub::with(&["--drain", "0", "--no-default-rooms"]);
    let room = hub.make(&json!({ "game": "blackjack", "players": 2, "rounds": 8 }));
    let mut party = Party::new();
    let watcher = party.browser(&hub, &room, true);
    let (watcher, mut drawn) = (party.connections[watcher].address.clone(), Drawn::new(&hub, &room));
    let players = [party.browser(&hub, &room, false), party.stream(&room)];
    party.say(players[0], b"JOIN Ann");
    party.say(players[1], b"JOIN Bob\0");
    let mut chance = Pcg64::seed_from_u64(3);
    let mut decisions = 0;
    loop {
        let (number, bytes) = party.next();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.contains("DECISION") {
            if decisions == 4 {
                drawn.until(|_, table| table.as_str().is_some_and(|table| table.contains("\nDEALER ")));
            }
            decisions += 1;
            let action = if chance.random() { "HIT" } else { "STAND" };
            let end = if number == players[1] { "\0" } else { "" };
            party.say(number, format!("{action}{end}").as_bytes());
        } else if text.contains("QUIT") && number == players[0] {
            break;
        }
    }
    let (path, heard) = party.end(hub, "blackjack");
    let told: Vec<String> = heard[&watcher].iter().map(|frame| String::from_utf8_lossy(frame).into_owned()).collect();
    let drawn = drawn.end();
    for (_, table) in &drawn {
        assert!(told.iter().any(|told| told.contains(table.as_str().unwrap())), "{table} is shown to nobody else");
    }
    assert!(!drawn.is_empty());
    let mut watchers = BTreeSet::new();
    let mut cards = [0; 2];
    judge::<blackjack::Server>(path, heard, |replay, arrival, outputs| {
        if let Input::Connected { peer, role: Role::Watcher, .. } = arrival {
            watchers.insert(*peer);
        }
        let engine = replay.room().engine();
        let (mut hidden, mut told) = (BTreeMap::new(), vec![]);
        for table in engine.tables() {
            let Some((game, round)) = table.game().and_then(|game| Some((game, game.round()?))) else { continue };
            let order = deck(engine.config().seed, table.number(), game.played() + 1);
            // A card to each seat, the hole card, another to each seat, the upcard.
            let dealt = (0..6).filter(|&seat| round.shown(seat).is_some()).count();
            assert_eq!(round.upcard(), order[2 * dealt + 1]);
            let shown: Vec<Card> =
                (0..6).filter_map(|seat| round.shown(seat)).flat_map(|(hand, _)| hand.cards().to_vec()).collect();
            let unseen: Vec<Card> =
                order.into_iter().filter(|card| *card != round.upcard() && !shown.contains(card)).collect();
            hidden.insert(table.number(), unseen);
            told.extend(shown);
            told.push(round.upcard());
            if game.played() > 0
                && let Some(dealer) = game.revealed()
            {
                let last = deck(engine.config().seed, table.number(), game.played());
                told.extend(last.into_iter().filter(|card| !dealer.cards().contains(card)));
                told.extend(dealer.cards().get(1));
            }
        }
        for output in outputs {
            let Output::Send { to: To::Peer(peer), frame } = output else { continue };
            if watchers.contains(peer) {
                let picture = String::from_utf8_lossy(frame).into_owned();
                let mut number = 0;
                for line in picture.trim_end_matches('\0').lines() {
                    if let Some(rest) = line.strip_prefix("TABLE ") {
                        number = rest.split(' ').next().unwrap().parse().unwrap();
                    }
                    let Some(hidden) = hidden.get(&number).filter(|_| !line.starts_with("REVEALED ")) else { continue };
                    assert!(hidden.iter().all(|card| !line.contains(card.name())), "{picture}");
                    cards[0] += usize::from(line.starts_with("HAND "));
                }
            } else if let Some(card) = card_of(frame).filter(|_| !hidden.is_empty()) {
                assert!(told.contains(&card), "{peer} is told of the {card}");
                cards[1] += 1;
            }
        }
    });
    assert!(cards[0] > 10 && cards[1] > 30, "{cards:?}");
}

#[test]
fn nobody_is_told_a_code_of_mastermind_that_is_still_looked_for() {
    let hub = Hub::with(&["--drain", "0", "--no-default-rooms"]);
    let room = hub.make(&json!({ "game": "mastermind", "mode": "race", "players": 2 }));
    let mut party = Party::new();
    let watcher = party.browser(&hub, &room, true);
    let (watcher, mut drawn) = (party.connections[watcher].address.clone(), Drawn::new(&hub, &room));
    let players = [party.browser(&hub, &room, false), party.stream(&room)];
    party.say(players[0], b"PLAY Ann");
    party.say(players[1], b"PLAY Bob\n");
    let mut chance = Pcg64::seed_from_u64(4);
    let mut over = 0;
    let mut guesses = BTreeMap::new();
    let mut looked = false;
    while over < 2 {
        let (number, bytes) = party.next();
        for line in String::from_utf8_lossy(&bytes).lines().filter(|_| number != 0) {
            if line.starts_with("TURN ") {
                let guess: String = (0..4).map(|_| char::from(chance.random_range(b'1'..=b'8'))).collect();
                let end = if number == players[1] { "\n" } else { "" };
                party.say(number, format!("GUESS {guess}{end}").as_bytes());
                *guesses.entry(number).or_insert(0) += 1;
                // In the middle of the race. Both have rows, so whichever board is drawn has some.
                if !looked && players.iter().all(|player| guesses.get(player).is_some_and(|count| *count >= 2)) {
                    looked = true;
                    drawn.until(|name, rows| name == "rows" && rows.as_array().is_some_and(|rows| !rows.is_empty()));
                }
            } else if line.starts_with("OVER ") && number == players[0] {
                over += 1;
            }
        }
    }
    let (path, heard) = party.end(hub, "mastermind");
    let told = lines(&heard[&watcher]);
    let answers: BTreeSet<&str> = told.iter().filter_map(|line| line.splitn(4, ' ').nth(3)).collect();
    let drawn = drawn.end();
    let rows = drawn.iter().filter(|(name, _)| name == "rows").flat_map(|(_, rows)| rows.as_array().unwrap());
    let mut shown = 0;
    for row in rows.filter(|row| row[0].is_string()) {
        let row = format!("{} {} {}", row[0].as_str().unwrap(), row[1], row[2]);
        assert!(answers.contains(row.as_str()), "{row} is shown to nobody else: {answers:?}");
        shown += 1;
    }
    assert!(shown > 0);
    // In the order of sending, with the number of the arrival.
    let mut told: Vec<(usize, PeerId, Vec<String>)> = vec![];
    let mut arrival = 0;
    judge::<mastermind::Server>(path, heard, |replay, _, outputs| {
        arrival += 1;
        let everyone: Vec<PeerId> = replay.peers().map(|peer| peer.peer).collect();
        for output in outputs {
            let (to, frame) = match output {
                Output::Send { to: To::Peer(peer), frame } => (vec![*peer], frame),
                Output::Send { to: To::Everyone, frame } => (everyone.clone(), frame),
                _ => continue,
            };
            let words: Vec<String> = String::from_utf8_lossy(frame).split_whitespace().map(str::to_owned).collect();
            told.extend(to.into_iter().map(|peer| (arrival, peer, words.clone())));
        }
    });
    let is_code = |word: &&String| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let code = told.iter().filter(|(.., words)| words[0] == "OVER").find_map(|(.., words)| words.iter().find(is_code));
    let code = code.expect("the code is shown at the end").clone();
    let peers: BTreeSet<PeerId> = told.iter().map(|(_, peer, _)| *peer).collect();
    let mut hidden = 0;
    for peer in peers {
        let own = || told.iter().filter(move |(_, to, _)| *to == peer);
        // Up to where it is over for this peer; the code that it found itself is no news.
        let before: Vec<_> =
            own().map(|(.., words)| words).take_while(|words| words[0] != "OVER" || !words.contains(&code)).collect();
        assert!(before.len() > 10, "{before:?}");
        assert!(before.iter().all(|words| words[0] == "ROW" || !words.contains(&code)), "{peer}: {code} in {before:?}");
        // Whoever races sees the answers of the others and not their guesses, until all is shown.
        let seat = before.iter().find(|words| words[0] == "OK").map(|words| words[1].clone());
        let end = own().find(|(.., words)| words[0] == "OVER" && words.contains(&code)).expect("it is shown to all").0;
        for (.., words) in
            own().filter(|(at, _, words)| *at < end && words[0] == "ROW" && seat.as_ref() != words.get(1))
        {
            assert!(words[3].bytes().all(|byte| !byte.is_ascii_digit()), "{peer}: {words:?}");
            hidden += 1;
        }
    }
    assert!(hidden > 10, "{hidden} rows of others");
}
