//! `robots-server -c PLAYERS -x COLUMNS -y ROWS`: hosts games of robots over TCP, one after the other.

mod args;
mod narrator;

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    process::ExitCode,
};

use anyhow::Context;
use cmdkit::{EXIT_FAILURE, Hosted, LogFormat, Usage, UsageError, command_of};
use netcore::{Link, Rate};
use netshell::{Tcp, bind_tcp, raise_open_files, serve, shutdown};
use robots::{Config, Parameters, Server};
use tracing::{info, warn};

use crate::{args::Args, narrator::Narrator};

/// Bytes that are read from one connection: thousands of actions at once, and then as many a second, of which only the last
/// before each turn counts.
const READ_RATE: Rate = Rate { per_second: 4 << 10, burst: 64 << 10 };

/// The course's check starts the programs without arguments and wants 1.
const USAGE: Usage = Usage { code: EXIT_FAILURE, example: "-c 2 -x 10 -y 10" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start("info")?;
    let config = args.config()?;
    let server = Server::new(config.clone()).map_err(|error| UsageError(error.to_string()))?;
    raise_open_files();
    let listeners = bind_tcp(&args.bind, args.port)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = shutdown().context("cannot listen for signals")?;
        // Only now: whoever has read the announcement may send a signal at once.
        announce(&listeners, args, &config)?;
        let transport = Tcp::new(listeners, Link::BinaryStream, READ_RATE)?;
        let outcome = serve(Narrator::new(server), transport, stop, |summary| {
            let mut stdout = io::stdout().lock();
            // Whoever has closed standard output does not end the games of others.
            if let Err(error) = writeln!(stdout, "{summary}").and_then(|()| stdout.flush()) {
                warn!(%error, "the scores cannot be written to standard output");
            }
        });
        anyhow::Ok(outcome.await?)
    })?;
    info!("stopped");
    Ok(ExitCode::SUCCESS)
}

// One line on standard output, at once even into a pipe; then, for people, what is hosted and how to join.
fn announce(listeners: &[TcpListener], args: &Args, config: &Config) -> anyhow::Result<()> {
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<SocketAddr>>>()?;
    let port = addresses.first().map_or(args.port, SocketAddr::port);
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "Ready to play, waiting at port {port}")
        .and_then(|()| stdout.flush())
        .context("cannot write the port to standard output")?;

    let Config { parameters, turn_duration, initial_blocks, seed } = config;
    let Parameters { server_name, players_count, size_x, size_y, game_length, explosion_radius, bomb_timer } =
        parameters;
    if args.log.log_format == LogFormat::Json {
        // Whoever reads this is a program.
        info!(port, seed, ?addresses, players_count, size_x, size_y, "hosting");
        return Ok(());
    }
    let hosted = Hosted::at(&addresses);
    let (server, client) = (hosted.with_port(port), command_of("robots-client"));
    let Hosted { open, elsewhere, .. } = hosted;
    let name = server_name.escape_debug();
    let duration = turn_duration.as_millis();
    let lines = format!(
        "Hosting '{name}' with seed {seed} on {open}; Ctrl-C stops it.\n\
         A game: players {players_count}, board {size_x} x {size_y}, blocks {initial_blocks}, turns {game_length} of \
         {duration} ms, bomb timer {bomb_timer}, explosion radius {explosion_radius}.\n\
         To play:   {client} -s {server} --gui\n\
         To watch:  {client} -s {server} --gui --observe\n\
         A bot:     {client} -s {server} --bot\n\
         {elsewhere}",
    );
    // A standard error that nobody reads is no reason not to play.
    let _ = io::stderr().write_all(lines.as_bytes());
    Ok(())
}
