//! The scenarios.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

use robots::{BombId, Event, Parameters, Player, PlayerId, Position, ServerMessage};

use super::{
    rules::{
        ANY_ADDRESS, BAD_INPUT, BIG_TURN, CLOSED, ENDED, EXPLOSIONS, FORWARDED, GAME, GUI_IPV6, LATE, LOBBY, MALFORMED,
        MAP_ORDER, PIECES, SCORE_ONCE, SECOND_GAME, TAKEN_PORT, UNREACHABLE, WRONG_ARGUMENTS,
    },
    script::{opening, parameters, players},
    stage::{Stage, encoded, start},
};
use crate::{
    judge::{Judge, Played},
    ports::{free_tcp_port, free_udp_port},
    robots::{context::Context, show},
    rule::Rule,
};

/// The inputs of a GUI, and what a client makes of them.
const INPUTS: [(&[u8], &[u8], &str); 6] = [
    (&[0], &[1], "PlaceBomb"),
    (&[1], &[2], "PlaceBlock"),
    (&[2, 0], &[3, 0], "Move Up"),
    (&[2, 1], &[3, 1], "Move Right"),
    (&[2, 2], &[3, 2], "Move Down"),
    (&[2, 3], &[3, 3], "Move Left"),
];

const NO_INPUTS: [&[u8]; 8] = [&[], &[3], &[0xff], &[2], &[2, 4], &[0, 0], &[2, 1, 1], &[1, 10, 0]];

/// What no server sends, and what is wrong with it.
pub(super) const MALFORMED_BYTES: [(&[u8], &str); 3] = [
    (&[9], "after the unknown tag 9 from the server"),
    (&[3, 0, 1, 0, 0, 0, 1, 4], "after the unknown tag 4 of an event from the server"),
    (&[1, 0, 1, 0xff, 1, b'a'], "after a name from the server that is not UTF-8"),
];

fn scores(players: &[Player]) -> ServerMessage {
    ServerMessage::GameEnded { scores: PlayerId::all().zip(players).map(|(id, _)| (id, 3)).collect() }
}

/// Two games one after the other, with all inputs.
pub(super) fn two_games(stage: &mut Stage<'_>) -> Played {
    let (setup, all) = (parameters(3, (6, 4), 4, 2, 2)?, players(3)?);
    stage.tell(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    stage.silent()?;
    stage.joins()?;
    stage.tell_all(&opening(&all), &LOBBY)?;
    for message in stage.turns(&setup, 11) {
        stage.tell(&message, &GAME)?;
        for (input, right, name) in INPUTS {
            stage.input(input);
            stage.passes_on(right, &FORWARDED, &format!("the input {name} in the game"))?;
        }
    }
    let left = stage.server.buffer.to_vec();
    stage.judge.require(&FORWARDED, left.is_empty(), || {
        format!("{} came from the client after all inputs in the game were passed on", show::bytes(&left))
    })?;
    stage.tell(&scores(&all), &ENDED)?;
    stage.joins()?;
    stage.judge.check(&ENDED, true, String::new);
    stage.tell_all(&opening(&all), &LOBBY)?;
    stage.tell_all(&stage.turns(&setup, 12), &SECOND_GAME)?;
    stage.input(&[1]);
    stage.passes_on(&[2], &FORWARDED, "the input PlaceBlock in the second game")?;
    stage.tell(&scores(&all), &ENDED)
}

// A game whose first turn was shown.
fn begin(stage: &mut Stage<'_>) -> Played {
    let (setup, all) = (parameters(2, (4, 3), 20, 1, 5)?, players(2)?);
    stage.tell(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    stage.joins()?;
    stage.tell_all(&opening(&all), &LOBBY)?;
    stage.tell_all(&stage.turns(&setup, 21)[..1], &GAME)
}

/// Datagrams that must be ignored, in the lobby and in the game.
pub(super) fn bad_inputs(stage: &mut Stage<'_>) -> Played {
    let (setup, all) = (parameters(1, (4, 3), 20, 1, 5)?, players(1)?);
    stage.tell(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    // Once a Join has come, the client listens, so the second lobby and game are those that count.
    for _ in 0..2 {
        for bytes in NO_INPUTS {
            stage.input(bytes);
        }
        // Its answer is behind those to all others.
        stage.joins()?;
        stage.tell_all(&opening(&all), &LOBBY)?;
        stage.tell_all(&stage.turns(&setup, 31)[..1], &GAME)?;
        for bytes in NO_INPUTS {
            stage.input(bytes);
        }
        stage.input(&[2, 3]);
        stage.passes_on(&[3, 3], &BAD_INPUT, "datagrams that are no inputs and then Move Left")?;
        stage.tell(&scores(&all), &ENDED)?;
    }
    Ok(())
}

/// An input that comes from another port than that of the GUI.
pub(super) fn elsewhere(stage: &mut Stage<'_>) -> Played {
    begin(stage)?;
    stage.input_of_other(&[2, 2], Ipv4Addr::LOCALHOST)?;
    stage.passes_on(&[3, 2], &ANY_ADDRESS, "the input Move Down from another port than that of the GUI")
}

pub(super) fn over_ipv6(stage: &mut Stage<'_>) -> Played {
    if UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        // This system has no IPv6.
        return Ok(());
    }
    begin(stage)?;
    stage.input_of_other(&[2, 1], Ipv6Addr::LOCALHOST)?;
    stage.passes_on(&[3, 1], &GUI_IPV6, "the input Move Right over IPv6")
}

/// The server's messages arrive byte by byte.
pub(super) fn pieces(stage: &mut Stage<'_>) -> Played {
    let (setup, all) = (parameters(2, (4, 3), 3, 1, 1)?, players(2)?);
    let hello = [ServerMessage::Hello(setup.clone())];
    for message in hello.into_iter().chain(opening(&all)).chain(stage.turns(&setup, 41)).chain([scores(&all)]) {
        let bytes = encoded(&message);
        let (last, front) = bytes.split_last().unwrap_or((&0, &[]));
        for byte in front {
            stage.server.send(&[*byte]);
        }
        stage.tell_bytes(&[*last], &message, &PIECES)?;
    }
    Ok(())
}

/// All messages so far arrive at once.
pub(super) fn late(stage: &mut Stage<'_>) -> Played {
    let (setup, all) = (parameters(3, (6, 5), 25, 2, 3)?, players(3)?);
    let mut messages = vec![ServerMessage::Hello(setup.clone())];
    messages.extend(opening(&all).pop());
    messages.extend(stage.turns(&setup, 51));
    stage.server.send(&messages.iter().map(encoded).collect::<Vec<_>>().concat());
    for message in messages {
        stage.picture_of(&message, &LATE)?;
    }
    Ok(())
}

/// A long game with many bombs.
pub(super) fn busy(stage: &mut Stage<'_>) -> Played {
    let (setup, all) = (parameters(4, (7, 6), 60, 3, 3)?, players(4)?);
    stage.tell(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    stage.tell_all(&opening(&all), &LOBBY)?;
    stage.tell_all(&stage.turns(&setup, 61), &GAME)?;
    stage.tell(&scores(&all), &ENDED)
}

fn at(x: u16, y: u16) -> Position {
    Position { x, y }
}

fn block(x: u16, y: u16) -> Event {
    Event::BlockPlaced { position: at(x, y) }
}

fn robot(id: u8, x: u16, y: u16) -> Event {
    Event::PlayerMoved { id: PlayerId(id), position: at(x, y) }
}

fn bomb(id: u32, x: u16, y: u16) -> Event {
    Event::BombPlaced { id: BombId(id), position: at(x, y) }
}

fn explosion(id: u32, robots: &[u8], blocks: &[(u16, u16)]) -> Event {
    Event::BombExploded {
        id: BombId(id),
        robots_destroyed: robots.iter().map(|&id| PlayerId(id)).collect(),
        blocks_destroyed: blocks.iter().map(|&(x, y)| at(x, y)).collect(),
    }
}

// Plays these turns, from 0 on.
fn turns_of(stage: &mut Stage<'_>, setup: Parameters, list: Vec<Vec<Event>>, rule: &'static Rule) -> Played {
    let all = players(setup.players_count)?;
    stage.tell(&ServerMessage::Hello(setup), &LOBBY)?;
    stage.tell_all(&opening(&all), &LOBBY)?;
    let turns: Vec<_> = (0..).zip(list).map(|(turn, events)| ServerMessage::Turn { turn, events }).collect();
    stage.tell_all(&turns, rule)
}

/// The blasts of the pictures of the protocol, and bombs in corners and on blocks.
pub(super) fn explosions(stage: &mut Stage<'_>) -> Played {
    let wall = [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (0, 1), (1, 1), (4, 1), (1, 0), (2, 0), (3, 0), (4, 0)];
    let mut first: Vec<_> = vec![robot(0, 0, 0)];
    first.extend(wall.iter().map(|&(x, y)| block(x, y)));
    let list = vec![
        first,
        vec![bomb(0, 2, 1)],
        vec![bomb(1, 3, 1)],
        vec![bomb(2, 0, 0)],
        // Both bombs see the block at (1, 1) as it was, though they do not explode when they should.
        vec![
            explosion(1, &[], &[(3, 2), (4, 1), (3, 0), (1, 1)]),
            explosion(0, &[], &[(2, 2), (1, 1), (2, 0), (4, 1)]),
            block(2, 1),
        ],
        vec![explosion(2, &[0], &[(0, 1), (1, 0)]), robot(0, 2, 1)],
        // On a block, which ends its arms.
        vec![bomb(7, 2, 1)],
        vec![],
        vec![explosion(7, &[0], &[(2, 1)]), robot(0, 0, 2)],
        vec![],
    ];
    turns_of(stage, parameters(1, (5, 3), 99, 2, 3)?, list, &EXPLOSIONS)
}

/// A blast without an end.
pub(super) fn long_explosion(stage: &mut Stage<'_>) -> Played {
    let list = vec![
        vec![robot(0, 299, 0), block(299, 150)],
        vec![bomb(0, 299, 0)],
        vec![explosion(0, &[0], &[(299, 150)]), robot(0, 1, 1)],
        vec![],
    ];
    turns_of(stage, parameters(1, (300, 200), 99, 65_535, 1)?, list, &EXPLOSIONS)
}

/// A turn 0 with so many blocks that neither the message nor the picture fits small buffers.
pub(super) fn big_turn(stage: &mut Stage<'_>) -> Played {
    let blocks = (0..150).flat_map(|x| (0..80).map(move |y| block(x, y)));
    let list = vec![[robot(0, 149, 79)].into_iter().chain(blocks).collect(), vec![robot(0, 149, 78)]];
    turns_of(stage, parameters(1, (150, 80), 99, 1, 1)?, list, &BIG_TURN)
}

/// Two bombs hit one robot in one turn, and later again.
pub(super) fn hit_twice(stage: &mut Stage<'_>) -> Played {
    let list = vec![
        vec![robot(0, 0, 0), robot(1, 1, 0)],
        vec![bomb(0, 0, 0), bomb(1, 1, 0)],
        vec![],
        vec![explosion(0, &[0, 1], &[]), explosion(1, &[1, 0], &[]), robot(0, 1, 0), robot(1, 0, 0)],
        vec![],
    ];
    turns_of(stage, parameters(2, (2, 1), 99, 5, 2)?, list, &SCORE_ONCE)
}

/// `GameStarted` with the last player first.
pub(super) fn map_order(stage: &mut Stage<'_>) -> Played {
    let (setup, all) = (parameters(3, (4, 3), 5, 1, 2)?, players(3)?);
    stage.tell(&ServerMessage::Hello(setup.clone()), &LOBBY)?;
    let mut messages = opening(&all);
    let started = messages.pop();
    stage.tell_all(&messages, &LOBBY)?;
    let mut bytes = vec![2, 0, 0, 0, 3];
    for (id, player) in (0..3_u8).zip(&all).rev() {
        bytes.push(id);
        for text in [&player.name, &player.address] {
            bytes.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
            bytes.extend_from_slice(text.as_bytes());
        }
    }
    if let Some(started) = started {
        stage.tell_bytes(&bytes, &started, &MAP_ORDER)?;
    }
    stage.tell_all(&stage.turns(&setup, 71), &MAP_ORDER)
}

pub(super) fn malformed(context: &Context<'_>, judge: &mut Judge, bytes: &[u8], why: &str) -> Played {
    let mut stage = Stage::open(context, judge)?;
    stage.tell(&ServerMessage::Hello(parameters(1, (4, 3), 5, 1, 2)?), &LOBBY)?;
    stage.server.send(bytes);
    context.ends(stage.judge, &MALFORMED, &mut *stage.run, why)
}

pub(super) fn closed(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut stage = Stage::open(context, judge)?;
    stage.tell(&ServerMessage::Hello(parameters(1, (4, 3), 5, 1, 2)?), &LOBBY)?;
    let Stage { judge, mut run, server, .. } = stage;
    drop(server);
    context.ends(judge, &CLOSED, &mut *run, "after the server has closed the connection")
}

// A client that is started with a port for its GUI and a server must end.
fn ends(
    context: &Context<'_>,
    judge: &mut Judge,
    (port, server): (&str, SocketAddr),
    rule: &'static Rule,
    why: &str,
) -> Played {
    let gui = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut run = start(context, judge, &gui, port, server)?;
    context.ends(judge, rule, &mut *run, why)
}

pub(super) fn unreachable(context: &Context<'_>, judge: &mut Judge) -> Played {
    let port = free_udp_port()?.to_string();
    let nobody = (Ipv4Addr::LOCALHOST, free_tcp_port()?).into();
    let why = "although nobody listens at the address of the server";
    ends(context, judge, (&port, nobody), &UNREACHABLE, why)
}

pub(super) fn taken_port(context: &Context<'_>, judge: &mut Judge) -> Played {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // On both families, since whoever listens on both is refused for either.
    let taken = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).or_else(|_| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
    let port = taken.local_addr()?.port().to_string();
    ends(context, judge, (&port, server.local_addr()?), &TAKEN_PORT, "although its port is taken")
}

/// Arguments that cannot be right.
pub(super) fn no_port(context: &Context<'_>, judge: &mut Judge) -> Played {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    ends(context, judge, ("port", server.local_addr()?), &WRONG_ARGUMENTS, "with '-p port'")
}
