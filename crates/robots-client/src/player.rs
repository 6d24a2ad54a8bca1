//! One client: its connection, its GUI, and the source of its actions.

use std::{collections::BTreeMap, future, pin::pin, time::Duration};

use clientkit::{Received, ServerLocation, Wire};
use cmdkit::{Backoff, isolated};
use netcore::{Client as _, Time, wire::ShortText};
use netshell::{Clock, LogLimit};
use robots::{Bot, Client, InputMessage, Parameters, PlayerId, ServerMessage, client::ClientEvent};
use robots_gui::Server;
use tokio::{select, sync::watch, time::sleep};
use tracing::{debug, info, warn};

use crate::gui::Gui;

/// From a Hello to the log line about a reconnected client, which by then knows about a running game, though perhaps
/// not its whole history.
const SETTLED: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) enum Steering {
    Gui,
    /// Plays `games` complete games, or without end.
    Bot {
        bot: Bot,
        games: Option<u32>,
    },
    Nobody,
}

#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) name: ShortText,
    pub(crate) steering: Steering,
    /// The user joins the first lobby without a key.
    pub(crate) joins: bool,
    pub(crate) gui: Option<Gui>,
    /// The number of this client's player, for the GUI.
    pub(crate) own: watch::Sender<Option<PlayerId>>,
    pub(crate) connection: watch::Sender<Server>,
    pub(crate) log: Option<GameLog>,
}

#[derive(Debug)]
enum ConnectionEnd {
    Played,
    Lost(anyhow::Error),
    Malformed(anyhow::Error),
}

#[derive(Debug)]
struct Connection {
    wire: Wire,
    clock: Clock,
    client: Client,
    // A reconnection whose outcome is not logged yet.
    returned: bool,
    greeted: Option<Time>,
}

impl Player {
    pub(crate) fn unseen(name: ShortText, steering: Steering, log: Option<GameLog>) -> Self {
        let (own, connection) = (watch::Sender::default(), watch::Sender::default());
        Self { name, steering, joins: false, gui: None, own, connection, log }
    }

    /// # Errors
    /// If the server cannot be reached or is lost, unless `retry`, or if it sends a malformed message.
    pub(crate) async fn run(mut self, mut location: ServerLocation, retry: bool) -> anyhow::Result<()> {
        // Inputs of the GUI wait in its socket, since a user who presses a key this early wants to play.
        let mut connected = location.connect().await;
        let (mut backoff, mut returns) = (Backoff::default(), false);
        loop {
            // Whether the loss is news, since the established connection was logged.
            let mut news = false;
            let why = match connected {
                Ok(wire) => {
                    if self.log.is_some() {
                        info!(server = %wire.server(), "connected");
                    }
                    let mut connection = Connection::new(&self.name, wire, returns);
                    let end = self.converse(&mut connection).await;
                    self.own.send_replace(None);
                    if let Some(greeted) = connection.greeted {
                        backoff.lasted(connection.clock.now().since(greeted));
                    }
                    (news, returns) = (!connection.returned, true);
                    match end {
                        ConnectionEnd::Played => return Ok(()),
                        ConnectionEnd::Malformed(error) => return Err(error),
                        ConnectionEnd::Lost(error) => error,
                    }
                }
                Err(error) => error,
            };
            if !retry {
                return Err(why);
            }
            self.connection.send_replace(Server::Lost);
            let (attempts, wait) = (backoff.attempts(), backoff.next_wait());
            self.log_loss(news, attempts, wait, &why);
            let again = async {
                sleep(wait).await;
                location.reconnect().await
            };
            connected = without_server(self.gui.as_mut(), again).await;
        }
    }

    // Every client logs the loss of its connection. Later attempts are many, so only one client logs them, at growing
    // intervals.
    fn log_loss(&self, news: bool, attempts: u32, again_in: Duration, why: &anyhow::Error) {
        let name = self.name.escape_debug();
        if news {
            warn!(%name, ?again_in, "lost the connection, reconnecting: {why:#}");
        } else if self.log.is_some() && (attempts == 0 || attempts.is_power_of_two()) {
            warn!(%name, attempts, ?again_in, "{why:#}");
        } else {
            debug!(%name, attempts, ?again_in, "{why:#}");
        }
    }

    async fn converse(&mut self, connection: &mut Connection) -> ConnectionEnd {
        loop {
            select! {
                () = connection.wire.ready() => {}
                () = ready(self.gui.as_ref()) => {}
                () = connection.clock.until(connection.settled()) => {}
            }
            match connection.wire.receive(|bytes| connection.client.feed(bytes)) {
                Received::Bytes => {
                    if let Err(end) = self.handle_messages(connection) {
                        return end;
                    }
                }
                Received::Nothing | Received::Refused => {}
                Received::Closed => return ConnectionEnd::Lost(connection.lost("has closed the connection")),
                Received::Failed(error) => return ConnectionEnd::Lost(connection.lost(&format!("is lost: {error}"))),
            }
            self.log_return(connection);
            self.handle_inputs(connection);
            connection.send();
        }
    }

    // One message at a time, since the GUI gets a picture of every turn. A bot acts on the newest state only.
    fn handle_messages(&mut self, connection: &mut Connection) -> Result<(), ConnectionEnd> {
        let mut news = false;
        loop {
            let played = connection.client.own_player().is_some();
            let event = connection.client.poll_event().map_err(|error| {
                let server = connection.wire.server();
                ConnectionEnd::Malformed(anyhow::anyhow!("the server at {server} sent a malformed message: {error}"))
            })?;
            let Some(event) = event else { break };
            news |= self.handle_event(&connection.client, &event, played)?;
            if connection.greeted.is_none() && connection.client.parameters().is_some() {
                connection.greeted = Some(connection.clock.now());
                self.connection.send_replace(Server::There);
            }
        }
        if self.joins && connection.client.parameters().is_some() {
            self.joins = false;
            // In a lobby, each input joins.
            connection.client.act(connection.clock.now(), InputMessage::PlaceBomb);
        }
        if let (true, Steering::Bot { bot, .. }) = (news, &mut self.steering)
            && let Some(input) = bot.next_input(&connection.client)
        {
            debug!(?input, "from the bot");
            connection.client.act(connection.clock.now(), input);
        }
        Ok(())
    }

    // Returns whether the picture has changed. `played` is whether the client was a player before the event.
    fn handle_event(&mut self, client: &Client, event: &ClientEvent, played: bool) -> Result<bool, ConnectionEnd> {
        let game_over = !event.is_ignored && matches!(event.message, ServerMessage::GameEnded { .. });
        if let (true, Some(gui)) = (game_over, &mut self.gui) {
            // Inputs sent before the GUI knows that the game is over must not join the next one.
            gui.turn(|_| {});
        }
        if let Some(log) = &mut self.log {
            log.narrate(event);
        }
        let own = client.own_player();
        // The next message resets the number, which the last picture of the game still needs.
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
                return Err(ConnectionEnd::Played);
            }
        }
        Ok(event.is_picture_due())
    }

    fn log_return(&self, connection: &mut Connection) {
        if connection.settled().is_some_and(|settled| settled <= connection.clock.now())
            && let Some(outcome) = outcome(&connection.client)
        {
            info!(name = %self.name.escape_debug(), "{outcome}");
            connection.returned = false;
        }
    }

    fn handle_inputs(&mut self, connection: &mut Connection) {
        let Some(gui) = &mut self.gui else { return };
        let obey = matches!(self.steering, Steering::Gui);
        gui.turn(|input| {
            if obey {
                debug!(?input, "from the GUI");
                connection.client.act(connection.clock.now(), input);
            }
        });
    }
}

impl Connection {
    fn new(name: &ShortText, wire: Wire, returned: bool) -> Self {
        let client = Client::new(name.clone(), wire.address().ok());
        Self { wire, clock: Clock::start(), client, returned, greeted: None }
    }

    fn settled(&self) -> Option<Time> {
        self.greeted.filter(|_| self.returned).map(|greeted| greeted.plus(SETTLED))
    }

    // One message at a time. Further messages wait in the client, which keeps the newest.
    fn send(&mut self) {
        self.wire.flush();
        while self.wire.is_flushed()
            && let Some(message) = self.client.take_outgoing()
        {
            debug!(message = %message.escape_ascii(), "to the server");
            self.wire.send(message);
        }
    }

    fn lost(&self, how: &str) -> anyhow::Error {
        let (server, incoming) = (self.wire.server(), self.client.incoming());
        let place = incoming.place();
        let within = if incoming.is_within_message() {
            format!(" in the middle of {place}, which began at byte {}", place.start)
        } else {
            String::new()
        };
        anyhow::anyhow!("the server at {server} {how}, after {} bytes{within}", incoming.received())
    }
}

// Describes the result of a reconnection, after the server's Hello.
fn outcome(client: &Client) -> Option<String> {
    let parameters = client.parameters()?;
    let (server, length) = (parameters.server_name.escape_debug(), parameters.game_length);
    Some(match (client.game(), client.own_player()) {
        (None, _) => {
            let (there, all) = (client.players().len(), parameters.players_count);
            format!("back in the lobby of {server}: {there} of {all} players have joined")
        }
        (Some(game), None) => format!("back as an observer of the game of {server}: turn {} of {length}", game.turn()),
        (Some(game), Some(id)) => {
            format!("back as player {} in the game of {server}: turn {} of {length}", id.0, game.turn())
        }
    })
}

// Never completes without a GUI.
async fn ready(gui: Option<&Gui>) {
    match gui {
        Some(gui) => gui.ready().await,
        None => future::pending().await,
    }
}

// Discards inputs meanwhile, since they are not meant for the next server.
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

/// In a line of the log.
const MOST_NAMED: usize = 10;

#[derive(Debug)]
pub(crate) struct GameLog {
    clock: Clock,
    limit: LogLimit,
    players: BTreeMap<PlayerId, robots::Player>,
}

impl GameLog {
    pub(crate) fn new() -> Self {
        let clock = Clock::start();
        Self { clock, limit: LogLimit::new(clock.now()), players: BTreeMap::new() }
    }

    pub(crate) fn narrate(&mut self, ClientEvent { message, is_ignored }: &ClientEvent) {
        if *is_ignored || matches!(message, ServerMessage::Turn { .. }) {
            return;
        }
        if let ServerMessage::GameStarted { players } = message {
            self.players.clone_from(players);
        }
        let Some(held_back) = self.limit.admit(self.clock.now()) else { return };
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
                let name = printable_name(server_name);
                info!(%name, players_count, size_x, size_y, game_length, explosion_radius, bomb_timer, held_back, "received Hello");
            }
            ServerMessage::AcceptedPlayer { id, player } => {
                info!(id = id.0, name = %printable_name(&player.name), address = %player.address.escape_debug(), held_back, "accepted");
            }
            ServerMessage::GameStarted { players } => info!(players = players.len(), held_back, "the game starts"),
            ServerMessage::GameEnded { scores } => {
                let standing = standing(&self.players, scores);
                info!(destroyed = %standing, held_back, "the game is over");
            }
            ServerMessage::Turn { .. } => {}
        }
    }
}

fn printable_name(name: &str) -> String {
    isolated(&name.escape_debug().to_string()).into_owned()
}

fn standing(players: &BTreeMap<PlayerId, robots::Player>, scores: &BTreeMap<PlayerId, u32>) -> String {
    let mut table: Vec<(u32, PlayerId)> = scores.iter().map(|(&id, &score)| (score, id)).collect();
    table.sort_unstable();
    let row = |&(score, id): &(u32, PlayerId)| match players.get(&id) {
        Some(player) => format!("{} {score}", printable_name(&player.name)),
        None => format!("player {} {score}", id.0),
    };
    let mut rows: Vec<String> = table.iter().take(MOST_NAMED).map(row).collect();
    if table.len() > MOST_NAMED {
        rows.push(format!("and {} more", table.len() - MOST_NAMED));
    }
    rows.join(", ")
}
