//! What is wrong with the players' events of a turn that no actions explain.

use robots::{BombId, Event, PlayerId, Position};

use super::{
    explanation::{Effect, Turn, effect},
    rules::{BUSY, DEAD_ACT, DRAWS, EVENT_ORDER, REBIRTH, REBIRTH_ON_BLOCK},
};
use crate::{
    judge::{Judge, Played},
    robots::show,
    rule::Rule,
};

/// Says what is wrong. `focus` is the rule that is broken if nothing else is more likely, `next` an id that no bomb had.
pub(super) fn diagnose(judge: &mut Judge, focus: &'static Rule, turn: &Turn<'_>, mut next: u32) -> Played {
    let Turn { number, robots, reborn, events, .. } = *turn;
    let mut board = turn.board.clone();
    let mut right = vec![];
    for (id, robot) in (0..=u8::MAX).zip(robots) {
        let from = robot.position;
        if let Some(place) = reborn.get(&id) {
            let came: Vec<Position> = events.iter().filter_map(|event| moved(event, id)).collect();
            let rule = if came.is_empty() { &REBIRTH } else { &DEAD_ACT };
            judge.require(rule, came.len() == 1, || {
                format!(
                    "turn {number}: {} has {} PlayerMoved of player {id}, whose robot was destroyed; one would be right",
                    show::events(events),
                    came.len()
                )
            })?;
            let position = place.or_else(|| came.first().copied()).unwrap_or(from);
            let rule = if judge.has_failed(&REBIRTH_ON_BLOCK) { &REBIRTH_ON_BLOCK } else { &DRAWS };
            judge.require(rule, came.first() == Some(&position), || {
                format!(
                    "turn {number}: player {id} is reborn at {}; {} would be right, with the players' draws in the order of ids",
                    show::fields(&came),
                    show::field(position)
                )
            })?;
            right.push(Event::PlayerMoved { id: PlayerId(id), position });
            continue;
        }
        match effect(&board, from, robot.pending.last().map(|pending| pending.action)) {
            None => {}
            Some(Effect::Moved(position)) => right.push(Event::PlayerMoved { id: PlayerId(id), position }),
            Some(Effect::Bomb(position)) => {
                right.push(Event::BombPlaced { id: BombId(next), position });
                next = next.wrapping_add(1);
            }
            Some(Effect::Block(position)) => {
                board.put_block(position);
                right.push(Event::BlockPlaced { position });
            }
        }
    }
    let plain = |list: &[Event]| {
        let mut list: Vec<_> = list.iter().map(without_id).collect();
        list.sort();
        list
    };
    let order = right.len() > 1 && plain(events) == plain(&right);
    // In the other scenarios something else is more likely.
    let extra = focus == &BUSY && !reborn.is_empty() && events.len() > right.len();
    let rule = match (order, extra) {
        (true, _) => &EVENT_ORDER,
        (false, true) => &DEAD_ACT,
        (false, false) => focus,
    };
    judge.broken(rule, || {
        let sent: Vec<_> = (0..=u8::MAX)
            .zip(robots)
            .filter(|(_, robot)| !robot.pending.is_empty())
            .map(|(id, robot)| {
                let actions = robot.pending.iter().map(|pending| show::action(pending.action));
                format!("player {id} at {} sent {}", show::field(robot.position), show::values(actions))
            })
            .collect();
        let sent = if sent.is_empty() { "no player had sent an action".to_owned() } else { sent.join(", ") };
        format!(
            "turn {number}: the players' events are {}; {} would be right, since {sent}",
            show::events(events),
            show::events(&right)
        )
    })
}

fn moved(event: &Event, of: u8) -> Option<Position> {
    match event {
        Event::PlayerMoved { id, position } if id.0 == of => Some(*position),
        _ => None,
    }
}

// Bombs may have any ids.
fn without_id(event: &Event) -> String {
    match event {
        Event::BombPlaced { position, .. } => format!("BombPlaced {}", show::field(*position)),
        other => show::event(other),
    }
}
