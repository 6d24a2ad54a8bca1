//! Tests of the public interface, on SQLite and, if `ARCADE_TEST_POSTGRES` is the address of a server, on PostgreSQL.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

// What counts on boards, and what does not.
mod boards;
// Copies between databases of both kinds.
mod copy;
// Files that cannot grow, connections that break, and callers that are cancelled.
mod faults;
// Databases of earlier and later versions.
mod migration;
// Errors for operators when the database cannot be used.
mod refusals;
// Storing and querying matches, names, journals and seats.
mod results;
mod support;
