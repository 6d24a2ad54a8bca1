//! Connects a room and its clients directly, without a network.

use bytes::BytesMut;
use netcore::{
    Client, Engine, GameEvent, Gone, Hosted, Input, Link, Outbox, Output, PeerId, Progress, Role, Room, Time, To,
};

use crate::transcript::Transcript;

/// Milliseconds per step.
const STEP: u64 = 50;

struct Guest<C> {
    client: C,
    // Bytes that the room has not read yet.
    unread: BytesMut,
    closed: bool,
}

/// A room with connected clients, and a hash of its output.
pub(crate) struct Hall<E: Engine, C> {
    room: Hosted<E>,
    guests: Vec<Guest<C>>,
    now: Time,
    out: Outbox,
    said: Transcript,
}

impl<E: Engine, C: Client> Hall<E, C> {
    /// A room with these clients connected over streams.
    pub(crate) fn new(engine: E, clients: impl IntoIterator<Item = C>) -> Self {
        let guests =
            clients.into_iter().map(|client| Guest { client, unread: BytesMut::new(), closed: false }).collect();
        let (room, now) = (Hosted::new(engine), Time::ZERO);
        let mut hall = Self { room, guests, now, out: Outbox::new(), said: Transcript::new() };
        for at in 0..hall.guests.len() {
            let (peer, address) = (peer(at), format!("192.0.2.1:{}", 4_000 + at));
            let connected =
                Input::Connected { peer, role: Role::Player, link: Link::Stream, address: (&address).into() };
            hall.room.input(now, connected, &mut hall.out);
            hall.deliver();
        }
        hall
    }

    /// Plays until `over` or for `steps` steps, and calls `think` for each client in each step. Returns a hash of
    /// everything that the room has sent, or `None` if it did not end.
    pub(crate) fn play(
        mut self,
        steps: u64,
        mut over: impl FnMut(&E) -> bool,
        mut think: impl FnMut(usize, &mut C, Time),
    ) -> Option<u64> {
        for step in 0..steps {
            self.now = Time::from_millis(step * STEP);
            if self.room.deadline().is_some_and(|due| due <= self.now) {
                self.room.input(self.now, Input::Elapsed, &mut self.out);
                self.deliver();
            }
            for at in 0..self.guests.len() {
                let Guest { client, .. } = &mut self.guests[at];
                if client.deadline(self.now).is_some_and(|due| due <= self.now) {
                    client.elapsed(self.now);
                }
                think(at, client, self.now);
                self.listen(at);
            }
            if over(self.room.engine()) {
                return Some(self.said.value());
            }
        }
        None
    }

    // Passes the outgoing messages of a client to the room.
    fn listen(&mut self, at: usize) {
        while let Some(message) = self.guests[at].client.take_outgoing() {
            self.guests[at].unread.extend_from_slice(&message);
        }
        while !self.guests[at].closed && !self.guests[at].unread.is_empty() {
            let bytes = &mut self.guests[at].unread;
            let progress = self.room.receive(self.now, peer(at), bytes, &mut self.out);
            self.deliver();
            if progress != Progress::Decoded {
                return;
            }
        }
    }

    // Executes the outputs of the room.
    fn deliver(&mut self) {
        let Self { guests, now, out, said, .. } = self;
        for output in out.drain() {
            match output {
                Output::Send { to, frame } => {
                    said.add(&frame);
                    let is_meant = |at| to == To::Everyone || to == To::Peer(peer(at));
                    for (_, guest) in guests.iter_mut().enumerate().filter(|&(at, _)| is_meant(at)) {
                        guest.hear(*now, &frame);
                    }
                }
                Output::Replay { to, history } => {
                    for segment in history.segments() {
                        said.add(segment);
                        for (_, guest) in guests.iter_mut().enumerate().filter(|&(at, _)| peer(at) == to) {
                            guest.hear(*now, segment);
                        }
                    }
                }
                Output::Close { peer: closed } => {
                    for (_, guest) in guests.iter_mut().enumerate().filter(|&(at, _)| peer(at) == closed) {
                        guest.closed = true;
                        guest.client.disconnected(*now, Gone::Left);
                    }
                }
                Output::Event(GameEvent::Summary(text)) => said.add(text.as_bytes()),
                Output::Event(_) => {}
            }
        }
    }
}

impl<C: Client> Guest<C> {
    fn hear(&mut self, now: Time, bytes: &[u8]) {
        // A client that cannot decode the server's bytes disconnects, so that the game does not end.
        if !self.closed && self.client.receive(now, bytes).is_err() {
            self.closed = true;
        }
    }
}

fn peer(at: usize) -> PeerId {
    PeerId(at as u64)
}
