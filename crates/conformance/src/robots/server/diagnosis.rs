//! Attributes players' events of a turn that no actions explain.

use robots::{BombId, Event, PlayerId, Position};

use super::{
    BLOCK, BOMB, BUSY, DEAD_ACT, DRAWS, EVENT_ORDER, JOIN_IN_GAME, LEAVER, LOBBY_ACTIONS, MOVE, OBSERVER, PIECES,
    PLAYED_ONCE, REBIRTH, REBIRTH_ON_BLOCK,
    explanation::{Effect, Robot, Turn, effect, moved},
};
use crate::{
    judge::Judge,
    robots::{context::Context, show},
    rule::Rule,
};

/// Rules about data that must not act in a turn. Any event in such a turn breaks them.
const OF_OTHERS: [&Rule; 5] = [&JOIN_IN_GAME, &LEAVER, &LOBBY_ACTIONS, &OBSERVER, &PIECES];

/// Breaks `rule` if no other is more likely. `next` is an id that no bomb has had.
pub(super) fn diagnose(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule, turn: &Turn<'_>, mut next: u32) {
    let Turn { number, robots, reborn, events, .. } = *turn;
    let mut board = turn.board.clone();
    let mut right = vec![];
    let mut known = false;
    for (id, robot) in (0..=u8::MAX).zip(robots) {
        let from = robot.position;
        if let Some(place) = reborn.get(&id) {
            let received: Vec<Position> = events.iter().filter_map(|event| moved(event, id)).collect();
            let position = place.or_else(|| received.first().copied()).unwrap_or(from);
            if received.len() != 1 {
                known = true;
                let blamed = if received.is_empty() { &REBIRTH } else { &DEAD_ACT };
                context.check(judge, blamed, false, || {
                    format!(
                        "turn {number}: expected one PlayerMoved of player {id}, whose robot was destroyed, received {} in {}",
                        received.len(),
                        show::events(events)
                    )
                });
                right.extend(received.iter().map(|&position| Event::PlayerMoved { id: PlayerId(id), position }));
                continue;
            }
            if received.first() != Some(&position) {
                known = true;
                // In a detail about rebirths, wrong draws break the detail's rule. Other details are about earlier
                // events.
                let is_detail = context.focus == Some(&REBIRTH_ON_BLOCK);
                let blamed = if is_detail { context.attributed(judge, &DRAWS) } else { &DRAWS };
                judge.check(blamed, false, || {
                    format!(
                        "turn {number}: expected the rebirth of player {id} at {}, with draws in the order of ids, received {}",
                        show::value(&position),
                        show::fields(&received)
                    )
                });
            }
            right.extend(received.iter().map(|&position| Event::PlayerMoved { id: PlayerId(id), position }));
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
    let (missing, extra) = (difference(&right, events), difference(events, &right));
    if missing.is_empty() && extra.is_empty() {
        if right.iter().map(without_id).ne(events.iter().map(without_id)) {
            context.check(judge, &EVENT_ORDER, false, || {
                format!(
                    "turn {number}: expected {}, in the order of ids, received {}",
                    show::events(&right),
                    show::events(events)
                )
            });
            return;
        }
        if known {
            return;
        }
    }
    // Without a sent action, the event repeats an earlier action.
    let is_idle = robots.iter().all(|robot| robot.pending.is_empty());
    let general = match missing.first().or(extra.first()) {
        _ if missing.is_empty() && are_acts_of_leavers(robots, &extra) => &LEAVER,
        _ if is_idle && (context.focus.is_some() || !OF_OTHERS.contains(&rule)) => &PLAYED_ONCE,
        _ if context.focus.is_none() => rule,
        Some(Event::PlayerMoved { .. }) => &MOVE,
        Some(Event::BlockPlaced { .. }) => &BLOCK,
        _ => &BOMB,
    };
    // Only a destroyed robot can have caused them, before or after its rebirth.
    let of_destroyed = |event: &Event| {
        reborn.keys().any(|&id| match event {
            Event::PlayerMoved { id: of, .. } => of.0 == id,
            Event::BombPlaced { position, .. } | Event::BlockPlaced { position } => {
                *position == robots[usize::from(id)].position || turn.has_moved(id, Some(*position))
            }
            Event::BombExploded { .. } => false,
        })
    };
    let is_act_of_destroyed = missing.is_empty() && !extra.is_empty() && extra.iter().all(of_destroyed);
    let general = if *general == BUSY && is_act_of_destroyed { &DEAD_ACT } else { general };
    context.check(judge, general, false, || {
        let sent = sent(robots);
        format!(
            "turn {number}: expected the players' events {}, since {sent}, received {}",
            show::events(&right),
            show::events(events)
        )
    });
}

fn sent(robots: &[Robot]) -> String {
    let sent: Vec<_> = (0..=u8::MAX)
        .zip(robots)
        .filter(|(_, robot)| !robot.pending.is_empty())
        .map(|(id, robot)| {
            let actions = robot.pending.iter().map(|pending| show::value(&pending.action));
            format!("player {id} at {} sent {}", show::value(&robot.position), show::values(actions))
        })
        .collect();
    if sent.is_empty() { "no player has sent an action".to_owned() } else { sent.join(", ") }
}

fn are_acts_of_leavers(robots: &[Robot], events: &[Event]) -> bool {
    let is_act = |event: &Event, id: u8, robot: &Robot| match event {
        Event::PlayerMoved { id: of, .. } => of.0 == id,
        Event::BombPlaced { position, .. } | Event::BlockPlaced { position } => *position == robot.position,
        Event::BombExploded { .. } => false,
    };
    let is_of_leaver =
        |event: &Event| (0..=u8::MAX).zip(robots).any(|(id, robot)| robot.has_left && is_act(event, id, robot));
    !events.is_empty() && events.iter().all(is_of_leaver)
}

fn difference(of: &[Event], from: &[Event]) -> Vec<Event> {
    let mut left: Vec<_> = from.iter().map(without_id).collect();
    let is_missing = |event: &&Event| match left.iter().position(|other| *other == without_id(event)) {
        Some(place) => {
            left.swap_remove(place);
            false
        }
        None => true,
    };
    of.iter().filter(is_missing).cloned().collect()
}

fn without_id(event: &Event) -> String {
    match event {
        Event::BombPlaced { position, .. } => format!("BombPlaced {}", show::value(position)),
        other => show::value(other),
    }
}
