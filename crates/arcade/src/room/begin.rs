//! How a room begins: with a new engine and a new journal, or where its journal ends.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use bytes::Bytes;
use journal_core::{Facts, Head, JournalEnd, Parts, Resumable, Writing};
use netcore::{Hosted, Link, Occupant, PeerId, Recorded, Status, Time};
use netshell::Host;
use tracing::warn;

use super::{
    door::{Door, Doorkeeper},
    fuse::{Broken, Fuse},
    instrumented::Instrumented,
    place::Place,
    watched::{Stage, Watched},
};
use crate::games::{Kind, Options, Shown, with_kind, with_options};

/// A host without transports, and the state that it starts from.
pub(crate) struct Begun {
    /// Makes the host, once it is known whom to tell of its status and who decides who may join.
    pub(crate) host: Box<dyn FnOnce(Stage, Doorkeeper) -> Host + Send>,
    /// Whether its engine has panicked.
    pub(crate) broken: Broken,
    pub(crate) journal: PathBuf,
    /// The number that identifies the journal.
    pub(crate) id: u64,
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

/// Begins a room. With a `journal` it continues where that ends; if that is impossible the room starts a new one, which gets these facts,
/// and the reason is logged.
///
/// # Errors
/// When the options do not go together, or the journal cannot be written.
pub(crate) fn begin(
    options: &Options,
    journal: Option<&Path>,
    (place, writing): (&Place, &Writing),
    (listen, facts): (&[SocketAddr], &Facts),
) -> anyhow::Result<Begun> {
    if let Some(path) = journal {
        let resumed = with_kind!(options.game(), K => resume::<<K as Kind>::Engine>(path, (place, writing)));
        match resumed {
            Ok(begun) => return Ok(begun),
            Err(error) => warn!("cannot resume '{}', so its room begins anew: {error:#}", path.display()),
        }
    }
    #[cfg(test)]
    if let Options::Nuggets(kind) = options {
        return new(super::fragile::Fragile(kind.engine()?), (place, writing), (listen, facts));
    }
    with_options!(options, kind => new(kind.engine()?, (place, writing), (listen, facts)))
}

fn new<E: Recorded + Shown + Send + 'static>(
    engine: E,
    (place, writing): (&Place, &Writing),
    (listen, facts): (&[SocketAddr], &Facts),
) -> anyhow::Result<Begun> {
    let status = engine.status();
    let begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let head = Head::new(&engine, env!("CARGO_PKG_VERSION"), listen.to_vec(), begun).with_facts(facts);
    let id = head.id;
    let front = place.front(E::GAME);
    let created = writing.create_as(&place.journals, &front, Hosted::new(engine), head);
    let (journal, (room, hold, end)): (_, Parts<E>) =
        created.with_context(|| format!("cannot begin a journal in '{}'", place.journals.display()))?;
    let counters = place.counters_of(E::GAME);
    let (room, broken) = Fuse::new(room, E::GAME, counters.clone());
    let host = Box::new(move |stage: Stage, keeper| {
        let room = Instrumented::new(room, Arc::clone(&stage.register), status, counters);
        Host::new(Door::new(Watched::new(room, stage, BTreeSet::new(), &[]), keeper)).with_hold(hold)
    });
    Ok(Begun { host, broken, journal, id, end, status, before: None })
}

fn resume<E: Recorded + Shown + Send + 'static>(
    path: &Path,
    (place, writing): (&Place, &Writing),
) -> anyhow::Result<Begun> {
    let resumable = Resumable::<E>::open(&*writing.disk, path)?;
    anyhow::ensure!(resumable.room().engine().is_current(), "this version begins such matches in another way");
    let (path, id) = (resumable.journal.clone(), resumable.head.id);
    let before = Before {
        at: resumable.time,
        peers: resumable.returning(),
        farewells: resumable.last_words(),
        roster: resumable.room().engine().roster(),
    };
    let (status, next) = (resumable.room().engine().status(), resumable.next_peer);
    let (room, hold, end) = resumable.resume(writing).context("it cannot be written")?;
    let counters = place.counters_of(E::GAME);
    let (room, broken) = Fuse::new(room, E::GAME, counters.clone());
    let peers: BTreeSet<PeerId> = before.peers.iter().map(|&(peer, ..)| peer).collect();
    // Over datagrams only those who play or look on are kept.
    let looks_on = |&&(peer, link, _): &&(PeerId, Link, SocketAddr)| {
        link == Link::Datagram && !before.roster.iter().any(|occupant| occupant.peer == peer)
    };
    let watchers: Vec<PeerId> = before.peers.iter().filter(looks_on).map(|&(peer, ..)| peer).collect();
    let host = Box::new(move |stage: Stage, keeper| {
        let room = Instrumented::new(room, Arc::clone(&stage.register), status, counters);
        let room = Door::new(Watched::new(room, stage, peers, &watchers), keeper);
        Host::new(room).with_hold(hold).with_first_peer(next)
    });
    Ok(Begun { host, broken, journal: path, id, end, status, before: Some(before) })
}
