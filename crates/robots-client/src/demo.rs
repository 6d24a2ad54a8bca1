//! A server and opponents in this program, for `--demo`.

use std::{future, net::Ipv4Addr, net::SocketAddr, time::Duration};

use anyhow::Context;
use cmdkit::HostPort;
use netcore::{EngineRoom, Leave, wire::ShortText};
use netshell::{Clock, Host, Limits, Tcp, bind_tcp, serve};
use rand::{TryRng, rngs::SysRng};
use robots::{Config, MAX_HISTORY, Parameters, READ_RATE, Server};
use tracing::warn;

pub(crate) const BOTS: [&str; 3] = ["Bolt", "Cog", "Dash"];

/// The defaults of `robots-server`, with a board for a terminal of 80 x 24.
fn config() -> anyhow::Result<Config> {
    let config = Config {
        parameters: Parameters {
            server_name: ShortText::try_from("demo").context("the name is short")?,
            players_count: 1 + u8::try_from(BOTS.len())?,
            size_x: 12,
            size_y: 10,
            game_length: 300,
            explosion_radius: 4,
            bomb_timer: 5,
        },
        turn_duration: Duration::from_millis(200),
        initial_blocks: 24,
        seed: SysRng.try_next_u32()?,
        max_history: MAX_HISTORY,
    };
    Ok(config)
}

/// On a free loopback port. The future hosts games until it is dropped.
pub(crate) fn server() -> anyhow::Result<(HostPort, impl Future<Output = ()>)> {
    let server = Server::new(config()?)?;
    let listeners = bind_tcp(&[Ipv4Addr::LOCALHOST.into()], 0)?;
    let address: SocketAddr = listeners.first().context("no socket")?.local_addr()?;
    let host = Host::new(EngineRoom::new(server)).with_transport(Tcp::new(listeners, READ_RATE, Limits::of(None))?);
    let hosting = async {
        if let Err(error) = serve(host, Clock::start(), future::pending::<Leave>()).await {
            warn!(%error, "the demonstration server failed");
        }
    };
    Ok((HostPort { host: address.ip().to_string(), port: address.port() }, hosting))
}
