//! What all servers do in the same way once their arguments are read.
//!
//! - [`host`] hosts one match: sockets, signals, the announcement, the loop, logs, standard output and the journal.
//!   [`Hosting`] says where and how, [`Announce`] what people and programs are told.
//! - [`JournalArgs`] are the options about journals; [`JournalArgs::open`] gives the [`Match`] to host, a new one or a
//!   resumed one.
//! - [`Sockets`] are the sockets of a room over a [`Wire`], and [`Reach`] describes how others reach them.

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
