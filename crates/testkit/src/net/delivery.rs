//! The input and output of the clients.

use std::{fmt::Debug, hash::Hash as _, iter, net::SocketAddr};

use netcore::Client;

use super::{Hostable, Line, Net, Seat, arrived::Arrived, datagrams::Way, world::Shared};

impl<E: Hostable, C: Client<Error: Debug>> Net<E, C> {
    // Passes an arrival to its client.
    pub(super) fn hand_over(&mut self, address: SocketAddr, what: Arrived) {
        (self.now(), address, &what).hash(&mut self.trace);
        let now = self.now();
        let Some(seat) = self.clients.get_mut(&address) else {
            if let Arrived::Bytes(bytes) = what {
                self.mail.entry(address).or_default().push(bytes);
            }
            return;
        };
        match what {
            Arrived::Bytes(bytes) => {
                if let Err(why) = seat.client.receive(now, &bytes) {
                    panic!("{address} cannot decode {}: {why:?}", bytes.escape_ascii());
                }
            }
            Arrived::End(end) => {
                seat.client.disconnected(now, end.gone());
                if !seat.closed {
                    seat.closed = true;
                    finish_sending(&self.shared, seat.line);
                }
            }
        }
    }

    // Sends the outgoing messages of the clients.
    pub(super) fn collect(&mut self) {
        for (&from, Seat { client, line, closed, .. }) in &mut self.clients {
            let world = &mut *self.shared.lock();
            for message in iter::from_fn(|| client.take_outgoing()) {
                match *line {
                    Line::Datagrams => world.post.post(&mut world.chance, Way::ToServer { from }, message),
                    Line::Stream(_) | Line::Messages(_) if *closed => {}
                    Line::Stream(wire) => world.wires.send(&mut world.chance, wire, &message),
                    Line::Messages(line) => world.lines.send(&mut world.chance, line, message),
                }
            }
        }
        for Seat { client, line, closed, .. } in self.clients.values_mut() {
            if client.is_over() && !*closed {
                *closed = true;
                finish_sending(&self.shared, *line);
            }
        }
    }
}

// Closes a client's side of its connection.
pub(super) fn finish_sending(shared: &Shared, line: Line) {
    let world = &mut *shared.lock();
    match line {
        Line::Datagrams => {}
        Line::Stream(wire) => world.wires.close(&mut world.chance, wire),
        Line::Messages(line) => world.lines.close(&mut world.chance, line),
    }
}
