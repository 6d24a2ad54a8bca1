//! Follows a room of an arcade of several hubs to another one.

use std::{future, net::SocketAddr, sync::Arc, time::Duration};

use cmdkit::{Directory, FOLLOW, Pace};
use netcore::Time;
use nuggets::client::GIVE_UP;
use tokio::task::{JoinHandle, spawn_blocking};

/// After how long without a word of the server the directory is asked. A server says nothing while nothing happens, so this is no
/// trouble yet.
const QUIET: Duration = Duration::from_secs(5);

/// Asks the directory, one question at a time.
#[derive(Debug)]
pub(crate) struct Follow {
    directory: Arc<Directory>,
    asking: Option<JoinHandle<Result<Vec<SocketAddr>, String>>>,
    pace: Pace,
    not_before: Time,
    /// What the directory has said last instead of an address.
    trouble: Option<String>,
}

impl Follow {
    pub(crate) fn new(directory: Arc<Directory>) -> Self {
        Self { directory, asking: None, pace: Pace::default(), not_before: Time::ZERO, trouble: None }
    }

    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// When to ask, of a server that was heard last at `heard` and whose port may be `closed`; not while a question is open.
    pub(crate) fn due(&self, now: Time, heard: Time, closed: bool) -> Option<Time> {
        let wanted = if closed { now } else { heard.plus(QUIET) };
        self.asking.is_none().then(|| wanted.max(self.not_before))
    }

    /// Takes in that the server was heard.
    pub(crate) fn heard(&mut self) {
        self.pace = Pace::default();
        self.trouble = None;
    }

    /// Asks, within a runtime.
    pub(crate) fn ask(&mut self, now: Time) {
        self.not_before = now.plus(self.pace.pause());
        let directory = Arc::clone(&self.directory);
        // Hubs are waited for, and the system's resolver blocks.
        self.asking = Some(spawn_blocking(move || {
            let place = directory.find()?;
            place.resolve().map_err(|error| format!("{error:#}"))
        }));
    }

    /// Waits for the answer: where the server is now. For ever if nothing was asked. Dropping it before it is done loses nothing.
    pub(crate) async fn answer(&mut self) -> Option<Vec<SocketAddr>> {
        let Some(asking) = &mut self.asking else { return future::pending().await };
        let answer = asking.await;
        self.asking = None;
        match answer.unwrap_or_else(|error| Err(format!("the search for the room broke: {error}"))) {
            Ok(addresses) => {
                self.trouble = None;
                Some(addresses)
            }
            Err(why) => {
                self.trouble = Some(why);
                None
            }
        }
    }
}

/// How long a server is waited for whose port is closed.
pub(crate) const fn patience(follows: bool) -> Duration {
    if follows { FOLLOW } else { GIVE_UP }
}

/// Waits for the answer of a directory, if there is one.
pub(crate) async fn answer(follow: Option<&mut Follow>) -> Option<Vec<SocketAddr>> {
    match follow {
        Some(follow) => follow.answer().await,
        None => future::pending().await,
    }
}
