//! `dealer PORT ROUNDS`: deals the game of 21 over TCP, to text and to binary players.

mod args;

use std::process::ExitCode;

use anyhow::bail;
use blackjack::{Config, Server};
use cmdkit::{EXIT_USAGE, Usage, UsageError, command_of};
use netcore::Outcome;
use servekit::{Announce, Hosting, Reach, Wire};
use tracing::info;

use crate::args::{Args, READ_RATE};

const USAGE: Usage = Usage { code: EXIT_USAGE, example: "2021 1000" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start(if args.quiet { "error" } else { "info" })?;
    let game = args.journal.open(|| Ok(Server::new(args.config()?).map_err(|error| UsageError(error.to_string()))?))?;
    let hosting = Hosting {
        bind: &args.bind,
        port: args.port,
        wire: Wire::Tcp(READ_RATE),
        ready: "Ready to deal",
        scores: "wins",
        log: &args.log,
        journal: &args.journal,
        version: env!("CARGO_PKG_VERSION"),
        quiet: args.quiet,
    };
    let announcement = Announcement(*game.engine().config());
    match servekit::host(hosting, game, &announcement)? {
        Outcome::Deserted => bail!("all players left before their last round"),
        Outcome::Finished | Outcome::Stopped => Ok(ExitCode::SUCCESS),
    }
}

struct Announcement(Config);

impl Announce for Announcement {
    fn text(&self, reach: &Reach) -> String {
        let Config { players, tables, forever, rounds, .. } = self.0;
        let Reach { port, open, host, elsewhere, .. } = reach;
        let player = command_of("player");
        let each = if forever { "always open" } else { "in all" };
        let seats = if players == 1 { "seat" } else { "seats" };
        let deals = if rounds == 1 { "round" } else { "rounds" };
        format!(
            "Dealing on {open}; Ctrl-C stops it.\n\
             Tables: {tables} {each}, with {players} {seats} and {rounds} {deals} each.\n\
             To play:       {player} Ann {host} {port} --human\n\
             The best play: {player} Ann {host} {port} --best\n\
             To learn:      {player} Ann {host} {port} --train --explore epsilon --table ann.qtable\n\
             {elsewhere}"
        )
    }

    fn log(&self, Reach { port, addresses, .. }: &Reach) {
        let Config { players, tables, forever, rounds, .. } = self.0;
        info!(port, addresses, players, tables, forever, rounds, "dealing");
    }
}
