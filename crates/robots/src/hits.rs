//! Counts how often each player has destroyed the robots of others.
//!
//! No message names the owner of a bomb. Robots act once a turn in the order of their numbers, so the owner is the first
//! robot on the field that may still act.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::{
    board::Position,
    protocol::{BombId, Event, PlayerId, ServerMessage},
};

/// The hits of the current or last game, from the messages of the server.
#[derive(Debug, Clone, Default)]
pub struct HitCounter {
    turn: Option<u16>,
    positions: BTreeMap<PlayerId, Position>,
    owners: BTreeMap<BombId, PlayerId>,
    hits: BTreeMap<PlayerId, u32>,
}

impl HitCounter {
    /// Processes the next message. A repeated turn has no effect.
    pub fn receive(&mut self, message: &ServerMessage) {
        match message {
            ServerMessage::GameStarted { .. } => *self = Self::default(),
            ServerMessage::Turn { turn, events } if self.turn.is_none_or(|last| *turn > last) => {
                self.turn = Some(*turn);
                self.end_turn(events);
            }
            _ => {}
        }
    }

    /// The number of robots of others that bombs of this player have destroyed, each at most once a turn.
    pub fn of(&self, player: PlayerId) -> u32 {
        self.hits.get(&player).copied().unwrap_or(0)
    }

    fn end_turn(&mut self, events: &[Event]) {
        let mut destroyed = BTreeSet::new();
        let mut hits = BTreeSet::new();
        let mut acted = None;
        for event in events {
            match event {
                Event::BombExploded { id, robots_destroyed, .. } => {
                    let owner = self.owners.remove(id);
                    destroyed.extend(robots_destroyed);
                    let others = robots_destroyed.iter().filter_map(|&hit| Some((owner?, hit)));
                    hits.extend(others.filter(|(owner, hit)| owner != hit));
                }
                Event::PlayerMoved { id, position } => {
                    self.positions.insert(*id, *position);
                    acted = Some(*id);
                }
                Event::BombPlaced { id, position } => {
                    let owner = self.actor(*position, acted, &destroyed);
                    self.owners.extend(owner.map(|owner| (*id, owner)));
                    acted = owner.or(acted);
                }
                Event::BlockPlaced { position } => acted = self.actor(*position, acted, &destroyed).or(acted),
            }
        }
        for (owner, _) in hits {
            *self.hits.entry(owner).or_default() += 1;
        }
    }

    fn actor(&self, at: Position, acted: Option<PlayerId>, destroyed: &BTreeSet<PlayerId>) -> Option<PlayerId> {
        let may_act = |id: &PlayerId| acted.is_none_or(|last| *id > last) && !destroyed.contains(id);
        self.positions.iter().filter(|(_, position)| **position == at).map(|(id, _)| *id).find(may_act)
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;

    const ANN: PlayerId = PlayerId(0);
    const BOB: PlayerId = PlayerId(1);
    const EVE: PlayerId = PlayerId(2);

    fn at(x: u16) -> Position {
        Position::new(x, 0)
    }

    fn moved(id: PlayerId, x: u16) -> Event {
        Event::PlayerMoved { id, position: at(x) }
    }

    fn placed(id: u32, x: u16) -> Event {
        Event::BombPlaced { id: BombId(id), position: at(x) }
    }

    fn exploded(id: u32, robots: &[PlayerId]) -> Event {
        Event::BombExploded { id: BombId(id), robots_destroyed: robots.to_vec(), blocks_destroyed: vec![] }
    }

    fn counter(turns: Vec<Vec<Event>>) -> HitCounter {
        let mut counter = HitCounter::default();
        for (turn, events) in (0..).zip(turns) {
            let message = ServerMessage::Turn { turn, events };
            counter.receive(&message);
            // Each player receives it.
            counter.receive(&message);
        }
        counter
    }

    #[test]
    fn hit_counts_for_the_owner_of_the_bomb_once_a_turn() {
        let counter = counter(vec![
            vec![moved(ANN, 0), moved(BOB, 1), moved(EVE, 2)],
            vec![placed(0, 0), placed(1, 1)],
            vec![placed(2, 0)],
            vec![exploded(0, &[ANN, BOB]), exploded(2, &[BOB]), exploded(1, &[EVE]), moved(ANN, 5), moved(BOB, 6)],
        ]);
        assert_eq!([ANN, BOB, EVE].map(|id| counter.of(id)), [1, 1, 0], "a robot's own destruction is no hit");
    }

    #[test]
    fn bombs_on_one_field_belong_to_robots_in_the_order_of_their_actions() {
        let counter = counter(vec![
            vec![moved(ANN, 3), moved(BOB, 3), moved(EVE, 9)],
            // Ann builds, so Bob has placed the bomb.
            vec![Event::BlockPlaced { position: at(3) }, placed(0, 3)],
            vec![exploded(0, &[EVE])],
        ]);
        assert_eq!([ANN, BOB].map(|id| counter.of(id)), [0, 1]);
    }

    #[test]
    fn next_game_starts_from_zero() {
        let mut counter =
            counter(vec![vec![moved(ANN, 0), moved(BOB, 1)], vec![placed(0, 0)], vec![exploded(0, &[BOB])]]);
        assert_eq!(counter.of(ANN), 1);
        counter.receive(&ServerMessage::GameStarted { players: BTreeMap::new() });
        assert_eq!(counter.of(ANN), 0);
    }
}
