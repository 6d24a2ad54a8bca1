use std::{
    io::Read,
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use bytes::BytesMut;
use robots::{ServerMessage, protocol::ServerDecoder};

#[derive(Default)]
pub(crate) struct Turns {
    decoder: ServerDecoder,
    buffer: BytesMut,
    frame: Vec<u8>,
    pub(crate) seen: usize,
    pub(crate) bytes: usize,
}

impl Turns {
    /// Returns the frames of the turns that `bytes` complete.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.bytes += bytes.len();
        self.frame.extend_from_slice(bytes);
        self.buffer.extend_from_slice(bytes);
        let (mut frames, mut start) = (vec![], 0);
        while let Some(message) = self.decoder.decode(&mut self.buffer).expect("our own server") {
            let end = self.frame.len() - self.buffer.len();
            if matches!(message, ServerMessage::Turn { .. }) {
                self.seen += 1;
                frames.push(self.frame[start..end].to_vec());
            }
            start = end;
        }
        self.frame.drain(..start);
        frames
    }
}

pub(crate) struct Arrivals {
    pub(crate) times: Vec<Instant>,
    pub(crate) frames: Vec<Vec<u8>>,
}

impl Arrivals {
    pub(crate) fn count(&self) -> f64 {
        u32::try_from(self.times.len()).expect("not that many").into()
    }

    pub(crate) fn rate(&self) -> f64 {
        let span = self.times[self.times.len() - 1] - self.times[0];
        (self.count() - 1.0) / span.as_secs_f64()
    }

    /// The deviation from (first arrival + t x duration), at a percentile.
    pub(crate) fn deviation(&self, turn: Duration, percent: usize) -> Duration {
        let due = |index: u32| self.times[0] + turn * index;
        let apart = |(index, &time): (u32, &Instant)| {
            time.saturating_duration_since(due(index)).max(due(index).saturating_duration_since(time))
        };
        let mut deviations: Vec<Duration> = (0..).zip(&self.times).map(apart).collect();
        deviations.sort_unstable();
        deviations[(deviations.len() * percent / 100).min(deviations.len() - 1)]
    }
}

pub(crate) struct Observer {
    stream: TcpStream,
    turns: Turns,
}

impl Observer {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("loopback");
        Self { stream, turns: Turns::default() }
    }

    /// Watches turn 0 and `turns` further turns, and calls `act` after each.
    pub(crate) fn watch(&mut self, turns: usize, act: impl FnMut(usize)) -> Arrivals {
        self.watch_more(turns + 1, act)
    }

    pub(crate) fn watch_more(&mut self, turns: usize, mut act: impl FnMut(usize)) -> Arrivals {
        let mut arrivals = Arrivals { times: vec![], frames: vec![] };
        let mut bytes = vec![0; 1 << 16];
        while arrivals.times.len() < turns {
            let count = self.stream.read(&mut bytes).expect("turns");
            assert!(count > 0, "the server goes on");
            let now = Instant::now();
            for frame in self.turns.take(&bytes[..count]) {
                act(arrivals.times.len());
                arrivals.times.push(now);
                arrivals.frames.push(frame);
            }
        }
        arrivals
    }
}
