//! One client: its connection, its GUI, and the source of its actions.

use std::{future, io::ErrorKind, mem::take, net::SocketAddr, pin::pin, time::Duration};

use bytes::{Buf, Bytes};
use netcore::{Client as _, Time, wire::ShortText};
use netshell::Clock;
use robots::{Bot, Client, InputMessage, PlayerId, ServerMessage, client::ClientEvent};
use robots_gui::Server;
use tokio::{net::TcpStream, select, sync::watch, task::yield_now, time::sleep};
use tracing::{debug, info, warn};

use crate::{
    gui::Gui,
    narration::GameLog,
    reach::Way,
    retry::{Backoff, became},
};

/// Bytes read from the server at a time.
const CHUNK: usize = 16 << 10;
/// Messages of the server handled in a row before the GUI is polled. Each can cause a picture of 65 kB.
const BATCH: usize = 64;
/// The time between a server's Hello and the log line about a reconnected client. By then the client knows about a running
/// game, though it may not have received its whole history.
const SETTLED: Duration = Duration::from_millis(200);

/// The source of a robot's actions.
#[derive(Debug)]
pub(crate) enum Steering {
    Gui,
    /// A bot, for this many complete games; without a number it plays on.
    Bot {
        bot: Bot,
        games: Option<u32>,
    },
    /// None: the client only observes.
    Nobody,
}

/// A client that takes part over one connection at a time.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) name: ShortText,
    pub(crate) steering: Steering,
    pub(crate) gui: Option<Gui>,
    /// Publishes the number of this client's player.
    pub(crate) own: watch::Sender<Option<PlayerId>>,
    /// Publishes the state of the connection, from the first Hello on.
    pub(crate) link: watch::Sender<Server>,
    /// Logs the course of games, if it is this client's task.
    pub(crate) log: Option<GameLog>,
}

/// Why a connection is over.
#[derive(Debug)]
enum End {
    Played,
    Lost(anyhow::Error),
    Malformed(anyhow::Error),
}

// The state of one connection.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug)]
struct Link {
    stream: TcpStream,
    server: SocketAddr,
    clock: Clock,
    client: Client,
    // What is left of a message that the system has taken in part.
    unsent: Bytes,
    // Writing has failed. The stream is still read, since the server's last messages may be there.
    broken: bool,
    // Whether complete messages may be left in the buffer.
    more: bool,
    // Whether the state has changed since the bot last acted.
    news: bool,
    // Whether this is a reconnection whose outcome is not logged yet.
    returned: bool,
    greeted: Option<Time>,
}

impl Player {
    /// One without a GUI.
    pub(crate) fn unseen(name: ShortText, steering: Steering, log: Option<GameLog>) -> Self {
        Self { name, steering, gui: None, own: watch::Sender::default(), link: watch::Sender::default(), log }
    }

    /// Takes part until the games of a bot are played. A client without a number of games never ends by itself.
    ///
    /// # Errors
    /// When the server cannot be reached or is lost, unless `retry`; and when it sends a malformed message.
    pub(crate) async fn run(mut self, mut way: Way, retry: bool) -> anyhow::Result<()> {
        // Inputs of the GUI wait in its socket meanwhile. A user who presses a key so early wants to play.
        let mut reached = way.first().await;
        let (mut backoff, mut returns) = (Backoff::default(), false);
        loop {
            // Whether the loss is news: the connection was established, and that was logged.
            let mut news = false;
            let why = match reached {
                Ok((stream, address)) => {
                    if self.log.is_some() {
                        info!(server = %address, "connected");
                    }
                    let mut link = Link::new(&self.name, stream, address, returns);
                    let end = self.converse(&mut link).await;
                    self.own.send_replace(None);
                    if let Some(greeted) = link.greeted {
                        backoff.held(link.clock.now().since(greeted));
                    }
                    (news, returns) = (!link.returned, true);
                    match end {
                        End::Played => return Ok(()),
                        End::Malformed(error) => return Err(error),
                        End::Lost(error) => error,
                    }
                }
                Err(error) => error,
            };
            if !retry {
                return Err(why);
            }
            self.link.send_replace(Server::Lost);
            let (wait, attempts) = backoff.next();
            self.tell_loss(news, attempts, wait, &why);
            let again = async {
                sleep(wait).await;
                way.again().await
            };
            reached = without_server(self.gui.as_mut(), again).await;
        }
    }

    // Every client logs the loss of its connection. Of the attempts that follow only one client logs, at growing intervals,
    // since there may be many clients and attempts.
    fn tell_loss(&self, news: bool, attempts: u32, again_in: Duration, why: &anyhow::Error) {
        let name = self.name.escape_debug();
        if news {
            warn!(%name, ?again_in, "the connection is lost and made again: {why:#}");
        } else if self.log.is_some() && (attempts == 0 || attempts.is_power_of_two()) {
            warn!(%name, attempts, ?again_in, "{why:#}");
        } else {
            debug!(%name, attempts, ?again_in, "{why:#}");
        }
    }

    async fn converse(&mut self, link: &mut Link) -> End {
        loop {
            let Link { stream, unsent, more, .. } = &*link;
            select! {
                // An error is reported by the next operation.
                _ = stream.readable(), if !more => {}
                _ = stream.writable(), if !unsent.is_empty() => {}
                () = ready(self.gui.as_ref()) => {}
                () = yield_now(), if *more => {}
                () = link.clock.until(link.settled()) => {}
            }
            if let Err(end) = self.listen(link) {
                return end;
            }
            self.tell_return(link);
            self.obey_gui(link);
            link.flush();
        }
    }

    // Reads the server's stream and handles its messages.
    fn listen(&mut self, link: &mut Link) -> Result<(), End> {
        if !link.more {
            let mut chunk = [0; CHUNK];
            match link.stream.try_read(&mut chunk) {
                Ok(0) => return Err(End::Lost(link.lost("has closed the connection"))),
                Ok(length) => link.client.feed(&chunk[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(End::Lost(link.lost(&format!("is lost: {error}")))),
            }
        }
        link.more = false;
        for taken in 0.. {
            if taken == BATCH {
                link.more = true;
                break;
            }
            // One at a time, since the GUI is sent a picture of every turn.
            let played = link.client.own_player().is_some();
            match link.client.poll_event() {
                Ok(Some(event)) => {
                    link.news |= self.handle_event(&link.client, &event, played)?;
                    if link.greeted.is_none() && link.client.parameters().is_some() {
                        link.greeted = Some(link.clock.now());
                        self.link.send_replace(Server::There);
                    }
                }
                Ok(None) => break,
                Err(wrong) => {
                    let server = link.server;
                    return Err(End::Malformed(anyhow::anyhow!(
                        "the server at {server} sent a malformed message: {wrong}"
                    )));
                }
            }
        }
        // A bot that lags behind acts on the newest state alone.
        if !link.more && take(&mut link.news) {
            self.let_bot_act(link);
        }
        Ok(())
    }

    // Handles one event; `true` if the picture has changed. `played` is whether the client was a player before it.
    fn handle_event(&mut self, client: &Client, event: &ClientEvent, played: bool) -> Result<bool, End> {
        let game_over = !event.is_ignored && matches!(event.message, ServerMessage::GameEnded { .. });
        if let (true, Some(gui)) = (game_over, &mut self.gui) {
            // Inputs sent before the GUI knows that the game is over were meant for the game. They must not join the next one.
            gui.turn(|_| {});
        }
        if let Some(log) = &mut self.log {
            log.narrate(event);
        }
        let own = client.own_player();
        // The GUI still needs the number for the last picture of the game, so the next message resets it.
        if !game_over && own != *self.own.borrow() {
            debug!(name = %self.name.escape_debug(), id = own.map(|id| id.0), "own number");
            self.own.send_replace(own);
        }
        if event.is_picture_due()
            && let Some(gui) = &mut self.gui
            && let Some(picture) = client.picture()
        {
            match picture {
                Ok(picture) => gui.show(&picture),
                Err(why) => gui.leave_out(why),
            }
        }
        if let (Steering::Bot { games: Some(games), .. }, true) = (&mut self.steering, played && game_over) {
            *games = games.saturating_sub(1);
            if *games == 0 {
                return Err(End::Played);
            }
        }
        Ok(event.is_picture_due())
    }

    // Logs the outcome of a reconnection once it is known.
    fn tell_return(&self, link: &mut Link) {
        let due = link.settled().is_some_and(|settled| settled <= link.clock.now());
        if let Some(became) = became(&link.client).filter(|_| due && !link.more) {
            info!(name = %self.name.escape_debug(), "{became}");
            link.returned = false;
        }
    }

    fn let_bot_act(&mut self, link: &mut Link) {
        let Steering::Bot { bot, .. } = &mut self.steering else { return };
        if let Some(input) = bot.next_input(&link.client) {
            debug!(?input, "from the bot");
            link.act(input);
        }
    }

    // Handles the inputs of the GUI's user.
    fn obey_gui(&mut self, link: &mut Link) {
        let Some(gui) = &mut self.gui else { return };
        let obey = matches!(self.steering, Steering::Gui);
        gui.turn(|input| {
            if obey {
                debug!(?input, "from the GUI");
                link.act(input);
            }
        });
    }
}

impl Link {
    fn new(name: &ShortText, stream: TcpStream, server: SocketAddr, returned: bool) -> Self {
        let own = stream.local_addr().ok();
        Self {
            stream,
            server,
            clock: Clock::start(),
            client: Client::new(name.clone(), own),
            unsent: Bytes::new(),
            broken: false,
            more: false,
            news: false,
            returned,
            greeted: None,
        }
    }

    // When the outcome of a reconnection is to be logged.
    fn settled(&self) -> Option<Time> {
        self.greeted.filter(|_| self.returned).map(|greeted| greeted.plus(SETTLED))
    }

    // Handles an input of the user or the bot.
    fn act(&mut self, input: InputMessage) {
        self.client.act(self.clock.now(), input);
    }

    // Writes what the client says as far as the system takes it. The rest waits in the client, which bounds it. After an
    // error nothing is written any more; reading then reports the state of the connection.
    fn flush(&mut self) {
        while !self.broken {
            if self.unsent.is_empty() {
                let Some(message) = self.client.take_outgoing() else { return };
                debug!(message = %message.escape_ascii(), "to the server");
                self.unsent = message;
            }
            match self.stream.try_write(&self.unsent) {
                Ok(written) => self.unsent.advance(written),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => {
                    debug!(%error, "the server takes nothing any more");
                    (self.broken, self.unsent) = (true, Bytes::new());
                }
            }
        }
    }

    fn lost(&self, how: &str) -> anyhow::Error {
        let Self { server, client, .. } = self;
        let incoming = client.incoming();
        let place = incoming.place();
        let within = if incoming.is_within_message() {
            format!(" in the middle of {place}, which began at byte {}", place.start)
        } else {
            String::new()
        };
        anyhow::anyhow!("the server at {server} {how}, after {} bytes{within}", incoming.received())
    }
}

// Waits for the GUI; without one it never completes.
async fn ready(gui: Option<&Gui>) {
    match gui {
        Some(gui) => gui.ready().await,
        None => future::pending().await,
    }
}

// Waits for `coming` while there is no server. Inputs are discarded meanwhile, since they are not meant for the next one.
async fn without_server<T>(mut gui: Option<&mut Gui>, coming: impl Future<Output = T>) -> T {
    let mut coming = pin!(coming);
    loop {
        let come = select! {
            come = &mut coming => Some(come),
            () = ready(gui.as_deref()) => None,
        };
        if let Some(gui) = &mut gui {
            gui.turn(|_| {});
        }
        if let Some(come) = come {
            return come;
        }
    }
}
