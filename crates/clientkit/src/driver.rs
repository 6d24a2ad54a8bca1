//! Drives a client over its wire.

use std::{io, pin::pin, time::Duration};

use netcore::{Client, Gone, Time};
use netshell::Clock;
use tokio::time::timeout;

use crate::Wire;

/// Datagrams or pieces of a stream that are received before the pilot decides.
const BURST: usize = 64;
/// How long a last message may wait until the system takes it.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Decides for a client.
pub trait Pilot<C> {
    /// Acts, if there is anything to do. Called after each receive and when [`Pilot::due`] has passed.
    fn act(&mut self, client: &mut C, now: Time);

    /// When the pilot wants to act even if nothing comes.
    fn due(&self, client: &C) -> Option<Time>;

    /// Takes leave of the server, if the game has a way to do that. The client is given up once it says
    /// [`is_over`](Client::is_over), at once if it has no deadline.
    fn leave(&mut self, client: &mut C, now: Time);
}

/// Why a client does not play any more.
#[derive(Debug)]
pub enum Ended {
    /// The game is over for it.
    Over,
    /// It was asked to stop.
    Stopped,
    /// The server is gone, or what it sent is no message.
    Lost(String),
}

/// Plays until the client is over, `stop` resolves or the server is lost.
pub async fn run<C, P>(wire: &mut Wire, client: &mut C, pilot: &mut P, stop: impl Future<Output = ()>) -> Ended
where
    C: Client<Error: std::fmt::Display>,
    P: Pilot<C>,
{
    let clock = Clock::start();
    let mut stop = pin!(stop);
    let mut leaving = false;
    loop {
        if !leaving {
            pilot.act(client, clock.now());
        }
        while let Some(message) = client.take_outgoing() {
            if let Err(error) = wire.send(message) {
                return lost(client, clock.now(), &error);
            }
        }
        let deadline = client.deadline(clock.now());
        if client.is_over() || (leaving && deadline.is_none()) {
            // Sends the last message if the system did not take it at once.
            let _ = timeout(LAST_WORD, wire.flushed()).await;
            return if leaving { Ended::Stopped } else { Ended::Over };
        }
        let due = pilot.due(client).filter(|_| !leaving);
        tokio::select! {
            ready = wire.ready() => if let Err(error) = ready {
                return lost(client, clock.now(), &error);
            },
            () = clock.until(deadline) => client.elapsed(clock.now()),
            () = clock.until(due) => {}
            () = &mut stop, if !leaving => {
                leaving = true;
                pilot.leave(client, clock.now());
            }
        }
        if let Err(ended) = receive(wire, client, &clock) {
            return ended;
        }
    }
}

// Passes received bytes to the client.
fn receive<C: Client<Error: std::fmt::Display>>(wire: &mut Wire, client: &mut C, clock: &Clock) -> Result<(), Ended> {
    for _ in 0..BURST {
        let mut wrong = None;
        let now = clock.now();
        match wire.receive(|bytes| wrong = client.receive(now, bytes).err()) {
            None => break,
            Some(Ok(true)) => {}
            Some(Ok(false)) => {
                // It may have heard before that the game is over.
                let over = client.is_over();
                client.disconnected(now, Gone::Left);
                return Err(if over { Ended::Over } else { Ended::Lost("the connection was closed".into()) });
            }
            Some(Err(error)) => return Err(lost(client, now, &error)),
        }
        if let Some(wrong) = wrong {
            return Err(Ended::Lost(format!("the server sent a malformed message: {wrong}")));
        }
    }
    wire.flush().map_err(|error| lost(client, clock.now(), &error))
}

fn lost<C: Client>(client: &mut C, now: Time, error: &io::Error) -> Ended {
    client.disconnected(now, Gone::Broken);
    Ended::Lost(error.to_string())
}
