use bytes::Bytes;
use mastermind::{Config, Server};
use netcore::{Link, Role};

use crate::table::{Table, Wire};

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
