//! A client without socket and screen: the state received by a player or a watcher.

use alloc::{collections::BTreeMap, collections::VecDeque, string::String, vec::Vec};
use bytes::{Bytes, BytesMut};
use netcore::{DecodeError, DisconnectReason, Framing, Link, Time, framing::LineDecoder};

use crate::{
    code::{Code, MAX_COLOURS},
    config::Rules,
    protocol::{Advice, ClientMessage, MAX_TOLD, Name, ServerMessage, Turn},
    view::{Board, TurnRecord},
};

/// An occupied seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeatView {
    /// The name of the player.
    pub name: Name,
    /// The current or last game; `None` before the first.
    pub board: Option<Board>,
}

/// The state of a client, which callers poll.
#[derive(Debug, Clone)]
pub struct Client {
    framing: Framing,
    incoming: BytesMut,
    lines: LineDecoder,
    unreadable: Option<DecodeError>,
    colours: usize,
    seat: Option<u8>,
    places: BTreeMap<u8, SeatView>,
    missing: Option<u8>,
    turn: Option<Turn>,
    advice: Option<Advice>,
    possible: Vec<Code>,
    farewell: Option<String>,
    outgoing: VecDeque<ClientMessage>,
    over: bool,
}

impl Client {
    /// Creates a client over this link. Without a name it only watches.
    pub fn new(link: Link, name: Option<Name>) -> Self {
        Self {
            framing: link.framing(),
            incoming: BytesMut::new(),
            lines: LineDecoder::new(MAX_TOLD + 1),
            unreadable: None,
            colours: MAX_COLOURS,
            seat: None,
            places: BTreeMap::new(),
            missing: None,
            turn: None,
            advice: None,
            possible: Vec::new(),
            farewell: None,
            outgoing: name.into_iter().map(ClientMessage::Play).collect(),
            over: false,
        }
    }

    /// The client's seat.
    pub const fn seat(&self) -> Option<u8> {
        self.seat
    }

    /// The occupied seats and their games, as received.
    pub const fn places(&self) -> &BTreeMap<u8, SeatView> {
        &self.places
    }

    /// The client's own game.
    pub fn board(&self) -> Option<&Board> {
        self.places.get(&self.seat?)?.board.as_ref()
    }

    /// The number of players missing for a race that has not begun.
    pub const fn missing(&self) -> Option<u8> {
        self.missing
    }

    /// The client's turn, unless its game is over.
    pub const fn turn(&self) -> Option<Turn> {
        self.turn
    }

    /// The hint for this turn, and all possible codes if they are few.
    pub fn advice(&self) -> Option<(&Advice, &[Code])> {
        self.advice.as_ref().map(|advice| (advice, &self.possible[..]))
    }

    /// The final message of the server.
    pub fn farewell(&self) -> Option<&str> {
        self.farewell.as_deref()
    }

    fn handle(&mut self, message: ServerMessage<'static>) {
        match message {
            ServerMessage::Room(room) => {
                self.colours = room.rules.colours();
                (self.seat, self.missing) = (None, None);
                self.places.clear();
                self.clear_turn();
            }
            ServerMessage::Ok(seat) => self.seat = Some(seat),
            ServerMessage::Seat(seat, name) => {
                self.places.insert(seat, SeatView { name, board: None });
            }
            ServerMessage::Left(seat) => {
                self.places.remove(&seat);
            }
            ServerMessage::Wait(missing) => self.missing = Some(missing),
            ServerMessage::Game { seat, number, rules } => {
                self.missing = None;
                // Fails only if the server contradicts its own `ROOM`: without repeats, there are at least as many
                // colours as pegs.
                let rules = Rules::new(rules.length(), self.colours, rules.repeats()).unwrap_or(rules);
                if let Some(place) = self.places.get_mut(&seat) {
                    place.board = Some(Board { number, rules, lines: Vec::new(), over: None });
                }
                if self.seat == Some(seat) {
                    self.clear_turn();
                }
            }
            ServerMessage::Line(seat, line) => {
                let fits = |board: &Board| match line {
                    TurnRecord::Row { guess, .. } => guess.len() == board.rules.length(),
                    TurnRecord::Lifeline { .. } => true,
                };
                if let Some(board) = self.board_at(seat).filter(|board| fits(board)) {
                    put(&mut board.lines, line);
                }
            }
            ServerMessage::Over(seat, over) => {
                if let Some(board) = self.board_at(seat) {
                    board.over = Some(over);
                }
                if self.seat == Some(seat) {
                    self.clear_turn();
                }
            }
            ServerMessage::Turn(turn) => {
                self.clear_turn();
                self.turn = Some(turn);
            }
            ServerMessage::Hint(advice) => (self.advice, self.possible) = (Some(advice), Vec::new()),
            ServerMessage::Possible(codes) => self.possible = codes,
            ServerMessage::No(_) => {}
            ServerMessage::Bye(text) => {
                self.farewell = Some(text.into_owned());
                self.over = true;
            }
        }
    }

    fn clear_turn(&mut self) {
        (self.turn, self.advice) = (None, None);
        self.possible.clear();
    }

    fn board_at(&mut self, seat: u8) -> Option<&mut Board> {
        self.places.get_mut(&seat)?.board.as_mut()
    }

    fn handle_text(&mut self, text: &[u8]) -> Result<(), DecodeError> {
        self.handle(ServerMessage::parse(text)?);
        Ok(())
    }
}

// Inserts a line, or replaces that of the same turn, whose hidden values may be shown later. There are at most as many
// lines as turns.
fn put(lines: &mut Vec<TurnRecord>, line: TurnRecord) {
    match lines.binary_search_by_key(&line.turn(), TurnRecord::turn) {
        Ok(at) => lines[at] = line,
        Err(at) => lines.insert(at, line),
    }
}

impl netcore::Client for Client {
    type Action = ClientMessage;
    type Error = DecodeError;

    fn receive(&mut self, _: Time, bytes: &[u8]) -> Result<(), DecodeError> {
        if self.framing == Framing::Whole {
            return self.handle_text(bytes);
        }
        if let Some(why) = &self.unreadable {
            return Err(why.clone());
        }
        self.incoming.extend_from_slice(bytes);
        loop {
            match self.lines.decode(&mut self.incoming) {
                Ok(None) => return Ok(()),
                Ok(Some(line)) => self.handle_text(line.strip_suffix(b"\r").unwrap_or(&line))?,
                Err(why) => {
                    self.unreadable = Some(why.clone());
                    return Err(why);
                }
            }
        }
    }

    fn act(&mut self, _: Time, action: ClientMessage) {
        if !self.over {
            self.outgoing.push_back(action);
        }
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.outgoing.pop_front().map(|message| message.to_frame(self.framing))
    }

    fn disconnected(&mut self, _: Time, _: DisconnectReason) {
        self.over = true;
    }

    fn is_over(&self) -> bool {
        self.over
    }
}
