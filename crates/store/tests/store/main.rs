//! The crate as the hub uses it, on SQLite and, where `ARCADE_TEST_POSTGRES` is the address of a server, on PostgreSQL.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

// What counts on boards, and what does not.
mod boards;
// Copies between databases of both kinds.
mod copy;
// Files that cannot grow for a while.
#[cfg(target_os = "linux")]
mod full;
// Databases of earlier and later versions.
mod migration;
// What a host is told when the database cannot be used.
mod refusals;
// Matches, names, journals and seats, stored and asked for.
mod results;
mod support;
