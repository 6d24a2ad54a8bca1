//! The program `robots-client`.
//!
//! [`robots::Client`] folds the server's messages into pictures. This program adds the command line ([`Args`]), the
//! connection, the GUI's datagrams, the bots and the demonstration.
//!
//! ```text
//! server -TCP-------------> robots::Client -> Gui -UDP-> GUI
//! server <-TCP------------- robots::Client <- Gui <-UDP- GUI
//!                                          <- Bot
//! ```
//!
//! The two sides cannot block each other: a slow GUI does not delay reading from the server, and the next picture
//! replaces one for which the system has no room.

mod args;
mod demo;
mod gui;
mod player;

use std::{
    io::{self, Write},
    net::{self, Ipv4Addr},
    pin::pin,
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context;
use clientkit::ServerLocation;
use cmdkit::{EXIT_FAILURE, HostPort, Usage};
use netcore::{Level, wire::ShortText};
use netshell::{bind_udp, raise_open_files, shutdown};
use rand::{TryRng, rngs::SysRng};
use robots::{Bot, PlayerId};
use robots_gui::{Follow, Server, Window};
use tokio::{
    runtime, select,
    sync::watch,
    task::{JoinSet, spawn_blocking},
};
use tracing::{debug, info, warn};

use crate::{
    args::{Args, Plan, Role, Screen},
    gui::Gui,
    player::{GameLog, Player, Steering},
};

/// The default of robots-gui.
const GUI_PORT: u16 = 2024;

const HINT: &str = "is a robots server running there?";

/// The check of the course starts the programs without arguments and expects exit status 1.
const USAGE: Usage = Usage { code: EXIT_FAILURE, example: "-s localhost:2022 --gui" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    let plan = Plan::of(args)?;
    if plan.screen == Screen::Terminal || args.logs.log_file.is_some() {
        args.logs.start("info", plan.screen == Screen::Terminal)?;
    } else {
        args.logs.log.start("info")?;
    }
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let stop = shutdown().context("cannot handle signals")?;
        select! {
            ended = take_part(plan) => ended,
            () = stop => {
                info!("stopped");
                Ok(())
            }
        }
    });
    // Does not wait for the system's resolver, which may still be running.
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

async fn take_part(plan: Plan) -> anyhow::Result<()> {
    let directory = plan.directory.of("robots").map(Arc::new);
    if plan.server.is_none() && directory.is_none() {
        return demonstrate(plan).await;
    }
    let location = ServerLocation::new(plan.server.clone(), directory, HINT);
    play(plan, location, false).await
}

// All in this thread, so that Ctrl-Z stops the whole game.
async fn demonstrate(plan: Plan) -> anyhow::Result<()> {
    let (address, hosting) = demo::server()?;
    let mut others = JoinSet::new();
    let level = plan.level;
    let location = ServerLocation::new(Some(address), None, HINT);
    let playing = play(plan, location.clone(), true);
    others.spawn(hosting);
    for name in demo::BOTS {
        let steering = bot(level, None)?;
        let (location, name) = (location.clone(), ShortText::try_from(name).unwrap_or_default());
        let player = Player::unseen(name, steering, None);
        others.spawn(async move {
            // A bot fails only if the server has ended, which the player's client reports.
            let _ = player.run(location, false).await;
        });
    }
    playing.await
}

// If `joins`, the user joins the first lobby without a key.
async fn play(plan: Plan, location: ServerLocation, joins: bool) -> anyhow::Result<()> {
    let Plan { retry, screen, role, level, .. } = plan;
    let (own, own_told) = watch::channel(None);
    let (link, link_told) = watch::channel(Server::There);
    let (gui, window) = match screen {
        Screen::Gui { address, port, bind } => {
            let sockets = bind_udp(&bind, port).map_err(|taken| taken.naming("--port"));
            let sockets = sockets.context("cannot receive from the GUI")?;
            announce(&sockets, port, &address)?;
            (Some(find_gui(sockets, address).await?), None)
        }
        Screen::Terminal => {
            let shown_as = match &role {
                Role::Player(_) => robots_gui::UserRole::Player,
                Role::Observer => robots_gui::UserRole::Observer,
                Role::Bots { .. } => robots_gui::UserRole::Bot,
            };
            let (gui, window) = in_terminal(shown_as, own_told, link_told)?;
            (Some(gui), Some(window))
        }
        Screen::None => (None, None),
    };
    let (name, steering) = match role {
        Role::Player(name) => (name, Steering::Gui),
        Role::Observer => (ShortText::default(), Steering::Nobody),
        Role::Bots { names, games } => {
            let mut names = names.into_iter();
            match (names.next(), names.len()) {
                (Some(name), 0) => (name, bot(level, games)?),
                (first, _) => return headless(location, retry, first.into_iter().chain(names), level, games).await,
            }
        }
    };
    let mut greeted = link.subscribe();
    greeted.mark_unchanged();
    let joins = joins && matches!(steering, Steering::Gui);
    let player = Player { name, steering, joins, gui, own, connection: link.clone(), log: Some(GameLog::new()) };
    let playing = player.run(location, retry);
    let Some(window) = window else { return playing.await };
    let mut window = pin!(window.run());
    // The terminal is restored before anything is printed.
    let (left, ended) = select! {
        ended = playing => match ended {
            // The window stays and reports the loss, since the user may want to see the last board.
            Err(error) if greeted.has_changed().unwrap_or(false) => {
                link.send_replace(Server::Gone);
                (Some(window.await), Err(error))
            }
            ended => (None, ended),
        },
        left = &mut window => (Some(left), Ok(())),
    };
    if let Some(left) = left {
        left.report();
    }
    ended
}

// Must be called before any thread starts.
fn in_terminal(
    role: robots_gui::UserRole,
    own: watch::Receiver<Option<PlayerId>>,
    server: watch::Receiver<Server>,
) -> anyhow::Result<(Gui, Window)> {
    let open = || bind_udp(&[Ipv4Addr::LOCALHOST.into()], 0);
    let (ours, theirs) = (open()?, open()?);
    let addresses =
        |sockets: &[net::UdpSocket]| sockets.iter().map(net::UdpSocket::local_addr).collect::<io::Result<Vec<_>>>();
    let (client, window) = (addresses(&ours)?, addresses(&theirs)?);
    let gui = Gui::new(ours, &window)?;
    Ok((gui, Window::new(theirs, client, Follow::Client(own))?.with_client(role, server)))
}

async fn find_gui(sockets: Vec<net::UdpSocket>, address: HostPort) -> anyhow::Result<Gui> {
    // The system's resolver blocks.
    let addresses = spawn_blocking(move || address.resolve()).await.context("the resolver failed")?;
    Gui::new(sockets, &addresses.context("cannot send to the GUI")?)
}

// Flushed, since standard output may be a pipe.
fn announce(sockets: &[net::UdpSocket], port: u16, gui: &HostPort) -> anyhow::Result<()> {
    let port = sockets.first().map(net::UdpSocket::local_addr).transpose()?.map_or(port, |address| address.port());
    let mut stdout = io::stdout().lock();
    if let Err(error) = writeln!(stdout, "{}", about_gui(port, gui)).and_then(|()| stdout.flush()) {
        warn!(%error, port, "cannot write the GUI's port to standard output");
    }
    Ok(())
}

// Where keys come from, where pictures go, and the command that starts a GUI there.
fn about_gui(port: u16, gui: &HostPort) -> String {
    let pictures = if gui.port == GUI_PORT { String::new() } else { format!(" -p {}", gui.port) };
    let keys = if port == args::PORT { String::new() } else { format!(" -c localhost:{port}") };
    format!("Keys of the GUI come to UDP port {port}; pictures go to {gui} (start it: robots-gui{pictures}{keys})")
}

fn bot(level: Level, games: Option<u32>) -> anyhow::Result<Steering> {
    Ok(Steering::Bot { bot: Bot::with_level(SysRng.try_next_u32()?, level), games })
}

async fn headless(
    location: ServerLocation,
    retry: bool,
    names: impl Iterator<Item = ShortText>,
    level: Level,
    games: Option<u32>,
) -> anyhow::Result<()> {
    raise_open_files();
    let mut bots = JoinSet::new();
    // All bots see the same games, so one of them logs.
    let mut log = Some(GameLog::new());
    for name in names {
        let (location, steering) = (location.clone(), bot(level, games)?);
        let player = Player::unseen(name, steering, log.take());
        bots.spawn(async move { player.run(location, retry).await });
    }
    let all = bots.len();
    let mut failures = vec![];
    while let Some(ended) = bots.join_next().await {
        match ended.context("a bot failed").and_then(|ended| ended) {
            Ok(()) => {}
            Err(error) => {
                debug!("{error:#}");
                failures.push(error);
            }
        }
    }
    let failed = failures.len();
    match failures.into_iter().next() {
        None => Ok(()),
        Some(first) => Err(first.context(format!("{failed} of {all} bots failed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_prints_how_to_start_its_gui() {
        let said = |port, gui: &str| about_gui(port, &gui.parse().unwrap());
        assert_eq!(
            said(2023, "localhost:2024"),
            "Keys of the GUI come to UDP port 2023; pictures go to localhost:2024 (start it: robots-gui)"
        );
        assert!(said(7, "[::1]:9").ends_with("pictures go to [::1]:9 (start it: robots-gui -p 9 -c localhost:7)"));
    }
}
