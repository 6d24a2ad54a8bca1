//! The public interface, on SQLite and, if `.ci/with-postgres` has started a server, on PostgreSQL.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

mod boards;
mod challenges;
mod copy;
mod faults;
mod migration;
mod refusals;
mod results;
mod support;
