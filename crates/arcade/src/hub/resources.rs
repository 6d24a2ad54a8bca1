use std::{net::SocketAddr, sync::Arc};

use netcore::{Full, HostId};
use netshell::{ConnectionBudget, ConnectionPermit, Limits};

use super::{
    callers::{Callers, REQUEST},
    shares::{Refusal, RefusalKind, Refusals, Share, Shares},
};
use crate::room::bots::MAX_BOTS;

/// The maximum number of open rooms.
pub(crate) const MAX_ROOMS: usize = 3_000;
/// The maximum number of open rooms with a map drawn by a user.
pub(crate) const MAX_OWN_MAPS: usize = 256;
/// The maximum number of connections that carry requests. A browser opens six. A connection that becomes a socket
/// counts as a socket.
pub(crate) const MAX_CONNECTIONS: usize = 4_096;
/// The maximum number of concurrent TLS handshakes, from the first byte to the last.
pub(crate) const MAX_HANDSHAKES: usize = 1_024;
/// The maximum number of open browser sockets.
pub(crate) const MAX_SOCKETS: usize = 10_000;
/// The maximum number of sockets to rooms of classes that wait for the first message, which has the key of the browser.
pub(crate) const MAX_ENTERING: usize = 1_024;
/// Requests whose body is being received or processed; each body has at most [`MAX_BODY`] bytes.
const MAX_BODIES: usize = 1_024;
/// The longest body of a request, in bytes.
pub(crate) const MAX_BODY: usize = 16 << 10;
/// Bytes of responses that are not sent yet.
const MAX_ANSWER_BYTES: usize = 64 << 20;
const MAX_REPLAYS: usize = 2;
/// Learners take turns, so a class with one address can watch.
const MAX_LEARNERS: usize = 128;
/// The maximum number of concurrent code look-ups for hosts with too many wrong codes.
pub(crate) const MAX_LOOKUPS: usize = 4;
/// Open files besides connections and rooms: the database, listeners and the runtime.
const RESERVED_FILES: usize = 128;
/// A room has a port and a journal, which may have two files temporarily.
const FILES_OF_ROOM: usize = 3;

/// The limits that the operator sets.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) sockets_per_host: usize,
    pub(crate) rooms_per_host: usize,
    /// The limit of the system on open files.
    pub(crate) open_files: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { sockets_per_host: MAX_SOCKETS, rooms_per_host: MAX_ROOMS, open_files: None }
    }
}

const fn no_file(full: Full) -> Refusal {
    Refusal { kind: RefusalKind::Files, full }
}

#[derive(Debug)]
pub(crate) struct Resources {
    pub(crate) callers: Callers,
    pub(crate) bodies: Arc<Shares>,
    pub(crate) answers: Arc<Shares>,
    pub(crate) queries: Arc<Shares>,
    pub(crate) replays: Arc<Shares>,
    pub(crate) learners: Arc<Shares>,
    /// Code look-ups of hosts with too many wrong codes.
    pub(crate) lookups: Arc<Shares>,
    /// Processors for learners and pictures of results.
    pub(crate) slices: Arc<Shares>,
    pub(crate) refusals: Refusals,
    connections: Arc<Shares>,
    handshakes: Arc<Shares>,
    sockets: Arc<Shares>,
    entering: Arc<Shares>,
    /// Open files of all connections: pages, sockets, and native clients of all rooms.
    pub(crate) files: ConnectionBudget,
    rooms: usize,
    rooms_per_host: usize,
}

#[derive(Debug)]
pub(crate) struct Slot {
    _one: Share,
    _file: ConnectionPermit,
    _class: Option<Share>,
}

impl Resources {
    pub(crate) fn new(settings: &Settings, callers: Callers) -> Arc<Self> {
        let files = settings.open_files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
        let files = files - RESERVED_FILES.min(files / 2);
        let for_rooms = (MAX_ROOMS * FILES_OF_ROOM).min(files / 2);
        // Bots are clients of their rooms, so each has two files.
        let for_connections = files - for_rooms - MAX_BOTS.min(files / 8);
        let connections = for_connections.min(MAX_CONNECTIONS + MAX_SOCKETS + netshell::MAX_CONNECTIONS);
        // Half of the processors are reserved for the matches.
        let slices = std::thread::available_parallelism().map_or(1, usize::from) / 2;
        Arc::new(Self {
            callers,
            bodies: Shares::new(RefusalKind::Bodies, MAX_BODIES),
            answers: Shares::new(RefusalKind::Answers, MAX_ANSWER_BYTES),
            queries: Shares::new(RefusalKind::Queries, store::READERS as usize),
            replays: Shares::new(RefusalKind::Replays, MAX_REPLAYS),
            learners: Shares::new(RefusalKind::Learners, MAX_LEARNERS),
            lookups: Shares::new(RefusalKind::Tries, MAX_LOOKUPS),
            slices: Shares::new(RefusalKind::Slices, slices.max(1)),
            refusals: Refusals::default(),
            connections: Shares::new(RefusalKind::Connections, MAX_CONNECTIONS),
            handshakes: Shares::new(RefusalKind::Handshakes, MAX_HANDSHAKES),
            sockets: Shares::with_cap(RefusalKind::Sockets, MAX_SOCKETS, settings.sockets_per_host),
            entering: Shares::new(RefusalKind::Sockets, MAX_ENTERING),
            files: Limits { connections }.into(),
            rooms: for_rooms / FILES_OF_ROOM,
            rooms_per_host: settings.rooms_per_host,
        })
    }

    /// A trusted reverse proxy has no share, because its connections carry the requests of other hosts.
    pub(crate) fn connection(&self, peer: SocketAddr) -> Result<Slot, Refusal> {
        let (one, file) = if self.callers.is_proxy(peer) {
            (self.connections.take_unshared()?, self.files.open_unshared())
        } else {
            (self.connections.take(peer.into(), 1)?, self.files.open(peer.into()))
        };
        Ok(Slot { _one: one, _file: file.map_err(no_file)?, _class: None })
    }

    /// A handshake costs as much as a request. A trusted reverse proxy has no share here either.
    pub(crate) fn handshake(&self, peer: SocketAddr) -> Result<Share, RefusalKind> {
        let taken = if self.callers.is_proxy(peer) {
            self.handshakes.take_unshared()
        } else if self.callers.request(peer.into(), REQUEST).is_some() {
            return Err(RefusalKind::Requests);
        } else {
            self.handshakes.take(peer.into(), 1)
        };
        taken.map_err(|refusal| refusal.kind)
    }

    pub(crate) fn socket(&self, host: HostId) -> Result<Slot, Refusal> {
        let (one, file) = (self.sockets.take(host, 1)?, self.files.open(host));
        Ok(Slot { _one: one, _file: file.map_err(no_file)?, _class: None })
    }

    /// For a room of a class, until the first message shows who enters.
    pub(crate) fn entering(&self, host: HostId) -> Result<Slot, Refusal> {
        let (one, file) = (self.entering.take(host, 1)?, self.files.open(host));
        Ok(Slot { _one: one, _file: file.map_err(no_file)?, _class: None })
    }

    /// For a member of a class, which has a quota of its own in it.
    pub(crate) fn socket_of_member(&self, class: &Arc<Shares>, member: HostId) -> Result<Slot, Refusal> {
        let of_class = class.take(member, 1)?;
        let (one, file) = (self.sockets.take_unshared()?, self.files.open_unshared());
        Ok(Slot { _one: one, _file: file.map_err(no_file)?, _class: Some(of_class) })
    }

    pub(crate) fn sockets(&self) -> usize {
        self.sockets.in_use()
    }

    /// Fails if there are too many drawn maps; `makers` have opened the present rooms.
    pub(crate) fn own_map(makers: impl Iterator<Item = Option<HostId>>, maker: Option<HostId>) -> Result<(), Refusal> {
        let maps = netcore::Shares::new(MAX_OWN_MAPS);
        Self::one_more(maps, makers, maker).map_err(|full| Refusal { kind: RefusalKind::Maps, full })
    }

    /// Fails if a host, or the hub itself, may not open a room; `makers` have opened the present ones.
    pub(crate) fn room(
        &self,
        makers: impl Iterator<Item = Option<HostId>>,
        maker: Option<HostId>,
    ) -> Result<(), Refusal> {
        let rooms = netcore::Shares::new(self.rooms).with_cap(self.rooms_per_host);
        Self::one_more(rooms, makers, maker).map_err(|full| Refusal { kind: RefusalKind::Rooms, full })
    }

    /// Fails if a host, or the hub itself, may not add a bot; `owners` have added the present ones.
    pub(crate) fn bot(owners: impl Iterator<Item = Option<HostId>>, owner: Option<HostId>) -> Result<(), Refusal> {
        let bots = netcore::Shares::new(MAX_BOTS);
        Self::one_more(bots, owners, owner).map_err(|full| Refusal { kind: RefusalKind::Bots, full })
    }

    // Requests without a host are not charged to a share.
    fn one_more(
        mut shares: netcore::Shares,
        owners: impl Iterator<Item = Option<HostId>>,
        owner: Option<HostId>,
    ) -> Result<(), Full> {
        let is_near = |other: &Option<HostId>| match (owner, other) {
            (Some(host), Some(other)) => host.networks().any(|network| other.networks().any(|its| its == network)),
            _ => false,
        };
        // Items of this host and its networks are taken first, as if they were older.
        let (near, far): (Vec<_>, Vec<_>) = owners.partition(is_near);
        for other in near.into_iter().flatten() {
            // Items above the share still count, for example after a restart with other options.
            shares.take(other).or_else(|_| shares.take_unshared()).ok();
        }
        for _ in far {
            shares.take_unshared().ok();
        }
        match owner {
            Some(host) => shares.take(host),
            None => shares.take_unshared(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        hub::callers::HostNames,
        proxied::{Proxies, network},
    };

    fn host(number: u8) -> HostId {
        HostId::V4([10, 0, 0, number])
    }

    #[test]
    fn connections_and_sockets_are_taken_from_the_open_files_too() {
        let settings = Settings { open_files: Some(1_024), ..Settings::default() };
        let resources = Resources::new(
            &settings,
            Callers::new(Proxies::new(&[network("10.0.0.9").unwrap()], false), HostNames::default()),
        );
        let peer = |number: u8| SocketAddr::from(([10, 0, 0, number], 5));
        let take = |host: u8| std::iter::from_fn(|| resources.connection(peer(host)).ok()).collect::<Vec<_>>();
        let sockets: Vec<_> = std::iter::from_fn(|| resources.socket(host(1)).ok()).collect();
        assert_eq!(sockets.len(), 168, "half of three eighths of what is not reserved");
        assert_eq!(
            resources.connection(peer(1)).unwrap_err(),
            Refusal { kind: RefusalKind::Files, full: Full::Share(168) }
        );
        let (second, proxy) = (take(2), take(9));
        assert_eq!((second.len(), proxy.len()), (84, 84), "a proxy has no share");
        assert_eq!(resources.connection(peer(3)).unwrap_err().full, Full::All(336));
        drop(sockets);
        assert_eq!(resources.sockets(), 0);
        assert!(resources.connection(peer(3)).is_ok());
    }

    #[test]
    fn sockets_of_members_are_not_taken_from_their_address() {
        let settings = Settings { sockets_per_host: 1, ..Settings::default() };
        let resources = Resources::new(&settings, Callers::new(Proxies::default(), HostNames::default()));
        let class = Shares::with_cap(RefusalKind::Sockets, 16, 2);
        let outside = resources.socket(host(1)).unwrap();
        let strangers: Vec<_> = std::iter::from_fn(|| resources.entering(host(1)).ok()).collect();
        assert_eq!(strangers.len(), MAX_ENTERING / 2);
        assert!(resources.socket(host(1)).is_err() && resources.entering(host(2)).is_ok());
        let first: Vec<_> = std::iter::from_fn(|| resources.socket_of_member(&class, host(10)).ok()).collect();
        assert_eq!(first.len(), 2);
        assert!(resources.socket_of_member(&class, host(11)).is_ok());
        drop((outside, strangers, first));
        assert_eq!((resources.sockets(), class.in_use()), (0, 0));
    }

    #[test]
    fn bots_are_shared_among_hosts() {
        let mut owners = vec![None; 20];
        let take_all = |owners: &mut Vec<_>, owner| {
            let before = owners.len();
            while Resources::bot(owners.iter().copied(), owner).is_ok() {
                owners.push(owner);
            }
            owners.len() - before
        };
        assert_eq!(take_all(&mut owners, Some(host(1))), 490);
        let refused = Resources::bot(owners.iter().copied(), Some(host(1))).unwrap_err();
        assert_eq!(refused, Refusal { kind: RefusalKind::Bots, full: Full::Share(490) });
        assert_eq!(take_all(&mut owners, Some(host(2))), 245);
        assert_eq!(take_all(&mut owners, None), 245, "rooms of the hub have no share");
        assert_eq!(Resources::bot(owners.iter().copied(), None).unwrap_err().full, Full::All(MAX_BOTS));
    }

    #[test]
    fn host_opens_rooms_within_its_share() {
        let resources = Resources::new(&Settings::default(), Callers::new(Proxies::default(), HostNames::default()));
        let mut makers = vec![None, None];
        while resources.room(makers.iter().copied(), Some(host(1))).is_ok() {
            makers.push(Some(host(1)));
        }
        assert_eq!(makers.len(), 2 + 1_499);
        assert!(resources.room(makers.iter().copied(), Some(host(2))).is_ok());
        makers.extend(std::iter::repeat_n(None, 1_499));
        assert_eq!(resources.room(makers.into_iter(), None).unwrap_err().full, Full::All(3_000));
        let few = Settings { rooms_per_host: 2, open_files: Some(1_024), ..Settings::default() };
        let resources = Resources::new(&few, Callers::new(Proxies::default(), HostNames::default()));
        let refused = resources.room([Some(host(1)); 2].into_iter(), Some(host(1))).unwrap_err();
        assert_eq!(refused, Refusal { kind: RefusalKind::Rooms, full: Full::Share(2) });
        let full = resources.room([None; 149].into_iter(), None).unwrap_err();
        assert_eq!(full.full, Full::All(149), "there are files for so many");
    }
}
