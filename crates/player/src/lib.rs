//! The player of the game of 21, as a library so that its screens can be drawn and its streams read by others.
//!
//! [`blackjack::Client`] reads what a dealer sends and folds it into a hand; this crate adds the world around it: the command
//! line ([`Args`]), what a person is told ([`Game`], [`Advisor`], [`View`]) and, not public, the connection, the table files,
//! the learner and the terminal.
//!
//! ```text
//! dealer -> Session: Client, score -> bot: by the table, or learning     (waits for the dealer and nothing else)
//!                                  -> human: Game -> View or lines        (waits for the dealer, keys and signals)
//! ```
//!
//! ```
//! use blackjack::{DealerMessage, Dialect, Name, StateSpace, exact::Solver};
//! use player::{Advisor, Game};
//!
//! let solver = Solver::new();
//! let best = solver.best(StateSpace::Soft);
//! let mut game = Game::new(Name::new(b"Ann")?, Dialect::Text, Advisor::new(solver, best));
//! for text in ["BEGIN", "CARD Ten of Clubs", "CARD Six of Hearts", "DEALER Three of Diamonds", "DECISION"] {
//!     game.hear(DealerMessage::parse_text(text.as_bytes())?)?;
//! }
//! let advice = game.advice().expect("asked");
//! assert_eq!(advice.action, blackjack::Action::Stand);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice;
mod args;
mod bot;
mod connection;
mod game;
mod human;
mod session;
mod tables;
mod view;

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use anyhow::anyhow;
use blackjack::{Dialect, game::Row, learn::Score};

pub use advice::{Advice, Advisor};
pub use args::Args;
pub use game::Game;
pub use view::View;

use crate::{args::Plan, bot::Pilot, session::Session};

/// Runs the program.
///
/// # Errors
/// When the dealer cannot be reached, goes away without a word or says what is no message, or a file or the terminal
/// refuses.
#[expect(clippy::needless_pass_by_value, reason = "the signature that cmdkit wants of a program")]
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let draws = args.human && io::stdin().is_terminal() && io::stdout().is_terminal();
    args.logs.start(if args.human { "warn" } else { "info" }, draws)?;
    let dialect = if args.binary { Dialect::Binary } else { Dialect::Text };
    // What is played by is known before the dealer asks: it may not wait long for an answer.
    let (score, ended) = match args.plan()? {
        Plan::Human { advisor } => {
            let stream = connection::open(&args.host, args.port)?;
            human::play(stream, Game::new(args.name.clone(), dialect, *advisor), draws)?
        }
        Plan::Play { policy } => {
            let stream = connection::open(&args.host, args.port)?;
            let session = Session::new(args.name.clone(), dialect, policy.space());
            bot::play(&stream, session, &mut Pilot::Table(policy))?
        }
        Plan::Learn { learner } => {
            let space = learner.space();
            let stream = connection::open(&args.host, args.port)?;
            let mut pilot = Pilot::Learner(learner);
            let (score, ended) = bot::play(&stream, Session::new(args.name.clone(), dialect, space), &mut pilot)?;
            // Also when the dealer is gone: what was learned was learned.
            let saved = match &mut pilot {
                Pilot::Learner(learner) => learner.finish(score),
                Pilot::Table(_) => Ok(()),
            };
            (score, both(ended, saved))
        }
    };
    let told = tell(&args, score);
    ended?;
    told?;
    Ok(ExitCode::SUCCESS)
}

// What went wrong, also if both did.
fn both(one: anyhow::Result<()>, other: anyhow::Result<()>) -> anyhow::Result<()> {
    match (one, other) {
        (Err(one), Err(other)) => Err(anyhow!("{one:#}; {other:#}")),
        (one, other) => one.and(other),
    }
}

fn tell(args: &Args, score: Score) -> io::Result<()> {
    let Score { wins, pushes, losses, busts } = score;
    let row = Row { seat: 1, name: args.name.clone(), score, forfeits: 0 };
    let width = row.half_width().map_or_else(String::new, |width| format!(" +/- {width:.4}"));
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{}: {} rounds, {wins} won, {pushes} pushed, {losses} lost, {busts} bust, mean reward {:+.4}{width}",
        args.name,
        score.rounds(),
        score.mean()
    )?;
    out.flush()
}
