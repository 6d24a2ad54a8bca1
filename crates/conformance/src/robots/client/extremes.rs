use std::time::Instant;

use robots::{Event, Parameters, Player, PlayerId, ServerMessage};

use super::{
    ENDED, FORWARDED, GAME, LOBBY,
    blasts::{block, bomb, explosion, robot, turns_of},
    picture::encoded,
    scenes::{begin, scores},
    script::{opening, parameters, players},
    session::Session,
};
use crate::{judge::ScenarioResult, rule::Rule};

const GAMES: u32 = 20;
/// Pairs of inputs. On a busy machine, some second inputs are late.
const PAIRS: usize = 15;
/// Reveals delayed acknowledgements, in milliseconds.
const LATE_MS: u128 = 20;

pub(super) const ADDRESS: &str = "127.0.0.1:4000";

pub(super) fn lobby_of(
    session: &mut Session<'_>,
    rule: &'static Rule,
    setup: Parameters,
    name: &str,
    address: &str,
) -> ScenarioResult {
    session.send_batch(&[ServerMessage::Hello(setup), accepted(name, address)?], rule)
}

pub(super) fn server_name(session: &mut Session<'_>, rule: &'static Rule, name: &str) -> ScenarioResult {
    let setup = Parameters { server_name: name.parse()?, ..parameters(1, (4, 3), 5, 1, 1)? };
    lobby_of(session, rule, setup, "Ann", ADDRESS)
}

pub(super) fn accepted(name: &str, address: &str) -> ScenarioResult<ServerMessage> {
    let player = Player { name: name.parse()?, address: address.parse()? };
    Ok(ServerMessage::AcceptedPlayer { id: PlayerId(0), player })
}

pub(super) fn many_players(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let (setup, all) = (parameters(255, (40, 30), 20, 1, 5)?, players(255)?);
    session.send(&ServerMessage::Hello(setup), &LOBBY)?;
    if let Some(started) = opening(&all).pop() {
        session.send(&started, &LOBBY)?;
    }
    let events = (0..255).map(|id| robot(id, u16::from(id) % 40, u16::from(id) / 40)).collect();
    session.send(&ServerMessage::Turn { turn: 0, events }, rule)
}

pub(super) fn large_positions(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let all = players(1)?;
    session.send(&ServerMessage::Hello(parameters(1, (65_535, 65_535), 65_535, 0, 65_535)?), &LOBBY)?;
    session.send_all(&opening(&all), &LOBBY)?;
    let events = vec![robot(0, 65_534, 65_534), block(65_534, 0), bomb(u32::MAX, 0, 65_534)];
    session.send(&ServerMessage::Turn { turn: 65_535, events }, rule)
}

/// Each segment ends in the middle of a message.
pub(super) fn straddling(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let (setup, all) = (parameters(2, (4, 3), 6, 1, 1)?, players(2)?);
    let mut messages = vec![ServerMessage::Hello(setup.clone())];
    messages.extend(opening(&all));
    messages.extend(session.turns(&setup, 42));
    let mut rest: Vec<u8> = Vec::new();
    let mut before = None;
    for message in &messages {
        let bytes = encoded(message);
        let (front, back) = bytes.split_at(bytes.len() / 2);
        rest.extend_from_slice(front);
        session.server.send_in_parts([&rest[..]].into_iter());
        rest = back.to_vec();
        // The picture shows that the client has read everything so far, and will read the next segment separately.
        before.replace(message).map_or(Ok(()), |before| session.expect_picture(before, rule))?;
    }
    session.server.send(&rest);
    before.map_or(Ok(()), |last| session.expect_picture(last, rule))
}

pub(super) fn many_games(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let (setup, all) = (parameters(2, (4, 3), 2, 1, 1)?, players(2)?);
    session.send(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    for game in 0..GAMES {
        let rule = |session: &Session<'_>, usual: &'static Rule| {
            if game < 2 || session.judge.has_failed(usual) { usual } else { rule }
        };
        session.send_all(&opening(&all), rule(session, &LOBBY))?;
        session.send_all(&session.turns(&setup, 80 + game), rule(session, &GAME))?;
        session.send(&scores(&all), rule(session, &ENDED))?;
    }
    Ok(())
}

pub(super) fn inconsistent(
    session: &mut Session<'_>,
    rule: &'static Rule,
    timer: u16,
    events: Vec<Event>,
) -> ScenarioResult {
    let first = vec![robot(0, 0, 0), bomb(0, 1, 1)];
    turns_of(session, parameters(1, (4, 3), 99, 2, timer)?, vec![first], &GAME)?;
    let mut turns = vec![ServerMessage::Turn { turn: 1, events }];
    turns.extend((2..6).map(|turn| ServerMessage::Turn { turn, events: vec![] }));
    session.expect_later_picture(&turns, rule)
}

/// The picture does not fit into a datagram. The next turn removes the blocks.
pub(super) fn too_big(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let all = players(1)?;
    session.send(&ServerMessage::Hello(parameters(1, (150, 150), 99, 0, 99)?), &LOBBY)?;
    session.send_all(&opening(&all), &LOBBY)?;
    let fields: Vec<(u16, u16)> = (0..150).flat_map(|x| (0..120).map(move |y| (x, y))).collect();
    let blocks = fields.iter().map(|&(x, y)| block(x, y));
    let placed = [robot(0, 149, 149), bomb(0, 149, 149)].into_iter().chain(blocks).collect();
    let turns = [
        ServerMessage::Turn { turn: 0, events: placed },
        ServerMessage::Turn { turn: 1, events: vec![explosion(0, &[], &fields)] },
    ];
    session.expect_later_picture(&turns, rule)
}

/// Without `TCP_NODELAY`, the second input waits for the acknowledgement of the first.
pub(super) fn no_delay(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    begin(session)?;
    let mut gaps = Vec::new();
    for _ in 0..PAIRS {
        session.server.delay_acknowledgements();
        session.input(&[1]);
        session.input(&[1]);
        session.expect_forwarded(&[2], &FORWARDED, "PlaceBlock in the game")?;
        let first = Instant::now();
        session.expect_forwarded(&[2], &FORWARDED, "the second of two PlaceBlock inputs in the game")?;
        gaps.push(first.elapsed().as_millis());
    }
    gaps.sort_unstable();
    let middle = gaps.get(PAIRS / 2).copied().unwrap_or(0);
    session.judge.check(rule, middle < LATE_MS, || {
        format!("expected two inputs of one batch together, received the second {middle} ms after the first (median)")
    });
    Ok(())
}
