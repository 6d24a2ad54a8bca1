//! `robots-server -c PLAYERS -x COLUMNS -y ROWS`: hosts games of robots over TCP, one after the other.

mod args;

use std::process::ExitCode;

use cmdkit::{EXIT_FAILURE, Usage, UsageError, command_of};
use netshell::BindError;
use robots::{Config, Parameters, READ_RATE, Server};
use servekit::{Announce, Hosting, Match, Reach, Wire};
use tracing::{info, warn};

use crate::args::Args;

const PORT: u16 = 2022;

/// The check of the course starts the programs without arguments and expects exit status 1.
const USAGE: Usage = Usage { code: EXIT_FAILURE, example: "-c 2 -x 10 -y 10" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start("info")?;
    let game = args.journal.open(|| {
        let server = Server::new(args.config()?).map_err(|error| UsageError(error.to_string()))?;
        warn_of_long_history(server.config());
        Ok(server)
    })?;
    let port = args.port.or_else(|| matches!(game, Match::New(_)).then_some(PORT));
    let hosting = Hosting {
        bind: &args.bind,
        port,
        wire: Wire::Tcp(READ_RATE),
        ready: "Ready to play",
        scores: "deaths",
        log: &args.log,
        journal: &args.journal,
        version: env!("CARGO_PKG_VERSION"),
        quiet: false,
    };
    let announcement = Announcement(game.engine().config().clone());
    servekit::host(hosting, game, &announcement).map_err(naming_option)?;
    Ok(ExitCode::SUCCESS)
}

fn naming_option(error: anyhow::Error) -> anyhow::Error {
    error.downcast::<BindError>().map_or_else(|other| other, |taken| taken.naming("--port").into())
}

fn warn_of_long_history(config: &Config) {
    let (expected, most) = (config.expected_history(), config.max_history);
    if expected > most {
        warn!(
            expected_mib = expected >> 20,
            most_mib = most >> 20,
            "the messages of such a game exceed the history for late clients, which are rejected once it is full; \
             use fewer turns or players"
        );
    }
}

struct Announcement(Config);

impl Announce for Announcement {
    fn text(&self, reach: &Reach) -> String {
        let Config { parameters, turn_duration, initial_blocks, seed, .. } = &self.0;
        let Parameters { server_name, players_count, size_x, size_y, game_length, explosion_radius, bomb_timer } =
            parameters;
        let (server, client) = (reach.host_and_port(), command_of("robots-client"));
        let Reach { open, elsewhere, .. } = reach;
        let name = server_name.escape_debug();
        let duration = turn_duration.as_millis();
        format!(
            "Hosting '{name}' with seed {seed} on {open}; Ctrl-C stops it.\n\
             A game: players {players_count}, board {size_x} x {size_y}, blocks {initial_blocks}, turns {game_length} of \
             {duration} ms, bomb timer {bomb_timer}, explosion radius {explosion_radius}.\n\
             To play:   {client} -s {server} --gui\n\
             To watch:  {client} -s {server} --gui --observe\n\
             A bot:     {client} -s {server} --bot\n\
             {elsewhere}"
        )
    }

    fn log(&self, Reach { port, addresses, .. }: &Reach) {
        let Config { parameters, seed, .. } = &self.0;
        let Parameters { players_count, size_x, size_y, .. } = parameters;
        info!(port, addresses, seed, players_count, size_x, size_y, "hosting");
    }
}
