use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

use robots::{Player, PlayerId, ServerMessage};

use super::{
    ENDED, FORWARDED, GAME, LOBBY, MOVE_DOWN, MOVE_LEFT, MOVE_RIGHT, MOVE_UP, REJOINS, SECOND_GAME,
    blasts::{block, robot, turns_of},
    picture::encoded,
    script::{opening, parameters, players},
    session::{Session, USUAL},
};
use crate::{
    judge::{Judge, ScenarioResult},
    net::Connection,
    ports::{free_tcp_port, free_udp_port},
    robots::{context::Context, show},
    rule::Rule,
};

/// GUI inputs, the client's messages for them, and the rules that require these.
const INPUTS: [(&[u8], &[u8], &str, &Rule); 6] = [
    (&[0], &[1], "PlaceBomb", &FORWARDED),
    (&[1], &[2], "PlaceBlock", &FORWARDED),
    (&[2, 0], &[3, 0], "Move Up", &MOVE_UP),
    (&[2, 1], &[3, 1], "Move Right", &MOVE_RIGHT),
    (&[2, 2], &[3, 2], "Move Down", &MOVE_DOWN),
    (&[2, 3], &[3, 3], "Move Left", &MOVE_LEFT),
];

pub(super) fn scores(players: &[Player]) -> ServerMessage {
    ServerMessage::GameEnded { scores: PlayerId::all().zip(players).map(|(id, _)| (id, 3)).collect() }
}

pub(super) fn two_games(session: &mut Session<'_>) -> ScenarioResult {
    let (setup, all) = (parameters(3, (6, 4), 4, 2, 2)?, session.players(3)?);
    session.send(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    session.expect_silence();
    session.expect_join()?;
    session.expect_further_joins()?;
    session.send_all(&opening(&all), &LOBBY)?;
    for message in session.turns(&setup, 11) {
        session.send(&message, &GAME)?;
        for (input, right, name, rule) in INPUTS {
            // If the client does not forward it, later turns need not wait.
            if !session.judge.has_failed(rule) {
                session.input(input);
                session.expect_forwarded(right, rule, &format!("{name} in the game"))?;
            }
        }
    }
    let left = session.server.rest();
    session.judge.check(&FORWARDED, left.is_empty(), || {
        format!("expected nothing after the last input was forwarded, received {}", show::bytes(&left))
    });
    session.send(&scores(&all), &ENDED)?;
    session.judge.check(&ENDED, true, String::new);
    session.expect_join_for(&REJOINS)?;
    // Remaining players belong to the previous game.
    let rule = if session.judge.has_failed(&ENDED) { &ENDED } else { &SECOND_GAME };
    session.send_all(&opening(&all), rule)?;
    session.send_all(&session.turns(&setup, 12), &SECOND_GAME)?;
    session.input(&[1]);
    session.expect_forwarded(&[2], &FORWARDED, "PlaceBlock in the second game")?;
    session.send(&scores(&all), &ENDED)
}

pub(super) fn begin(session: &mut Session<'_>) -> ScenarioResult {
    let (setup, all) = (parameters(2, (4, 3), 20, 1, 5)?, session.players(2)?);
    session.send(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    session.expect_join()?;
    session.send_all(&opening(&all), &LOBBY)?;
    session.send_all(&session.turns(&setup, 21)[..1], &GAME)
}

pub(super) fn bad_inputs_in_lobby(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let (setup, all) = (parameters(2, (4, 3), 20, 1, 5)?, session.players(2)?);
    session.send(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    // A Join shows that the client listens.
    session.expect_join()?;
    for bytes in [&[3][..], &[0xff], &[2], &[2, 4]] {
        session.input(bytes);
    }
    session.send_all(&opening(&all), &LOBBY)?;
    session.send_all(&session.turns(&setup, 31)[..1], &GAME)?;
    session.input(&[2, 2]);
    session.expect_forwarded(&[3, 2], rule, "invalid datagrams in the lobby and then Move Down in the game")
}

pub(super) fn bad_input(session: &mut Session<'_>, rule: &'static Rule, inputs: &[&[u8]]) -> ScenarioResult {
    begin(session)?;
    // The inputs differ from the last one, and exclude those that the client forwards wrongly.
    let mut probes: Vec<_> = INPUTS.into_iter().filter(|(input, ..)| matches!(input, [2, 0 | 2 | 3])).collect();
    probes.retain(|(.., rule)| !session.judge.has_failed(rule));
    let first = 1.min(probes.len());
    probes.rotate_left(first);
    if probes.len() < 2 {
        probes = vec![INPUTS[1]];
    }
    for (bytes, &(input, right, name, _)) in inputs.iter().zip(probes.iter().cycle()) {
        session.input(bytes);
        session.input(input);
        session.expect_forwarded(right, rule, &format!("the datagram {} and then {name}", show::bytes(bytes)))?;
    }
    Ok(())
}

pub(super) fn observer(session: &mut Session<'_>) -> ScenarioResult {
    let (setup, all) = (parameters(2, (4, 3), 20, 1, 5)?, players(2)?);
    session.send(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    if let Some(started) = opening(&all).pop() {
        session.send(&started, &LOBBY)?;
    }
    session.send_all(&session.turns(&setup, 22)[..2], &GAME)?;
    session.input_until(&[1], &[2]);
    Ok(())
}

pub(super) fn from_other_port(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    begin(session)?;
    session.input_of_other(&[2, 2], Ipv4Addr::LOCALHOST)?;
    session.expect_forwarded(&[3, 2], rule, "Move Down from a port other than the GUI's")
}

pub(super) fn over_ipv6(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    if UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        // The system has no IPv6.
        return Ok(());
    }
    begin(session)?;
    session.input_of_other(&[2, 1], Ipv6Addr::LOCALHOST)?;
    session.expect_forwarded(&[3, 1], rule, "Move Right over IPv6")
}

pub(super) fn pieces(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let (setup, all) = (parameters(2, (4, 3), 3, 1, 1)?, session.players(2)?);
    let hello = [ServerMessage::Hello(setup.clone())];
    for message in hello.into_iter().chain(opening(&all)).chain(session.turns(&setup, 41)).chain([scores(&all)]) {
        let bytes = encoded(&message);
        let (last, front) = bytes.split_last().unwrap_or((&0, &[]));
        session.server.send_in_bytes(front);
        session.send_bytes(&[*last], &message, rule)?;
    }
    Ok(())
}

pub(super) fn late(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let (setup, all) = (parameters(3, (6, 5), 25, 2, 3)?, players(3)?);
    let mut messages = vec![ServerMessage::Hello(setup.clone())];
    messages.extend(opening(&all).pop());
    messages.extend(session.turns(&setup, 51));
    session.server.send(&messages.iter().map(encoded).collect::<Vec<_>>().concat());
    for message in messages {
        session.expect_picture(&message, rule)?;
    }
    Ok(())
}

pub(super) fn busy(session: &mut Session<'_>) -> ScenarioResult {
    let (setup, all) = (parameters(4, (7, 6), 60, 3, 3)?, session.players(4)?);
    session.send(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    session.send_all(&opening(&all), &LOBBY)?;
    session.send_all(&session.turns(&setup, 61), &GAME)?;
    session.send(&scores(&all), &ENDED)
}

/// Neither the message nor the picture fits small buffers.
pub(super) fn big_turn(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let blocks = (0..150).flat_map(|x| (0..80).map(move |y| block(x, y)));
    let list = vec![[robot(0, 149, 79)].into_iter().chain(blocks).collect(), vec![robot(0, 149, 78)]];
    turns_of(session, parameters(1, (150, 80), 99, 1, 1)?, list, rule)
}

/// The last player comes first in `GameStarted`.
pub(super) fn map_order(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let (setup, all) = (parameters(3, (4, 3), 5, 1, 2)?, session.players(3)?);
    session.send(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    let mut messages = opening(&all);
    let started = messages.pop();
    session.send_all(&messages, &LOBBY)?;
    let mut bytes = vec![2, 0, 0, 0, 3];
    for (id, player) in (0..3_u8).zip(&all).rev() {
        bytes.push(id);
        for text in [&player.name, &player.address] {
            bytes.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
            bytes.extend_from_slice(text.as_bytes());
        }
    }
    if let Some(started) = started {
        session.send_bytes(&bytes, &started, rule)?;
    }
    session.send_all(&session.turns(&setup, 71), rule)
}

/// After `bytes`, `end` closes the connection or returns it.
pub(super) fn ends(
    context: &Context<'_>,
    judge: &mut Judge,
    rule: &'static Rule,
    (why, in_game, bytes): (&str, bool, &[u8]),
    end: fn(Connection) -> Option<Connection>,
) -> ScenarioResult {
    let mut session = Session::launch(context, judge, USUAL)?;
    session.send(&ServerMessage::Hello(parameters(1, (4, 3), 5, 1, 2)?), &LOBBY)?;
    if in_game {
        session.send_all(&opening(&players(1)?), &LOBBY)?;
        session.send(&ServerMessage::Turn { turn: 0, events: vec![robot(0, 1, 1)] }, &GAME)?;
    }
    let Session { judge, mut run, mut server, .. } = session;
    server.send(bytes);
    let _open = end(server);
    context.ends(judge, rule, &mut *run, why);
    Ok(())
}

fn refuses(
    context: &Context<'_>,
    judge: &mut Judge,
    rule: &'static Rule,
    (port, server): (u16, SocketAddr),
    why: &str,
) -> ScenarioResult {
    let gui = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut run = context.start(judge, &USUAL.values(gui.local_addr()?.to_string(), port, server.to_string()))?;
    context.ends(judge, rule, &mut *run, why);
    Ok(())
}

pub(super) fn unreachable(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let closed = (Ipv4Addr::LOCALHOST, free_tcp_port()?).into();
    refuses(context, judge, rule, (free_udp_port()?, closed), "started without a server")
}

pub(super) fn taken_port(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // Taken for both families, so that a client cannot bind it on either.
    let taken = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).or_else(|_| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
    refuses(context, judge, rule, (taken.local_addr()?.port(), server.local_addr()?), "started on a port in use")
}
