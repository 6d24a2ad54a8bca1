//! Tournaments of programs over loopback, on the project's own servers in this process.
//!
//! The [`Plan`] and a seed determine the whole draw, so a killed league resumes exactly. [`League`] plays match by
//! match and writes a line for each. [`Standings`] are a pure function of these lines, and so are the table and the
//! page.

#![allow(missing_docs, reason = "the library serves the program of this crate")]

mod bot;
mod certainty;
mod chart;
mod draw;
mod games;
mod gate;
mod hosting;
mod league;
mod observer;
mod page;
mod player;
mod protection;
mod rating;
mod record;
mod referee;
mod rules;
mod setup;
mod standings;
mod table;

pub use crate::{
    league::{EndReason, League, Limits, check},
    protection::Protection,
    record::{Record, Seat},
    rules::Game,
    setup::{Entrant, Plan},
    standings::Standings,
};
