//! A match of nuggets with a real watcher, compared with the same match from its journal.

use std::{path::Path, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use journal_core::{Head, MAX_SIZE, SyncPolicy, Writing};
use netcore::{Hosted, Input, Leave, Link, Outbox, Output, PeerId, Role, Room as _, Time, To};
use rand::{RngExt as _, SeedableRng as _};
use testkit::{PATIENCE, TempDir};

use super::{frames::Frame, *};

mod rounds;

const WATCHER: PeerId = PeerId(1);
const ANN: PeerId = PeerId(2);
const BOB: PeerId = PeerId(3);

/// The messages to each of the three peers, with milliseconds since the match began.
struct Played {
    wanted: Wanted,
    sent: Vec<(PeerId, u64, Bytes)>,
}

/// Two players move at random until all gold is found, or until the host ends the match after this number of steps.
fn play(directory: &Path, map: &[u8], steps: usize) -> Played {
    let (grid, _) = nuggets::Grid::parse(map).unwrap();
    let rules = nuggets::Rules::default();
    let config = nuggets::Config { rules, rematch: true, seed: 9, ..nuggets::Config::default() };
    let hosted = Hosted::new(nuggets::Server::new(Arc::new(grid), config).unwrap());
    let writing = Writing::start(SyncPolicy::Always, MAX_SIZE).unwrap();
    let head = Head::new(hosted.engine(), "test", vec![], 99);
    let (path, (mut room, _, end)) = writing.create(directory, hosted, head).unwrap();
    let mut chance = rand_pcg::Pcg64::seed_from_u64(7);
    let (mut out, mut sent, mut now) = (Outbox::new(), vec![], Time::from_millis(5_000));
    let begins = now;
    let mut over = false;
    let mut step = 0;
    while !over {
        let mut input = |room: &mut journal_core::Journalled<nuggets::Server>, now, out: &mut Outbox| match step {
            0..3 => {
                let (peer, role) = [(WATCHER, Role::Watcher), (ANN, Role::Player), (BOB, Role::Player)][step];
                let address = format!("10.0.0.1:{}", peer.0);
                room.input(now, Input::Connected { peer, role, link: Link::Message, address: (&address).into() }, out);
            }
            3 => said(room, now, ANN, "PLAY Ann", out),
            4 => said(room, now, BOB, "PLAY Bob", out),
            step if step == steps => {
                room.input(now, Input::Stop(Leave::Over), out);
            }
            _ => {
                let key = b"HJKLYUBNhjklyubn"[chance.random_range(0..16)];
                let peer = if chance.random() { ANN } else { BOB };
                said(room, now, peer, &format!("KEY {}", char::from(key)), out);
            }
        };
        input(&mut room, now, &mut out);
        loop {
            let at = now.since(begins).as_millis();
            for output in out.drain() {
                match output {
                    Output::Send { to: To::Peer(peer), frame } => sent.push((peer, u64::try_from(at).unwrap(), frame)),
                    Output::Event(netcore::GameEvent::Ended { .. }) => over = true,
                    _ => {}
                }
            }
            let next = now.plus(Duration::from_millis(150));
            let Some(due) = room.deadline().filter(|due| *due <= next && !over) else { break };
            now = now.max(due);
            room.input(now, Input::Elapsed, &mut out);
        }
        if !over {
            now = now.plus(Duration::from_millis(if step < 4 { 0 } else { 150 }));
        }
        step += 1;
    }
    let ends = now;
    end.close();
    assert!(end.finish(PATIENCE));
    let micros = |time: Time| time.as_nanos() / 1_000;
    let wanted = Wanted {
        game: "nuggets".into(),
        path,
        number: 1,
        begins: micros(begins),
        ends: micros(ends),
        unfinished: false,
    };
    Played { wanted, sent }
}

fn said(room: &mut journal_core::Journalled<nuggets::Server>, now: Time, peer: PeerId, text: &str, out: &mut Outbox) {
    room.receive(now, peer, &mut BytesMut::from(text), out);
}

/// The texts until this time; the last ones were sent at this time.
fn texts(played: &Played, peer: PeerId, until: u64) -> Vec<String> {
    let own = played.sent.iter().filter(|(to, at, _)| *to == peer && *at <= until);
    own.map(|(_, _, frame)| String::from_utf8_lossy(frame).into_owned()).collect()
}

fn text(frame: &Frame) -> &str {
    match frame {
        Frame::Text(text) => text,
        Frame::Binary { .. } => panic!("nuggets is text"),
    }
}

fn last_display(texts: &[String]) -> &String {
    texts.iter().rfind(|text| text.starts_with("DISPLAY")).unwrap()
}

#[test]
fn a_replay_shows_at_every_moment_what_was_shown_then() {
    let directory = TempDir::new();
    let played = play(directory.path(), include_bytes!("../../../../maps/gold.txt"), usize::MAX);
    let track = Track::read::<nuggets::Server>(&played.wanted).unwrap();
    assert!(track.states() > 2, "there are states to begin from");
    let length = track.length();
    for (peer, seat) in [(WATCHER, None), (ANN, Some("A")), (BOB, Some("B"))] {
        for part in 0..=8 {
            let from = length * part / 8;
            let until = (from + length / 16).min(length);
            let told = frames::frames::<nuggets::Server>(&track, seat, from, until).unwrap();
            assert!(told.frames.iter().all(|(at, _)| (from..=until).contains(at)));
            // The section is sufficient for a page, and the page shows the same as the player saw.
            let all: Vec<String> = told.frames.iter().map(|(_, frame)| text(frame).to_owned()).collect();
            if part < 8 {
                assert!(all[..3].iter().any(|text| text.starts_with("GRID")), "{:?}", &all[..3]);
                let seen = texts(&played, peer, told.until);
                assert_eq!(last_display(&all), last_display(&seen), "{seat:?} at {from}");
            }
        }
    }
    // From its beginning, the whole match equals the messages that were sent, after the first pictures.
    let told = frames::frames::<nuggets::Server>(&track, Some("B"), 0, length).unwrap();
    let all: Vec<&str> = told.frames.iter().map(|(_, frame)| text(frame)).collect();
    let seen = texts(&played, BOB, told.until);
    assert_eq!(all[all.len() - 100..], seen[seen.len() - 100..]);
    assert!(all.last().unwrap().starts_with("QUIT GAME OVER") || told.until < length);
    let gold: usize = track.marks.iter().filter(|mark| mark.kind == "gold").count();
    assert!(gold > 5 && track.marks.is_sorted_by_key(|mark| mark.at));
}

#[test]
fn an_answer_ends_before_it_is_too_long_and_goes_on_from_there() {
    let directory = TempDir::new();
    let played = play(directory.path(), nuggets::BUILT_IN_MAP, 6_000);
    let track = Track::read::<nuggets::Server>(&played.wanted).unwrap();
    let (mut from, mut answers) = (0, 0);
    while from < track.length() {
        let told = frames::frames::<nuggets::Server>(&track, None, from, track.length()).unwrap();
        let bytes: usize = told.frames.iter().map(|(_, frame)| text(frame).len()).sum();
        assert!(bytes < (4 << 20) + 10_000, "{bytes}");
        assert!(told.until > from);
        (from, answers) = (told.until, answers + 1);
    }
    assert!(answers > 1, "the match is longer than one answer");
}

#[test]
fn a_seat_that_nobody_had_and_a_match_that_is_not_there_are_errors() {
    let directory = TempDir::new();
    let played = play(directory.path(), include_bytes!("../../../../maps/gold.txt"), usize::MAX);
    let track = Track::read::<nuggets::Server>(&played.wanted).unwrap();
    let none = frames::frames::<nuggets::Server>(&track, Some("C"), 0, 1);
    assert!(matches!(none, Err(ReplayError::NoSeat(seat)) if seat == "C"));
    let other = Wanted { number: 2, ..played.wanted.clone() };
    assert!(matches!(Track::read::<nuggets::Server>(&other), Err(ReplayError::Unfinished)));
    std::fs::write(&played.wanted.path, b"no journal").unwrap();
    assert!(matches!(Track::read::<nuggets::Server>(&played.wanted), Err(ReplayError::Damaged(_))));
}

#[test]
#[ignore = "a measurement: an hour of nuggets on a map of 160 x 400, which takes a while to play"]
fn an_hour_on_a_large_map_is_sought_within_a_second() {
    let directory = TempDir::new();
    let wall = format!("+{}+\n", "-".repeat(398));
    let row = |row: usize| -> String {
        (0..398).map(|col| if row % 20 == 19 && col % 40 != 20 { '-' } else { '.' }).collect()
    };
    let rows: String = (0..158).flat_map(|number| ["|".to_owned(), row(number), "|\n".to_owned()]).collect();
    let map = [&*wall, &*rows, &*wall].concat();
    let played = play(directory.path(), map.as_bytes(), 24_000);
    let start = std::time::Instant::now();
    let track = Track::read::<nuggets::Server>(&played.wanted).unwrap();
    let read = start.elapsed();
    let length = track.length();
    let mut slowest = Duration::ZERO;
    for part in 0..20 {
        let from = length * part / 20;
        let start = std::time::Instant::now();
        frames::frames::<nuggets::Server>(&track, None, from, from + 2_000).unwrap();
        slowest = slowest.max(start.elapsed());
    }
    println!("{length} ms, {} states, read in {read:?}, sought in {slowest:?} at most", track.states());
    assert!(slowest < Duration::from_secs(1));
}
