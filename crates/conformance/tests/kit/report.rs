//! Reports: their content, their formats and the user's options.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

mod conversation;
mod formats;
mod plan;
