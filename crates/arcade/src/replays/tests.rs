//! A match of nuggets with a real watcher, compared with its replay.

use std::{path::Path, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use journal_core::{Facts, Head, MAX_SIZE, SyncPolicy, Writing};
use netcore::{EngineRoom, Input, Leave, Link, Outbox, Output, PeerId, Role, Room as _, Time, To};
use rand::{RngExt as _, SeedableRng as _};
use testkit::{PATIENCE, TempDir};

use super::{frames::Frame, *};
use crate::room::register::Description;

mod rounds;

const WATCHER: PeerId = PeerId(1);
const ANN: PeerId = PeerId(2);
const BOB: PeerId = PeerId(3);

/// Messages by peer, with milliseconds since the match began.
struct RecordedMatch {
    request: ReplayRequest,
    sent: Vec<(PeerId, u64, Bytes)>,
}

/// Random moves until all gold is found, or the host ends the match after `steps`.
fn play(directory: &Path, map: &[u8], steps: usize) -> RecordedMatch {
    play_with(directory, map, steps, &Facts::new())
}

fn play_with(directory: &Path, map: &[u8], steps: usize, facts: &Facts) -> RecordedMatch {
    let (grid, _) = nuggets::Grid::parse(map).unwrap();
    let rules = nuggets::Rules::default();
    let config = nuggets::Config { rules, rematch: true, seed: 9, ..nuggets::Config::default() };
    let engine_room = EngineRoom::new(nuggets::Server::new(Arc::new(grid), config).unwrap());
    let writing = Writing::start(SyncPolicy::Always, MAX_SIZE).unwrap();
    let head = Head::new(engine_room.engine(), "test", vec![], 99).with_facts(facts);
    let (path, (mut room, _, end)) = writing.create(directory, engine_room, head).unwrap();
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
            3 => send(room, now, ANN, "PLAY Ann", out),
            4 => send(room, now, BOB, "PLAY Bob", out),
            5 => send(room, now, BOB, "PLAY Bob#proof", out),
            step if step == steps => {
                room.input(now, Input::Stop(Leave::Over), out);
            }
            _ => {
                let key = b"HJKLYUBNhjklyubn"[chance.random_range(0..16)];
                let peer = if chance.random() { ANN } else { BOB };
                send(room, now, peer, &format!("KEY {}", char::from(key)), out);
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
    let request = ReplayRequest {
        game: "nuggets".into(),
        path,
        number: 1,
        begins: micros(begins),
        ends: micros(ends),
        unfinished: false,
    };
    RecordedMatch { request, sent }
}

fn send(room: &mut journal_core::Journalled<nuggets::Server>, now: Time, peer: PeerId, text: &str, out: &mut Outbox) {
    room.receive(now, peer, &mut BytesMut::from(text), out);
}

fn texts(played: &RecordedMatch, peer: PeerId, until: u64) -> Vec<String> {
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
fn replay_shows_what_each_client_saw() {
    let directory = TempDir::new();
    let played = play(directory.path(), include_bytes!("../../../../maps/gold.txt"), usize::MAX);
    let track = Track::read::<nuggets::Server>(&played.request).unwrap();
    assert!(track.states() > 2, "there are states to begin from");
    let length = track.length();
    for (peer, seat) in [(WATCHER, None), (ANN, Some("A")), (BOB, Some("B"))] {
        for part in 0..=8 {
            let from = length * part / 8;
            let until = (from + length / 16).min(length);
            let section = frames::frames::<nuggets::Server>(&track, seat, from, until).unwrap();
            assert!(section.frames.iter().all(|(at, _)| (from..=until).contains(at)));
            // The section suffices for a page, which then shows the same as the player saw.
            let all: Vec<String> = section.frames.iter().map(|(_, frame)| text(frame).to_owned()).collect();
            if part < 8 {
                assert!(all[..3].iter().any(|text| text.starts_with("GRID")), "{:?}", &all[..3]);
                let seen = texts(&played, peer, section.until);
                assert_eq!(last_display(&all), last_display(&seen), "{seat:?} at {from}");
            }
        }
    }
    // After the first pictures, the whole match equals the messages that were sent.
    let section = frames::frames::<nuggets::Server>(&track, Some("B"), 0, length).unwrap();
    let all: Vec<&str> = section.frames.iter().map(|(_, frame)| text(frame)).collect();
    let seen = texts(&played, BOB, section.until);
    assert_eq!(all[all.len() - 100..], seen[seen.len() - 100..]);
    assert!(all.last().unwrap().starts_with("QUIT GAME OVER") || section.until < length);
    let gold: usize = track.marks.iter().filter(|mark| mark.change.kind == "gold").count();
    assert!(gold > 5 && track.marks.is_sorted_by_key(|mark| mark.at));
}

#[test]
fn lines_are_the_actions_with_their_latencies_and_without_joins_and_addresses() {
    let directory = TempDir::new();
    let played = play(directory.path(), include_bytes!("../../../../maps/gold.txt"), usize::MAX);
    let track = Track::read::<nuggets::Server>(&played.request).unwrap();
    let text = lines::lines::<nuggets::Server>(&track, "{\"kind\":\"match\"}\n".to_owned()).unwrap();
    for secret in ["10.0.0.1", "PLAY", "proof", "seed"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["kind"], "match");
    let actions: Vec<_> = lines.iter().filter(|line| line["kind"] == "action").collect();
    assert!(actions.len() > 100, "{text}");
    assert!(actions.is_sorted_by_key(|line| line["time"].as_f64().unwrap().to_bits()));
    for line in actions {
        assert!(["A", "B"].contains(&line["seat"].as_str().unwrap()), "{line}");
        assert!(line["text"].as_str().unwrap().starts_with("KEY "), "{line}");
        assert!(line["latency"].as_f64().is_none_or(|latency| (0.0..=60.0).contains(&latency)), "{line}");
    }
    assert!(lines.iter().filter(|line| line["latency"].as_f64().is_some()).count() > 50, "{text}");
}

#[tokio::test]
async fn nothing_of_a_challenge_is_shown_until_the_day_is_over() {
    const DAY: u32 = 20_000;
    let directory = TempDir::new();
    let text = String::new;
    let description = Description { room: text(), title: text(), class: text(), casual: text(), day: Some(DAY) };
    let map = include_bytes!("../../../../maps/gold.txt");
    let played = play_with(directory.path(), map, 500, &description.facts());
    let replays = Replays::new(directory.path().to_owned());
    let found = Match {
        id: "one".into(),
        game: "nuggets".into(),
        journal: played.request.path.file_name().unwrap().to_str().unwrap().into(),
        number: played.request.number,
        begins: played.request.begins,
        ends: played.request.ends,
        complete: true,
        ..Match::default()
    };
    let all = (0, MAX_STRETCH);
    for today in [DAY - 1, DAY] {
        let timeline = replays.timeline(&found, today, ()).await;
        assert!(matches!(timeline, Err(ReplayError::Today)), "{timeline:?}");
        for seat in [None, Some("A".into())] {
            let frames = replays.frames(&found, seat, all, today, ()).await;
            assert!(matches!(frames, Err(ReplayError::Today)), "{frames:?}");
        }
        let lines = replays.lines(&found, String::new(), today, ()).await;
        assert!(matches!(lines, Err(ReplayError::Today)), "{lines:?}");
    }
    assert_eq!(replays.timeline(&found, DAY + 1, ()).await.unwrap().seats.len(), 2);
    assert!(!replays.frames(&found, None, all, DAY + 1, ()).await.unwrap().frames.is_empty());
    assert!(replays.lines(&found, String::new(), DAY + 1, ()).await.is_ok());
}

#[test]
fn long_section_is_split_into_several_responses() {
    let directory = TempDir::new();
    let played = play(directory.path(), nuggets::BUILT_IN_MAP, 6_000);
    let track = Track::read::<nuggets::Server>(&played.request).unwrap();
    let (mut from, mut answers) = (0, 0);
    while from < track.length() {
        let section = frames::frames::<nuggets::Server>(&track, None, from, track.length()).unwrap();
        let bytes: usize = section.frames.iter().map(|(_, frame)| text(frame).len()).sum();
        assert!(bytes < (4 << 20) + 10_000, "{bytes}");
        assert!(section.until > from);
        (from, answers) = (section.until, answers + 1);
    }
    assert!(answers > 1, "the match is longer than one answer");
}

#[test]
fn unknown_seat_and_missing_match_are_errors() {
    let directory = TempDir::new();
    let played = play(directory.path(), include_bytes!("../../../../maps/gold.txt"), usize::MAX);
    let track = Track::read::<nuggets::Server>(&played.request).unwrap();
    let none = frames::frames::<nuggets::Server>(&track, Some("C"), 0, 1);
    assert!(matches!(none, Err(ReplayError::NoSeat(seat)) if seat == "C"));
    let other = ReplayRequest { number: 2, ..played.request.clone() };
    assert!(matches!(Track::read::<nuggets::Server>(&other), Err(ReplayError::Unfinished)));
    std::fs::write(&played.request.path, b"no journal").unwrap();
    assert!(matches!(Track::read::<nuggets::Server>(&played.request), Err(ReplayError::Damaged(_))));
}
