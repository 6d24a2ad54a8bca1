//! One client: its connection, its GUI, and who steers it.

use std::{collections::BTreeMap, future, io::ErrorKind, mem::take, net::SocketAddr, pin::pin, time::Duration};

use cmdkit::HostPort;
use netcore::{Client as _, Time, wire::ShortText};
use netshell::{Clock, LogLimit};
use robots::{Bot, Client, InputMessage, Parameters, PlayerId, ServerMessage};
use robots_gui::Server;
use tokio::{
    net::TcpStream,
    select,
    sync::watch,
    task::yield_now,
    time::{sleep, sleep_until},
};
use tracing::{debug, info, warn};

use crate::{
    gui::Gui,
    outgoing::Outgoing,
    reach::connect,
    retry::{Backoff, became},
};

/// Bytes read from the server at a time.
const CHUNK: usize = 16 << 10;
/// Messages of the server after which the GUI is looked at again: each may be a picture of some 65 kB.
const BATCH: usize = 64;
/// Players who are named in a line of the log.
const MOST_NAMED: usize = 10;
/// How long after a server's Hello it is told what has become of a client that was lost: by then it has heard of the game,
/// if one is played. Of a long history over a slow connection it may have heard the front.
const SETTLED: Duration = Duration::from_millis(200);

/// Who decides what the robot does.
#[derive(Debug)]
pub(crate) enum Steering {
    /// Whoever sits at the GUI.
    Gui,
    /// A bot, until it has played so many games to their end; without a number for ever.
    Bot { bot: Bot, games: Option<u32> },
    /// Nobody: it looks on.
    Nobody,
}

/// A client that takes part over one connection at a time.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) name: ShortText,
    pub(crate) steering: Steering,
    pub(crate) gui: Option<Gui>,
    /// Told which of the players this client is.
    pub(crate) own: watch::Sender<Option<PlayerId>>,
    /// Told how things stand with the server, from its first Hello on.
    pub(crate) link: watch::Sender<Server>,
    /// For what happens in games, if anybody wants to know.
    pub(crate) log: Option<(Clock, LogLimit)>,
}

/// Why a connection is over.
#[derive(Debug)]
enum End {
    /// All games are played.
    Played,
    /// The server is gone.
    Lost(anyhow::Error),
    /// The server says what is no message.
    Malformed(anyhow::Error),
}

// What belongs to one connection.
#[derive(Debug)]
struct Link {
    stream: TcpStream,
    server: SocketAddr,
    clock: Clock,
    outgoing: Outgoing,
    client: Client,
    // Whether whole messages may be left in what was read.
    more: bool,
    // Whether something happened that a bot has not acted on.
    news: bool,
    // Whether this one comes after another, and what became of the client is still to be told.
    returned: bool,
    greeted: Option<Time>,
}

impl Player {
    /// One without a GUI.
    pub(crate) fn unseen(name: ShortText, steering: Steering, log: Option<(Clock, LogLimit)>) -> Self {
        Self { name, steering, gui: None, own: watch::Sender::default(), link: watch::Sender::default(), log }
    }

    /// Takes part until all games are played, which only bots ever have done.
    ///
    /// # Errors
    /// When the server cannot be reached or is lost, unless `retry`; and when it says what is no message.
    pub(crate) async fn run(mut self, server: &HostPort, retry: bool) -> anyhow::Result<()> {
        // What comes from the GUI meanwhile waits in its socket: whoever presses a key so early wants to play.
        let mut reached = connect(server).await;
        let (mut backoff, mut returns) = (Backoff::default(), false);
        loop {
            // Whether this is news: it was there, and that was told.
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
                connect(server).await
            };
            reached = without_server(self.gui.as_mut(), again).await;
        }
    }

    // Every client tells that it is lost. Of the attempts that follow one tells for all, and less and less often: there may be
    // many of both.
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
            let Link { stream, outgoing, more, .. } = &*link;
            select! {
                // An error shows when it is tried.
                _ = stream.readable(), if !more => {}
                _ = stream.writable(), if !outgoing.is_empty() => {}
                () = ready(self.gui.as_ref()) => {}
                () = yield_now(), if *more => {}
                () = until(&link.clock, link.settled()) => {}
            }
            if let Err(end) = self.listen(link) {
                return end;
            }
            self.tell_return(link);
            self.obey_gui(link);
            let Link { stream, outgoing, .. } = link;
            if let Err(error) = outgoing.flush(|bytes| stream.try_write(bytes)) {
                debug!(%error, "the server takes nothing any more");
            }
        }
    }

    // Takes in what the server says.
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
            // One by one, and not all at once: the GUI is sent a picture of every turn.
            match link.client.next_message() {
                Ok(Some(message)) => {
                    link.news |= self.message(&mut link.client, message)?;
                    if link.greeted.is_none() && link.client.parameters().is_some() {
                        link.greeted = Some(link.clock.now());
                        self.link.send_replace(Server::There);
                    }
                }
                Ok(None) => break,
                Err(wrong) => {
                    let server = link.server;
                    return Err(End::Malformed(anyhow::anyhow!(
                        "the server at {server} sent what is no message: {wrong}"
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

    // Takes in one message; `true` if something new is to be seen.
    fn message(&mut self, client: &mut Client, message: ServerMessage) -> Result<bool, End> {
        let before = client.own_player();
        let game_over = client.game().is_some() && matches!(message, ServerMessage::GameEnded { .. });
        if let (true, Some(gui)) = (game_over, &mut self.gui) {
            // What came before the GUI is told that the game is over was meant for the game. It would join the next one.
            gui.turn(|_| {});
        }
        let played = before.is_some() && game_over;
        self.narrate(client, &message);
        let due = client.message(message);
        let own = client.own_player();
        // Whoever shows the last pictures still asks who that was, so what comes after the game tells that it is nobody.
        if !game_over && own != *self.own.borrow() {
            debug!(name = %self.name.escape_debug(), id = own.map(|id| id.0), "own number");
            self.own.send_replace(own);
        }
        if due
            && let Some(gui) = &mut self.gui
            && let Some(picture) = client.picture()
        {
            match picture {
                Ok(picture) => gui.show(&picture),
                Err(why) => gui.leave_out(why),
            }
        }
        if let (Steering::Bot { games: Some(games), .. }, true) = (&mut self.steering, played) {
            *games = games.saturating_sub(1);
            if *games == 0 {
                return Err(End::Played);
            }
        }
        Ok(due)
    }

    // Once it is clear where a client is that was lost.
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

    // Takes in what the user does.
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

    // Tells the log how games go.
    fn narrate(&mut self, client: &Client, message: &ServerMessage) {
        let Some((clock, limit)) = &mut self.log else { return };
        let happens = match message {
            ServerMessage::Hello(_) => true,
            ServerMessage::AcceptedPlayer { .. } | ServerMessage::GameStarted { .. } => {
                client.parameters().is_some() && client.game().is_none()
            }
            ServerMessage::GameEnded { .. } => client.game().is_some(),
            ServerMessage::Turn { .. } => false,
        };
        if !happens {
            return;
        }
        let Some(held_back) = limit.admit(clock.now()) else { return };
        let held_back = (held_back > 0).then_some(held_back);
        match message {
            ServerMessage::Hello(parameters) => {
                let Parameters {
                    server_name,
                    players_count,
                    size_x,
                    size_y,
                    game_length,
                    explosion_radius,
                    bomb_timer,
                } = parameters;
                let name = server_name.escape_debug();
                info!(%name, players_count, size_x, size_y, game_length, explosion_radius, bomb_timer, held_back, "the server says hello");
            }
            ServerMessage::AcceptedPlayer { id, player } => {
                info!(id = id.0, name = %player.name.escape_debug(), address = %player.address.escape_debug(), held_back, "accepted");
            }
            ServerMessage::GameStarted { players } => info!(players = players.len(), held_back, "the game starts"),
            ServerMessage::GameEnded { scores } => {
                let standing = standing(client, scores);
                info!(destroyed = %standing, held_back, "the game is over");
            }
            ServerMessage::Turn { .. } => {}
        }
    }
}

impl Link {
    fn new(name: &ShortText, stream: TcpStream, server: SocketAddr, returned: bool) -> Self {
        let own = stream.local_addr().ok();
        Self {
            stream,
            server,
            clock: Clock::start(),
            outgoing: Outgoing::default(),
            client: Client::new(name.clone(), own),
            more: false,
            news: false,
            returned,
            greeted: None,
        }
    }

    // When it is to be told what has become of a client that was lost.
    fn settled(&self) -> Option<Time> {
        self.greeted.filter(|_| self.returned).map(|greeted| greeted.plus(SETTLED))
    }

    // Takes in what the user or the bot wants, and hands on what follows from it.
    fn act(&mut self, input: InputMessage) {
        self.client.act(self.clock.now(), input);
        while let Some(message) = self.client.take_outgoing() {
            debug!(message = %message.escape_ascii(), "to the server");
            self.outgoing.push(message);
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

// Who was destroyed how often, the best first.
fn standing(client: &Client, scores: &BTreeMap<PlayerId, u32>) -> String {
    let mut table: Vec<(u32, PlayerId)> = scores.iter().map(|(&id, &score)| (score, id)).collect();
    table.sort_unstable();
    let row = |&(score, id): &(u32, PlayerId)| match client.players().get(&id) {
        Some(player) => format!("{} {score}", player.name.escape_debug()),
        None => format!("player {} {score}", id.0),
    };
    let mut rows: Vec<String> = table.iter().take(MOST_NAMED).map(row).collect();
    if table.len() > MOST_NAMED {
        rows.push(format!("and {} more", table.len() - MOST_NAMED));
    }
    rows.join(", ")
}

// Waits for the GUI, for ever where there is none.
async fn ready(gui: Option<&Gui>) {
    match gui {
        Some(gui) => gui.ready().await,
        None => future::pending().await,
    }
}

async fn until(clock: &Clock, time: Option<Time>) {
    match time {
        Some(time) => sleep_until(clock.instant(time)).await,
        None => future::pending().await,
    }
}

// Waits for `coming` while there is no server. What the user does until then is not meant for the next one.
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
