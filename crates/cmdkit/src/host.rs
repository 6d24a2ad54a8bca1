//! Hosting a room: what all servers do the same way.

use std::{
    io::{self, Write},
    net::{IpAddr, SocketAddr, TcpListener, UdpSocket},
};

use anyhow::Context;
use netcore::{Leave, Outcome, Rate, Room};
use netshell::{Clock, Host, Limits, Tcp, Udp, bind_tcp, bind_udp, raise_open_files, serve, shutdown};
use tracing::info;

use crate::{LogArgs, LogFormat, Reach, narrator::Narrator, stderr};

/// Where and how a server listens, and what it says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Hosting<'a> {
    /// The addresses to listen on; all of the machine if there are none.
    pub bind: &'a [IpAddr],
    /// The port; 0 is any free one.
    pub port: u16,
    /// What is spoken.
    pub wire: Wire,
    /// The options about logs.
    pub log: &'a LogArgs,
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
    fn bind(Hosting { bind, port, wire, .. }: Hosting<'_>) -> anyhow::Result<Self> {
        Ok(match wire {
            Wire::Udp => Self::Udp(bind_udp(bind, port)?),
            Wire::Tcp(rate) => Self::Tcp(bind_tcp(bind, port)?, rate),
        })
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

/// Listens, announces it, and hosts `room` until it has an outcome; a signal tells it to take leave.
///
/// Standard output is a peer like any other: the first line is written at once, for somebody waits for it, and what follows
/// goes through a bounded queue, so that whoever does not read it delays nobody. Everything that happens goes to the log.
///
/// # Errors
/// When the port cannot be had, the system refuses what a server needs, or the first line cannot be written.
pub fn host<R: Room + Send + 'static>(
    hosting: Hosting<'_>,
    room: R,
    announce: &impl Announce,
) -> anyhow::Result<Outcome> {
    let open_files = raise_open_files();
    let sockets = Sockets::bind(hosting)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (narrator, stdout) = Narrator::new();
    let outcome = runtime.block_on(async {
        let stop = shutdown().context("cannot listen for signals")?;
        // Only now: whoever has read the announcement may send a signal at once.
        say(hosting, &Reach::at(&sockets.addresses()?), announce)?;
        let host = sockets.let_in(Host::new(room).with_observer(narrator), open_files)?;
        let stop = async {
            stop.await;
            Leave::Over
        };
        anyhow::Ok(serve(host, Clock::start(), stop).await?)
    })?;
    match outcome {
        Outcome::Finished => info!("the game is over"),
        Outcome::Deserted => info!("everybody has left"),
        Outcome::Stopped => info!("stopped"),
    }
    stdout.finish();
    Ok(outcome)
}

// One line on standard output, at once even into a pipe; then, for people, how to join.
fn say<A: Announce>(hosting: Hosting<'_>, reach: &Reach, announce: &A) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}, waiting at port {}", A::READY, reach.port)
        .and_then(|()| stdout.flush())
        .context("cannot write the port to standard output")?;
    if hosting.log.log_format == LogFormat::Json {
        // Whoever reads this is a program.
        announce.log(reach);
    } else if !hosting.quiet {
        stderr::write(&announce.text(reach));
    }
    Ok(())
}
