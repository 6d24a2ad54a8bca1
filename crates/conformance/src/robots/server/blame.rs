//! Which rule a deviation costs.
//!
//! A deviation breaks one rule. In a scenario that is meant for a detail, that is the rule of the detail if it can lead to the deviation,
//! unless the general rule was broken before. In other scenarios it is the general rule, unless a detail of it was broken before.

use super::rules::{
    ACCEPTED, BLAST, BLOCK, BLOCK_ON_BOTH, BLOCK_STOPS, BLOCK_TWICE, BLOCKS_UNDER_ROBOTS, BOMB, BOMB_OF_LEAVER,
    BOMB_TIMER, BOMBS_ON_ONE, BOTH_BLOCK, BUSY, DEAD_ACT, DRAWS, EDGE, ENDED, FAR_EDGE, FREED, GAME_STARTED, HELLO,
    IMPOSSIBLE, INTO_BLOCK, LAST_COUNTS, LATE, LEAVE_BLOCK, LEAVER, LISTED_ONCE, MOVE, NEWCOMER, NEXT_SCORES, NO_CHAIN,
    OBSERVER, ON_BOMBED_BLOCK, OVER_BOMBS, OWN_EVENTS, PLAYED_ONCE, REBIRTH, REBIRTH_ON_BLOCK, SCORES, SHARED_FIELD,
    SHELTER, STOOD, TIMER_ONE, TURN_NUMBERS, UNITED, ZERO_RADIUS,
};
use crate::{judge::Judge, robots::context::Context, rule::Rule};

/// General rules, each with the details of it that its scenarios show too.
const DETAILS: [(&Rule, &[&Rule]); 9] = [
    (&BLAST, &[&SHELTER, &ON_BOMBED_BLOCK, &STOOD, &LISTED_ONCE, &ZERO_RADIUS]),
    (&UNITED, &[&BLAST, &SHELTER, &ON_BOMBED_BLOCK, &STOOD, &LISTED_ONCE]),
    (&BOMB_TIMER, &[&TIMER_ONE, &BOMBS_ON_ONE, &NO_CHAIN, &BOMB_OF_LEAVER]),
    (&DRAWS, &[&REBIRTH_ON_BLOCK, &BLOCKS_UNDER_ROBOTS]),
    (&SCORES, &[&NEXT_SCORES]),
    (&LEAVER, &[&PLAYED_ONCE, &OWN_EVENTS, &BUSY]),
    (&OBSERVER, &[&PLAYED_ONCE, &OWN_EVENTS, &BUSY]),
    (&DEAD_ACT, &[&PLAYED_ONCE]),
    (&BUSY, ACTIONS),
];

/// What a turn of the busy game shows of the players' actions.
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

/// General rules whose breach says nothing of a detail.
const HARMLESS: [&Rule; 2] = [&PLAYED_ONCE, &OWN_EVENTS];

impl Context<'_> {
    /// The rule that a deviation costs which usually breaks `general`.
    pub(super) fn blamed(&self, judge: &Judge, general: &'static Rule) -> &'static Rule {
        let Some(focus) = self.focus else {
            let details = DETAILS.iter().filter(|(rule, _)| *rule == general).flat_map(|(_, details)| *details);
            return details.copied().find(|rule| judge.has_failed(rule)).unwrap_or(general);
        };
        // The lobby and the numbers of turns do not depend on the details of a game, but what other clients do may stop them.
        let is_lobby = [&ACCEPTED, &NEWCOMER, &GAME_STARTED, &TURN_NUMBERS, &LATE, &ENDED].contains(&general);
        let is_network = focus.page.ends_with("#a-server-and-the-network");
        let is_hello = *general == HELLO && !focus.page.ends_with("#messages");
        let is_general = (is_lobby || is_hello) && !is_network || judge.has_failed(general);
        if is_general { general } else { focus }
    }

    /// Notes whether a general rule was kept. A deviation costs the rule that is to blame.
    pub(super) fn check(
        &self,
        judge: &mut Judge,
        general: &'static Rule,
        kept: bool,
        wrong: impl FnOnce() -> String,
    ) -> bool {
        let rule = if kept { general } else { self.blamed(judge, general) };
        judge.check(rule, kept, wrong)
    }

    /// As [`Context::check`], of the events of a turn. What is right in a scenario for a detail shows nothing else.
    pub(super) fn check_turn(
        &self,
        judge: &mut Judge,
        general: &'static Rule,
        kept: bool,
        wrong: impl FnOnce() -> String,
    ) -> bool {
        if kept && self.focus.is_some() {
            return true;
        }
        let rule = if kept { general } else { self.blamed_turn(judge, general) };
        judge.check(rule, kept, wrong)
    }

    /// As [`Context::blamed`], of the events of a turn. Those that are known to be wrong leave a detail untested.
    fn blamed_turn(&self, judge: &Judge, general: &'static Rule) -> &'static Rule {
        let blamed = self.blamed(judge, general);
        let draws = *general == DRAWS && self.focus.is_none_or(|focus| !focus.page.ends_with("#draws"));
        if self.focus.is_some_and(|focus| focus != blamed) && !HARMLESS.contains(&general) && !draws {
            // The first one counts.
            let _ = self.hidden_by.set(blamed);
        }
        blamed
    }
}
