use std::time::Duration;

use bytes::Bytes;
use mastermind::{
    Config, Mode, Server,
    config::FirstDay,
    server::{IDLE, SEATS, SEATS_OF_HOST},
};
use netcore::{Departure, DisconnectReason, GameEvent, Link, Role};

use crate::table::{Table, Wire};

/// Its first code is 4367.
pub(crate) fn solo() -> Config {
    Config::new(4, false, 12)
}

pub(crate) fn race(players: u8) -> Config {
    Config { mode: Mode::Race(players), ..solo() }
}

/// On 13 January 2026, ten minutes before midnight.
pub(crate) fn daily() -> Config {
    let first_day = Some(FirstDay { day: 20_466, lasts: Duration::from_secs(600) });
    Config { mode: Mode::Daily, first_day, repeats: true, ..solo() }
}

type Row<'a> = (u32, &'a str, i64);

fn ended(room: &Room) -> Vec<(u32, bool, Vec<Row<'_>>)> {
    let ended = room.events.iter().filter_map(|event| match event {
        GameEvent::Ended { game, complete, standings } => {
            let rows = standings.iter().map(|row| (row.rank, row.name.as_str(), row.score)).collect();
            Some((*game, *complete, rows))
        }
        _ => None,
    });
    ended.collect()
}

#[test]
fn race_is_ranked_by_turns_and_equal_numbers_share_a_rank() {
    let mut room = Room::new(race(4));
    for who in ["Ann", "Bob", "Cyd", "Dee"] {
        room.send_line(who, &format!("PLAY {who}"));
    }
    for (who, guess) in [("Ann", "4367"), ("Bob", "1234"), ("Bob", "4367"), ("Cyd", "1111"), ("Dee", "2222")] {
        room.send_line(who, &format!("GUESS {guess}"));
    }
    room.send_line("Cyd", "GUESS 4367");
    assert_eq!(ended(&room), []);
    room.disconnect("Dee", DisconnectReason::Broken);
    assert_eq!(ended(&room), [(1, true, vec![(1, "Ann", 1), (2, "Bob", 2), (2, "Cyd", 2), (4, "Dee", 11)])]);
}

#[test]
fn unsolved_games_share_the_last_rank() {
    let mut room = Room::new(race(3));
    for who in ["Ann", "Bob", "Cyd"] {
        room.send_line(who, &format!("PLAY {who}"));
    }
    (0..10).for_each(|_| room.send_line("Ann", "GUESS 1111"));
    room.send_line("Bob", "RESIGN");
    room.send_line("Cyd", "GUESS 4367");
    assert_eq!(ended(&room), [(1, true, vec![(1, "Cyd", 1), (2, "Ann", 11), (2, "Bob", 11)])]);
    let mut room = Room::new(solo());
    room.send_line("Ann", "PLAY Ann");
    room.send_line("Ann", "QUIT");
    assert_eq!(ended(&room), [(1, false, vec![(1, "Ann", 11)])]);
    let left = room.events.iter().any(|event| matches!(event, GameEvent::Left { why: Departure::Quit, .. }));
    assert!(left);
}

#[test]
fn seats_of_one_host_are_limited() {
    let mut room = Room::new(solo());
    let mut seated = |who: &str, host: &str| {
        room.connect_from(who, host);
        room.send_line(who, "PLAY x");
        room.received(who).iter().any(|line| line.starts_with("OK "))
    };
    for number in 0..SEATS_OF_HOST {
        assert!(seated(&format!("p{number}"), "192.0.2.7"), "{number}");
    }
    assert!(!seated("p-more", "192.0.2.7"), "the host has its share");
    assert!(seated("q", "192.0.2.8"), "another host has one too");
    assert!(usize::from(SEATS) > SEATS_OF_HOST);
}

#[test]
fn silent_player_loses_its_seat_and_a_watcher_does_not() {
    let mut room = Room::new(solo());
    room.send_line("Ann", "PLAY Ann");
    room.send_line("bob", "PLAY Bob");
    room.connect("w");
    room.wait(IDLE.checked_sub(Duration::from_secs(1)).unwrap());
    room.send_line("bob", "HINT");
    room.wait(Duration::from_secs(2));
    assert!(room.received("Ann").last().unwrap().starts_with("BYE you said nothing for 15 minutes"));
    assert_eq!(room.received("w").last().unwrap(), "LEFT 1");
}

#[test]
fn errors_are_answered_and_only_overlong_lines_disconnect() {
    let mut room = Room::new(solo());
    room.bytes("Ann", b"play ann\r\n\r\nGUESS\r\nGUESS 12a4\nguess 1243\n");
    let heard = room.received("Ann");
    let said: Vec<&str> = heard.iter().map(String::as_str).filter(|line| line.starts_with(['N', 'R'])).collect();
    assert_eq!(
        said,
        [
            "ROOM solo 4 8 no",
            "NO byte 0: no message; say PLAY <name>, GUESS <digits>, LIFELINE 1, LIFELINE 2, HINT, NEW, RESIGN or QUIT",
            "NO byte 6: no guess; say GUESS and 4 to 8 digits from 1 to 8",
            "NO byte 8: no guess; say GUESS and 4 to 8 digits from 1 to 8",
            "ROW 1 1 1243 0 2",
        ]
    );
    room.bytes("Ann", &[b'x'; 200]);
    assert!(room.received("Ann").last().unwrap().starts_with("BYE malformed message: a message of "));
    room.bytes("bob", &[b'x'; 200]);
    room.bytes("bob", b"PLAY bob");
    assert!(room.received("bob").iter().any(|line| line == "OK 1"));
}

#[test]
fn hints_are_limited_in_rate_and_code_length() {
    let mut room = Room::new(solo());
    let mut refused = 0;
    for number in 0..9 {
        let who = format!("p{number}");
        room.send_line(&who, "PLAY x");
        room.send_line(&who, "HINT");
        let heard = room.received(&who);
        refused += usize::from(heard.last().unwrap().starts_with("NO too many hints"));
    }
    assert_eq!(refused, 3);
    room.wait(Duration::from_secs(1));
    for text in ["RESIGN", "NEW 7 yes", "HINT"] {
        room.send_line("p0", text);
    }
    assert_eq!(room.received("p0").last().unwrap(), "NO there are hints for up to 6 pegs only");
}

pub(crate) type Room = Table<Server>;

impl Room {
    pub(crate) fn new(config: Config) -> Self {
        Self::of(Server::new(config).expect("tests set up servers that can be"))
    }

    pub(crate) fn connect(&mut self, who: &str) {
        let host = format!("192.0.2.{}", self.wires.len() % 200);
        self.connect_from(who, &host);
    }

    /// A name with an initial `w` is a watcher. Names with a capital letter use streams, others frames.
    pub(crate) fn connect_from(&mut self, who: &str, host: &str) {
        let role = if who.starts_with('w') { Role::Watcher } else { Role::Player };
        let link = if who.starts_with(char::is_uppercase) { Link::Stream } else { Link::Message };
        self.connect_by(link, host, role, who);
    }

    pub(crate) fn send_line(&mut self, who: &str, text: &str) {
        let end = if who.starts_with(char::is_uppercase) { "\n" } else { "" };
        self.bytes(who, format!("{text}{end}").as_bytes());
    }

    pub(crate) fn bytes(&mut self, who: &str, bytes: &[u8]) {
        if !self.wires.contains_key(who) {
            self.connect(who);
        }
        self.send(who, bytes);
    }

    pub(crate) fn received(&mut self, who: &str) -> Vec<String> {
        let heard = self.peek(who);
        self.frames(who);
        heard
    }

    pub(crate) fn peek(&self, who: &str) -> Vec<String> {
        let wire = &self.wires[who];
        wire.frames.iter().map(|frame| text(wire, frame)).collect()
    }

    /// Plays a transcript and compares. Received lines are `Ann > GUESS 1234` (a new client connects first), and lines
    /// sent to her in response `Ann < ROW ...`; `w comes` connects a client. [`Table::play`] lists the other inputs.
    #[track_caller]
    pub(crate) fn check(&mut self, transcript: &str) {
        let act = |room: &mut Self, line: &str| {
            if let Some((who, text)) = line.split_once(" > ") {
                room.send_line(who, text);
            } else if let Some(who) = line.strip_suffix(" comes") {
                room.connect(who);
            } else {
                return false;
            }
            true
        };
        self.play(transcript, act, |room, who| {
            room.received(who).iter().map(|text| format!("{who} < {text}")).collect()
        });
    }
}

fn text(wire: &Wire, frame: &Bytes) -> String {
    let text = std::str::from_utf8(frame).expect("messages are text");
    let text = match wire.link {
        Link::Stream => text.strip_suffix('\n').expect("a line ends"),
        _ => text,
    };
    assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{text:?}");
    text.to_owned()
}
