use std::{
    io::{self, Write},
    net::{IpAddr, SocketAddr},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, bail};
use bytes::Bytes;
use cmdkit::{LogArgs, LogFormat, print_stderr};
use journal_core::{Head, JournalEnd, Writing};
use netcore::{EngineRoom, Leave, Link, Outcome, PeerId, Recorded, Time};
use netshell::{Clock, Host, raise_open_files, serve, shutdown};
use tracing::{info, warn};

use crate::{JournalArgs, Match, Reach, Sockets, Wire, narrator::Narrator};

/// How long a server waits for its journal to reach the disk when it ends.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy)]
pub struct Hosting<'a> {
    /// If empty: those of the resumed match, or all addresses of the machine for a new match.
    pub bind: &'a [IpAddr],
    /// 0 means any free port. `None` means that of the resumed match, or any free port for a new match.
    pub port: Option<u16>,
    pub wire: Wire,
    /// The start of the line on standard output, before the port: `Ready to play`.
    pub ready: &'static str,
    /// The unit of the scores, in the plural: `wins`.
    pub scores: &'static str,
    pub log: &'a LogArgs,
    pub journal: &'a JournalArgs,
    pub version: &'a str,
    /// Suppresses the lines on standard error that explain how to join.
    pub quiet: bool,
}

pub trait Announce {
    /// For people, on standard error: the game and how to join it. Each line ends with a newline.
    fn text(&self, reach: &Reach) -> String;

    /// The same facts as one log record for programs, including [`Reach::port`] and [`Reach::addresses`].
    fn log(&self, reach: &Reach);
}

/// Binds the sockets, announces them, and hosts a match until it has an outcome or a signal arrives.
///
/// The first line on standard output is written immediately, because scripts wait for it. Later lines go through a
/// bounded queue, so a reader that stalls delays no client.
///
/// With a journal every input is recorded before it takes effect. A signal then suspends the match, which can be
/// resumed: players are not notified of an end.
pub fn host<E: Recorded + Send + 'static>(
    hosting: Hosting<'_>,
    game: Match<E>,
    announce: &dyn Announce,
) -> anyhow::Result<Outcome> {
    let open_files = raise_open_files();
    let (sockets, reachable) = listen(hosting, &game)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (narrator, stdout) = Narrator::new(hosting.scores);
    let mut end = None;
    let hosted = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let stop = shutdown().context("cannot handle signals")?;
            let Begun { host, at, peers, farewells, journal, resumed } = begin(hosting, game, &reachable)?;
            // Signal handlers come first: a script may send a signal as soon as it has read the announcement.
            announce_port(hosting, &Reach::at(&reachable), announce, journal.as_ref().map(|(path, _)| &**path))?;
            let mut host = sockets.add_to(host.with_observer(narrator), open_files)?;
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
        // The panic hook has printed the message.
        if let Some((_, end)) = &end {
            end.close();
            end.finish(PATIENCE);
        }
        match journal {
            Some(journal) => bail!(
                "internal error: a server invariant is violated; the journal '{journal}' \
                contains the input that caused it"
            ),
            None => bail!(
                "internal error: a server invariant is violated; run the server with --journal to record \
                the input that causes it"
            ),
        }
    };
    let outcome = outcome?;
    let suspended = end.as_ref().is_some_and(|(_, end)| end.is_open()) && outcome == Outcome::Stopped;
    match (outcome, &journal) {
        (Outcome::Finished, _) => info!("the game is over"),
        (Outcome::Deserted, _) => info!("all players have left"),
        (Outcome::Stopped, Some(journal)) if suspended => info!("stopped; --resume '{journal}' continues the match"),
        (Outcome::Stopped, _) => info!("stopped"),
    }
    if let Some((_, end)) = &end {
        end.close();
        if !end.finish(PATIENCE) {
            warn!("the last records of the journal could not be written to the disk in time");
        }
    }
    stdout.finish();
    Ok(outcome)
}

// Since the Unix epoch.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn listen<E: Recorded>(hosting: Hosting<'_>, game: &Match<E>) -> anyhow::Result<(Sockets, Vec<SocketAddr>)> {
    let Hosting { bind, port, wire, .. } = hosting;
    let sockets = match game {
        Match::New(_) => Sockets::bind(wire, bind, port.unwrap_or(0))?,
        Match::Resumed(resumable) => {
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
    let writing = || Writing::start(hosting.journal.sync(), hosting.journal.max());
    match (game, hosting.journal.directory()) {
        (Match::New(engine), None) => Ok(new(Host::new(EngineRoom::new(engine)), None)),
        (Match::New(engine), Some(directory)) => {
            let cannot = || format!("cannot create a journal in '{}'", directory.display());
            hosting.journal.prune(E::GAME);
            let head = Head::new(&engine, hosting.version, reachable.to_vec(), seconds());
            let begun = writing()?.create(directory, EngineRoom::new(engine), head);
            let (path, (room, hold, end)) = begun.with_context(cannot)?;
            Ok(new(Host::new(room).with_hold(hold), Some((path, end))))
        }
        (Match::Resumed(resumable), _) => {
            let path = resumable.journal.clone();
            let cannot = || format!("cannot resume '{}'", path.display());
            let (peers, farewells) = (resumable.returning(), resumable.last_words());
            let (at, next) = (resumable.time, resumable.next_peer);
            let (room, hold, end) = resumable.resume(&writing()?).with_context(cannot)?;
            let host = Host::new(room).with_hold(hold).with_first_peer(next);
            Ok(Begun { host, at, peers, farewells, journal: Some((path, end)), resumed: true })
        }
    }
}

fn announce_port(
    hosting: Hosting<'_>,
    reach: &Reach,
    announce: &dyn Announce,
    journal: Option<&Path>,
) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}, waiting at port {}", hosting.ready, reach.port)
        .and_then(|()| stdout.flush())
        .context("cannot write the port to standard output")?;
    if hosting.log.log_format == LogFormat::Json {
        // Standard error is read by a program.
        announce.log(reach);
        if let Some(journal) = journal {
            info!(journal = %journal.display(), "writing a journal");
        }
    } else if !hosting.quiet {
        let journal = journal.map_or_else(String::new, |path| format!("Journal:   {}\n", path.display()));
        print_stderr(&(announce.text(reach) + &journal));
    }
    Ok(())
}
