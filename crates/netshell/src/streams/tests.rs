use std::{
    io::IoSlice,
    net::SocketAddr,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use netcore::Progress;

use super::{
    queue::{MAX_OWN, OVERHEAD},
    *,
};
use crate::{Answer, Delivery, Transport};

const FAST: Rate = Rate { per_second: 1 << 30, burst: 1 << 30 };

/// Accepts either all output or none.
#[derive(Debug, Clone, Default)]
pub(super) struct Fake {
    pub(super) sends: Arc<Mutex<BytesMut>>,
    pub(super) takes: bool,
    pub(super) has_left: bool,
    pub(super) written: Vec<u8>,
    pub(super) finished: bool,
}

impl ByteStream for Fake {
    fn try_read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
        let mut sends = self.sends.lock().unwrap();
        let count = sends.len().min(most);
        if count == 0 && !self.has_left {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        buffer.extend_from_slice(&sends.split_to(count));
        Ok(count)
    }

    fn try_write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        if !self.takes {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let before = self.written.len();
        self.written.extend(slices.iter().flat_map(|slice| slice.iter()));
        Ok(self.written.len() - before)
    }

    fn poll_readable(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waits = self.sends.lock().unwrap().is_empty() && !self.has_left;
        if waits { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn poll_writable(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn finish(&mut self) {
        self.finished = true;
    }
}

struct FakeListener(Vec<Fake>);

impl Listen for FakeListener {
    type Stream = Fake;

    fn poll_accept(&mut self, _: &mut Context<'_>) -> Poll<io::Result<(Fake, SocketAddr)>> {
        let address = SocketAddr::from(([10, 0, 0, 1], 7));
        self.0.pop().map_or(Poll::Pending, |peer| Poll::Ready(Ok((peer, address))))
    }
}

/// Opens a connection for each peer, and does all pending work.
fn streams(mut peers: Vec<Fake>) -> (Streams<FakeListener>, Vec<ConnectionId>) {
    peers.reverse();
    let mut streams = Streams::over(vec![FakeListener(peers)], FAST, crate::Limits { connections: usize::MAX });
    let mut ids = vec![];
    while let Some(event) = streams.next(Time::ZERO).unwrap() {
        match event {
            ConnectionEvent::Opened { id, .. } => ids.push(id),
            ConnectionEvent::Bytes { ticket, .. } => {
                streams.answer(Time::ZERO, Answer::Processed(ticket, Progress::Incomplete));
            }
            _ => {}
        }
    }
    (streams, ids)
}

#[test]
fn the_queues_of_all_connections_together_are_bounded() {
    let (mut streams, ids) = streams(vec![Fake::default(); 200]);
    let frame = Bytes::from(vec![7; MAX_OWN - 10 * OVERHEAD]);
    let mut lost = 0;
    for &id in &ids {
        streams.deliver(Time::ZERO, Delivery::Frame(id, frame.clone()));
        streams.flush(Time::ZERO);
        assert!(streams.own_cost <= MAX_OWN_TOTAL);
        while let Some((_, why)) = streams.gone.pop_front() {
            assert_eq!(why, DisconnectReason::Lagging);
            lost += 1;
        }
    }
    assert_eq!(lost, 200 - MAX_OWN_TOTAL / (frame.len() + OVERHEAD));
    assert_eq!(streams.connections.len(), 200 - lost);
}

#[test]
fn a_busy_connection_waits_for_the_others() {
    let (eve, ann) = (Fake::default(), Fake::default());
    let (mut streams, ids) = streams(vec![eve.clone(), ann.clone()]);
    let [eve_id, ann_id] = ids[..] else { panic!("two connections") };
    let (mut now, mut order) = (Time::ZERO, vec![]);
    for round in 0..100 {
        // Eve always has a message that takes a millisecond; Ann occasionally sends one.
        eve.sends.lock().unwrap().extend_from_slice(b"e");
        streams.wake(eve_id);
        if round % 10 == 9 {
            ann.sends.lock().unwrap().extend_from_slice(b"a");
            streams.wake(ann_id);
        }
        while let Some(event) = streams.next(now).unwrap() {
            let ConnectionEvent::Bytes { ticket, bytes } = event else { continue };
            let id = ticket.id();
            bytes.clear();
            let work = if id == eve_id { Duration::from_millis(1) } else { Duration::from_micros(10) };
            now = now.plus(work);
            streams.answer(now, Answer::Processed(ticket, Progress::Decoded));
            order.push(if id == eve_id { 'e' } else { 'a' });
        }
    }
    let order: String = order.into_iter().collect();
    assert_eq!(order.matches('e').count(), 100, "nothing is lost");
    // Once Eve has used up her burst, Ann is served first although Eve's message arrived earlier.
    assert!(order.ends_with(&format!("{}ae", "e".repeat(9)).repeat(5)), "{order}");
}

#[test]
fn a_paused_connection_keeps_its_messages_and_is_not_read() {
    let (eve, ann) = (Fake::default(), Fake::default());
    let (mut streams, ids) = streams(vec![eve.clone(), ann.clone()]);
    let [eve_id, ann_id] = ids[..] else { panic!("two connections") };
    let until = Time::from_millis(170);
    let (mut now, mut paused) = (Time::ZERO, 0);
    let say = |streams: &Streams<FakeListener>, peer: &Fake, id, messages: &[u8]| {
        peer.sends.lock().unwrap().extend_from_slice(messages);
        streams.wake(id);
    };
    say(&streams, &eve, eve_id, b"ab");
    let mut heard = vec![];
    loop {
        while let Some(event) = streams.next(now).unwrap() {
            let ConnectionEvent::Bytes { ticket, bytes } = event else { continue };
            let id = ticket.id();
            if id == eve_id && now < until {
                paused += 1;
                assert_eq!(paused, 1, "it is not read before its time");
                streams.answer(now, Answer::Paused(ticket, until));
                say(&streams, &eve, eve_id, b"cd");
                say(&streams, &ann, ann_id, b"x");
            } else {
                heard.push((now, bytes.split_to(1)[0]));
                streams.answer(now, Answer::Processed(ticket, Progress::Decoded));
            }
        }
        match streams.wake_at() {
            Some(wake) => now = wake,
            None => break,
        }
    }
    let heard_at = Time::from_millis(200);
    let expected = [(Time::ZERO, b'x'), (heard_at, b'a'), (heard_at, b'b'), (heard_at, b'c'), (heard_at, b'd')];
    assert_eq!(heard, expected, "with the tick after its time, all of it and in order");
}
