//! Judges the DISPLAYs of players.

use nuggets::{
    Letter,
    grid::{Cell, PASSAGE, ROCK, ROOM},
};

use super::{
    party::{Deed, Party},
    rules,
    settle::{Observation, cells},
    world::World,
};
use crate::rule::Rule;

/// A rule that cells of a view break, and the rule that they break instead unless another observation breaks the first.
type Breach = (&'static Rule, Option<&'static Rule>);

/// A rule with the number of cells that break it, and the first of them with the expected and the shown byte.
type Differences = (Breach, u32, (Cell, u8, u8));

impl Party<'_> {
    /// Judges the last DISPLAY of a player at `own`. One error of sight has many effects. It breaks the other rules of
    /// this picture only if no other observation shows that sight is wrong.
    pub(super) fn observe_view(
        &self,
        found: &mut Vec<Observation>,
        deed: &Deed<'_>,
        text: &str,
        world: &World,
        (letter, own, number): (Letter, Cell, usize),
    ) {
        let display = &self.clients[number].display;
        let (board, truth) = (world.board(), self.true_board());
        let is_true = |cell: Cell, byte: u8| truth.is_some_and(|truth| truth.get(cell.index()) == Some(&byte));
        let is_pushed = deed.pushed.contains(&letter);
        let in_passage = world.grid.at(own) == PASSAGE;
        let of_passages: Breach = (&rules::SIGHT, Some(&rules::PASSAGE_SIGHT));
        let of_rooms: Breach = (&rules::SIGHT, None);
        let sight = if in_passage { of_passages } else { of_rooms };
        // Cells that are out of sight here may have been seen on the way, or past a player in a passage.
        let is_by_passage = world.came_by_passage(letter) || world.is_other_in_passage(letter);
        let afar = if is_by_passage { of_passages } else { of_rooms };
        // A server that hides a pile which is out of sight considers the cells that it shows visible.
        let hides = world.piles.iter().any(|&pile| {
            world.knows(letter, pile) && !world.sees(letter, pile) && display.get(pile.index()) != Some(&b'*')
        });
        let mut wrong: Vec<Differences> = Vec::new();
        for ((cell, right), &got) in cells(&board).zip(display).filter(|((_, right), _)| *right != b'\n') {
            let (ground, trace) = (world.grid.at(cell), world.trace(letter, cell));
            let (right, breach): (u8, Option<Breach>) = if cell == own {
                let is_covered =
                    got == b'*' || Letter::from_byte(got).is_some_and(|other| world.cell(other) == Some(own));
                let is_drawn = truth.is_some_and(|truth| truth.get(own.index()) == Some(&letter.byte()));
                (
                    b'@',
                    (got != b'@' && (!is_covered || is_drawn && !world.piles.contains(&own)))
                        .then_some((&rules::OWN, None)),
                )
            } else if got == b'@' {
                (right, Some((&rules::OWN, None)))
            } else if world.sees(letter, cell) {
                // Without a spectator, gold and other players are known only from this DISPLAY.
                let is_new = truth.is_none() && is_occupant(got) && right == ROOM;
                let is_right = got == right || is_true(cell, got) || is_new;
                let breach = if is_pushed && got == ROCK { (&rules::SIGHT, Some(&rules::PUSHED)) } else { sight };
                (right, (!is_right).then_some(breach))
            } else if got == ROCK {
                let breach = if ground == ROCK || !trace.is_known() {
                    None
                } else if trace.is_new {
                    Some((&rules::SIGHT, Some(if trace.is_by_push { &rules::PUSHED } else { &rules::MEMORY })))
                } else if trace.is_by_push {
                    Some((&rules::MEMORY, Some(&rules::PUSHED)))
                } else {
                    Some((&rules::MEMORY, None))
                };
                (ground, breach)
            } else if !trace.is_known() && !trace.was_shown {
                (ROCK, Some(afar))
            } else if is_occupant(got) {
                let is_there = is_true(cell, got) || truth.is_none() && board.get(cell.index()) == Some(&got);
                let breach = if !is_there {
                    Some((&rules::STALE, None))
                } else if trace.shown != got && hides {
                    Some(afar)
                } else {
                    (!in_passage).then_some((&rules::SIGHT, Some(&rules::STALE)))
                };
                (ground, breach)
            } else {
                (ground, (got != ground).then_some((&rules::MEMORY, None)))
            };
            let Some(breach) = breach else { continue };
            match wrong.iter_mut().find(|(other, ..)| *other == breach) {
                Some((_, count, _)) => *count += 1,
                None => wrong.push((breach, 1, (cell, right, got))),
            }
        }
        let mut kept = vec![&rules::OWN, if in_passage { &rules::PASSAGE_SIGHT } else { &rules::SIGHT }];
        if world.remembers(letter) {
            kept.extend([&rules::MEMORY, &rules::STALE]);
        }
        if is_pushed {
            kept.push(&rules::PUSHED);
        }
        kept.retain(|rule| wrong.iter().all(|((broken, instead), ..)| broken != rule && *instead != Some(*rule)));
        found.extend(kept.into_iter().map(|rule| Observation::new(rule, number, true, String::new)));
        found.extend(wrong.into_iter().map(|((rule, instead), count, (cell, right, got))| {
            let more = if count > 1 { format!(" ({count} such spots)") } else { String::new() };
            let wrong = format!(
                "player {letter} at {}, after {text}: expected '{}' at {}, received '{}'{more}",
                world.grid.position(own),
                right.escape_ascii(),
                world.grid.position(cell),
                got.escape_ascii()
            );
            Observation::either(rule, instead, number, wrong)
        }));
    }
}

const fn is_occupant(byte: u8) -> bool {
    matches!(byte, b'*' | b'A'..=b'Z')
}
