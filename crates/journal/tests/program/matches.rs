use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use journal_core::SystemDisk;
use netcore::{Input, Leave, Link, Output, Recorded, Room as _, To, wire::ShortText};
use testkit::by_hand::Match;

fn begin<E: Recorded>(folder: &Path, engine: E) -> Match<E> {
    let mut game = Match::begin(Arc::new(SystemDisk), folder, engine, journal_core::MAX_SIZE);
    let path = folder.join(format!("{}.journal", E::GAME));
    fs::rename(&game.path, &path).unwrap();
    game.path = path;
    game
}

fn pass<E: Recorded>(game: &mut Match<E>, millis: u64) -> Vec<Output> {
    game.advance(Duration::from_millis(millis))
}

fn finish<E: Recorded>(mut game: Match<E>, close: bool) -> PathBuf {
    if close {
        game.input(Input::Stop(Leave::Over));
        game.end.close();
    }
    game.settle();
    game.path
}

/// Ann and Bob walk through a map of two rooms, Ann leaves, and Cid watches.
pub(crate) fn nuggets(folder: &Path, steps: u32, close: bool) -> PathBuf {
    const MAP: &[u8] = b"+--------+      +--------+\n|........|      |........|\n|........########........|\n|........|      |........|\n\
                         +--------+      +--------+\n";
    let (grid, _) = nuggets::Grid::parse(MAP).unwrap();
    let rules = nuggets::Rules { gold: 100_000, ..Default::default() };
    let config = nuggets::Config { seed: 7, rematch: true, rules, ..Default::default() };
    let mut game = begin(folder, nuggets::Server::new(Arc::new(grid), config).unwrap());
    let ann = game.connect(Link::Datagram);
    game.send(ann, b"PLAY Ann");
    pass(&mut game, 1_500);
    let bob = game.connect(Link::Message);
    game.send(bob, b"PLAY Bob\x1b[2J");
    let cid = game.connect(Link::Datagram);
    game.send(cid, b"SPECTATE");
    for step in 0..steps {
        pass(&mut game, 400);
        let key = b"hljkyubn"[step.wrapping_mul(2_654_435_761) as usize >> 7 & 7];
        game.send(if step % 3 == 0 { bob } else { ann }, &[b'K', b'E', b'Y', b' ', key]);
    }
    game.send(ann, b"KEY");
    pass(&mut game, 1_000);
    game.send(ann, b"KEY Q");
    pass(&mut game, 250);
    finish(game, close)
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

/// Plays robots until the first of several segments is removed.
pub(crate) fn long(folder: &Path) -> PathBuf {
    let mut game = Match::begin(Arc::new(SystemDisk), folder, robots_server(), 64 << 10);
    let ann = game.connect(Link::Stream);
    let bob = game.connect(Link::Stream);
    while game.path.exists() {
        game.send(ann, b"\x00\x03Ann");
        game.send(bob, b"\x00\x03Bob");
        for _ in 0..10 {
            for _ in 0..20 {
                game.send(ann, b"\x03\x01");
                pass(&mut game, 20);
            }
            pass(&mut game, 100);
        }
        game.settle();
    }
    game.disconnect(bob);
    finish(game, true)
}

/// Two games of ten turns; Bob does not act in the second.
pub(crate) fn robots(folder: &Path) -> PathBuf {
    let mut game = begin(folder, robots_server());
    let ann = game.connect(Link::Stream);
    let bob = game.connect(Link::Stream);
    for played in 0..2 {
        game.send(ann, b"\x00\x03Ann");
        pass(&mut game, 200);
        game.send(bob, b"\x00\x03Bob");
        for turn in 0..10_u8 {
            game.send(ann, if turn % 4 == 0 { b"\x01" } else { b"\x03\x01" });
            if played == 0 {
                game.send(bob, if turn % 5 == 2 { b"\x02" } else { b"\x03\x02" });
            }
            pass(&mut game, 500);
        }
        pass(&mut game, 2_000);
    }
    game.disconnect(bob);
    pass(&mut game, 100);
    finish(game, true)
}

/// A table for two, three rounds. Ann hits sometimes, Bob never does. Bob uses the binary dialect.
pub(crate) fn blackjack(folder: &Path) -> PathBuf {
    let mut config = blackjack::Config::new(3, blackjack::Seed::from_number(77));
    config.players = 2;
    let mut game = begin(folder, blackjack::Server::new(config).unwrap());
    let ann = game.connect(Link::Stream);
    game.send(ann, b"JOIN Ann\0");
    pass(&mut game, 700);
    let bob = game.connect(Link::Stream);
    let mut told = game.send(bob, b"\0\0\0\x05\x01\x01Bob");
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
            told.extend(game.send(peer, answer));
        }
        told.extend(pass(&mut game, 100));
        if game.room.outcome().is_some() {
            break;
        }
    }
    finish(game, true)
}

/// Two players, each on their own: Ann takes a lifeline, makes a mistake and gives up; Bob gives up, plays again and leaves.
pub(crate) fn mastermind(folder: &Path) -> PathBuf {
    let config = mastermind::Config::new(4, true, 77);
    let mut game = begin(folder, mastermind::Server::new(config).unwrap());
    let (ann, bob) = (game.connect(Link::Stream), game.connect(Link::Message));
    game.send(ann, b"PLAY Ann\n");
    pass(&mut game, 500);
    game.send(bob, b"PLAY Bob");
    for text in ["GUESS 1122", "LIFELINE 1", "GUES 1", "GUESS 3344", "RESIGN"] {
        pass(&mut game, 1_000);
        game.send(ann, format!("{text}\n").as_bytes());
    }
    for text in ["GUESS 5566", "RESIGN", "NEW", "guess 7788", "QUIT"] {
        pass(&mut game, 1_000);
        game.send(bob, text.as_bytes());
    }
    pass(&mut game, 500);
    finish(game, true)
}
