//! One program: it waits until it is paired, and plays until the match is over.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use ladder::{Input, ProgramId};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until, timeout},
};

use super::{
    line::{Line, PATIENCE},
    told::{Order, Table, Told},
};
use crate::games::{
    Game,
    ladder::{Ear, First, Said},
};

/// What a program may say before its match begins, in bytes. Nobody hears it: there is nothing to do yet, and it may repeat its key.
const MAX_EARLY: usize = 1 << 20;
/// The keeper is told at most this often that a program has sent something.
const PULSE: Duration = Duration::from_millis(500);
/// How long after the end of a room its last datagrams may come.
const LINGER: Duration = Duration::from_millis(300);

/// A program that waits or plays.
pub(super) struct Program {
    pub(super) id: ProgramId,
    pub(super) game: Game,
    pub(super) line: Line,
    pub(super) orders: mpsc::Receiver<Order>,
    pub(super) keeper: mpsc::Sender<Told>,
}

impl Program {
    /// Waits and plays. Returns when the program is gone or its match is over.
    pub(super) async fn stay(mut self) {
        let (mut early, mut unheard) = (BytesMut::new(), 0);
        let table = loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(Order::Play(table)) => break table,
                    Some(Order::Away(why)) => return self.send_away(&why).await,
                    Some(Order::Over) | None => return self.line.end().await,
                },
                read = self.line.read(&mut early) => {
                    unheard += early.len();
                    early.clear();
                    if !read.unwrap_or(false) || unheard > MAX_EARLY {
                        return self.tell(Input::Gone(self.id)).await;
                    }
                }
            }
        };
        self.play(*table).await;
    }

    // Passes on what it and its room say.
    async fn play(mut self, Table { mut room, join, greeting }: Table) {
        let (mut said, mut told) = (BytesMut::new(), BytesMut::new());
        let (mut ear, mut skip) = (Ear::default(), greeting);
        let mut pulse = Instant::now();
        let mut finished = false;
        // Told of its end, the program has what its room has sent before.
        let mut ends: Option<Instant> = None;
        loop {
            if !said.is_empty() {
                // A datagram that is sent again shows the key.
                let is_join = self.line.is_datagrams() && matches!(self.game.first(&said), First::Join(..));
                let message = if is_join { &join[..] } else { &said[..] };
                // What it says after its part is over would be taken for leaving.
                if !finished && room.write(message).await.is_err() {
                    finished = true;
                }
                said.clear();
                if !finished && (self.game.asks() || pulse <= Instant::now()) {
                    pulse = Instant::now() + PULSE;
                    self.tell(Input::Heard(self.id)).await;
                }
            }
            tokio::select! {
                // What the room has said comes first: it may be the end of the match.
                biased;
                read = room.read(&mut told) => {
                    if !read.unwrap_or(false) {
                        // Over, or it has lost its seat.
                        break;
                    }
                    let from = skipped(&told, &mut skip);
                    let heard = self.game.hear(&mut ear, &told[from..]);
                    if from < told.len() && self.line.write(&told[from..]).await.is_err() {
                        return self.tell(Input::Gone(self.id)).await;
                    }
                    told.clear();
                    for heard in heard {
                        match heard {
                            Said::Asked => self.tell(Input::Asked(self.id)).await,
                            Said::Finished => {
                                finished = true;
                                self.tell(Input::Finished(self.id)).await;
                            }
                        }
                    }
                }
                // A closed channel is always ready, and would keep the rest from its turn.
                order = self.orders.recv(), if ends.is_none() => match order {
                    Some(Order::Over | Order::Play(_)) | None => ends = Some(Instant::now() + LINGER),
                    Some(Order::Away(why)) => {
                        // Its room is left first, so that it knows who has lost.
                        leave(self.game, room).await;
                        return self.send_away(&why).await;
                    }
                },
                () = sleep_until(ends.unwrap_or_else(Instant::now)), if ends.is_some() => break,
                read = self.line.read(&mut said), if !finished || !self.line.is_datagrams() => {
                    if !read.unwrap_or(false) {
                        self.tell(Input::Gone(self.id)).await;
                        if !finished {
                            return leave(self.game, room).await;
                        }
                        // Its seat stays until the others are done.
                        return outlast(room, &mut self.orders).await;
                    }
                }
            }
        }
        // A match that broke off for any reason.
        self.tell(Input::Gone(self.id)).await;
        self.line.end().await;
    }

    async fn send_away(mut self, why: &str) {
        if let Some(farewell) = self.game.refusal(why) {
            let _ = self.line.write(&farewell).await;
        }
        self.line.end().await;
    }

    async fn tell(&self, input: Input) {
        // A keeper that is gone ends with the hub.
        let _ = self.keeper.send(Told::Input(input)).await;
    }
}

// How many of these bytes the program has heard before.
fn skipped(told: &[u8], skip: &mut Bytes) -> usize {
    if skip.is_empty() {
        return 0;
    }
    // A room sends its first message at once, so it comes whole.
    let greeting = std::mem::take(skip);
    if told.starts_with(&greeting) { greeting.len() } else { 0 }
}

// Has the room know that the player is gone.
async fn leave(game: Game, mut room: Line) {
    if let Some(goodbye) = game.leave() {
        // On one machine nothing is lost.
        let _ = room.write(&goodbye).await;
    }
    room.cut();
}

// Keeps a connection to a room until the match is over.
async fn outlast(mut room: Line, orders: &mut mpsc::Receiver<Order>) {
    let mut told = BytesMut::new();
    loop {
        tokio::select! {
            order = orders.recv() => if !matches!(order, Some(Order::Play(_))) {
                return;
            },
            read = timeout(12 * PATIENCE, room.read(&mut told)) => {
                told.clear();
                if !matches!(read, Ok(Ok(true))) {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::net::UdpSocket;

    use super::*;

    async fn socket() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").await.unwrap()
    }

    #[tokio::test]
    async fn a_program_whose_match_is_over_goes_though_its_room_says_no_more() {
        let (room, own, door) = (socket().await, socket().await, socket().await);
        own.connect(room.local_addr().unwrap()).await.unwrap();
        let (order, orders) = mpsc::channel(4);
        let (keeper, mut told) = mpsc::channel(4);
        let (_inbox, inbox) = mpsc::channel(1);
        let peer = door.local_addr().unwrap();
        let line = Line::Shared { socket: Arc::new(door), peer, inbox };
        let program = Program { id: ProgramId(1), game: Game::Nuggets, line, orders, keeper };
        let table = Table { room: Line::Own(own), join: Bytes::from_static(b"PLAY Ada"), greeting: Bytes::new() };
        assert!(order.try_send(Order::Play(Box::new(table))).is_ok());
        assert!(order.try_send(Order::Over).is_ok());
        drop(order);
        timeout(testkit::PATIENCE, program.stay()).await.expect("it goes");
        assert!(matches!(told.recv().await, Some(Told::Input(Input::Gone(ProgramId(1))))));
    }
}
