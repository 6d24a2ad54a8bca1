//! Plans, and checks in parallel.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::{thread, time::Duration};

use conformance::{Options, Plan, Rule, Tester};

pub(crate) fn plan(millis: u64) -> Plan {
    Plan::from(Options { patience: Duration::from_millis(millis), ..Options::default() })
}

/// A few at a time, since checks mostly wait.
pub(crate) fn side_by_side<T: Copy + Send + Sync>(items: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    let items: Vec<T> = items.into_iter().collect();
    for some in items.chunks(3) {
        thread::scope(|scope| {
            for &item in some {
                let check = &check;
                scope.spawn(move || check(item));
            }
        });
    }
}

pub(crate) fn only<'a>(tester: &Tester, ids: impl IntoIterator<Item = &'a str>) -> Vec<&'static Rule> {
    let known = |id| tester.rule(id).unwrap_or_else(|| panic!("a {} has no rule {id}", tester.kind));
    ids.into_iter().map(known).collect()
}
