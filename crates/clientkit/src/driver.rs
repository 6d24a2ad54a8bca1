use std::{pin::pin, time::Duration};

use netcore::{Client, DisconnectReason, Time};
use netshell::Clock;
use tokio::time::timeout;

use crate::{Received, Wire};

/// Datagrams or parts of a stream that are received before the pilot decides.
const BURST: usize = 64;
/// How long the last message may wait in the queue.
const LAST_MESSAGE: Duration = Duration::from_secs(1);

pub trait Pilot<C> {
    /// Acts if an action is due. Called after each receive and when [`Pilot::due`] has passed.
    fn act(&mut self, client: &mut C, now: Time);

    /// When the pilot acts unless a message arrives before.
    fn due(&self, client: &C) -> Option<Time>;

    /// Leaves the server, if the game has a message for that. The client ends when it is [over](Client::is_over), or
    /// immediately if it has no deadline.
    fn leave(&mut self, client: &mut C, now: Time);
}

#[derive(Debug)]
pub enum Ended {
    Over,
    Stopped,
    /// Includes a malformed message of the server.
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
            wire.send(message);
        }
        let deadline = client.deadline(clock.now());
        if client.is_over() || (leaving && deadline.is_none()) {
            let _ = timeout(LAST_MESSAGE, wire.flushed()).await;
            return if leaving { Ended::Stopped } else { Ended::Over };
        }
        let due = pilot.due(client).filter(|_| !leaving);
        tokio::select! {
            () = wire.ready() => {}
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
        wire.flush();
    }
}

fn receive<C: Client<Error: std::fmt::Display>>(wire: &mut Wire, client: &mut C, clock: &Clock) -> Result<(), Ended> {
    for _ in 0..BURST {
        let mut malformed = None;
        let now = clock.now();
        match wire.receive(|bytes| malformed = client.receive(now, bytes).err()) {
            Received::Bytes => {}
            // A resumed match continues without another request for a seat.
            Received::Nothing | Received::Refused => break,
            Received::Closed => {
                // The client may have received the end of the game before.
                let over = client.is_over();
                client.disconnected(now, DisconnectReason::Left);
                return Err(if over { Ended::Over } else { Ended::Lost("the connection was closed".into()) });
            }
            Received::Failed(error) => {
                client.disconnected(now, DisconnectReason::Broken);
                return Err(Ended::Lost(error.to_string()));
            }
        }
        if let Some(error) = malformed {
            return Err(Ended::Lost(format!("the server sent a malformed message: {error}")));
        }
    }
    Ok(())
}
