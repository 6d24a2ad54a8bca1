//! How a room begins: with a new engine and a new journal, or where its journal ends.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::Context as _;
use bytes::Bytes;
use journal::{JournalEnd, Parts, Resumable, ResumeError, find};
use netcore::{Hosted, Link, Occupant, PeerId, Recorded, Status, Time};
use netshell::Host;
use tokio::sync::watch;
use tracing::warn;

use crate::{
    fuse::{Broken, Fuse},
    games::{Engine, Game, Options},
    room::{Info, Place, Published},
};

/// How long to wait for a program that reads the journal just now, in pauses of [`PAUSE`].
const PATIENCE: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// A host without transports, and the state that it starts from.
pub(crate) struct Begun {
    /// Makes the host, once it is known whom to tell of its status.
    pub(crate) host: Box<dyn FnOnce(Arc<watch::Sender<Info>>) -> Host + Send>,
    /// Whether its engine has panicked.
    pub(crate) broken: Broken,
    pub(crate) journal: PathBuf,
    pub(crate) end: JournalEnd,
    pub(crate) status: Status,
    /// What is there of an earlier run, if it is resumed.
    pub(crate) before: Option<Before>,
}

/// What an earlier run of a room has left.
pub(crate) struct Before {
    /// The time at which it stopped.
    pub(crate) at: Time,
    pub(crate) peers: Vec<(PeerId, Link, SocketAddr)>,
    pub(crate) farewells: Vec<(SocketAddr, Vec<Bytes>)>,
    pub(crate) roster: Vec<Occupant>,
}

/// Begins a room. With a `journal` it goes on where that ends; if that is impossible the room begins anew, and the log says why.
///
/// # Errors
/// When the options do not go together, or the journal cannot be written.
pub(crate) fn begin(
    options: &Options,
    journal: Option<&Path>,
    place: &Place,
    listen: &[SocketAddr],
) -> anyhow::Result<Begun> {
    if let Some(path) = journal {
        let resumed = match options.game() {
            Game::Nuggets => resume::<nuggets::server::Server>(path, place),
            Game::Robots => resume::<robots::Server>(path, place),
            Game::Blackjack => resume::<blackjack::Server>(path, place),
            Game::Mastermind => resume::<mastermind::Server>(path, place),
        };
        match resumed {
            Ok(begun) => return Ok(begun),
            Err(error) => warn!("cannot resume '{}', so its room begins anew: {error:#}", path.display()),
        }
    }
    match options.engine()? {
        #[cfg(not(test))]
        Engine::Nuggets(engine) => new(*engine, place, listen),
        #[cfg(test)]
        Engine::Nuggets(engine) => new(crate::hub::tests::Fragile(*engine), place, listen),
        Engine::Robots(engine) => new(*engine, place, listen),
        Engine::Blackjack(engine) => new(*engine, place, listen),
        Engine::Mastermind(engine) => new(*engine, place, listen),
    }
}

fn new<E: Recorded + Send + 'static>(engine: E, place: &Place, listen: &[SocketAddr]) -> anyhow::Result<Begun> {
    let status = engine.status();
    let created =
        place.writing.create(&place.journals, Hosted::new(engine), env!("CARGO_PKG_VERSION"), listen.to_vec());
    let (journal, (room, hold, end)): (_, Parts<E>) =
        created.with_context(|| format!("cannot begin a journal in '{}'", place.journals.display()))?;
    let metrics = place.metrics.game(E::GAME);
    let (room, broken) = Fuse::new(room, E::GAME, metrics.clone());
    let host = Box::new(move |info| Host::new(Published::new(room, info, status, metrics)).with_hold(hold));
    Ok(Begun { host, broken, journal, end, status, before: None })
}

fn resume<E: Recorded + Send + 'static>(path: &Path, place: &Place) -> anyhow::Result<Begun> {
    let mut attempts = 0;
    let (path, file) = loop {
        match find::<E>(path) {
            Err(ResumeError::InUse) if attempts < PATIENCE => {
                attempts += 1;
                thread::sleep(PAUSE);
            }
            found => break found?,
        }
    };
    let length = file.metadata()?.len();
    let resumable = Resumable::<E>::read(std::io::BufReader::with_capacity(1 << 16, &file), length)?;
    let before = Before {
        at: resumable.time,
        peers: resumable.returning(),
        farewells: resumable.last_words(),
        roster: resumable.room().engine().roster(),
    };
    let (status, next) = (resumable.room().engine().status(), resumable.next_peer);
    let (room, hold, end) = resumable.resume_in(&place.writing, &path, file).context("it cannot be written")?;
    let metrics = place.metrics.game(E::GAME);
    let (room, broken) = Fuse::new(room, E::GAME, metrics.clone());
    let host = Box::new(move |info| {
        Host::new(Published::new(room, info, status, metrics)).with_hold(hold).with_first_peer(next)
    });
    Ok(Begun { host, broken, journal: path, end, status, before: Some(before) })
}
