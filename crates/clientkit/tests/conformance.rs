//! The room and the bot of mastermind pass the tests offered for other implementations. They run in threads.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use clientkit::{Ended, Pilot, Wire, mastermind_bot, run};
use conformance::{Exit, Launcher, MASTERMIND_CLIENT, MASTERMIND_SERVER, Options, Run, Tester, Values, Verdict};
use mastermind::{Client, Config, Name, Server};
use netcore::{EngineRoom, Leave, Level, Outcome, Rate, Time};
use netshell::{Clock, Host, Limits, Tcp, bind_tcp, raise_open_files, serve};
use tokio::sync::oneshot;

/// More than a program needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bots pause for seconds, like people; in these tests their clock is faster by this factor.
const HURRY: u64 = 20;
/// Not a limit here.
const READ_RATE: Rate = Rate { per_second: 1 << 20, burst: 1 << 20 };

/// Runs until it ends or the sender of `stop` is dropped. Returns the exit status.
type Ours = fn(port: u16, name: &str, stop: oneshot::Receiver<()>) -> i32;

struct Threads(Ours);

struct Thread {
    _stop: oneshot::Sender<()>,
    status: Receiver<i32>,
    exit: Option<Exit>,
}

impl Launcher for Threads {
    fn takes(&self, _: &str) -> bool {
        true
    }

    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        let value = |name| values.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone());
        let (port, name) = (value("port").unwrap().parse()?, value("name").unwrap_or_default());
        let (stop, stopped) = oneshot::channel();
        let (ended, status) = mpsc::channel();
        let ours = self.0;
        thread::spawn(move || {
            let _ = ended.send(ours(port, &name, stopped));
        });
        Ok(Box::new(Thread { _stop: stop, status, exit: None }))
    }
}

impl Run for Thread {
    fn line(&mut self, _: Instant) -> Option<String> {
        None
    }

    fn type_bytes(&mut self, _: &[u8]) {}

    fn exit(&mut self, by: Instant) -> Option<Exit> {
        if self.exit.is_none() {
            match self.status.recv_timeout(by.saturating_duration_since(Instant::now())) {
                Ok(code) => self.exit = Some(Exit::with(code)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("it has panicked"),
            }
        }
        self.exit.clone()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn passes(tester: &Tester, ours: Ours) {
    let report = tester.test(&Threads(ours), &Options { patience: PATIENCE, ..Options::default() });
    assert_eq!(report.failed(), [""; 0], "{report}");
    let untested = report.rules.iter().filter(|finding| finding.verdict == Verdict::NotTested);
    assert_eq!(untested.count(), 0, "{report}");
}

#[test]
fn solo_room_passes_conformance() {
    passes(&MASTERMIND_SERVER, |port, _, stop| {
        runtime().block_on(async {
            let room = Server::new(Config::new(4, false, u64::from(port))).unwrap();
            let listeners = bind_tcp(&[IpAddr::V4(Ipv4Addr::LOCALHOST)], port).unwrap();
            let tcp = Tcp::new(listeners, READ_RATE, Limits::of(raise_open_files())).unwrap();
            let host = Host::new(EngineRoom::new(room)).with_transport(tcp);
            let stopped = async {
                let _ = stop.await;
                Leave::Over
            };
            i32::from(!matches!(serve(host, Clock::start(), stopped).await, Ok(Outcome::Stopped)))
        })
    });
}

struct Hurried<P>(P);

impl<P: Pilot<Client>> Pilot<Client> for Hurried<P> {
    fn act(&mut self, client: &mut Client, now: Time) {
        self.0.act(client, Time::from_nanos(now.as_nanos() * HURRY));
    }

    fn due(&self, client: &Client) -> Option<Time> {
        self.0.due(client).map(|due| Time::from_nanos(due.as_nanos() / HURRY))
    }

    fn leave(&mut self, client: &mut Client, now: Time) {
        self.0.leave(client, now);
    }
}

#[test]
#[ignore = "waits for all that the kit does; .ci/run runs it"]
fn bot_passes_conformance() {
    passes(&MASTERMIND_CLIENT, |port, name, stop| {
        runtime().block_on(async {
            let own = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let mut wire = Wire::stream(own, (Ipv4Addr::LOCALHOST, port).into(), drop).await.unwrap();
            let (mut client, pilot) =
                mastermind_bot(Name::new(name.as_bytes()).unwrap(), Level::Hard, port.into(), false);
            let stopped = async { drop(stop.await) };
            let ended = run(&mut wire, &mut client, &mut Hurried(pilot), stopped).await;
            i32::from(matches!(ended, Ended::Lost(_)))
        })
    });
}
