//! The state of a client, reconstructed from the server's messages, and the pictures for the GUI.
//!
//! Source: the task text of robots, "The client".

use alloc::collections::{BTreeMap, VecDeque};
use bytes::{Bytes, BytesMut};
use core::net::SocketAddr;
use netcore::{DisconnectReason, Time, wire::ShortText};

use crate::{
    protocol::{
        ClientMessage, DrawMessage, Incoming, InputMessage, Malformed, Parameters, Player, PlayerId, ServerMessage,
        encode,
    },
    view::{GameView, PictureTooLarge, lobby_picture},
};

/// The maximum number of queued messages. Beyond it a new message replaces the newest, because only the last action of
/// a turn counts.
pub const MAX_OUTGOING: usize = 64;

/// The state of a client, and its outgoing messages.
///
/// A caller that needs a picture after every message uses [`Client::feed`] and [`Client::poll_event`] instead of
/// [`receive`](netcore::Client::receive).
///
/// ```
/// use netcore::{Client as _, Time, wire::ShortText};
/// use robots::{Action, Client, DrawMessage};
///
/// let mut client = Client::new(ShortText::try_from("Ann")?, None);
/// // A Hello: a server "here" for 2 players on 5 x 5 fields, 9 turns, radius 1, timer 3.
/// client.feed(b"\x00\x04here\x02\x00\x05\x00\x05\x00\x09\x00\x01\x00\x03");
/// let event = client.poll_event()?.expect("a whole message");
/// assert!(event.is_picture_due());
/// assert!(matches!(client.picture(), Some(Ok(DrawMessage::Lobby { .. }))));
/// // Any input in the lobby joins.
/// client.act(Time::ZERO, Action::PlaceBomb);
/// assert_eq!(client.take_outgoing().as_deref(), Some(&b"\x00\x03Ann"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Client {
    name: ShortText,
    address: Option<SocketAddr>,
    parameters: Option<Parameters>,
    players: BTreeMap<PlayerId, Player>,
    game: Option<GameView>,
    joined: bool,
    own: Option<OwnId>,
    incoming: Incoming,
    outgoing: VecDeque<ClientMessage>,
    over: bool,
}

/// A processed message from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEvent {
    /// The message.
    pub message: ServerMessage,
    /// Whether it was out of place and had no effect.
    pub is_ignored: bool,
}

impl ClientEvent {
    /// Whether [`Client::picture`] is due: after each effective message except the start of a game.
    pub const fn is_picture_due(&self) -> bool {
        !self.is_ignored && !matches!(self.message, ServerMessage::GameStarted { .. })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnId {
    // Found by address and name.
    Certain(PlayerId),
    // Found by name alone.
    Guessed(PlayerId),
}

impl Client {
    /// Creates a client. It is identified by its name and, if known, by `address`, the local end of the connection.
    pub fn new(name: ShortText, address: Option<SocketAddr>) -> Self {
        Self { name, address: address.map(canonical), ..Self::default() }
    }

    /// The parameters from the server's Hello.
    pub const fn parameters(&self) -> Option<&Parameters> {
        self.parameters.as_ref()
    }

    /// The players of the game, or those accepted so far.
    pub const fn players(&self) -> &BTreeMap<PlayerId, Player> {
        &self.players
    }

    /// The current game; `None` in the lobby.
    pub const fn game(&self) -> Option<&GameView> {
        self.game.as_ref()
    }

    /// The client's own player: the one with its address and name, or else the last one of its name accepted after its
    /// Join.
    pub const fn own_player(&self) -> Option<PlayerId> {
        match self.own {
            Some(OwnId::Certain(id) | OwnId::Guessed(id)) => Some(id),
            None => None,
        }
    }

    fn answer(&mut self, input: InputMessage) -> ClientMessage {
        if self.game.is_some() {
            return ClientMessage::Action(input);
        }
        self.joined = true;
        ClientMessage::Join { name: self.name.clone() }
    }

    /// Appends bytes of the server's stream, for [`Client::poll_event`].
    pub fn feed(&mut self, bytes: &[u8]) {
        if !self.over {
            self.incoming.buffer().extend_from_slice(bytes);
        }
    }

    /// Processes the next message of the server; `None` if more bytes are needed.
    ///
    /// Messages out of place have no effect, and neither do events about unknown players or fields off the board. A
    /// Hello resets the state.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes are not a valid message. The rest of the stream cannot be decoded.
    pub fn poll_event(&mut self) -> Result<Option<ClientEvent>, Malformed> {
        if self.over {
            return Ok(None);
        }
        match self.incoming.next_message() {
            Ok(message) => Ok(message.map(|message| {
                let is_ignored = !self.apply(&message);
                ClientEvent { message, is_ignored }
            })),
            Err(why) => {
                self.end();
                Err(why)
            }
        }
    }

    /// The received part of the server's stream.
    pub const fn incoming(&self) -> &Incoming {
        &self.incoming
    }

    fn end(&mut self) {
        self.over = true;
        self.outgoing.clear();
    }

    // Returns `false` for a message out of place.
    fn apply(&mut self, message: &ServerMessage) -> bool {
        match (message, &self.parameters, &mut self.game) {
            (ServerMessage::Hello(parameters), ..) => {
                self.parameters = Some(parameters.clone());
                self.players.clear();
                self.game = None;
                self.own = None;
            }
            (ServerMessage::AcceptedPlayer { id, player }, Some(_), None) => {
                self.recognise(*id, player, self.joined);
                self.players.insert(*id, player.clone());
            }
            (ServerMessage::GameStarted { players }, Some(parameters), None) => {
                self.game = Some(GameView::new(parameters, players));
                // These players may have joined before this client, so a name alone does not identify it.
                for (&id, player) in players {
                    self.recognise(id, player, false);
                }
                self.players.clone_from(players);
            }
            (ServerMessage::Turn { turn, events }, Some(_), Some(game)) => game.apply(*turn, events),
            (ServerMessage::GameEnded { .. }, Some(_), Some(_)) => {
                self.game = None;
                self.players.clear();
                self.joined = false;
                self.own = None;
            }
            _ => return false,
        }
        true
    }

    /// The picture for the GUI; `None` before the server's Hello. Its size is checked before it is built.
    ///
    /// # Errors
    /// [`PictureTooLarge`] if it does not fit a datagram.
    pub fn picture(&self) -> Option<Result<DrawMessage, PictureTooLarge>> {
        let parameters = self.parameters.as_ref()?;
        Some(match &self.game {
            Some(game) => game.picture(parameters, &self.players).map(DrawMessage::Game),
            None => lobby_picture(parameters, &self.players),
        })
    }

    // `by_name` also accepts a player of the same name.
    fn recognise(&mut self, id: PlayerId, player: &Player, by_name: bool) {
        if player.name != self.name {
            return;
        }
        if self.address.is_some() && player.address.parse().ok().map(canonical) == self.address {
            self.own = Some(OwnId::Certain(id));
        } else if by_name && !matches!(self.own, Some(OwnId::Certain(_))) {
            self.own = Some(OwnId::Guessed(id));
        }
    }
}

/// The client ignores the time: only the server has a clock.
impl netcore::Client for Client {
    type Action = InputMessage;
    type Error = Malformed;

    fn receive(&mut self, _now: Time, bytes: &[u8]) -> Result<(), Malformed> {
        self.feed(bytes);
        while self.poll_event()?.is_some() {}
        Ok(())
    }

    fn act(&mut self, _now: Time, input: InputMessage) {
        if self.over {
            return;
        }
        let message = self.answer(input);
        if self.outgoing.len() == MAX_OUTGOING {
            self.outgoing.pop_back();
        }
        self.outgoing.push_back(message);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        let message = self.outgoing.pop_front()?;
        let mut frame = BytesMut::new();
        encode(&message, &mut frame);
        Some(frame.freeze())
    }

    fn disconnected(&mut self, _now: Time, _why: DisconnectReason) {
        self.end();
    }

    fn is_over(&self) -> bool {
        self.over
    }
}

// Servers may send IPv4 addresses in IPv6 form.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
