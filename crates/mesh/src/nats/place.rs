//! The address of the broker and its storage limits.

use crate::{Name, TAKEN_SECONDS};

/// The address of the broker and its storage limits.
#[derive(Debug, Clone)]
pub struct BrokerSettings {
    /// Addresses of servers of one cluster: `nats://HOST:PORT`, or `nats://USER:PASSWORD@HOST:PORT` with a user and a
    /// password. `tls://` encrypts. One reachable server is enough.
    pub servers: Vec<String>,
    /// The prefix of stream names. Arcades with different prefixes can share a broker without sharing data.
    pub prefix: Name,
    /// The storage limits.
    pub limits: Limits,
}

/// Storage limits of the broker, in bytes on each of its disks.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The limit of the directory.
    pub directory_bytes: i64,
    /// The limit of events. If it is reached, the oldest are dropped.
    pub events_bytes: i64,
    /// The limit of journals. If it is reached, appends are rejected.
    pub journals_bytes: i64,
    /// The limit of results. If it is reached, new results are rejected.
    pub results_bytes: i64,
    /// The number of replicas: 1, or 3 with three servers or more. The default depends on the servers.
    pub copies: Option<usize>,
    /// How long a consumer has exclusive access to a result, in seconds.
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
