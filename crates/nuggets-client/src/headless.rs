//! Bots without a screen, each on a socket of its own.

use std::{
    collections::BTreeSet,
    io::Write,
    net::SocketAddr,
    process::ExitCode,
    time::{Duration, Instant},
};

use cmdkit::EXIT_FAILURE;
use nuggets::{End, Name, Part};
use sigkit::Requests;
use termkit::{Signal, Signals};
use tokio::{select, sync::watch, task::JoinSet};
use tracing::{info, warn};

use crate::{bot::Bot, link::Link, session::Session};

struct Outcome {
    end: End,
    account: String,
}

/// Lets the bots play until it is over for all. Prints each of the server's last words once.
pub(crate) async fn run(addresses: &[SocketAddr], names: &[Name], delay: Duration) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let mut requests = Requests::default();
    let (stop, stopped) = watch::channel(false);
    let mut bots = JoinSet::new();
    for name in names {
        let link = Link::open(addresses.to_vec())?;
        let session = Session::start(Part::Player(name.clone()), link);
        bots.spawn(play(session, name.clone(), delay, stopped.clone()));
    }
    drop(stopped);
    let mut printed = BTreeSet::new();
    let mut failures = 0_usize;
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
        let Outcome { end, account } = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                warn!(%error, "a bot broke");
                failures += 1;
                continue;
            }
        };
        let _ = writeln!(std::io::stderr(), "{account}");
        match end {
            End::Quit(text) => {
                if printed.insert(text.clone()) {
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "{text}")?;
                    out.flush()?;
                }
            }
            End::LeftEarly => {}
            End::NoAnswer | End::NoGoodbye | End::Disconnected(_) => failures += 1,
        }
    }
    if failures > 0 {
        let bots = names.len();
        let _ = writeln!(std::io::stderr(), "nuggets-client: {failures} of {bots} bots got no answer from the server");
        return Ok(ExitCode::from(EXIT_FAILURE));
    }
    Ok(ExitCode::SUCCESS)
}

async fn play(mut session: Session, name: Name, delay: Duration, mut stopped: watch::Receiver<bool>) -> Outcome {
    let mut bot = Bot::new(delay);
    let mut leaving = false;
    let end = loop {
        if let Some(end) = session.end() {
            break end.clone();
        }
        let typing = session.until(bot.due(session.client()));
        select! {
            () = session.turn() => {
                bot.listen(&session);
                // At once if it is due: the timer counts in milliseconds, a server answers in less.
                if !leaving {
                    bot.type_key(&mut session);
                }
            }
            () = typing, if !leaving => bot.type_key(&mut session),
            // If nobody is there to stop us any more, we stop.
            _ = stopped.changed(), if !leaving => {
                leaving = true;
                session.leave();
            }
        }
    };
    info!(name = name.as_str(), ?end, "a bot is done");
    Outcome { account: bot.account(session.client(), name.as_str()), end }
}
