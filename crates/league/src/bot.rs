//! Built-in bots as players, over real sockets like external programs.

use std::net::{Ipv4Addr, SocketAddr};

use clientkit::{Wire, blackjack_bot, mastermind_bot, nuggets_bot, robots_bot, run};
use netcore::{Level, wire::ShortText};
use tokio::task::spawn_blocking;

use crate::rules::Game;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

#[derive(Debug)]
pub(crate) struct Bot {
    pub(crate) name: String,
    pub(crate) level: Level,
    pub(crate) seed: u64,
    pub(crate) server: SocketAddr,
}

impl Bot {
    /// Plays until the game is over. The referee detects a bot that cannot play, since it does not join, or leaves.
    pub(crate) async fn play(self, game: Game) -> anyhow::Result<()> {
        let Self { name, level, seed, server } = self;
        let stream = || Wire::stream(ANY, server, |_| ());
        let forever = std::future::pending();
        match game {
            Game::Robots => {
                let mut wire = stream().await?;
                let name = ShortText::try_from(&*name)?;
                let seed = u32::try_from(seed >> 32)?;
                let (mut client, mut pilot) = robots_bot(name, Some(wire.address()?), level, seed);
                run(&mut wire, &mut client, &mut pilot, forever).await;
            }
            Game::Nuggets => {
                let name = nuggets::Name::new(name.as_bytes())?;
                let (mut client, mut pilot) = nuggets_bot(name, level, seed, true);
                let mut wire = Wire::datagrams(ANY, server)?;
                run(&mut wire, &mut client, &mut pilot, forever).await;
            }
            Game::Blackjack => {
                let name = blackjack::Name::new(name.as_bytes())?;
                // On a blocking thread, since computing the best table takes a moment.
                let bot = spawn_blocking(move || blackjack_bot(name, level, true)).await?;
                let ((mut client, mut pilot), mut wire) = (bot, stream().await?);
                run(&mut wire, &mut client, &mut pilot, forever).await;
            }
            Game::Mastermind => {
                let name = mastermind::Name::new(name.as_bytes())?;
                let (mut client, mut pilot) = mastermind_bot(name, level, seed, true);
                let mut wire = stream().await?;
                run(&mut wire, &mut client, &mut pilot, forever).await;
            }
        }
        Ok(())
    }
}
