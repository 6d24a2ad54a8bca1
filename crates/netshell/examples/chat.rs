//! A chat: every line is broadcast, `bye` ends it. `cargo run -p netshell --example chat`, then `nc localhost 2050`.
use std::{error::Error, net::TcpListener};

use bytes::Bytes;
use netcore::{DecodeError, Engine, EngineRoom, Framing, Input, Leave, Outbox, Outcome, Phase, Protocol, Rate, Time};
use netshell::{Clock, Host, Limits, Tcp, bind_tcp, raise_open_files, serve, shutdown};

struct Lines;
impl Protocol for Lines {
    type Request = Bytes;
    type Decoder = ();
    const MAX_MESSAGE: usize = 80;
    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        netcore::framing::LineDecoder::new(Self::MAX_MESSAGE).length(bytes)
    }
    fn decode((): &mut (), line: &[u8], _: Framing) -> Result<Bytes, DecodeError> {
        netcore::framing::LineDecoder::new(Self::MAX_MESSAGE).whole(line).map(Bytes::copy_from_slice)
    }
}

struct Chat(Option<Outcome>);
impl Engine for Chat {
    type Protocol = Lines;
    fn input(&mut self, _: Time, input: Input<'_, Bytes>, out: &mut Outbox) {
        match input {
            Input::Connected { peer, .. } => out.send(peer, "hello\n".into()),
            Input::Message { message, .. } if message == "bye" => self.0 = Some(Outcome::Finished),
            Input::Message { message, .. } => out.send_everyone([&message[..], b"\n"].concat().into()),
            Input::Malformed { peer, .. } | Input::Disconnected { peer, .. } => out.close(peer),
            Input::Stop(_) => self.0 = Some(Outcome::Stopped),
            Input::Refresh { .. } | Input::Elapsed => {}
        }
    }
    fn deadline(&self) -> Option<Time> {
        None
    }
    fn outcome(&self) -> Option<Outcome> {
        self.0
    }
    fn status(&self) -> netcore::Status {
        netcore::Status { phase: Phase::Playing, taken: 0, seats: 0 }
    }
}

pub(crate) async fn host(listeners: Vec<TcpListener>) -> Result<Outcome, Box<dyn Error>> {
    let tcp = Tcp::new(listeners, Rate { per_second: 10_000, burst: 10_000 }, Limits::of(raise_open_files()))?;
    let stop = shutdown()?;
    let host = Host::new(EngineRoom::new(Chat(None))).with_transport(tcp);
    Ok(serve(host, Clock::start(), async move { (stop.await, Leave::Over).1 }).await?)
}
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    host(bind_tcp(&[], 2050)?).await.map(drop)
}
