//! The nuggets client, as a library so that other programs can draw its screens.
//!
//! [`nuggets::Client`] folds the server's messages into a state. This crate adds the command line ([`Args`]), the
//! picture ([`View`]) and, privately, the meaning of keys, the socket, the terminal and the bots.
//!
//! ```
//! use netcore::{Client as _, Time};
//! use nuggets::{Client, Participant};
//! use nuggets_client::View;
//! use ratatui::{buffer::Buffer, layout::Rect, widgets::Widget};
//! use termkit::Palette;
//!
//! let mut client = Client::new(Participant::Spectator, Time::ZERO);
//! for datagram in [&b"GRID 3 5"[..], b"GOLD 0 0 250", b"DISPLAY\n+---+\n|A.*|\n+---+\n"] {
//!     client.receive(Time::ZERO, datagram)?;
//! }
//! let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 4));
//! let mut view = View::new(Palette::MONO, false);
//! view.prepare(&client, buffer.area.as_size());
//! view.picture(&client, Time::ZERO).render(buffer.area, &mut buffer);
//! assert_eq!(buffer.content()[0].symbol(), "S", "of `Spectator: 250 nuggets unclaimed.`");
//! # Ok::<(), netcore::DecodeError>(())
//! ```

mod args;
mod headless;
mod keys;
mod play;
mod result;
mod session;
mod view;

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use anyhow::bail;
use nuggets::{End, client::GIVE_UP, client::GOODBYE};
use tokio::runtime;

pub use args::Args;
pub use view::{Picture, View};

use crate::{
    args::Plan,
    headless::Demo,
    play::{Options, Parting, Player},
};

/// Runs the program.
///
/// # Errors
/// If the server cannot be found, does not respond or sends no goodbye, or if the terminal or a file fails.
#[expect(clippy::needless_pass_by_value, reason = "the signature that cmdkit wants of a program")]
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let plan = Plan::of(&args)?;
    args.logs.start("warn", !matches!(plan, Plan::Headless { .. }))?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (rematch, bell) = (args.rematch, args.bell);
    let directory = args.directory.of("nuggets").map(Arc::new);
    // Before the screen is set up, so that messages of the directory are legible.
    let there = args.server(directory.as_deref())?;
    let place = format!("{} port {}", there.host, there.port);
    runtime.block_on(async {
        match plan {
            Plan::Headless { names, style } => {
                headless::run((&there.resolve()?, directory), &there, &names, style, rematch).await
            }
            Plan::Interactive { part, bot } => {
                let addresses = there.resolve()?;
                let options = Options { part, addresses, directory, bot, rematch, place: place.clone(), bell };
                report(&place, &Player::new(options)?.run().await)
            }
            Plan::Demo { names, style } => {
                let demo = Demo::start(&names, style)?;
                let (part, addresses) = (demo.player(), vec![demo.address()]);
                let place = "the demonstration".to_owned();
                let directory = None;
                let options = Options { part, addresses, directory, bot: None, rematch, place: place.clone(), bell };
                report(&place, &Player::new(options)?.run().await)
            }
        }
    })
}

fn report(place: &str, parting: &Parting) -> anyhow::Result<ExitCode> {
    if let Some(account) = &parting.account {
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "{account}");
    }
    match searched_result(place, parting) {
        // The terminal has hung up, so no user would read a message.
        Err(_) if parting.hung_up => Ok(ExitCode::SUCCESS),
        result => result,
    }
}

fn refused(place: &str) -> String {
    format!("no server listens at {place}; is the port correct?")
}

fn searched_result(place: &str, parting: &Parting) -> anyhow::Result<ExitCode> {
    let result = result_of(place, parting);
    match &parting.search_error {
        Some(why) => {
            result.map_err(|error| anyhow::anyhow!("{error:#}; the directory does not locate the room: {why}"))
        }
        None => result,
    }
}

fn result_of(place: &str, parting: &Parting) -> anyhow::Result<ExitCode> {
    match &parting.end {
        End::Quit(text) => {
            headless::print(text)?;
            Ok(ExitCode::SUCCESS)
        }
        End::LeftEarly => Ok(ExitCode::SUCCESS),
        End::NoAnswer if parting.refused => bail!("{}", refused(place)),
        End::NoAnswer => {
            bail!("no answer from {place} for {} s; is a nuggets server running there?", GIVE_UP.as_secs())
        }
        End::Gone => bail!("lost the server at {place}: its port is closed"),
        // Unreachable over datagrams, which have no connection.
        End::Disconnected(_) => bail!("lost the connection to {place}"),
        End::NoGoodbye => bail!("left, but {place} did not confirm it within {} s", GOODBYE.as_secs()),
    }
}
