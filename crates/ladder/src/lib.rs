//! A ladder for programs: they connect, wait, are paired by rating, play a match, and reconnect.
//!
//! [`Ladder`] is a state machine for one game. Inputs report connections, requests, answers and disconnections. Outputs
//! start matches and report forfeits. It has no clock and no socket, and does not know the rules of the game.
//! `tests/ladder/days.rs` runs it for days of simulated time.
//!
//! ```
//! use ladder::{Input, Ladder, Output, ProgramId, Seat, Settings};
//! use netcore::{HostId, Time};
//!
//! let mut ladder = Ladder::new(Settings::default());
//! let mut connect = |name: &str, number| {
//!     let host = HostId::of("192.0.2.1:1");
//!     let input = Input::Connected { program: ProgramId(number), name: name.into(), host, rating: 1_000 };
//!     ladder.input(Time::ZERO, input)
//! };
//! assert_eq!(connect("Ann", 1), []);
//! let [Output::Start { seats, .. }] = connect("Bob", 2)[..] else { panic!("they are a pair") };
//! assert_eq!(seats, [Seat::Program(ProgramId(1)), Seat::Program(ProgramId(2))]);
//! ```
#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

mod ladder;
mod latency;
mod pairing;
mod records;
mod settings;

pub use crate::{
    ladder::{Forfeit, Input, Ladder, MatchId, Output, Playing, Rejection},
    latency::{Latency, LatencyMeter},
    pairing::{ProgramId, Seat, Waiting},
    records::MAX_RECORDS,
    settings::{FIXED, SILENCE, Settings},
};
