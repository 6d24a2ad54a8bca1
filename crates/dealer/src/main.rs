//! `dealer PORT ROUNDS`: deals the game of 21 over TCP, to text and to binary players.

mod args;
mod narrator;

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail};
use blackjack::{
    Dealer,
    dealer::{Config, Ending},
};
use cmdkit::{EXIT_USAGE, Hosted, LogFormat, Usage, UsageError, command_of};
use netcore::Link;
use netshell::{Tcp, bind_tcp, raise_open_files, serve, shutdown};
use tracing::{info, warn};

use crate::{
    args::{Args, READ_RATE},
    narrator::Narrator,
};

const USAGE: Usage = Usage { code: EXIT_USAGE, example: "12345 1000" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start(if args.quiet { "error" } else { "info" })?;
    let config = args.config()?;
    let dealer = Dealer::new(config).map_err(|error| UsageError(error.to_string()))?;
    raise_open_files();
    let listeners = bind_tcp(&args.bind, args.port)?;
    let mut narrator = Narrator::new(dealer, args.stats.map(Duration::from_secs));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = shutdown().context("cannot listen for signals")?;
        // Only now: whoever has read the announcement may send a signal at once.
        announce(&listeners, args, &config)?;
        let transport = Tcp::new(listeners, Link::BinaryStream, READ_RATE)?;
        let served = serve(&mut narrator, transport, stop, |standings| {
            let mut stdout = io::stdout().lock();
            // Whoever has closed standard output does not end the games of others.
            if let Err(error) = writeln!(stdout, "{standings}").and_then(|()| stdout.flush()) {
                warn!(%error, "the standings cannot be written to standard output");
            }
        });
        anyhow::Ok(served.await?)
    })?;
    match narrator.ending() {
        Some(Ending::Deserted) => bail!("all players left before their last round"),
        Some(Ending::Stopped) => info!("stopped"),
        Some(Ending::Played) | None => {}
    }
    Ok(ExitCode::SUCCESS)
}

// One line on standard output, at once even into a pipe; then, for people, what is dealt and how to join.
fn announce(listeners: &[TcpListener], args: &Args, config: &Config) -> anyhow::Result<()> {
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<SocketAddr>>>()?;
    let port = addresses.first().map_or(args.port, SocketAddr::port);
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "Ready to deal, waiting at port {port}")?;
    stdout.flush()?;

    let &Config { players, tables, forever, rounds, .. } = config;
    if args.log.log_format == LogFormat::Json {
        // Whoever reads this is a program.
        let addresses: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
        info!(port, addresses = addresses.join(" "), players, tables, forever, rounds, "dealing");
        return Ok(());
    }
    if args.quiet {
        return Ok(());
    }
    let Hosted { open, host, elsewhere } = Hosted::at(&addresses);
    let player = command_of("player");
    let each = if forever { "always open" } else { "in all" };
    let seats = if players == 1 { "seat" } else { "seats" };
    let deals = if rounds == 1 { "round" } else { "rounds" };
    let lines = format!(
        "Dealing on {open}; Ctrl-C stops it.\n\
         Tables: {tables} {each}, with {players} {seats} and {rounds} {deals} each.\n\
         To play:       {player} Ann {host} {port} --human\n\
         The best play: {player} Ann {host} {port} --best\n\
         To learn:      {player} Ann {host} {port} --train --explore epsilon --table ann.qtable\n\
         {elsewhere}",
    );
    // A standard error that nobody reads is no reason not to deal.
    let _ = io::stderr().write_all(lines.as_bytes());
    Ok(())
}
