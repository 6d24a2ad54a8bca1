//! The player of the game of 21, as a library so that other programs can draw its screens and decode its streams.
//!
//! [`blackjack::Client`] decodes the dealer's messages and tracks the hand. This crate adds the command line
//! ([`Args`]), the game for a user ([`Game`], [`Advisor`], [`View`]) and, privately, the connection, the table files,
//! the learner and the terminal.
//!
//! ```text
//! dealer -> Session: Client, score -> bot: by the table, or learning     (waits for the dealer and signals)
//!                                  -> human: Game -> View or lines        (waits for the dealer, keys and signals)
//! Table in this process (--practice) -> human
//! ```
//!
//! ```
//! use blackjack::{Client, Dialect, Name, Score, StateSpace, exact::Solver};
//! use netcore::{Client as _, Framing, Time};
//! use player::{Advisor, Game};
//!
//! let solver = Solver::new();
//! let best = solver.best(StateSpace::Soft);
//! let ann = Name::new(b"Ann")?;
//! let mut client = Client::new(ann.clone(), Dialect::Text, Framing::Stream, StateSpace::Soft);
//! client.receive(Time::ZERO, b"BEGIN\0CARD Ten of Clubs\0CARD Six of Hearts\0DEALER Three of Diamonds\0DECISION\0")?;
//! let mut game = Game::new(ann, Dialect::Text, Advisor::new(solver, best));
//! game.take_over(client, Score::default(), 1, None);
//! let advice = game.advice().expect("asked");
//! assert_eq!(advice.action, blackjack::Action::Stand);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

mod args;
mod bot;
mod game;
mod human;
mod link;
mod session;
mod view;

use std::{
    io::{self, IsTerminal},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{anyhow, bail};
use blackjack::{Dialect, Name, Seed};
use clientkit::ServerLocation;
use cmdkit::HostPort;
use rand::rngs::SysRng;
use tokio::runtime;

pub use crate::game::{Advice, Advisor};
pub use args::Args;
pub use game::Game;
pub use view::View;

use crate::{
    args::Plan,
    link::{Link, Practice},
    session::{Session, Summary},
};

const NOBODY: &[u8] = b"You";
const HINT: &str = "is a dealer running there? It ends when its table is over, unless it runs with --forever";

#[expect(clippy::needless_pass_by_value, reason = "the signature that cmdkit wants of a program")]
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let draws = args.is_for_person() && io::stdin().is_terminal() && io::stdout().is_terminal();
    // The terminal has a progress line.
    let level = if args.is_for_person() || io::stderr().is_terminal() { "warn" } else { "info" };
    args.logs.start(level, draws)?;
    let dialect = if args.binary { Dialect::Binary } else { Dialect::Text };
    // First, since the dealer may not wait long for an answer.
    let plan = args.plan()?;
    if args.practice {
        return practise(&args, plan, draws);
    }
    let name = args.name.clone().ok_or_else(|| anyhow!("no name"))?;
    let address = args.host.clone().zip(args.port).map(|(host, port)| HostPort { host, port });
    let directory = args.directory.of("blackjack").map(Arc::new);
    let address = match (address, &directory) {
        (None, Some(directory)) => Some(directory.find_first("player")?),
        (address, _) => address,
    };
    let mut location = ServerLocation::new(address, directory, HINT);
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let played = runtime.block_on(async {
        match plan {
            Plan::Human(advisor) => {
                let link = Link::Wire(location.connect().await?);
                human::play(link, Some(location), Game::new(name.clone(), dialect, *advisor), draws, args.limit()).await
            }
            Plan::Program(mut strategy) => {
                let space = strategy.space();
                let session = || Session::new(name.clone(), dialect, space);
                let (score, ended) = bot::play(location, session, &mut strategy, args.rounds).await?;
                // Saves the table even if the dealer is lost.
                Ok((Summary { score, forfeits: 0, games: 1 }, both(ended, strategy.finish(score))))
            }
        }
    });
    // A request to the directory may still be running.
    runtime.shutdown_background();
    let (played, ended) = played?;
    let printed = played.print(&name);
    ended?;
    printed?;
    Ok(ExitCode::SUCCESS)
}

fn practise(args: &Args, plan: Plan, draws: bool) -> anyhow::Result<ExitCode> {
    // The parser permits practice only for users.
    let Plan::Human(advisor) = plan else { bail!("--practice requires a human player") };
    let name = args.name.clone().map_or_else(|| Name::new(NOBODY), Ok)?;
    let link = Link::Practice(Box::new(Practice::new(Seed::from_number_or(args.seed, &mut SysRng)?)?));
    let game = Game::new(name.clone(), Dialect::Text, *advisor);
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (played, ended) = runtime.block_on(human::play(link, None, game, draws, None))?;
    played.print(&name)?;
    ended?;
    Ok(ExitCode::SUCCESS)
}

// Combines both errors.
fn both(one: anyhow::Result<()>, other: anyhow::Result<()>) -> anyhow::Result<()> {
    match (one, other) {
        (Err(one), Err(other)) => Err(anyhow!("{one:#}; {other:#}")),
        (one, other) => one.and(other),
    }
}
