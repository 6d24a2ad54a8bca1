//! Reports: their content, their formats and the user's options.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

mod conversation;
mod formats;
mod plan;
