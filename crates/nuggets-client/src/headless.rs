//! Bots: their style of play, and bots without a screen, each on its own socket.

use std::{
    collections::VecDeque,
    future,
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context;
use cmdkit::{Directory, EXIT_FAILURE, HostPort};
use netcore::{EngineRoom, Leave, Level};
use netshell::{Clock, Host, Udp, bind_udp, serve};
use nuggets::{BUILT_IN_MAP, Client, Config, End, Grid, Name, Participant, Server, Typist};
use rand::{TryRng, rngs::SysRng};
use sigkit::Requests;
use termkit::{Signal, Signals};
use tokio::{select, sync::watch, task::JoinSet};
use tracing::{info, warn};

use crate::session::Session;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) level: Level,
    /// Between two keys, at least; by default that of the level.
    pub(crate) delay: Option<Duration>,
}

impl Style {
    pub(crate) fn bot(self) -> anyhow::Result<Typist> {
        Ok(Typist::new(self.level, self.delay, SysRng.try_next_u64()?))
    }
}

pub(crate) fn account(bot: &Typist, client: &Client, name: &str) -> String {
    let letter = client.letter().map_or_else(|| "-".into(), |letter| letter.to_string());
    format!("bot {letter} ({name}): {} keys, {} nuggets", bot.keys(), client.purse())
}

pub(crate) struct Outcome {
    name: Name,
    end: End,
    account: Option<String>,
    refused: bool,
    leaving: bool,
    addresses: Vec<SocketAddr>,
}

impl Outcome {
    pub(crate) fn is_complete(&self) -> bool {
        self.end.is_game_over() && !self.leaving
    }
}

/// With `rematch`, the bots stay for the server's next game, if it has one.
pub(crate) async fn run(
    (addresses, directory): (&[SocketAddr], Option<Arc<Directory>>),
    place: &HostPort,
    names: &[Name],
    style: Style,
    rematch: bool,
) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let mut requests = Requests::default();
    let (stop, stopped) = watch::channel(false);
    let mut bots = JoinSet::new();
    for name in names {
        bots.spawn(play((addresses.to_vec(), directory.clone()), name.clone(), style, stopped.clone()));
    }
    let _ = writeln!(io::stderr(), "{}", announcement(names.len(), place, style.level));
    let mut messages = LastMessages { bots: names.len(), waiting: VecDeque::new() };
    let (mut failures, mut refused, mut gone, mut complete) = (0_usize, 0_usize, 0_usize, false);
    let mut broken = None;
    loop {
        let outcome = select! {
            outcome = bots.join_next() => outcome,
            signal = signals.next() => {
                if matches!(signal, Signal::Leave | Signal::HangUp) {
                    stop.send_replace(true);
                }
                // A second request does not wait for the server.
                if signal == Signal::Leave && requests.register(Instant::now()) {
                    bots.shutdown().await;
                }
                continue;
            }
        };
        let Some(outcome) = outcome else { break };
        let outcome = match outcome {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(error)) => {
                // The other bots send Q and wait for the server's goodbye.
                let _ = stop.send(true);
                broken.get_or_insert(error);
                continue;
            }
            Err(error) => {
                warn!(%error, "a bot failed");
                failures += 1;
                continue;
            }
        };
        let again = rematch && outcome.is_complete() && !*stop.borrow();
        complete |= outcome.is_complete();
        // A server without another game ends, which is no failure of a bot that requests one.
        let declined = rematch && complete && outcome.end == End::NoAnswer;
        if let Some(account) = outcome.account.filter(|_| !declined) {
            let _ = writeln!(io::stderr(), "{account}");
        }
        match outcome.end {
            End::Quit(text) => messages.count(text)?,
            End::LeftEarly => {}
            End::Gone => gone += 1,
            End::NoAnswer if declined => {}
            End::NoAnswer if outcome.refused => refused += 1,
            End::NoAnswer | End::NoGoodbye | End::Disconnected(_) => failures += 1,
        }
        if again {
            bots.spawn(play((outcome.addresses, directory.clone()), outcome.name, style, stopped.clone()));
        }
    }
    messages.waiting.iter().try_for_each(|(text, _)| print(text))?;
    if let Some(error) = broken {
        return Err(error);
    }
    let bots = names.len();
    if refused > 0 {
        let HostPort { host, port } = place;
        let _ = writeln!(io::stderr(), "nuggets-client: {}", crate::refused(&format!("{host} port {port}")));
    }
    for (count, what) in [(failures, "got no answer from the server"), (gone, "lost the server: its port is closed")] {
        if count > 0 {
            let _ = writeln!(io::stderr(), "nuggets-client: {count} of {bots} bots {what}");
        }
    }
    Ok(if failures + refused + gone > 0 { ExitCode::from(EXIT_FAILURE) } else { ExitCode::SUCCESS })
}

// Printed at the start, since the game produces no other output until its end.
fn announcement(bots: usize, place: &HostPort, level: Level) -> String {
    let who = if bots == 1 { "1 bot plays".to_owned() } else { format!("{bots} bots play") };
    let (level, whom) = (format!("{level:?}").to_lowercase(), if bots == 1 { "it" } else { "them" });
    format!("{who} at {place} (level {level}); Ctrl-C stops {whom}.")
}

/// The server's last messages, each with the number of bots that have received it. Once all have, it is printed below
/// their summaries.
struct LastMessages {
    bots: usize,
    waiting: VecDeque<(String, usize)>,
}

impl LastMessages {
    fn count(&mut self, text: String) -> io::Result<()> {
        let at = self.waiting.iter().position(|(other, _)| *other == text).unwrap_or_else(|| {
            self.waiting.push_back((text, 0));
            self.waiting.len() - 1
        });
        let received = self.waiting.get_mut(at).map_or(0, |(_, received)| {
            *received += 1;
            *received
        });
        if received >= self.bots
            && let Some((text, _)) = self.waiting.remove(at)
        {
            print(&text)?;
        }
        // No bot is two games behind another one.
        if self.waiting.len() > 2 * self.bots
            && let Some((text, _)) = self.waiting.pop_front()
        {
            print(&text)?;
        }
        Ok(())
    }
}

pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Plays until the game is over or `stopped` is set.
pub(crate) async fn play(
    (addresses, directory): (Vec<SocketAddr>, Option<Arc<Directory>>),
    name: Name,
    style: Style,
    mut stopped: watch::Receiver<bool>,
) -> anyhow::Result<Outcome> {
    let mut bot = style.bot()?;
    let mut session = Session::start(Participant::Player(name.clone()), addresses, directory)?;
    let mut leaving = *stopped.borrow();
    let mut warned = false;
    if leaving {
        session.leave();
    }
    let end = loop {
        if let Some(end) = session.end() {
            break end.clone();
        }
        let typing = session.until(bot.due(session.client()));
        select! {
            () = session.turn() => bot.listen(session.client(), session.now()),
            () = typing, if !leaving => {}
            // Also completes if the sender has been dropped.
            _ = stopped.changed(), if !leaving => {
                leaving = true;
                session.leave();
            }
        }
        // Immediately: the timer counts in milliseconds, and a server responds faster.
        if !leaving && let Some(key) = bot.key(session.client(), session.now()) {
            session.key(key);
        }
        match session.client().closed_for(session.now()) {
            // A resumed match continues without a new PLAY.
            Some(closed) if closed >= session.patience() && session.client().is_joined() => session.leave(),
            Some(_) if !warned && session.client().is_joined() => {
                warned = true;
                let seconds = session.patience().as_secs();
                warn!(name = name.as_str(), "the server's port is closed; waiting {seconds} s for it to open again");
            }
            Some(_) => {}
            None => warned = false,
        }
    };
    info!(name = name.as_str(), ?end, "a bot is done");
    let client = session.client();
    let account = client.letter().map(|_| account(&bot, client, name.as_str()));
    let addresses = session.servers().to_vec();
    Ok(Outcome { name, end, account, refused: session.is_refused(), leaving, addresses })
}

const PLAYER: &[u8] = b"you";
/// Lets the players look around before the game begins.
const COUNTDOWN: Duration = Duration::from_secs(3);

/// A server that only this machine can reach, and bots that play one game after another on it. Both end when this value
/// is dropped.
///
/// They are tasks of the client's thread, so Ctrl-Z stops the game for all of them.
pub(crate) struct Demo {
    address: SocketAddr,
    player: Name,
    _tasks: JoinSet<()>,
    _stop: watch::Sender<bool>,
}

impl Demo {
    /// Must be called within a runtime. The first game begins after the player has joined.
    pub(crate) fn start(bots: &[Name], style: Style) -> anyhow::Result<Self> {
        let (grid, _) = Grid::parse(BUILT_IN_MAP)?;
        let config = Config {
            rematch: true,
            seed: u128::from(SysRng.try_next_u32()?).max(1),
            wait_for: u32::try_from(bots.len())?.saturating_add(1),
            countdown: Some(COUNTDOWN),
            ..Config::default()
        };
        let server = Server::new(Arc::new(grid), config)?;
        let sockets = bind_udp(&[Ipv4Addr::LOCALHOST.into()], 0)?;
        let address = sockets.first().context("no socket")?.local_addr()?;
        let host = Host::new(EngineRoom::new(server)).with_transport(Udp::new(sockets)?);
        let player = Name::new(PLAYER)?;
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(async {
            if let Err(error) = serve(host, Clock::start(), future::pending::<Leave>()).await {
                warn!(%error, "the demonstration server failed");
            }
        });
        for name in bots {
            let (name, stopped) = (name.clone(), stopped.clone());
            tasks.spawn(async move {
                loop {
                    match play((vec![address], None), name.clone(), style, stopped.clone()).await {
                        Ok(outcome) if outcome.is_complete() => {}
                        Ok(_) => return,
                        Err(error) => return warn!(%error, "a demonstration bot failed"),
                    }
                }
            });
        }
        Ok(Self { address, player, _tasks: tasks, _stop: stop })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn player(&self) -> Participant {
        Participant::Player(self.player.clone())
    }
}
