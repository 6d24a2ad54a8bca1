//! The parts that all servers share once their arguments are parsed.
//!
//! - [`host`] hosts one match, as [`Hosting`] configures it and [`Announce`] announces it.
//! - [`JournalArgs`] are the options for journals; [`JournalArgs::open`] returns the [`Match`] to host.
//! - [`Sockets`] are the sockets of a room over a [`Wire`], and [`Reach`] describes how clients reach them.

#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

mod host;
mod journal_args;
mod narrator;
mod reach;
mod sockets;

pub use crate::{
    host::{Announce, Hosting, host},
    journal_args::{JournalArgs, Match},
    reach::Reach,
    sockets::{Sockets, Wire},
};
