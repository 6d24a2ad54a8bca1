use robots::{BombId, Event, Parameters, PlayerId, Position, ServerMessage};

use super::{
    EXPLOSIONS, LOBBY,
    script::{opening, parameters},
    session::Session,
};
use crate::{judge::ScenarioResult, rule::Rule};

pub(super) fn at(x: u16, y: u16) -> Position {
    Position { x, y }
}

pub(super) fn block(x: u16, y: u16) -> Event {
    Event::BlockPlaced { position: at(x, y) }
}

pub(super) fn robot(id: u8, x: u16, y: u16) -> Event {
    Event::PlayerMoved { id: PlayerId(id), position: at(x, y) }
}

pub(super) fn bomb(id: u32, x: u16, y: u16) -> Event {
    Event::BombPlaced { id: BombId(id), position: at(x, y) }
}

pub(super) fn explosion(id: u32, robots: &[u8], blocks: &[(u16, u16)]) -> Event {
    Event::BombExploded {
        id: BombId(id),
        robots_destroyed: robots.iter().map(|&id| PlayerId(id)).collect(),
        blocks_destroyed: blocks.iter().map(|&(x, y)| at(x, y)).collect(),
    }
}

pub(super) fn turns_of(
    session: &mut Session<'_>,
    setup: Parameters,
    list: Vec<Vec<Event>>,
    rule: &'static Rule,
) -> ScenarioResult {
    let all = session.players(setup.players_count)?;
    session.send(&ServerMessage::Hello(setup), &LOBBY)?;
    session.send_all(&opening(&all), &LOBBY)?;
    let turns: Vec<_> = (0..).zip(list).map(|(turn, events)| ServerMessage::Turn { turn, events }).collect();
    session.send_all(&turns, rule)
}

/// The explosions in the figures of the protocol, with bombs in corners and on blocks.
pub(super) fn explosions(session: &mut Session<'_>) -> ScenarioResult {
    let wall = [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (0, 1), (1, 1), (4, 1), (1, 0), (2, 0), (3, 0), (4, 0)];
    let mut first: Vec<_> = vec![robot(0, 0, 0)];
    first.extend(wall.iter().map(|&(x, y)| block(x, y)));
    let list = vec![
        first,
        vec![bomb(0, 2, 1)],
        vec![bomb(1, 3, 1)],
        vec![bomb(2, 0, 0)],
        // Both bombs are affected by the original block at (1, 1), though they do not both explode on time.
        vec![
            explosion(1, &[], &[(3, 2), (4, 1), (3, 0), (1, 1)]),
            explosion(0, &[], &[(2, 2), (1, 1), (2, 0), (4, 1)]),
        ],
        vec![block(2, 1)],
        vec![explosion(2, &[0], &[(0, 1), (1, 0)]), robot(0, 2, 1)],
        // The bomb is on a block, which ends its arms.
        vec![bomb(7, 2, 1)],
        vec![],
        vec![explosion(7, &[0], &[(2, 1)]), robot(0, 0, 2)],
        vec![],
    ];
    turns_of(session, parameters(1, (5, 3), 99, 2, 3)?, list, &EXPLOSIONS)
}

pub(super) fn long_explosion(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let list = vec![
        vec![robot(0, 299, 0), block(299, 150)],
        vec![bomb(0, 299, 0)],
        vec![explosion(0, &[0], &[(299, 150)]), robot(0, 1, 1)],
        vec![],
    ];
    turns_of(session, parameters(1, (300, 200), 99, 65_535, 1)?, list, rule)
}

pub(super) fn hit_twice(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let list = vec![
        vec![robot(0, 0, 0), robot(1, 1, 0)],
        vec![bomb(0, 0, 0), bomb(1, 1, 0)],
        vec![],
        vec![explosion(0, &[0, 1], &[]), explosion(1, &[1, 0], &[]), robot(0, 1, 0), robot(1, 0, 0)],
        vec![],
    ];
    turns_of(session, parameters(2, (2, 1), 99, 5, 2)?, list, rule)
}

/// On a board of 5 x 5.
pub(super) fn single_blast(
    session: &mut Session<'_>,
    rule: &'static Rule,
    (radius, blocks): (u16, &[(u16, u16)]),
    (place, hit): ((u16, u16), &[(u16, u16)]),
) -> ScenarioResult {
    let mut first = vec![robot(0, 4, 4)];
    first.extend(blocks.iter().map(|&(x, y)| block(x, y)));
    let list = vec![first, vec![bomb(0, place.0, place.1)], vec![explosion(0, &[], hit)]];
    turns_of(session, parameters(1, (5, 5), 99, radius, 1)?, list, rule)
}

/// One bomb is behind a block that the other one destroys in the same turn.
pub(super) fn blast_before(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let list = vec![
        vec![robot(0, 8, 8), block(4, 4)],
        vec![bomb(0, 3, 4), bomb(1, 4, 3)],
        vec![explosion(0, &[], &[(4, 4)]), explosion(1, &[], &[(4, 4)])],
    ];
    turns_of(session, parameters(1, (9, 9), 99, 2, 1)?, list, rule)
}

pub(super) fn blast_over(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let list = vec![vec![robot(0, 4, 4)], vec![bomb(0, 0, 0)], vec![explosion(0, &[], &[])]];
    turns_of(session, parameters(1, (5, 5), 99, 1, 1)?, list, &EXPLOSIONS)?;
    let after = [
        ServerMessage::Turn { turn: 3, events: vec![] },
        ServerMessage::Turn { turn: 4, events: vec![robot(0, 4, 3)] },
    ];
    session.send_all(&after, rule)
}

/// The robot on a destroyed block places another one in the same turn.
pub(super) fn block_again(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let list = vec![
        vec![robot(0, 0, 1), robot(1, 4, 4), block(0, 1)],
        vec![bomb(0, 0, 0)],
        vec![explosion(0, &[0], &[(0, 1)]), robot(0, 4, 4), block(0, 1)],
        vec![],
    ];
    turns_of(session, parameters(2, (5, 5), 99, 1, 1)?, list, rule)
}

pub(super) fn twin_bombs(session: &mut Session<'_>, rule: &'static Rule) -> ScenarioResult {
    let list = vec![vec![robot(0, 1, 1), robot(1, 1, 1)], vec![bomb(0, 1, 1), bomb(1, 1, 1)], vec![]];
    turns_of(session, parameters(2, (5, 5), 99, 1, 9)?, list, rule)
}
