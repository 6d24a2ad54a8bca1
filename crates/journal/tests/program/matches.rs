use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::BytesMut;
use journal_core::{Head, JournalEnd, JournalHold, Journalled, Scribe, SyncPolicy, SystemDisk, Writing};
use netcore::{
    Gone, Hold as _, Hosted, Input, Leave, Link, Outbox, Output, PeerId, Recorded, Role, Room, Time, To,
    wire::ShortText,
};

/// A match in progress.
pub(crate) struct Match<E: Recorded> {
    room: Journalled<E>,
    hold: JournalHold,
    end: JournalEnd,
    scribe: Scribe,
    now: Time,
    peers: u64,
    pub(crate) path: PathBuf,
}

impl<E: Recorded> Match<E> {
    pub(crate) fn begin(folder: &Path, engine: E) -> Self {
        let mut game = Self::begin_with(folder, engine, journal_core::MAX_SIZE);
        let path = folder.join(format!("{}.journal", E::GAME));
        fs::rename(&game.path, &path).unwrap();
        game.path = path;
        game
    }

    // Of which so much is kept.
    fn begin_with(folder: &Path, engine: E, max: u64) -> Self {
        let listen: SocketAddr = "10.0.0.1:2000".parse().unwrap();
        let head = Head::new(&engine, "0.1.0", vec![listen], 1_795_329_471);
        let scribe = Scribe::by_hand();
        let writing = Writing { disk: Arc::new(SystemDisk), scribe: scribe.clone(), sync: SyncPolicy::Interval, max };
        let (path, (room, hold, end)) = writing.create(folder, Hosted::new(engine), head).unwrap();
        Self { room, hold, end, scribe, now: Time::ZERO, peers: 0, path }
    }

    pub(crate) fn input(&mut self, input: Input<'_, &[u8]>) -> Vec<Output> {
        let mut out = Outbox::new();
        self.room.input(self.now, input, &mut out);
        out.drain().collect()
    }

    pub(crate) fn come(&mut self, link: Link) -> PeerId {
        let peer = PeerId(self.peers);
        self.peers += 1;
        let address = format!("10.0.0.7:{}", 4000 + peer.0);
        self.input(Input::Connected { peer, role: Role::Player, link, address: (&address).into() });
        peer
    }

    pub(crate) fn say(&mut self, peer: PeerId, bytes: &[u8]) -> Vec<Output> {
        let mut out = Outbox::new();
        self.room.receive(self.now, peer, &mut BytesMut::from(bytes), &mut out);
        out.drain().collect()
    }

    pub(crate) fn leave(&mut self, peer: PeerId) {
        self.input(Input::Disconnected { peer, why: Gone::Broken });
    }

    /// Lets time pass, with all deadlines of the room.
    pub(crate) fn pass(&mut self, millis: u64) -> Vec<Output> {
        let until = self.now.plus(Duration::from_millis(millis));
        let mut outputs = vec![];
        while let Some(due) = self.room.deadline().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            outputs.extend(self.input(Input::Elapsed));
        }
        self.now = until;
        outputs
    }

    /// Writes the rest; with `close`, closes the journal like a server that ends.
    pub(crate) fn finish(mut self, close: bool) -> PathBuf {
        if close {
            self.input(Input::Stop(Leave::Over));
            self.end.close();
        }
        self.settle();
        self.path
    }

    fn settle(&mut self) {
        self.hold.flush();
        while self.scribe.write() || self.scribe.keep() {}
    }
}

/// Ann and Bob walk through a map of two rooms, Ann leaves, and Cid watches.
pub(crate) fn nuggets(folder: &Path, steps: u32, close: bool) -> PathBuf {
    const MAP: &[u8] = b"+--------+      +--------+\n|........|      |........|\n|........########........|\n|........|      |........|\n\
                         +--------+      +--------+\n";
    let (grid, _) = nuggets::Grid::parse(MAP).unwrap();
    let rules = nuggets::Rules { gold: 100_000, ..Default::default() };
    let config = nuggets::Config { seed: 7, rematch: true, rules, ..Default::default() };
    let mut game = Match::begin(folder, nuggets::Server::new(Arc::new(grid), config).unwrap());
    let ann = game.come(Link::Datagram);
    game.say(ann, b"PLAY Ann");
    game.pass(1_500);
    let bob = game.come(Link::Message);
    game.say(bob, b"PLAY Bob\x1b[2J");
    let cid = game.come(Link::Datagram);
    game.say(cid, b"SPECTATE");
    for step in 0..steps {
        game.pass(400);
        let key = b"hljkyubn"[step.wrapping_mul(2_654_435_761) as usize >> 7 & 7];
        game.say(if step % 3 == 0 { bob } else { ann }, &[b'K', b'E', b'Y', b' ', key]);
    }
    game.say(ann, b"KEY");
    game.pass(1_000);
    game.say(ann, b"KEY Q");
    game.pass(250);
    game.finish(close)
}

fn robots_server() -> robots::Server {
    let parameters = robots::Parameters {
        server_name: ShortText::try_from("here").unwrap(),
        players_count: 2,
        size_x: 12,
        size_y: 8,
        game_length: 10,
        explosion_radius: 2,
        bomb_timer: 3,
    };
    let turn_duration = Duration::from_millis(500);
    let (initial_blocks, seed, max_history) = (12, 5, robots::MAX_HISTORY);
    let config = robots::Config { parameters, turn_duration, initial_blocks, seed, max_history };
    robots::Server::new(config).unwrap()
}

/// Games of robots, until the first of several files of the journal is not kept any more.
pub(crate) fn long(folder: &Path) -> PathBuf {
    let mut game = Match::begin_with(folder, robots_server(), 64 << 10);
    let ann = game.come(Link::Stream);
    let bob = game.come(Link::Stream);
    while game.path.exists() {
        game.say(ann, b"\x00\x03Ann");
        game.say(bob, b"\x00\x03Bob");
        for _ in 0..10 {
            for _ in 0..20 {
                game.say(ann, b"\x03\x01");
                game.pass(20);
            }
            game.pass(100);
        }
        game.settle();
    }
    game.leave(bob);
    game.finish(true)
}

/// Two games of ten turns; Bob does nothing in the second.
pub(crate) fn robots(folder: &Path) -> PathBuf {
    let mut game = Match::begin(folder, robots_server());
    let ann = game.come(Link::Stream);
    let bob = game.come(Link::Stream);
    for played in 0..2 {
        game.say(ann, b"\x00\x03Ann");
        game.pass(200);
        game.say(bob, b"\x00\x03Bob");
        for turn in 0..10_u8 {
            game.say(ann, if turn % 4 == 0 { b"\x01" } else { b"\x03\x01" });
            if played == 0 {
                game.say(bob, if turn % 5 == 2 { b"\x02" } else { b"\x03\x02" });
            }
            game.pass(500);
        }
        game.pass(2_000);
    }
    game.leave(bob);
    game.pass(100);
    game.finish(true)
}

/// A table for two, three rounds. Ann hits sometimes, Bob never does. Bob uses the binary dialect.
pub(crate) fn blackjack(folder: &Path) -> PathBuf {
    let mut config = blackjack::Config::new(3, blackjack::Seed::from_number(77));
    config.players = 2;
    let mut game = Match::begin(folder, blackjack::Server::new(config).unwrap());
    let ann = game.come(Link::Stream);
    game.say(ann, b"JOIN Ann\0");
    game.pass(700);
    let bob = game.come(Link::Stream);
    let mut told = game.say(bob, b"\0\0\0\x05\x01\x01Bob");
    let mut asked = 0_u32;
    for _ in 0..2_000 {
        let mut answers = vec![];
        for output in told.drain(..) {
            let Output::Send { to: To::Peer(peer), frame } = output else { continue };
            if peer == ann && frame == "DECISION\0" {
                asked += 1;
                answers.push((ann, if asked % 3 == 1 { &b"HIT\0"[..] } else { b"STAND\0" }));
            } else if peer == bob && frame[..] == [0, 0, 0, 1, 5] {
                answers.push((bob, &b"\0\0\0\x01\x07"[..]));
            }
        }
        for (peer, answer) in answers {
            told.extend(game.say(peer, answer));
        }
        told.extend(game.pass(100));
        if game.room.outcome().is_some() {
            break;
        }
    }
    game.finish(true)
}

/// Two players, each on their own: Ann takes a lifeline, makes a mistake and gives up; Bob gives up, plays again and leaves.
pub(crate) fn mastermind(folder: &Path) -> PathBuf {
    let config = mastermind::Config::new(4, true, 77);
    let mut game = Match::begin(folder, mastermind::Server::new(config).unwrap());
    let (ann, bob) = (game.come(Link::Stream), game.come(Link::Message));
    game.say(ann, b"PLAY Ann\n");
    game.pass(500);
    game.say(bob, b"PLAY Bob");
    for text in ["GUESS 1122", "LIFELINE 1", "GUES 1", "GUESS 3344", "RESIGN"] {
        game.pass(1_000);
        game.say(ann, format!("{text}\n").as_bytes());
    }
    for text in ["GUESS 5566", "RESIGN", "NEW", "guess 7788", "QUIT"] {
        game.pass(1_000);
        game.say(bob, text.as_bytes());
    }
    game.pass(500);
    game.finish(true)
}
