//! Plans, and checks in parallel.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::{sync::Mutex, thread, time::Duration};

use conformance::{Options, Plan, Rule, Tester};

pub(crate) fn plan(millis: u64) -> Plan {
    Plan::from(Options { patience: Duration::from_millis(millis), ..Options::default() })
}

pub(crate) const AT_ONCE: usize = 6;

pub(crate) fn in_parallel<T: Send>(at_once: usize, items: Vec<T>, check: impl Fn(T) + Sync) {
    let open = Mutex::new(items.into_iter());
    let next = || open.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(item) = next() {
                    check(item);
                }
            });
        }
    });
}

pub(crate) fn side_by_side<T: Copy + Send>(items: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    in_parallel(AT_ONCE, items.into_iter().collect(), check);
}

pub(crate) fn only<'a>(tester: &Tester, ids: impl IntoIterator<Item = &'a str>) -> Vec<&'static Rule> {
    let known = |id| tester.rule(id).unwrap_or_else(|| panic!("a {} has no rule {id}", tester.kind));
    ids.into_iter().map(known).collect()
}
