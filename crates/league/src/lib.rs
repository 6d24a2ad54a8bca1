//! Tournaments of programs.
//!
//! Matches run on the project's own servers, in this process, over loopback. A [`Plan`] defines the players and the
//! game. The plan and a seed determine the whole draw, so a killed league resumes exactly. [`League`] plays match by
//! match and writes a line for each. [`Standings`] are a pure function of these lines, and so are the table and the
//! page.

mod bot;
mod certainty;
mod chart;
mod draw;
mod games;
mod gate;
mod hosting;
mod league;
mod page;
mod player;
mod protection;
mod rating;
mod record;
mod referee;
mod rules;
mod seen;
mod setup;
mod shared;
mod standings;
mod table;

pub use crate::{
    league::{Ending, League, Limits, check},
    protection::Protection,
    record::{Record, Seat},
    rules::Game,
    setup::{Entrant, Plan, certainty as thousandths},
    standings::Standings,
};
