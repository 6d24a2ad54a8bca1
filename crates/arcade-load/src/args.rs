//! The command line.

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand, ValueEnum};
use cmdkit::{LogArgs, whole_number};

use crate::attack;

/// Measure how many rooms and watchers this machine holds
#[derive(Debug, Parser)]
#[command(name = "arcade-load", version)]
pub(crate) struct Args {
    /// The hub's program; by default the one beside this program
    #[arg(long, value_name = "PATH", global = true)]
    arcade: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(subcommand)]
    pub(crate) measure: Measure,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Measure {
    /// Many live rooms: half robots with 4 clients each, half nuggets with 8
    Rooms(Rooms),
    /// Many browsers that watch one match of robots
    Watchers(Watchers),
    /// Starting a hub with many rooms after it was killed
    Restart(Restart),
    /// Three hubs as one arcade: the lobby, relayed players and watchers, a hub that moves its rooms and one that is killed
    Fleet(Fleet),
    /// A class behind one address that opens the page and sits down
    Class(Class),
    /// All attacks at once beside eight innocent players of every kind; status 1 if they notice more than they may
    Attack(attack::Options),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Rooms {
    /// How many rooms
    #[arg(long = "rooms", value_name = "N", default_value_t = 1_000, value_parser = whole_number(2..=3_000_u32, 1_000))]
    pub(crate) count: u32,

    /// Turns of a match of robots, ten a second
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(10..=10_000_u16, 1_000))]
    pub(crate) turns: u16,

    /// Pages that look at the lobby in the second half of the time
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number(0..=2_000_u32, 200))]
    pub(crate) pages: u32,

    /// Measure bare loops too that receive and send the same messages, without a hub
    #[arg(long)]
    pub(crate) floor: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Watchers {
    /// How many browsers
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=2_000_u32, 1_000))]
    pub(crate) watchers: u32,

    /// Turns of the match, ten a second
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = whole_number(10..=10_000_u16, 300))]
    pub(crate) turns: u16,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Restart {
    /// How many rooms, each with a journal
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=1_000_u32, 1_000))]
    pub(crate) rooms: u32,

    /// Messages that each room receives before the hub is killed
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(2..=100_000_u32, 1_000))]
    pub(crate) arrivals: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Class {
    /// How many pupils
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = whole_number(1..=1_000_u32, 60))]
    pub(crate) pupils: u32,
}

/// What is measured of several hubs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// From opening a room to the pages of all hubs.
    Lobby,
    /// From a key of a browser to its display, at the hub of the room and at another one.
    Relay,
    /// From a turn to the last browser that watches at another hub.
    Watchers,
    /// How long the players of a hub hear nothing when its rooms move away.
    Move,
    /// How long it takes until the rooms of a killed hub are at others.
    Kill,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Fleet {
    /// NATS servers with JetStream
    #[arg(long, value_name = "ADDRESSES")]
    pub(crate) nats: String,

    /// The PostgreSQL database for the results
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) database: String,

    /// Rooms of all hubs together, which are there all the time
    #[arg(long, value_name = "N", default_value_t = 3_000, value_parser = whole_number(6..=6_000_u32, 3_000))]
    pub(crate) rooms: u32,

    /// Browsers that watch a match at another hub
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=2_000_u32, 1_000))]
    pub(crate) watchers: u32,

    /// Keys that each browser presses, and rooms that are opened while pages look at the lobby
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = whole_number(10..=10_000_u32, 500))]
    pub(crate) keys: u32,

    /// Measure only these parts
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    pub(crate) only: Vec<Part>,

    /// The durability of rooms, as the hubs' own option
    #[arg(long, value_name = "WHAT")]
    pub(crate) durability: Option<String>,
}

impl Args {
    /// The hub's program, if it was named.
    pub(crate) fn hub(&self) -> Option<&Path> {
        self.arcade.as_deref()
    }
}
