//! The running GUI: terminal, sockets and clock.

use std::{
    future,
    io::{self, ErrorKind, IsTerminal, Write},
    net::SocketAddr,
    time::Duration,
};

use anyhow::{Context, ensure};
use netcore::{Time, wire::read_datagram};
use netshell::Clock;
use robots::{DrawMessage, InputMessage, PlayerId, protocol::MAX_PICTURE_ITEMS};
use termkit::{Palette, Source, Stage, StageEvent};
use tokio::{
    net::UdpSocket,
    select,
    sync::watch,
    time::{Instant, sleep, sleep_until},
};
use tracing::{debug, info, warn};

use crate::{
    keys::{self, Action},
    sender::{Contact, Pulse, Sender, Server, readable},
    view::{Follow, UserRole, View},
};

/// Longer than any datagram.
const BUFFER: usize = 1 << 16;
/// Datagrams received in a row before keys are handled.
const BURST: usize = 64;
/// Unreadable datagrams that are logged. Of further ones, only every power of two is.
const LOGGED: u64 = 20;
/// The pause after a receive error.
const TROUBLE: Duration = Duration::from_millis(20);
/// The interval at which texts about elapsed time are updated.
const TICK: Duration = Duration::from_secs(1);
/// The interval between frames while something blinks.
const BLINK: Duration = Duration::from_millis(50);
/// How long keys are ignored after a game, since they may be meant for it.
const QUIET: Duration = Duration::from_secs(1);
/// In a lobby, a client sends a Join on any input.
const JOIN: InputMessage = InputMessage::PlaceBomb;

#[derive(Debug)]
enum CloseReason {
    Left,
    #[expect(dead_code, reason = "it is logged")]
    HungUp(io::Error),
}

/// The terminal is restored.
#[derive(Debug)]
pub struct ClosedWindow {
    why: CloseReason,
    result: Option<String>,
}

impl ClosedWindow {
    /// Logs the reason, and prints the result of the last game, if any.
    pub fn report(self) {
        info!(why = ?self.why, "left");
        if let Some(result) = self.result {
            // The reader may have closed the pipe.
            let _ = writeln!(io::stdout(), "{result}");
        }
    }
}

/// Shows pictures received on the sockets and sends keys to the client.
#[derive(Debug)]
pub struct Window {
    stage: Stage,
    view: View,
    contact: Contact,
    sockets: Vec<UdpSocket>,
    sender: Sender,
    told: Option<watch::Receiver<Option<PlayerId>>>,
    server: Option<watch::Receiver<Server>>,
    pulse: Pulse,
    clock: Clock,
    // Until then, no datagrams are received.
    rest: Instant,
    buffer: Box<[u8]>,
}

impl Window {
    /// Takes over the terminal. Pictures are received on `sockets`. Keys are sent to the first address of `client` that
    /// accepts them.
    ///
    /// Must be called on a tokio runtime, before any thread starts: a thread with SIGTSTP unblocked would stop the
    /// program while it controls the terminal. Without a terminal as standard input, there are no keys.
    ///
    /// # Errors
    /// If there is no terminal to draw on, or a socket is not available. The terminal is then unchanged.
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
            Follow::Client(told) => Some(told.clone()),
            Follow::Nobody | Follow::Id(_) | Follow::Name(_) => None,
        };
        let source = if io::stdin().is_terminal() { Source::Terminal } else { Source::Nothing };
        Ok(Self {
            view: View::new(Palette::from_environment(), follow).taking_part(UserRole::Remote),
            contact: Contact { client: name, port, ..Contact::default() },
            sockets,
            sender,
            told,
            server: None,
            pulse: Pulse::new(Time::ZERO),
            clock: Clock::start(),
            rest: Instant::now(),
            buffer: vec![0; BUFFER].into_boxed_slice(),
            // Last, since it takes control of the terminal.
            stage: Stage::enter(true, source).context("cannot set up the terminal")?,
        })
    }

    /// Sets the name under which the client's address is shown.
    #[must_use]
    pub fn with_client_name(mut self, name: String) -> Self {
        self.contact.client = name;
        self
    }

    /// Connects the window to a client in the same program.
    #[must_use]
    pub fn with_client(mut self, role: UserRole, server: watch::Receiver<Server>) -> Self {
        self.view = self.view.taking_part(role);
        self.server = Some(server);
        self
    }

    /// Shows pictures and sends keys until the user leaves or the terminal hangs up, then restores the terminal.
    pub async fn run(mut self) -> ClosedWindow {
        loop {
            self.draw();
            let rest = self.rest;
            let arrival = async {
                sleep_until(rest).await;
                readable(&self.sockets).await;
            };
            let tick = sleep(if self.view.is_moving(self.clock.now()) { BLINK } else { TICK });
            select! {
                event = self.stage.next(true) => {
                    if let Some(why) = self.handle_event(event) {
                        return ClosedWindow { why, result: self.view.result_text() };
                    }
                }
                () = arrival => self.receive(),
                () = self.sender.refused() => {
                    self.sender.try_next();
                    self.stage.change();
                }
                () = changed(&mut self.told) => self.stage.change(),
                () = changed(&mut self.server) => self.update_server(),
                () = tick => self.stage.change(),
            }
        }
    }

    fn update_server(&mut self) {
        self.contact.server = self.server.as_ref().map_or(Server::There, |server| *server.borrow());
        if self.contact.server == Server::Gone {
            // The last pictures may be waiting in the socket.
            self.receive();
            if self.view.server_gone(self.clock.now()) {
                self.stage.ignore_keys(QUIET);
            }
        }
        self.stage.change();
    }

    fn draw(&mut self) {
        self.contact.silence = self.pulse.silence(self.clock.now());
        self.contact.refused = self.sender.is_refused();
        self.contact.turn_duration = self.pulse.turn_duration();
        self.contact.keys_ignored = self.stage.ignores_keys();
        let now = self.clock.now();
        let (view, contact) = (&mut self.view, &self.contact);
        self.stage.draw(|frame| {
            view.prepare(now, frame.area().as_size());
            frame.render_widget(&view.picture(contact), frame.area());
        });
    }

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
                let turn = match &picture {
                    DrawMessage::Game(game) => Some(game.turn),
                    DrawMessage::Lobby { .. } => None,
                };
                let now = self.clock.now();
                self.pulse.record_picture(now, turn);
                self.sender.record_picture();
                if self.view.show(now, picture) {
                    self.stage.ignore_keys(QUIET);
                }
            }
            Err(error) => {
                self.contact.unreadable += 1;
                let count = self.contact.unreadable;
                if count <= LOGGED || count.is_power_of_two() {
                    warn!(count, bytes, %error, "ignored a datagram that is not a picture");
                }
            }
        }
    }

    fn handle_event(&mut self, event: StageEvent) -> Option<CloseReason> {
        match event {
            StageEvent::Key(key) => {
                // First, since the picture that ends a game may precede this key.
                self.receive();
                let ignored = self.stage.ignores_keys() && !key.is_command();
                let action = if ignored { Action::Ignore } else { keys::action(key, self.view.content()) };
                debug!(?key, ?action, "key");
                return self.act(action);
            }
            StageEvent::Leave => return Some(CloseReason::Left),
            StageEvent::Gone(error) => return Some(CloseReason::HungUp(error)),
            // Standard input is never read as a pipe.
            StageEvent::Byte(_) | StageEvent::End | StageEvent::Frame | StageEvent::Mouse(_) => {}
        }
        None
    }

    fn act(&mut self, action: Action) -> Option<CloseReason> {
        match action {
            Action::Send(message) => {
                if self.can_steer() {
                    self.send(message);
                }
            }
            Action::Leave => return Some(CloseReason::Left),
            Action::ToggleHelp => self.view.help = !self.view.help,
            Action::Scroll(direction) => self.view.scroll(direction),
            Action::FollowNext => self.view.follow_next(),
            Action::ToggleDanger => self.view.danger = !self.view.danger,
            Action::ToggleTable => self.view.toggle_table(),
            Action::Again | Action::Proceed => self.proceed(action == Action::Again),
            Action::Redraw => self.stage.invalidate(),
            Action::Suspend => self.stage.suspend(),
            Action::Ignore => return None,
        }
        self.stage.change();
        None
    }

    // Without a server, no picture follows the result.
    fn proceed(&mut self, join: bool) {
        if self.contact.server == Server::There && self.view.proceed() && join && self.can_steer() {
            self.send(JOIN);
        }
    }

    fn can_steer(&self) -> bool {
        self.view.steers() && self.contact.server != Server::Gone
    }

    fn send(&mut self, message: InputMessage) {
        self.sender.send(message);
        self.view.sent();
    }
}

// Never completes without a sender.
async fn changed<T>(value: &mut Option<watch::Receiver<T>>) {
    if let Some(receiver) = value
        && receiver.changed().await.is_ok()
    {
        return;
    }
    *value = None;
    future::pending::<()>().await;
}
