//! Scenarios that are played beside others.

use super::{Judge, Played};
use crate::rule::Rule;

type Play<'s> = Box<dyn FnOnce(&mut Judge) -> Played + Send + 's>;

/// A scenario for [`Judge::side_by_side`].
pub(crate) struct Scene<'s> {
    pub(super) name: &'static str,
    /// The rules that it is meant to show; empty if it may show any.
    pub(super) meant_for: Vec<&'static str>,
    pub(super) run: Play<'s>,
}

/// A scenario of this name that may show any rule.
pub(crate) fn scene<'s>(name: &'static str, run: impl FnOnce(&mut Judge) -> Played + Send + 's) -> Scene<'s> {
    Scene { name, meant_for: Vec::new(), run: Box::new(run) }
}

impl Scene<'_> {
    /// Says which rules it is meant to show. `--only` leaves it out unless one of them is asked for.
    pub(crate) fn shows(mut self, rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        self.meant_for = rules.into_iter().map(|rule| rule.id).collect();
        self
    }
}
