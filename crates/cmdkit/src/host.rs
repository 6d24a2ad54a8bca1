//! Hosting a room: what all servers do the same way.

use std::{
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, UdpSocket},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context, bail};
use bytes::Bytes;
use journal::{JournalEnd, Scribe, Writing};
use netcore::{Hosted, Leave, Link, Outcome, PeerId, Rate, Recorded, Time};
use netshell::{BindError, Clock, Host, Limits, Tcp, Udp, bind_tcp, bind_udp, raise_open_files, serve, shutdown};
use tracing::{info, warn};

use crate::{JournalArgs, LogArgs, LogFormat, Match, Reach, narrator::Narrator, stderr};

/// How often a port that is in use is tried again.
const RETRY: Duration = Duration::from_millis(250);
/// How long the end of a server waits for its journal to be on the disk.
const PATIENCE: Duration = Duration::from_secs(5);
/// Where nobody is.
const NOWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

/// Where and how a server listens, and what it says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Hosting<'a> {
    /// The addresses to listen on; without any those of the match that is resumed, and for a new one all of the machine.
    pub bind: &'a [IpAddr],
    /// The port; 0 is any free one. None is that of the match that is resumed, and any free one for a new one.
    pub port: Option<u16>,
    /// What is spoken.
    pub wire: Wire,
    /// The options about logs.
    pub log: &'a LogArgs,
    /// The options about journals.
    pub journal: &'a JournalArgs,
    /// The version of the program.
    pub version: &'a str,
    /// Whether nothing is said on standard error about how to join.
    pub quiet: bool,
}

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Datagrams.
    Udp,
    /// Connections, from each of which so many bytes are read.
    Tcp(Rate),
}

/// What a server says of itself once it listens.
pub trait Announce {
    /// The front of the line on standard output, before the port: `Ready to play`.
    const READY: &'static str;

    /// For people, on standard error: what is hosted and how to join, each line with its newline.
    fn text(&self, reach: &Reach) -> String;

    /// For programs: one line of the log with the same in fields, [`Reach::port`] and [`Reach::addresses`] among them.
    fn log(&self, reach: &Reach);
}

/// The sockets of a server.
enum Sockets {
    Udp(Vec<UdpSocket>),
    Tcp(Vec<TcpListener>, Rate),
}

impl Sockets {
    fn bind(wire: Wire, addresses: &[IpAddr], port: u16) -> Result<Self, BindError> {
        Ok(match wire {
            Wire::Udp => Self::Udp(bind_udp(addresses, port)?),
            Wire::Tcp(rate) => Self::Tcp(bind_tcp(addresses, port)?, rate),
        })
    }

    // Those who play know the old port, so a match that is resumed waits for it.
    fn bind_again(wire: Wire, addresses: &[IpAddr], port: u16) -> Result<Self, BindError> {
        let mut told = false;
        loop {
            match Self::bind(wire, addresses, port) {
                Err(error) if error.source.kind() == io::ErrorKind::AddrInUse && port != 0 => {
                    if !told {
                        warn!(
                            "port {port} is in use by another program; waiting until it is free, --port takes another"
                        );
                        told = true;
                    }
                    thread::sleep(RETRY);
                }
                done => return done,
            }
        }
    }

    fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        match self {
            Self::Udp(sockets) => sockets.iter().map(UdpSocket::local_addr).collect(),
            Self::Tcp(listeners, _) => listeners.iter().map(TcpListener::local_addr).collect(),
        }
    }

    fn let_in(self, host: Host, open_files: Option<u64>) -> io::Result<Host> {
        Ok(match self {
            Self::Udp(sockets) => host.with_transport(Udp::new(sockets)?),
            Self::Tcp(listeners, rate) => host.with_transport(Tcp::new(listeners, rate, Limits::of(open_files))?),
        })
    }
}

/// Listens, announces it, and hosts a match until it has an outcome; a signal tells it to take leave.
///
/// Standard output is a peer like any other: the first line is written at once, for somebody waits for it, and what follows
/// goes through a bounded queue, so that whoever does not read it delays nobody. Everything that happens goes to the log.
///
/// With a journal everything that arrives is written down first, and a signal does not end the match: it can be resumed, so nobody is
/// told that it is over.
///
/// # Errors
/// When the port cannot be had, the system refuses what a server needs, the first line cannot be written, the journal cannot be
/// begun, or an invariant of the server is broken.
pub fn host<E: Recorded + Send + 'static>(
    hosting: Hosting<'_>,
    game: Match<E>,
    announce: &impl Announce,
) -> anyhow::Result<Outcome> {
    let open_files = raise_open_files();
    let (sockets, reachable) = listen(hosting, &game)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (narrator, stdout) = Narrator::new();
    let mut end = None;
    let hosted = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let stop = shutdown().context("cannot listen for signals")?;
            let Begun { host, at, peers, farewells, journal, resumed } = begin(hosting, game, &reachable)?;
            // Only now: whoever has read the announcement may send a signal at once.
            say(hosting, &Reach::at(&reachable), announce, journal.as_ref().map(|(path, _)| &**path))?;
            let mut host = sockets.let_in(host.with_observer(narrator), open_files)?;
            if resumed {
                host.resume(at, peers);
                for (address, frames) in farewells {
                    host.repeat_farewell(at, address, frames);
                }
            }
            end = journal;
            let leave = async {
                stop.await;
                let resumable = end.as_ref().is_some_and(|(_, end)| end.is_open());
                if resumable { Leave::Resumable } else { Leave::Over }
            };
            anyhow::Ok(serve(host, Clock::start_at(at), leave).await?)
        })
    }));
    let journal = end.as_ref().map(|(path, _)| path.display().to_string());
    let Ok(outcome) = hosted else {
        // The hook has told of the panic.
        match journal {
            Some(journal) => bail!("an invariant of the server is broken; '{journal}' holds what has led to it"),
            None => bail!("an invariant of the server is broken; with --journal it would be known what has led to it"),
        }
    };
    let outcome = outcome?;
    let suspended = end.as_ref().is_some_and(|(_, end)| end.is_open()) && outcome == Outcome::Stopped;
    match (outcome, &journal) {
        (Outcome::Finished, _) => info!("the game is over"),
        (Outcome::Deserted, _) => info!("everybody has left"),
        (Outcome::Stopped, Some(journal)) if suspended => info!("stopped; --resume '{journal}' goes on with the match"),
        (Outcome::Stopped, _) => info!("stopped"),
    }
    if let Some((_, end)) = &end {
        end.close();
        if !end.finish(PATIENCE) {
            warn!("the disk does not take the end of the journal");
        }
    }
    stdout.finish();
    Ok(outcome)
}

// The sockets, and where they are.
fn listen<E: Recorded>(hosting: Hosting<'_>, game: &Match<E>) -> anyhow::Result<(Sockets, Vec<SocketAddr>)> {
    let Hosting { bind, port, wire, .. } = hosting;
    let sockets = match game {
        Match::New(_) => Sockets::bind(wire, bind, port.unwrap_or(0))?,
        Match::Resumed(resumable, ..) => {
            let listened = &resumable.head.listen;
            let port = port.or_else(|| listened.first().map(SocketAddr::port)).unwrap_or(0);
            let everywhere = listened.iter().any(|address| address.ip().is_unspecified());
            let before = listened.iter().map(SocketAddr::ip).filter(|_| !everywhere).collect::<Vec<_>>();
            Sockets::bind_again(wire, if bind.is_empty() { &before } else { bind }, port)?
        }
    };
    let reachable = sockets.addresses()?;
    Ok((sockets, reachable))
}

/// A host that nobody can reach yet, and what it begins with.
struct Begun {
    host: Host,
    at: Time,
    peers: Vec<(PeerId, Link, SocketAddr)>,
    farewells: Vec<(SocketAddr, Vec<Bytes>)>,
    journal: Option<(PathBuf, JournalEnd)>,
    resumed: bool,
}

fn begin<E: Recorded + Send + 'static>(
    hosting: Hosting<'_>,
    game: Match<E>,
    reachable: &[SocketAddr],
) -> anyhow::Result<Begun> {
    let new = |host, journal| Begun { host, at: Time::ZERO, peers: vec![], farewells: vec![], journal, resumed: false };
    let writing =
        || anyhow::Ok(Writing { scribe: Scribe::start()?, sync: hosting.journal.sync(), max: hosting.journal.max() });
    match (game, hosting.journal.directory()) {
        (Match::New(engine), None) => Ok(new(Host::new(Hosted::new(engine)), None)),
        (Match::New(engine), Some(directory)) => {
            let cannot = || format!("cannot begin a journal in '{}'", directory.display());
            let begun = writing()?.create(directory, Hosted::new(engine), hosting.version, reachable.to_vec());
            let (path, (room, hold, end)) = begun.with_context(cannot)?;
            Ok(new(Host::new(room).with_hold(hold), Some((path, end))))
        }
        (Match::Resumed(resumable, path, file), _) => {
            let cannot = || format!("cannot go on with '{}'", path.display());
            // An address that is none is nowhere, so whoever had it is gone.
            let address = |peer: &journal::Peer| peer.address.parse().unwrap_or(NOWHERE);
            let peers = resumable.peers.iter().map(|peer| (peer.peer, peer.link, address(peer))).collect();
            let farewells =
                resumable.farewells.iter().map(|farewell| (address(&farewell.peer), farewell.frames.clone())).collect();
            let (at, next) = (resumable.time, resumable.next_peer);
            let (room, hold, end) = resumable.resume_in(&writing()?, &path, file).with_context(cannot)?;
            let host = Host::new(room).with_hold(hold).with_first_peer(next);
            Ok(Begun { host, at, peers, farewells, journal: Some((path, end)), resumed: true })
        }
    }
}

// One line on standard output, at once even into a pipe; then, for people, how to join.
fn say<A: Announce>(hosting: Hosting<'_>, reach: &Reach, announce: &A, journal: Option<&Path>) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}, waiting at port {}", A::READY, reach.port)
        .and_then(|()| stdout.flush())
        .context("cannot write the port to standard output")?;
    if hosting.log.log_format == LogFormat::Json {
        // Whoever reads this is a program.
        announce.log(reach);
        if let Some(journal) = journal {
            info!(journal = %journal.display(), "writing a journal");
        }
    } else if !hosting.quiet {
        let journal = journal.map_or_else(String::new, |path| format!("Journal:   {}\n", path.display()));
        stderr::write(&(announce.text(reach) + &journal));
    }
    Ok(())
}
