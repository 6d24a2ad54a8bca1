//! Bots without a screen, each on a socket of its own.

use std::{collections::VecDeque, io, io::Write, net::SocketAddr, process::ExitCode, sync::Arc, time::Instant};

use cmdkit::{Directory, EXIT_FAILURE, HostPort};
use netcore::Level;
use nuggets::{End, Name, Participant};
use sigkit::Requests;
use termkit::{Signal, Signals};
use tokio::{select, sync::watch, task::JoinSet};
use tracing::{info, warn};

use crate::{
    bot::{Style, account},
    link::Link,
    session::Session,
};

/// How one bot's part in one game ended.
pub(crate) struct Outcome {
    name: Name,
    end: End,
    // What it did, once it was let in.
    account: Option<String>,
    // Nobody listens at the server's port.
    refused: bool,
    // The user asked it to leave.
    leaving: bool,
    // Where the server was in the end.
    addresses: Vec<SocketAddr>,
}

impl Outcome {
    pub(crate) fn is_complete(&self) -> bool {
        self.end.is_game_over() && !self.leaving
    }
}

/// Lets the bots play until it is over for all; with `rematch` they stay for the next game of a server that has one. Prints
/// the server's last words once, when they are the last of all bots.
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
    let mut words = LastWords { bots: names.len(), waiting: VecDeque::new() };
    let (mut failures, mut refused, mut gone, mut complete) = (0_usize, 0_usize, 0_usize, false);
    let mut broken = None;
    loop {
        let outcome = select! {
            outcome = bots.join_next() => outcome,
            signal = signals.next() => {
                if matches!(signal, Signal::Leave | Signal::HangUp) {
                    stop.send_replace(true);
                }
                // Who insists does not wait for the server's goodbyes.
                if signal == Signal::Leave && requests.insist(Instant::now()) {
                    bots.shutdown().await;
                }
                continue;
            }
        };
        let Some(outcome) = outcome else { break };
        let outcome = match outcome {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(error)) => {
                // The others leave in order.
                let _ = stop.send(true);
                broken.get_or_insert(error);
                continue;
            }
            Err(error) => {
                warn!(%error, "a bot broke");
                failures += 1;
                continue;
            }
        };
        let again = rematch && outcome.is_complete() && !*stop.borrow();
        complete |= outcome.is_complete();
        // A server without another game ends, and a bot that asks for one is told so.
        let declined = rematch && complete && outcome.end == End::NoAnswer;
        if let Some(account) = outcome.account.filter(|_| !declined) {
            let _ = writeln!(io::stderr(), "{account}");
        }
        match outcome.end {
            End::Quit(text) => words.hear(text)?,
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
    // What not all bots have heard.
    words.waiting.iter().try_for_each(|(text, _)| print(text))?;
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

// Nothing else is said before the game is over.
fn announcement(bots: usize, place: &HostPort, level: Level) -> String {
    let who = if bots == 1 { "1 bot plays".to_owned() } else { format!("{bots} bots play") };
    let (level, whom) = (format!("{level:?}").to_lowercase(), if bots == 1 { "it" } else { "them" });
    format!("{who} at {place} (level {level}); Ctrl-C stops {whom}.")
}

/// What the server said to its leaving bots, and how many of them heard it. It is printed when all have: what bots say
/// stands before it.
struct LastWords {
    bots: usize,
    waiting: VecDeque<(String, usize)>,
}

impl LastWords {
    /// Counts the last message that one bot received.
    fn hear(&mut self, text: String) -> io::Result<()> {
        let at = self.waiting.iter().position(|(known, _)| *known == text).unwrap_or_else(|| {
            self.waiting.push_back((text, 0));
            self.waiting.len() - 1
        });
        let heard = self.waiting.get_mut(at).map_or(0, |(_, heard)| {
            *heard += 1;
            *heard
        });
        if heard >= self.bots
            && let Some((text, _)) = self.waiting.remove(at)
        {
            print(&text)?;
        }
        // No bot is two games behind the others.
        if self.waiting.len() > 2 * self.bots
            && let Some((text, _)) = self.waiting.pop_front()
        {
            print(&text)?;
        }
        Ok(())
    }
}

/// Prints the last words of a server.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Plays one game, until it is over or `stopped` says so.
pub(crate) async fn play(
    (addresses, directory): (Vec<SocketAddr>, Option<Arc<Directory>>),
    name: Name,
    style: Style,
    mut stopped: watch::Receiver<bool>,
) -> anyhow::Result<Outcome> {
    let mut bot = style.bot()?;
    let mut session = Session::start(Participant::Player(name.clone()), Link::open(addresses)?, directory);
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
            // If nobody is there to stop us any more, we stop.
            _ = stopped.changed(), if !leaving => {
                leaving = true;
                session.leave();
            }
        }
        // At once if it is due: the timer counts in milliseconds, a server answers in less.
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
    let addresses = session.addresses().to_vec();
    Ok(Outcome { name, end, account, refused: session.is_refused(), leaving, addresses })
}
