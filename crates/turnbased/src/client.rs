use alloc::{
    collections::{BTreeMap, VecDeque},
    string::String,
    vec::Vec,
};
use bytes::{Bytes, BytesMut};
use netcore::{DecodeError, DisconnectReason, Framing, Link, Time, framing::LineDecoder};

use crate::{
    Rules,
    protocol::{ClientMessage, EndReason, MAX_TOLD, Name, ServerMessage, frame},
};

/// A player's or watcher's view of a table.
#[derive(Debug, Clone)]
pub struct Client<R: Rules> {
    framing: Framing,
    incoming: BytesMut,
    lines: LineDecoder,
    outgoing: VecDeque<ClientMessage>,
    seat: Option<u8>,
    names: BTreeMap<u8, String>,
    game: Option<u32>,
    view: Option<R::View>,
    turn: Option<u8>,
    moves: Vec<R::Move>,
    result: Option<(EndReason, Vec<i64>)>,
    revision: u32,
    farewell: Option<String>,
    is_over: bool,
}

impl<R: Rules> Client<R> {
    /// Without a name the client only watches.
    pub fn new(link: Link, name: Option<Name>) -> Self {
        Self {
            framing: link.framing(),
            incoming: BytesMut::new(),
            lines: LineDecoder::new(MAX_TOLD),
            outgoing: name.into_iter().map(ClientMessage::Play).collect(),
            seat: None,
            names: BTreeMap::new(),
            game: None,
            view: None,
            turn: None,
            moves: Vec::new(),
            result: None,
            revision: 0,
            farewell: None,
            is_over: false,
        }
    }

    /// Counted from 0.
    pub const fn seat(&self) -> Option<u8> {
        self.seat
    }

    pub const fn names(&self) -> &BTreeMap<u8, String> {
        &self.names
    }

    pub const fn game(&self) -> Option<u32> {
        self.game
    }

    pub const fn view(&self) -> Option<&R::View> {
        self.view.as_ref()
    }

    /// Counted from 0.
    pub const fn turn(&self) -> Option<u8> {
        self.turn
    }

    /// Empty if it is not the client's turn.
    pub fn moves(&self) -> &[R::Move] {
        &self.moves
    }

    /// How the last game ended, with the score of each seat.
    pub fn result(&self) -> Option<(EndReason, &[i64])> {
        self.result.as_ref().map(|(how, scores)| (*how, &scores[..]))
    }

    /// The number of views and results. A bot decides again when it changes.
    pub const fn revision(&self) -> u32 {
        self.revision
    }

    pub fn farewell(&self) -> Option<&str> {
        self.farewell.as_deref()
    }

    fn handle(&mut self, message: ServerMessage) -> Result<(), DecodeError> {
        let seat = |number: u8| number.checked_sub(1).ok_or(DecodeError::invalid("a seat 0", 0));
        match message {
            ServerMessage::Room { .. } => {
                (self.seat, self.view, self.turn) = (None, None, None);
                self.names.clear();
                self.moves.clear();
            }
            ServerMessage::Ok(number) => self.seat = Some(seat(number)?),
            ServerMessage::Seat(number, name) => drop(self.names.insert(seat(number)?, name)),
            ServerMessage::Left(number) => drop(self.names.remove(&seat(number)?)),
            ServerMessage::Game(number) => (self.game, self.result) = (Some(number), None),
            ServerMessage::View(json) => {
                let view = serde_json::from_str(&json).map_err(|_| DecodeError::invalid("no view of this game", 5))?;
                (self.view, self.turn) = (Some(view), None);
                self.revision = self.revision.wrapping_add(1);
                self.moves.clear();
            }
            ServerMessage::Turn(number, moves) => {
                self.turn = Some(seat(number)?);
                self.moves = moves.iter().filter_map(|action| action.parse().ok()).collect();
            }
            ServerMessage::Over(how, scores) => {
                (self.result, self.turn) = (Some((how, scores)), None);
                self.revision = self.revision.wrapping_add(1);
                self.moves.clear();
            }
            ServerMessage::Wait(_) | ServerMessage::Moved(..) | ServerMessage::No(_) => {}
            ServerMessage::Bye(why) => (self.farewell, self.is_over) = (Some(why), true),
        }
        Ok(())
    }
}

impl<R: Rules> netcore::Client for Client<R> {
    type Action = ClientMessage;
    type Error = DecodeError;

    fn receive(&mut self, _: Time, bytes: &[u8]) -> Result<(), DecodeError> {
        if self.framing == Framing::Whole {
            return self.handle(ServerMessage::parse(bytes)?);
        }
        self.incoming.extend_from_slice(bytes);
        while let Some(line) = self.lines.decode(&mut self.incoming)? {
            self.handle(ServerMessage::parse(&line)?)?;
        }
        Ok(())
    }

    fn act(&mut self, _: Time, action: ClientMessage) {
        if !self.is_over {
            self.outgoing.push_back(action);
        }
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.outgoing.pop_front().map(|message| frame(&message, self.framing))
    }

    fn disconnected(&mut self, _: Time, _: DisconnectReason) {
        self.is_over = true;
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}
