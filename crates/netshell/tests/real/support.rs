use std::{
    future::pending,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use bytes::Bytes;
use netcore::{
    Admission, DecodeError, DisconnectReason, Engine, EngineRoom, Framing, GameEvent, HistoryWriter, Input, Link,
    Outbox, Outcome, PeerId, Phase, Protocol, Status, Time, framing::NulDecoder,
};
use netshell::{Clock, Host, Observer, Transport, serve};

pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// ASCII texts, each followed by a NUL on a stream. A datagram `hello` admits a peer.
struct Words;

impl Protocol for Words {
    type Request = Bytes;
    type Decoder = ();
    const MAX_MESSAGE: usize = 10_000;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        NulDecoder::new(usize::MAX).length(bytes)
    }

    fn decode((): &mut (), message: &[u8], framing: Framing) -> Result<Bytes, DecodeError> {
        let word = match framing {
            Framing::Stream => NulDecoder::new(usize::MAX).whole(message)?,
            Framing::Whole => message,
        };
        if word.is_ascii() { Ok(Bytes::copy_from_slice(word)) } else { Err(DecodeError::NotUtf8 { at: 0 }) }
    }

    fn admits(message: Result<&Bytes, DecodeError>) -> Admission {
        match message {
            Ok(word) if word == "hello" => Admission::Admitted,
            Ok(_) => Admission::Ignored,
            Err(_) => Admission::Answered,
        }
    }
}

/// Replays all earlier messages to new peers of a stream, and obeys some commands.
struct Parrot {
    events: Sender<String>,
    go_on: Mutex<Receiver<()>>,
    link: Link,
    said: HistoryWriter,
    tick: Option<Time>,
    rush: bool,
    outcome: Option<Outcome>,
}

impl Parrot {
    fn frame(&self, word: &[u8]) -> Bytes {
        let end: &[u8] = if self.link == Link::Stream { b"\0" } else { b"" };
        [word, end].concat().into()
    }

    fn say(&mut self, word: &[u8], out: &mut Outbox) {
        let frame = self.frame(word);
        out.send_everyone(self.said.append(|out| out.extend_from_slice(&frame)));
    }

    fn obey(&mut self, now: Time, peer: PeerId, word: &[u8], out: &mut Outbox) {
        match word {
            b"hello" => out.send(peer, self.frame(b"welcome")),
            b"bye" => {
                if self.link == Link::Stream {
                    out.send(peer, vec![b'.'; 700 << 10].into());
                }
                out.send(peer, self.frame(b"farewell"));
                out.close(peer);
            }
            b"big" => out.send_everyone(vec![b'.'; 1 << 20].into()),
            b"stall" => {
                let _ = self.events.send(format!("{peer}: stall"));
                // Blocks like a stopped process until the test continues it.
                let _ = self.go_on.lock().unwrap().recv_timeout(PATIENCE);
            }
            b"rush" => self.rush = true,
            b"halt" => self.rush = false,
            b"tick" => self.tick = Some(now.plus(Duration::from_millis(20))),
            b"end" => {
                out.summary("it was nice".into());
                out.send_everyone(self.frame(b"the end"));
                self.outcome = Some(Outcome::Finished);
            }
            word => self.say(word, out),
        }
    }
}

impl Engine for Parrot {
    type Protocol = Words;

    fn input(&mut self, now: Time, input: Input<'_, Bytes>, out: &mut Outbox) {
        let event = match &input {
            Input::Connected { peer, link, address, .. } => {
                if *link == Link::Stream {
                    out.send(*peer, self.frame(b"hello"));
                    out.replay(*peer, self.said.snapshot());
                }
                format!("{peer} by {link:?} from {address}")
            }
            Input::Message { message, .. } if message.starts_with(b"quiet") => return,
            Input::Message { peer, message } => {
                self.obey(now, *peer, message, out);
                format!("{peer}: {}", String::from_utf8_lossy(&message[..message.len().min(20)]))
            }
            Input::Malformed { peer, why } => {
                out.send(*peer, self.frame(format!("malformed: {why}").as_bytes()));
                out.close(*peer);
                format!("{peer} malformed")
            }
            Input::Elapsed if self.rush => return,
            Input::Elapsed => {
                assert!(self.tick.take().is_some_and(|due| now >= due), "never early and never for nothing");
                self.say(b"tock", out);
                return;
            }
            Input::Disconnected { peer, why } => {
                if *why == DisconnectReason::Left {
                    out.send(*peer, self.frame(b"goodbye"));
                }
                out.close(*peer);
                format!("{peer} gone: {why:?}")
            }
            Input::Refresh { .. } | Input::Stop(_) => return,
        };
        let _ = self.events.send(event);
    }

    fn deadline(&self) -> Option<Time> {
        if self.rush { Some(Time::ZERO) } else { self.tick }
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn status(&self) -> Status {
        Status { phase: Phase::Playing, taken: 0, seats: 0 }
    }
}

#[derive(Clone, Default)]
struct Summaries(Arc<Mutex<Vec<String>>>);

impl Observer for Summaries {
    fn event(&mut self, _: Time, event: &GameEvent, _: Option<&str>) {
        if let GameEvent::Summary(text) = event {
            self.0.lock().unwrap().push(text.clone());
        }
    }
}

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) go_on: Sender<()>,
    events: Receiver<String>,
    thread: JoinHandle<(Outcome, Vec<String>)>,
}

impl Running {
    pub(crate) fn over<T>(link: Link, address: SocketAddr, transport: impl FnOnce() -> T + Send + 'static) -> Self
    where
        T: Transport + Send + 'static,
    {
        let (sender, events) = channel();
        let (go_on, going_on) = channel();
        let said = HistoryWriter::new();
        let (tick, rush, outcome) = (None, false, None);
        let parrot = Parrot { events: sender, go_on: Mutex::new(going_on), link, said, tick, rush, outcome };
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let summaries = Summaries::default();
                let host =
                    Host::new(EngineRoom::new(parrot)).with_transport(transport()).with_observer(summaries.clone());
                let outcome = serve(host, Clock::start(), pending()).await.unwrap();
                let summaries = summaries.0.lock().unwrap().clone();
                (outcome, summaries)
            })
        });
        Self { address, go_on, events, thread }
    }

    pub(crate) fn await_event(&self, text: &str) -> String {
        loop {
            let event = self.events.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no event with {text:?}"));
            if event.contains(text) {
                return event;
            }
        }
    }

    pub(crate) fn join(self) -> (Outcome, Vec<String>, Vec<String>) {
        let (outcome, summaries) = self.thread.join().unwrap();
        (outcome, summaries, self.events.try_iter().collect())
    }
}
