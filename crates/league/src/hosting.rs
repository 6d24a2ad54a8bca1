//! A room in this process, with a journal and a port for each seat.

use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use conformance::Network;
use journal_core::{Head, JournalEnd, Writing};
use netcore::{EngineRoom, Leave, Link, Outcome, Rate, Recorded};
use netshell::{Clock, ConnectionBudget, Host, Limits, Tcp, Udp, bind_tcp, bind_udp, serve};
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{
    gate::{Gate, SeatWarden, length},
    observer::MatchObserver,
};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// For the journal of a finished match to reach the disk.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Wire {
    Udp,
    Tcp(Rate),
}

impl Wire {
    const fn link(self) -> Link {
        match self {
            Self::Udp => Link::Datagram,
            Self::Tcp(_) => Link::Stream,
        }
    }
}

#[derive(Debug)]
pub(crate) struct SeatAddress {
    pub(crate) address: SocketAddr,
    pub(crate) network: Network,
}

pub(crate) struct Hosting {
    pub(crate) seats: Vec<SeatAddress>,
    pub(crate) journal: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    server: JoinHandle<io::Result<Outcome>>,
    end: JournalEnd,
}

impl Hosting {
    /// Hosts a match with one seat in each of these networks. `folder` is for the journal alone. A player may reconnect
    /// within `grace`.
    ///
    /// # Errors
    /// If the system refuses a socket, or the journal cannot be written.
    pub(crate) fn start<E: Recorded + Send + 'static>(
        engine: E,
        (wire, networks): (Wire, Vec<Network>),
        (writing, folder): (&Writing, &Path),
        (observer, grace): (&MatchObserver, Duration),
    ) -> anyhow::Result<Self> {
        let bind = |network: &Network| network.enter(|| Bound::new(wire))?;
        let bound = networks.iter().map(bind).collect::<anyhow::Result<Vec<_>>>()?;
        let addresses = bound.iter().map(Bound::address).collect::<io::Result<Vec<_>>>()?;
        observer.hosted(wire.link(), &addresses);
        let cannot = || format!("cannot write a journal in '{}'", folder.display());
        // An interrupted match restarts, so its old journal is removed.
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(cannot),
            _ => {}
        }
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let head = Head::new(&engine, env!("CARGO_PKG_VERSION"), addresses.clone(), begun);
        let created = writing.create(folder, EngineRoom::new(engine), head).with_context(cannot)?;
        let (journal, (room, hold, end)) = created;
        let (watching, warden) = (observer.clone(), SeatWarden(observer.clone()));
        let mut host = Host::new(room).with_hold(hold).with_observer(watching).with_warden(warden);
        let rejoin = (grace, length::<E> as fn(&[u8]) -> Option<usize>);
        for (seat, bound) in bound.into_iter().enumerate() {
            let place = (seat, observer.clone());
            host = match bound {
                Bound::Udp(sockets) => host.with_transport(Gate::new(Udp::new(sockets)?, place, rejoin)),
                Bound::Tcp(listeners, rate) => {
                    // A separate budget per seat: no player can use up the connections of another.
                    let budget = ConnectionBudget::from(Limits::of(None));
                    host.with_transport(Gate::new(Tcp::new(listeners, rate, budget)?, place, rejoin))
                }
            };
        }
        let (stop, stopped) = oneshot::channel();
        let leave = async {
            let _ = stopped.await;
            Leave::Over
        };
        let server = tokio::spawn(serve(host, Clock::start(), leave));
        let places = addresses.into_iter().zip(networks);
        let seats = places.map(|(address, network)| SeatAddress { address, network }).collect();
        Ok(Self { seats, journal, stop: Some(stop), server, end })
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.server.is_finished()
    }

    /// Waits until the journal is on disk. Fails if the server has failed.
    pub(crate) async fn finish(mut self) -> anyhow::Result<()> {
        drop(self.stop.take());
        let outcome = self.server.await;
        self.end.close();
        let written = self.end.finish(PATIENCE);
        outcome.context(
            "internal error: a server invariant is violated; the journal contains the input that caused it",
        )??;
        anyhow::ensure!(written, "the journal '{}' could not be written in time", self.journal.display());
        Ok(())
    }
}

enum Bound {
    Udp(Vec<std::net::UdpSocket>),
    Tcp(Vec<std::net::TcpListener>, Rate),
}

impl Bound {
    fn new(wire: Wire) -> anyhow::Result<Self> {
        Ok(match wire {
            Wire::Udp => Self::Udp(bind_udp(&[LOOPBACK], 0)?),
            Wire::Tcp(rate) => Self::Tcp(bind_tcp(&[LOOPBACK], 0)?, rate),
        })
    }

    fn address(&self) -> io::Result<SocketAddr> {
        let none = || io::Error::other("no socket");
        match self {
            Self::Udp(sockets) => sockets.first().ok_or_else(none)?.local_addr(),
            Self::Tcp(listeners, _) => listeners.first().ok_or_else(none)?.local_addr(),
        }
    }
}
