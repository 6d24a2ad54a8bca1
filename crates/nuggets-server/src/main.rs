//! `nuggets-server [map] [seed]`: hosts games of nuggets over UDP.

mod args;
mod map;
mod narrator;

use std::{
    io::{self, Write},
    net::{SocketAddr, UdpSocket},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context;
use cmdkit::{EXIT_FAILURE, EXIT_USAGE, Hosted, LogFormat, Usage, UsageError, command_of};
use netcore::Outcome;
use netshell::{Udp, bind_udp, raise_open_files, serve, shutdown};
use nuggets::server::Server;
use tracing::{info, warn};

use crate::{args::Args, narrator::Narrator};

fn main() -> ExitCode {
    cmdkit::run(Usage { code: EXIT_USAGE, example: "" }, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start("info")?;
    if args.check_map {
        return check_map(args.map.as_deref());
    }
    let grid = map::load(args.map.as_deref())?;
    let config = args.config()?;
    let server = Server::new(Arc::new(grid), config).map_err(|error| UsageError(error.to_string()))?;
    raise_open_files();
    let sockets = bind_udp(&args.bind, args.port)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let stop = shutdown().context("cannot listen for signals")?;
        // Only now: whoever has read the announcement may send a signal at once.
        announce(&sockets, args, config.seed)?;
        let outcome = serve(Narrator::new(server), Udp::new(sockets)?, stop, |summary| {
            let mut stdout = io::stdout().lock();
            // Whoever has closed standard output does not end the game of others.
            if let Err(error) = writeln!(stdout, "{summary}").and_then(|()| stdout.flush()) {
                warn!(%error, "the table cannot be written to standard output");
            }
        });
        anyhow::Ok(outcome.await?)
    })?;
    match outcome {
        Outcome::Finished => info!("the game is over"),
        Outcome::Stopped => info!("stopped"),
    }
    Ok(ExitCode::SUCCESS)
}

// Prints every breach and ends; the exit code says whether there is one.
fn check_map(path: Option<&Path>) -> anyhow::Result<ExitCode> {
    let report = nuggets::check_map(&map::read(path)?);
    let name = map::name(path);
    let mut stdout = io::stdout().lock();
    write!(stdout, "{report}")?;
    let verdict = match report.breaches.len() {
        0 => "the map keeps all rules".to_owned(),
        1 => "1 breach of the rules for maps; rows and columns count from 1".to_owned(),
        count => format!("{count} breaches of the rules for maps; rows and columns count from 1"),
    };
    writeln!(stdout, "{name}: {verdict}")?;
    Ok(if report.breaches.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}

// The course's line on standard output, at once even into a pipe; then, for people, how to join.
fn announce(sockets: &[UdpSocket], args: &Args, seed: u64) -> anyhow::Result<()> {
    let addresses = sockets.iter().map(UdpSocket::local_addr).collect::<io::Result<Vec<SocketAddr>>>()?;
    let port = addresses.first().map_or(args.port, SocketAddr::port);
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "Ready to play, waiting at port {port}")
        .and_then(|()| stdout.flush())
        .context("cannot write the port to standard output")?;

    let map = map::name(args.map.as_deref());
    if args.log.log_format == LogFormat::Json {
        // Whoever reads this is a program.
        info!(port, map, seed, ?addresses, "hosting");
        return Ok(());
    }
    let Hosted { open, host, elsewhere } = Hosted::at(&addresses);
    let client = command_of("nuggets-client");
    let lines = format!(
        "Hosting {map} with seed {seed} on {open}; Ctrl-C stops it.\n\
         To play:   {client} {host} {port} yourname\n\
         To watch:  {client} {host} {port}\n\
         A bot:     {client} {host} {port} robbie --bot\n\
         {elsewhere}",
    );
    // A standard error that nobody reads is no reason not to play.
    let _ = io::stderr().write_all(lines.as_bytes());
    Ok(())
}
