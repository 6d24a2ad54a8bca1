//! `nuggets-server [map] [seed]`: hosts games of nuggets over UDP.

mod args;
mod map;

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use cmdkit::{EXIT_FAILURE, EXIT_USAGE, Usage, UsageError, command_of};
use nuggets::server::Server;
use servekit::{Announce, Hosting, Match, Reach, Wire};
use tracing::info;

use crate::args::Args;

fn main() -> ExitCode {
    cmdkit::run(Usage { code: EXIT_USAGE, example: "" }, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start("info")?;
    if args.check_map {
        return check_map(args.map.as_deref());
    }
    let game = args.journal.open(|| {
        let grid = map::load(args.map.as_deref())?;
        Ok(Server::new(Arc::new(grid), args.config()?).map_err(|error| UsageError(error.to_string()))?)
    })?;
    let hosting = Hosting {
        bind: &args.bind,
        port: args.port,
        wire: Wire::Udp,
        // The wording of the course.
        ready: "Ready to play",
        scores: "nuggets",
        log: &args.log,
        journal: &args.journal,
        version: env!("CARGO_PKG_VERSION"),
        quiet: false,
    };
    let map = match &game {
        Match::New(_) => map::name(args.map.as_deref()),
        Match::Resumed(..) => "the map of the journal".to_owned(),
    };
    let announcement = Announcement { map, seed: game.engine().config().seed };
    servekit::host(hosting, game, &announcement)?;
    Ok(ExitCode::SUCCESS)
}

// The exit code shows whether there is a breach.
fn check_map(path: Option<&Path>) -> anyhow::Result<ExitCode> {
    let report = nuggets::check_map(&map::read(path)?);
    let name = map::name(path);
    let mut stdout = io::stdout().lock();
    write!(stdout, "{report}")?;
    let verdict = match report.breaches.len() {
        0 => "the map follows all rules".to_owned(),
        1 => "1 breach of the rules for maps; rows and columns count from 1".to_owned(),
        count => format!("{count} breaches of the rules for maps; rows and columns count from 1"),
    };
    writeln!(stdout, "{name}: {verdict}")?;
    Ok(if report.breaches.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}

struct Announcement {
    map: String,
    seed: u128,
}

impl Announce for Announcement {
    fn text(&self, reach: &Reach) -> String {
        let Self { map, seed } = self;
        let Reach { port, open, host, elsewhere, .. } = reach;
        let client = command_of("nuggets-client");
        format!(
            "Hosting {map} with seed {seed} on {open}; Ctrl-C stops it.\n\
             To play:   {client} {host} {port} yourname\n\
             To watch:  {client} {host} {port}\n\
             Opponents: {client} {host} {port} --bots 3 --level easy\n\
             {elsewhere}"
        )
    }

    fn log(&self, Reach { port, addresses, .. }: &Reach) {
        let Self { map, seed } = self;
        info!(port, addresses, map, seed, "hosting");
    }
}
