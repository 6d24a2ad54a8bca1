//! The interface for programs and for the page: results, players, replays and names as JSON.

pub(crate) mod views;
