//! The GUI as it runs: terminal, sockets and clock.

use std::{
    future,
    io::{self, ErrorKind, IsTerminal},
    net::SocketAddr,
    time::Duration,
};

use anyhow::{Context, ensure};
use netcore::{Time, wire::read_datagram};
use robots::{DrawMessage, PlayerId, messages::MAX_PICTURE_ITEMS};
use termkit::{Palette, Source, Stage, StageEvent};
use tokio::{
    net::UdpSocket,
    select,
    sync::watch,
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};
use tracing::{debug, warn};

use crate::{
    contact::Pulse,
    keys::{self, Action},
    sender::{Sender, readable},
    view::{Contact, Follow, View},
};

/// More than a datagram can hold, so that none is ever cut.
const BUFFER: usize = 1 << 16;
/// How many datagrams are taken in before keys have their turn.
const BURST: usize = 64;
/// How many unreadable datagrams are logged one by one; after that only the powers of two are.
const LOGGED: u64 = 20;
/// How long a socket that has trouble is left alone.
const TROUBLE: Duration = Duration::from_millis(20);
/// How often what the screen says about time is looked at again.
const TICK: Duration = Duration::from_secs(1);

/// Why a window was closed.
#[derive(Debug)]
pub enum End {
    /// The user wanted to leave, by key or by signal.
    Left,
    /// The terminal is gone, and what the system said.
    HungUp(io::Error),
}

/// The terminal, showing what comes on the sockets and sending keys to the client.
#[derive(Debug)]
pub struct Window {
    stage: Stage,
    view: View,
    contact: Contact,
    sockets: Vec<UdpSocket>,
    sender: Sender,
    told: Option<watch::Receiver<Option<PlayerId>>>,
    server_lost: Option<watch::Receiver<bool>>,
    pulse: Pulse,
    started: Instant,
    // Until when the sockets are left alone.
    rest: Instant,
    buffer: Box<[u8]>,
}

impl Window {
    /// Takes the terminal over. Pictures come on `sockets`, keys go to the first address of `client` that takes them.
    ///
    /// To be called on a runtime of tokio, and before any thread is started: one that does not know of SIGTSTP would stop
    /// the program while the terminal is ours. Where standard input is no terminal there are no keys.
    ///
    /// # Errors
    /// When there is no terminal to draw on, or a socket cannot be had; the terminal is then as it was.
    pub fn new(sockets: Vec<std::net::UdpSocket>, client: Vec<SocketAddr>, follow: Follow) -> anyhow::Result<Self> {
        ensure!(io::stdout().is_terminal(), "standard output is not a terminal, so there is nothing to draw on");
        let port = match sockets.first() {
            Some(socket) => socket.local_addr().context("a socket without an address")?.port(),
            None => 0,
        };
        let name = client.first().map(ToString::to_string).unwrap_or_default();
        let sender = Sender::new(client)?;
        let adopt = |socket: std::net::UdpSocket| {
            socket.set_nonblocking(true)?;
            UdpSocket::from_std(socket)
        };
        let sockets = sockets.into_iter().map(adopt).collect::<io::Result<_>>().context("cannot use a socket")?;
        let told = match &follow {
            Follow::Told(told) => Some(told.clone()),
            Follow::Nobody | Follow::Id(_) | Follow::Name(_) => None,
        };
        let source = if io::stdin().is_terminal() { Source::Terminal } else { Source::Nothing };
        let now = Instant::now();
        Ok(Self {
            view: View::new(Palette::from_environment(), follow),
            contact: Contact { client: name, port, ..Contact::default() },
            sockets,
            sender,
            told,
            server_lost: None,
            pulse: Pulse::new(Time::ZERO),
            started: now,
            rest: now,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            // The last that can fail, since it takes the terminal.
            stage: Stage::enter(true, source).context("cannot take the terminal over")?,
        })
    }

    /// What the user calls the place where the client is.
    #[must_use]
    pub fn with_client_name(mut self, name: String) -> Self {
        self.contact.client = name;
        self
    }

    /// Told by a client in the same program whether it has lost its server and looks for it again.
    #[must_use]
    pub fn with_server_lost(mut self, lost: watch::Receiver<bool>) -> Self {
        self.server_lost = Some(lost);
        self
    }

    /// Shows pictures and sends keys until the user leaves, then gives the terminal back.
    ///
    /// # Errors
    /// None so far: a terminal that is gone is an [`End`].
    pub async fn run(mut self) -> anyhow::Result<End> {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.draw();
            let rest = self.rest;
            let arrival = async {
                sleep_until(rest).await;
                readable(&self.sockets).await;
            };
            select! {
                event = self.stage.next(true) => {
                    if let Some(end) = self.happen(event) {
                        return Ok(end);
                    }
                }
                () = arrival => self.receive(),
                () = self.sender.refused() => {
                    self.sender.try_next();
                    self.stage.change();
                }
                () = told(&mut self.told) => self.stage.change(),
                () = told(&mut self.server_lost) => self.stage.change(),
                _ = tick.tick() => self.stage.change(),
            }
        }
    }

    fn now(&self) -> Time {
        Time::ZERO.plus(self.started.elapsed())
    }

    fn draw(&mut self) {
        self.contact.silence = self.pulse.silence(self.now());
        self.contact.refused = self.sender.is_refused();
        self.contact.server_lost = self.server_lost.as_ref().is_some_and(|lost| *lost.borrow());
        let (view, contact) = (&mut self.view, &self.contact);
        self.stage.draw(|frame| {
            view.prepare(frame.area().as_size());
            frame.render_widget(&view.picture(contact), frame.area());
        });
    }

    // Takes in what has come; only the newest picture is drawn.
    fn receive(&mut self) {
        let mut left = BURST;
        for index in 0..self.sockets.len() {
            while left > 0 {
                match self.sockets[index].try_recv(&mut self.buffer) {
                    Ok(bytes) => self.datagram(bytes),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => {
                        warn!(%error, "cannot receive");
                        self.rest = Instant::now() + TROUBLE;
                        break;
                    }
                }
                left -= 1;
            }
        }
    }

    fn datagram(&mut self, bytes: usize) {
        self.stage.change();
        match read_datagram::<DrawMessage>(&self.buffer[..bytes], MAX_PICTURE_ITEMS) {
            Ok(picture) => {
                self.pulse.heard(self.now(), matches!(picture, DrawMessage::Game(_)));
                self.sender.heard();
                self.view.show(picture);
            }
            Err(error) => {
                self.contact.unreadable += 1;
                let count = self.contact.unreadable;
                if count <= LOGGED || count.is_power_of_two() {
                    warn!(count, bytes, %error, "a datagram is no picture and is ignored");
                }
            }
        }
    }

    fn happen(&mut self, event: StageEvent) -> Option<End> {
        match event {
            StageEvent::Key(typed) => {
                let action = keys::action(typed, self.view.shown());
                debug!(?typed, ?action, "key");
                return self.act(action);
            }
            StageEvent::Leave => return Some(End::Left),
            StageEvent::Gone(error) => return Some(End::HungUp(error)),
            // There is no pipe to read from.
            StageEvent::Byte(_) | StageEvent::End | StageEvent::Frame | StageEvent::Mouse(_) => {}
        }
        None
    }

    fn act(&mut self, action: Action) -> Option<End> {
        match action {
            Action::Send(message) => self.sender.send(message),
            Action::Leave => return Some(End::Left),
            Action::ToggleHelp => self.view.toggle_help(),
            Action::Scroll(direction) => self.view.scroll(direction),
            Action::FollowNext => self.view.follow_next(),
            Action::Redraw => self.stage.forget(),
            Action::Suspend => self.stage.suspend(),
            Action::Ignore => return None,
        }
        self.stage.change();
        None
    }
}

// Waits until something else is told; for ever when nobody tells, or nobody any more.
async fn told<T>(told: &mut Option<watch::Receiver<T>>) {
    if let Some(receiver) = told
        && receiver.changed().await.is_ok()
    {
        return;
    }
    *told = None;
    future::pending::<()>().await;
}
