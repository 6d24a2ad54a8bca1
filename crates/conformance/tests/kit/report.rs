//! Reports: what they say, in which formats, and what the user can choose of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

mod conversation;
mod formats;
mod plan;
