//! Scenarios that are played in parallel.

use super::{Judge, Played};
use crate::rule::Rule;

type Play<'s> = Box<dyn FnOnce(&mut Judge) -> Played + Send + 's>;

/// A scenario for [`Judge::side_by_side`].
pub(crate) struct Scene<'s> {
    pub(super) name: &'static str,
    /// The rules that it is designed to observe. If there are none, it may observe any rule.
    pub(super) meant_for: Vec<&'static str>,
    pub(super) run: Play<'s>,
}

/// A scenario with this name that may observe any rule.
pub(crate) fn scene<'s>(name: &'static str, run: impl FnOnce(&mut Judge) -> Played + Send + 's) -> Scene<'s> {
    Scene { name, meant_for: Vec::new(), run: Box::new(run) }
}

impl Scene<'_> {
    /// Sets the rules that the scenario is designed to observe. With `--only`, it is skipped unless one of them is
    /// selected.
    pub(crate) fn shows(mut self, rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        self.meant_for = rules.into_iter().map(|rule| rule.id).collect();
        self
    }
}
