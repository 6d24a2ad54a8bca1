//! A deviation breaks one rule. Errors of the lobby, the clock or the generator occur in every scenario and break the
//! general rule. In a scenario for a detail, an error in a turn breaks the detail's rule, unless the general rule was
//! broken before. In other scenarios it breaks the general rule, unless one of its details was broken before.

use super::{
    ACCEPTED, BLAST, BLOCK, BLOCK_ON_BOTH, BLOCK_STOPS, BLOCK_TWICE, BLOCKS_UNDER_ROBOTS, BOMB, BOMB_OF_LEAVER,
    BOMB_TIMER, BOMBS_ON_ONE, BOTH_BLOCK, BUSY, DEAD_ACT, DRAWS, EDGE, ENDED, FAR_EDGE, FREED, GAME_STARTED, HELLO,
    IMPOSSIBLE, INTO_BLOCK, LARGE_BOARD, LAST_COUNTS, LATE, LEAVE_BLOCK, LEAVER, LISTED_ONCE, LISTENS, MANY_CLIENTS,
    MOVE, NEWCOMER, NEXT_GAME, NEXT_SCORES, NO_CHAIN, NOT_RESET, OBSERVER, ON_BOMBED_BLOCK, OVER_BOMBS, OWN_EVENTS,
    PLAYED_ONCE, REBIRTH, REBIRTH_ON_BLOCK, SCORES, SHARED_FIELD, SHELTER, STOOD, TIMER_ONE, TURN_0, TURN_DURATION,
    TURN_NUMBERS, UNITED, WIDE_BLAST, ZERO_RADIUS,
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    robots::context::Context,
    rule::Rule,
};

/// General rules, each with the details that its scenarios also observe.
const DETAILS: [(&Rule, &[&Rule]); 11] = [
    (&BLAST, &[&SHELTER, &ON_BOMBED_BLOCK, &STOOD, &LISTED_ONCE, &ZERO_RADIUS]),
    (&UNITED, &[&BLAST, &SHELTER, &ON_BOMBED_BLOCK, &STOOD, &LISTED_ONCE]),
    (&BOMB_TIMER, &[&TIMER_ONE, &BOMBS_ON_ONE, &NO_CHAIN, &BOMB_OF_LEAVER]),
    (&DRAWS, &[&REBIRTH_ON_BLOCK, &BLOCKS_UNDER_ROBOTS]),
    (&SCORES, &[&NEXT_SCORES]),
    (&LEAVER, &[&PLAYED_ONCE, &OWN_EVENTS, &BUSY]),
    (&OBSERVER, &[&PLAYED_ONCE, &OWN_EVENTS, &BUSY]),
    (&DEAD_ACT, &[&PLAYED_ONCE]),
    (&BUSY, ACTIONS),
    (&LATE, &[&MANY_CLIENTS]),
    (&HELLO, &[&MANY_CLIENTS]),
];

const ACTIONS: &[&Rule] = &[
    &MOVE,
    &EDGE,
    &FAR_EDGE,
    &INTO_BLOCK,
    &BLOCK,
    &BLOCK_TWICE,
    &BOMB,
    &LEAVE_BLOCK,
    &OVER_BOMBS,
    &SHARED_FIELD,
    &BLOCK_ON_BOTH,
    &BLOCK_STOPS,
    &BOTH_BLOCK,
    &FREED,
    &DEAD_ACT,
    &REBIRTH,
    &REBIRTH_ON_BLOCK,
    &LAST_COUNTS,
    &IMPOSSIBLE,
    &PLAYED_ONCE,
    &OWN_EVENTS,
];

/// A detail of a game cannot be the cause of these breaches.
const ALWAYS_GENERAL: [&Rule; 6] = [&NEXT_GAME, &NOT_RESET, &TURN_0, &TURN_DURATION, &LEAVER, &MANY_CLIENTS];
/// Only the network can make a server break these rules.
const LOBBY: [&Rule; 6] = [&ACCEPTED, &NEWCOMER, &GAME_STARTED, &TURN_NUMBERS, &LATE, &ENDED];
/// A breach of these general rules in a turn does not affect a detail.
const HARMLESS: [&Rule; 4] = [&PLAYED_ONCE, &OWN_EVENTS, &HELLO, &LISTENS];
/// Besides the details on the page about draws, only draws can show these.
const OF_DRAWS: [&Rule; 4] = [&BLOCKS_UNDER_ROBOTS, &REBIRTH_ON_BLOCK, &LARGE_BOARD, &WIDE_BLAST];

impl Context<'_> {
    /// Returns the rule that a deviation breaks, usually `general`.
    pub(super) fn attributed(&self, judge: &Judge, general: &'static Rule) -> &'static Rule {
        let details = DETAILS.iter().filter(|(rule, _)| *rule == general).flat_map(|(_, details)| *details);
        let broken = details.copied().find(|rule| judge.has_failed(rule)).unwrap_or(general);
        let Some(focus) = self.focus else { return broken };
        let is_of = |section: &str| focus.page.ends_with(section);
        let is_draw = *general == DRAWS && !is_of("#draws") && !OF_DRAWS.contains(&focus);
        let is_apart = is_draw
            || ALWAYS_GENERAL.contains(&general)
            || !is_of("#a-server-and-the-network")
                && (LOBBY.contains(&general) || *general == HELLO && !is_of("#messages"));
        if is_apart {
            return broken;
        }
        if judge.has_failed(general) {
            if focus != general && !LOBBY.contains(&general) && !HARMLESS.contains(&general) {
                // Only the first one is stored.
                let _ = self.hidden_by.set(general);
            }
            return general;
        }
        focus
    }

    /// Ends a scenario for a detail that a breach of `general` hides.
    pub(super) fn needs(&self, judge: &Judge, general: &'static Rule) -> ScenarioResult {
        if judge.has_failed(general) {
            let _ = self.hidden_by.set(general);
            return Err(Halt::Broken);
        }
        Ok(())
    }

    /// Records an observation of a general rule, or of the one to blame. In a scenario for a detail, correct behavior
    /// is no observation of other rules.
    pub(super) fn check(
        &self,
        judge: &mut Judge,
        general: &'static Rule,
        kept: bool,
        wrong: impl FnOnce() -> String,
    ) -> bool {
        if kept {
            return self.focus.is_some() || judge.check(general, true, wrong);
        }
        let rule = self.attributed(judge, general);
        judge.check(rule, false, wrong)
    }
}
