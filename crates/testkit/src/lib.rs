//! What tests share. Nothing that is handed to people links this crate.
//!
//! - [`net`]: a pretend network around the real host. A room and its clients in one thread, in virtual time, over datagrams,
//!   streams and messages; what is lost, doubled, cut, late or broken off is decided by a seed.
//! - [`disk`]: a pretend disk, which tears, loses and reorders what was not synced, fills up, fails and lies.
//! - [`simulation`]: whole matches with a journal, whose server is killed and goes on with it, from one seed.
//! - [`seeds`]: runs a test over many seeds and says which one failed, so that it can be played again.
//! - [`process`]: real programs, with a deadline on everything that is waited for, and none left behind.
//! - [`terminal`]: real programs in a terminal of their own, and what is on its screen.
//! - [`measured`]: servers whose cost is measured, for benches.
//! - [`peer`] and [`stream`]: one end of a conversation over a real socket, by datagrams or on a connection.
//! - [`hostile`]: what nobody should send.
//! - [`properties`]: what holds for any input; fuzz targets and plain tests call the same functions.
//! - [`TempDir`]: a directory that goes when the test does.
//!
//! Helpers fail by panicking with what they waited for and what came instead: that is a test's way to fail.
//!
//! ```
//! use std::{net::SocketAddr, sync::Arc};
//! use netcore::Time;
//! use nuggets::{Client, Grid, Name, Part, Server, server::Config};
//! use testkit::net::{Conditions, Net};
//!
//! let (grid, _) = Grid::parse(b"+---+\n|...|\n+---+\n")?;
//! let server = Server::new(Arc::new(grid), Config::default())?;
//! let mut net = Net::new(server, 1, Conditions::CALM);
//! let ann: SocketAddr = "10.0.0.1:5000".parse()?;
//! net.add(ann, Client::new(Part::Player(Name::new(b"Ann").unwrap()), Time::ZERO));
//! net.settle();
//! assert_eq!(net.client(ann).letter().unwrap().byte(), b'A');
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![allow(clippy::missing_panics_doc, reason = "every helper here panics when a test fails")]

pub mod disk;
pub mod hostile;
pub mod measured;
pub mod net;
pub mod peer;
#[cfg(unix)]
pub mod process;
pub mod properties;
pub mod seeds;
pub mod simulation;
pub mod stream;
mod temp_dir;
#[cfg(unix)]
pub mod terminal;

use std::time::Duration;

pub use temp_dir::TempDir;

/// How long anything real is waited for. Far above what it takes even on a busy machine: reached only when it never
/// comes.
pub const PATIENCE: Duration = Duration::from_secs(30);
