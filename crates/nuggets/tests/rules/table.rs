//! A server and its peers, identified by name, with a simulated network.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use netcore::{
    Admission, DisconnectReason, Engine, Framing, GameEvent, Input, Leave, Link, Outbox, Output, PeerId, Protocol,
    Role, Time, To,
};
use nuggets::{
    ClientMessage, Config, Grid, Nuggets, Rules, Server, ServerMessage,
    game::{Game, Player},
    grid::{Cell, PASSAGE, ROOM},
    protocol::MAX_DATAGRAM,
};

use crate::transcript;

/// In the order of their letters.
pub(crate) const NAMES: [&str; 26] = [
    "Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi", "Ivan", "Judy", "Kim", "Leo", "Mia", "Noah",
    "Olga", "Paul", "Quinn", "Rosa", "Sue", "Ted", "Uma", "Vic", "Wes", "Xena", "Yann", "Zoe",
];

pub(crate) fn plain(drawing: &str) -> Table {
    Table::drawn(Rules::default(), drawing)
}

/// A sent datagram, a closed peer, or a line on standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    Sent { who: String, frame: Bytes },
    Closed(String),
    Printed(String),
}

impl Effect {
    fn lines(&self) -> String {
        match self {
            Self::Sent { who, frame } => format!("{who} < {}", shown(frame)),
            Self::Closed(who) => format!("{who} closed"),
            Self::Printed(text) => format!("stdout: {}", escaped(text.as_bytes())),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Table {
    server: Server,
    now: Time,
    names: BTreeMap<PeerId, String>,
    // In the order of the clients' first datagrams, which determines their addresses.
    addresses: Vec<String>,
    next_peer: u64,
}

impl Table {
    pub(crate) fn new(map: &str, config: Config) -> Self {
        let (grid, _) = Grid::parse(map.as_bytes()).expect("tests play on maps that can be played");
        Self::on(Arc::new(grid), config)
    }

    pub(crate) fn on(grid: Arc<Grid>, config: Config) -> Self {
        let server = Server::new(grid, config).expect("tests play by rules that a game can have");
        Self { server, now: Time::ZERO, names: BTreeMap::new(), addresses: vec![], next_peer: 0 }
    }

    /// A game in the state of the drawing: letters are players in order of joining (as in [`NAMES`]), digits are piles
    /// of that many nuggets, and the rest is the map.
    ///
    /// Seeds are tried until one places gold and players like this.
    pub(crate) fn drawn(rules: Rules, drawing: &str) -> Self {
        Self::drawn_with(Config { rules, ..Config::default() }, drawing)
    }

    pub(crate) fn drawn_with(mut config: Config, drawing: &str) -> Self {
        let piles: Vec<(usize, u32)> =
            drawing.bytes().enumerate().filter_map(|(at, byte)| Some((at, char::from(byte).to_digit(10)?))).collect();
        config.rules.gold = piles.iter().map(|&(_, nuggets)| nuggets).sum();
        Self::fitting(config, drawing, |game| {
            game.piles().iter().map(|(cell, &nuggets)| (cell.index(), nuggets)).eq(piles.iter().copied())
        })
    }

    /// Like [`Table::drawn_with`], but `fits` accepts the piles, and the rules determine their sum.
    pub(crate) fn fitting(mut config: Config, drawing: &str, fits: impl Fn(&Game) -> bool) -> Self {
        let piles: Vec<usize> = drawing.match_indices(|drawn: char| drawn.is_ascii_digit()).map(|(at, _)| at).collect();
        let count = u32::try_from(piles.len()).expect("few piles");
        (config.rules.min_piles, config.rules.max_piles) = (count, count);
        let map = drawing.replace(|drawn: char| drawn.is_ascii_alphanumeric(), ".") + "\n";
        let grid = Arc::new(Grid::parse(map.as_bytes()).expect("a drawing is a map").0);
        let players: Vec<usize> = ('A'..='Z').map_while(|letter| drawing.find(letter)).collect();
        let seated = |config| {
            let mut table = Self::on(Arc::clone(&grid), config);
            if !table.game().piles().keys().map(|cell| cell.index()).eq(piles.iter().copied()) || !fits(table.game()) {
                return None;
            }
            for (&name, &drawn) in NAMES.iter().zip(&players) {
                table.join(&[name]);
                let stands = table.game().players().last().and_then(|player| player.cell);
                if stands.map(Cell::index) != Some(drawn) {
                    return None;
                }
            }
            Some(table)
        };
        let table = (1..1_000_000).find_map(|seed| seated(Config { seed, ..config }));
        table.unwrap_or_else(|| panic!("no seed makes\n{drawing}"))
    }

    pub(crate) fn game(&self) -> &Game {
        self.server.game()
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = &str> {
        self.names.values().map(String::as_str)
    }

    /// As in the UDP shell, only a request for admission or a malformed message connects an unknown sender.
    pub(crate) fn send(&mut self, who: &str, datagram: impl AsRef<[u8]>) -> Vec<Effect> {
        let decoded = Nuggets::decode(&mut (), datagram.as_ref(), Framing::Whole);
        let known = self.peer(who);
        let message = decoded.as_ref().map_err(Clone::clone);
        if known.is_none() && Nuggets::admits(message) == Admission::Ignored {
            return vec![];
        }
        let mut effects = vec![];
        let peer = known.unwrap_or_else(|| self.connect(who, Role::Player, Link::Datagram, &mut effects));
        effects.extend(self.input(match decoded {
            Ok(message) => Input::Message { peer, message },
            Err(why) => Input::Malformed { peer, why },
        }));
        effects
    }

    pub(crate) fn join(&mut self, names: &[&str]) {
        for name in names {
            self.send(name, format!("PLAY {name}"));
        }
    }

    pub(crate) fn connect(&mut self, who: &str, role: Role, link: Link, effects: &mut Vec<Effect>) -> PeerId {
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        self.names.insert(peer, who.to_owned());
        let host = self.addresses.iter().position(|known| known == who).unwrap_or_else(|| {
            self.addresses.push(who.to_owned());
            self.addresses.len() - 1
        });
        // All clients share a host.
        let address = format!("192.0.2.1:{}", 4_000 + host);
        effects.extend(self.input(Input::Connected { peer, role, link, address: (&address).into() }));
        peer
    }

    pub(crate) fn disconnect(&mut self, who: &str) -> Vec<Effect> {
        let peer = self.peer(who).expect("somebody known");
        let effects = self.input(Input::Disconnected { peer, why: DisconnectReason::Broken });
        self.names.remove(&peer);
        effects
    }

    pub(crate) fn keys(&mut self, who: &str, keys: &str) -> Vec<Effect> {
        keys.bytes().flat_map(|key| self.send(who, [b"KEY ", &[key][..]].concat())).collect()
    }

    /// Advances the time and wakes the server at its deadlines.
    pub(crate) fn wait(&mut self, time: Duration) -> Vec<Effect> {
        let end = self.now.plus(time);
        let mut effects = vec![];
        while let Some(deadline) = self.server.deadline().filter(|&deadline| deadline <= end) {
            self.now = self.now.max(deadline);
            effects.extend(self.input(Input::Elapsed));
            let next = self.server.deadline();
            assert!(next.is_none_or(|next| next > self.now), "woken at {:?}, wants it at {next:?}", self.now);
        }
        self.now = end;
        effects
    }

    pub(crate) fn stop(&mut self) -> Vec<Effect> {
        self.input(Input::Stop(Leave::Over))
    }

    pub(crate) fn input(&mut self, input: Input<'_, ClientMessage>) -> Vec<Effect> {
        let mut out = Outbox::new();
        self.server.input(self.now, input, &mut out);
        let mut effects = vec![];
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    let who = self.names.get(&peer).expect("only those who are known are spoken to").clone();
                    effects.push(Effect::Sent { who, frame });
                }
                Output::Send { to: To::Everyone, frame } => {
                    effects
                        .extend(self.names.values().map(|who| Effect::Sent { who: who.clone(), frame: frame.clone() }));
                }
                Output::Replay { .. } => unreachable!("a picture shows all there is to know"),
                Output::Close { peer } => effects.extend(self.names.remove(&peer).map(Effect::Closed)),
                Output::Event(GameEvent::Summary(text)) => effects.push(Effect::Printed(text)),
                Output::Event(_) => {}
            }
        }
        for effect in &effects {
            if let Effect::Sent { frame, .. } = effect {
                assert_proper(frame, self.game().grid());
            }
        }
        assert_sound(self.game());
        effects
    }

    pub(crate) fn position(&self) -> (Vec<Player>, BTreeMap<Cell, u32>) {
        (self.game().players().to_vec(), self.game().piles().clone())
    }

    /// The rows of a DISPLAY for a new spectator.
    pub(crate) fn board(&self) -> String {
        let effects = self.clone().send("a passer-by", "SPECTATE");
        rows(&last_display(&effects, "a passer-by").expect("a spectator sees the board"))
    }

    /// Plays a transcript and compares.
    ///
    /// Received datagrams are `Alice > KEY h`, sent ones `Alice < GOLD 1 1 9`, removed peers `Alice closed`, and the
    /// server's output `stdout: ...`. `stop` stops the server, `gone Alice` closes a port, `wait 500 ms` advances the
    /// time. The rows of a DISPLAY are in brackets; other bytes that are not printable, and a trailing space, are
    /// escaped. `Bob types hjk` sends keys and `Sam watches` sends a SPECTATE; their outputs are not compared. A line
    /// that begins with `# ` is a comment.
    #[track_caller]
    pub(crate) fn check(&mut self, transcript: &str) {
        transcript::check(transcript, |line| {
            let effects = match line.split(' ').collect::<Vec<_>>()[..] {
                [who, ">", ..] => self.send(who, unescaped(line[who.len() + 2..].trim_start())),
                ["wait", time, "ms"] => self.wait(Duration::from_millis(time.parse().expect("milliseconds"))),
                ["gone", who] => self.disconnect(who),
                [who, "types", keys] => {
                    self.keys(who, keys);
                    vec![]
                }
                [who, "watches"] => {
                    self.send(who, "SPECTATE");
                    vec![]
                }
                ["stop"] => self.stop(),
                _ => return None,
            };
            Some(effects.iter().map(Effect::lines).collect())
        });
    }

    fn peer(&self, who: &str) -> Option<PeerId> {
        self.names.iter().find(|(_, name)| *name == who).map(|(&peer, _)| peer)
    }
}

pub(crate) fn datagrams(effects: &[Effect], who: &str) -> Vec<String> {
    frames(effects, who).map(|frame| shown(frame)).collect()
}

pub(crate) fn frames<'a>(effects: &'a [Effect], who: &str) -> impl Iterator<Item = &'a Bytes> {
    effects.iter().filter_map(move |effect| match effect {
        Effect::Sent { who: to, frame } if to == who => Some(frame),
        _ => None,
    })
}

pub(crate) fn last_display(effects: &[Effect], who: &str) -> Option<Bytes> {
    frames(effects, who).filter(|frame| frame.starts_with(b"DISPLAY\n")).last().cloned()
}

fn assert_sound(game: &Game) {
    let text = game.grid().text();
    let purses: u32 = game.players().iter().map(|player| player.purse).sum();
    assert_eq!(purses + game.remaining(), game.rules().gold, "no nugget is lost or made");
    assert_eq!(game.piles().values().sum::<u32>(), game.remaining(), "what is not in purses lies in piles");
    for (cell, &nuggets) in game.piles() {
        assert!(nuggets > 0, "a pile holds at least one nugget");
        assert_eq!(text[cell.index()], ROOM, "gold lies on room spots");
    }
    let mut taken: Vec<_> = game.active().filter_map(|(_, player)| player.cell).collect();
    for cell in &taken {
        assert!(matches!(text[cell.index()], ROOM | PASSAGE), "players stand on spots");
        assert!(!game.piles().contains_key(cell), "nobody stands on gold");
    }
    let count = taken.len();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), count, "no two players share a gridpoint");
    let letters = game.players().iter().map(|player| player.letter.byte());
    assert!(letters.eq((b'A'..=b'Z').take(game.players().len())), "letters go out in order, each once");
}

fn assert_proper(frame: &[u8], grid: &Grid) {
    assert!(frame.len() <= MAX_DATAGRAM, "{} bytes are too many", frame.len());
    let line = match ServerMessage::parse(frame).expect("a message that clients know") {
        ServerMessage::Display(text) => {
            let width = usize::from(grid.cols()) + 1;
            assert_eq!(frame.len(), 8 + usize::from(grid.rows()) * width);
            for row in text.chunks(width) {
                let (newline, row) = row.split_last().expect("a row");
                assert!(*newline == b'\n' && !row.contains(&b'\n'), "a row ends in its only newline");
            }
            return;
        }
        ServerMessage::Quit(_) => frame.split(|&byte| byte == b'\n').all(|line| line.iter().all(|&b| is_plain(b))),
        _ => frame.iter().all(|&byte| is_plain(byte)),
    };
    assert!(line, "{} is not plain text", escaped(frame));
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t')
}

// The form of datagrams in transcripts.

/// Without the last newline.
pub(crate) fn rows(display: &[u8]) -> String {
    let text = display.strip_prefix(b"DISPLAY\n").and_then(|rows| rows.strip_suffix(b"\n")).expect("a DISPLAY");
    String::from_utf8_lossy(text).into_owned()
}

pub(crate) fn shown(frame: &[u8]) -> String {
    if !frame.starts_with(b"DISPLAY\n") {
        return escaped(frame);
    }
    let rows = rows(frame);
    if rows.contains('\n') {
        rows.lines().fold("DISPLAY".to_owned(), |text, row| text + "\n[" + row + "]")
    } else {
        format!("DISPLAY [{rows}]")
    }
}

pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut text: String = bytes
        .iter()
        .map(|&byte| match byte {
            b'\n' => "\\n".to_owned(),
            b'\\' => "\\\\".to_owned(),
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        })
        .collect();
    if text.ends_with(' ') {
        text.truncate(text.len() - 1);
        text += "\\x20";
    }
    text
}

pub(crate) fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = vec![];
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match (byte, byte == b'\\') {
            (_, false) => byte,
            (_, true) => match rest.next() {
                Some(b'n') => b'\n',
                Some(b'\\') => b'\\',
                Some(b'x') => {
                    let digits: String = rest.by_ref().take(2).map(char::from).collect();
                    u8::from_str_radix(&digits, 16).expect("two hexadecimal digits")
                }
                other => panic!("an escape that nobody knows: {other:?}"),
            },
        });
    }
    bytes
}
