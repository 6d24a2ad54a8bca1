//! The server and the bots of `--demo`, inside this program.

use std::{future, net::Ipv4Addr, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use netcore::{Hosted, Leave};
use netshell::{Clock, Host, Udp, bind_udp, serve};
use nuggets::{BUILT_IN_MAP, Config, Grid, Name, Participant, Server};
use rand::{TryRng, rngs::SysRng};
use tokio::{sync::watch, task::JoinSet};
use tracing::warn;

use crate::headless::{self, Style};

const PLAYER: &[u8] = b"you";
/// How long everybody may look around before the game begins.
const COUNTDOWN: Duration = Duration::from_secs(3);

/// A server that only this machine can reach, and bots that play one game there after the other. They end when it is
/// dropped.
///
/// They are tasks of the same thread as the client, so Ctrl-Z stops the game for all of them.
pub(crate) struct Demo {
    address: SocketAddr,
    player: Name,
    _tasks: JoinSet<()>,
    // The bots leave when this is dropped.
    _stop: watch::Sender<bool>,
}

impl Demo {
    /// Starts both, within a runtime. The first game begins when the player has joined.
    pub(crate) fn start(bots: &[Name], style: Style) -> anyhow::Result<Self> {
        let (grid, _) = Grid::parse(BUILT_IN_MAP)?;
        let config = Config {
            rematch: true,
            seed: u128::from(SysRng.try_next_u32()?).max(1),
            wait_for: u32::try_from(bots.len())?.saturating_add(1),
            countdown: Some(COUNTDOWN),
            ..Config::default()
        };
        let server = Server::new(Arc::new(grid), config)?;
        let sockets = bind_udp(&[Ipv4Addr::LOCALHOST.into()], 0)?;
        let address = sockets.first().context("no socket")?.local_addr()?;
        let host = Host::new(Hosted::new(server)).with_transport(Udp::new(sockets)?);
        let player = Name::new(PLAYER)?;
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(async {
            if let Err(error) = serve(host, Clock::start(), future::pending::<Leave>()).await {
                warn!(%error, "the server of the demonstration broke");
            }
        });
        for name in bots {
            let (name, stopped) = (name.clone(), stopped.clone());
            tasks.spawn(async move {
                loop {
                    match headless::play((vec![address], None), name.clone(), style, stopped.clone()).await {
                        Ok(outcome) if outcome.is_complete() => {}
                        Ok(_) => return,
                        Err(error) => return warn!(%error, "a bot of the demonstration broke"),
                    }
                }
            });
        }
        Ok(Self { address, player, _tasks: tasks, _stop: stop })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn player(&self) -> Participant {
        Participant::Player(self.player.clone())
    }
}
