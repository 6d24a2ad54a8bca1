//! Where the broker is, and how much it is to keep.

use crate::{Name, TAKEN_SECONDS};

/// Where the broker is.
#[derive(Debug, Clone)]
pub struct Place {
    /// Addresses of servers of one cluster, `nats://HOST:PORT` or with a user and a password `nats://USER:PASSWORD@HOST:PORT`;
    /// `tls://` encrypts. One that answers is enough.
    pub servers: Vec<String>,
    /// With what the names of streams begin: arcades with different prefixes share a broker and nothing else.
    pub prefix: Name,
    /// How much is kept.
    pub limits: Limits,
}

/// How much the broker keeps, in bytes on each of its disks.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Of the directory.
    pub directory_bytes: i64,
    /// Of events; then the oldest go.
    pub events_bytes: i64,
    /// Of journals; then nothing more is stored.
    pub journals_bytes: i64,
    /// Of results; then nothing more is stored.
    pub results_bytes: i64,
    /// How many copies there are of everything: 1, or 3 with three servers or more. By default what the servers can do.
    pub copies: Option<usize>,
    /// How long a consumer has a result to itself, in seconds.
    pub taken_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            directory_bytes: 64 << 20,
            events_bytes: 256 << 20,
            journals_bytes: 4 << 30,
            results_bytes: 64 << 20,
            copies: None,
            taken_seconds: TAKEN_SECONDS,
        }
    }
}
