//! Tournaments of programs.
//!
//! Matches are played on our own servers, in this process, over loopback. A [`Plan`] says who plays what; from it and a seed follows
//! the whole draw, so that a league that was killed goes on exactly. [`League`] plays match by match and writes a line for
//! each; [`Standings`] are a pure function of these lines, and so are the table and the page.

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
