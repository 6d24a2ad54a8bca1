//! A client without socket and screen: it folds the server's messages into a state.
//!
//! The caller drives it as a [`netcore::Client`] over any [`Link`].

mod messages;
mod scores;
mod status;
mod timers;

use alloc::{collections::VecDeque, string::String, vec, vec::Vec};
use core::time::Duration;

use bytes::{Bytes, BytesMut};
use netcore::{DecodeError, DisconnectReason, Framing, Link, Time};

use self::{
    scores::Purses,
    timers::{Due, Phase, Timers},
};
use crate::{
    game::PILE,
    grid::{Direction, PASSAGE, Position, ROOM},
    protocol::{ClientMessage, Letter, Name, stream_decoder},
};

pub use self::{
    messages::map_below,
    scores::{End, Score, Scores},
    timers::{GIVE_UP, GOODBYE, RETRIES},
};

/// An unassigned key. Servers ignore it or respond with an ERROR, which the client does not show.
const PROBE_KEY: u8 = b'?';

/// The role of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Participant {
    /// Plays under this name.
    Player(Name),
    /// Watches.
    Spectator,
}

/// A command of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Press a key. It is sent without validation once the client is admitted. `Q` leaves.
    Key(u8),
    /// Leave: send Q and wait briefly for a goodbye. A client that is not admitted yet ends immediately.
    Leave,
}

/// A client and its state.
#[derive(Debug, Clone)]
pub struct Client {
    participant: Participant,
    link: Link,
    timers: Timers,
    // On a stream, an oversized message blocks later ones here.
    incoming: BytesMut,
    letter: Option<Letter>,
    size: Option<(u16, u16)>,
    purse: u32,
    remaining: u32,
    gold_known: bool,
    display: Vec<u8>,
    displays: u64,
    adjusted: bool,
    note: Option<String>,
    end: Option<End>,
    outgoing: VecDeque<ClientMessage>,
    purses: Purses,
}

impl Client {
    /// A client over datagrams, with its first message ready to send.
    pub fn new(participant: Participant, now: Time) -> Self {
        Self::with_link(Link::Datagram, participant, now)
    }

    /// A client over any link, with its first message ready to send.
    pub fn with_link(link: Link, participant: Participant, now: Time) -> Self {
        let mut client = Self {
            timers: Timers::new(link, participant == Participant::Spectator, now),
            participant,
            link,
            incoming: BytesMut::new(),
            letter: None,
            size: None,
            purse: 0,
            remaining: 0,
            gold_known: false,
            display: vec![],
            displays: 0,
            adjusted: false,
            note: None,
            end: None,
            outgoing: VecDeque::new(),
            purses: Purses::default(),
        };
        client.outgoing.push_back(client.first_message());
        client
    }

    /// The role of the client.
    pub const fn participant(&self) -> &Participant {
        &self.participant
    }

    /// The player's letter, once assigned.
    pub const fn letter(&self) -> Option<Letter> {
        self.letter
    }

    /// Rows and columns of the map, once received.
    pub const fn size(&self) -> Option<(u16, u16)> {
        self.size
    }

    /// Nuggets in the player's purse.
    pub const fn purse(&self) -> u32 {
        self.purse
    }

    /// Unclaimed nuggets, by the last GOLD.
    pub const fn remaining(&self) -> u32 {
        self.remaining
    }

    /// Nuggets that a spectator saw each player collect, by letter, and those without a visible collector.
    pub fn purses(&self) -> (Vec<(Letter, u32)>, u32) {
        (self.purses.entries().collect(), self.purses.unknown)
    }

    /// The last DISPLAY: `rows * (columns + 1)` bytes of printable ASCII, each row ending in a newline; empty at first.
    pub fn display(&self) -> &[u8] {
        &self.display
    }

    /// Number of DISPLAYs received.
    pub const fn displays(&self) -> u64 {
        self.displays
    }

    /// Whether a DISPLAY was padded or cut because it did not match the GRID.
    pub const fn is_adjusted(&self) -> bool {
        self.adjusted
    }

    /// The player's position: the `@` of the last DISPLAY.
    pub fn position(&self) -> Option<Position> {
        let (_, cols) = self.size?;
        let at = u16::try_from(self.display.iter().position(|&byte| byte == b'@')?).ok()?;
        Some(Position::new(at / (cols + 1), at % (cols + 1)))
    }

    /// Whether the server has admitted the client.
    pub const fn is_joined(&self) -> bool {
        matches!(self.timers.phase(), Phase::Playing)
    }

    /// How the client's part in the game ended; `None` while it continues.
    pub const fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// How long the server's port has been closed, if no message has arrived since.
    pub fn closed_for(&self, now: Time) -> Option<Duration> {
        self.timers.closed_for(now)
    }

    /// The final table in the server's QUIT, if it has one.
    pub fn scores(&self) -> Option<Scores> {
        match &self.end {
            Some(End::Quit(text)) => Scores::read(text),
            _ => None,
        }
    }

    /// The message that requests admission.
    pub fn first_message(&self) -> ClientMessage {
        match &self.participant {
            Participant::Player(name) => ClientMessage::Play(Some(name.clone())),
            Participant::Spectator => ClientMessage::Spectate,
        }
    }

    /// Handles a new address of the server. Sends an unassigned key there for a player, because a server that knows the
    /// player answers it; otherwise the first message.
    pub fn moved(&mut self, now: Time) {
        if matches!(self.timers.phase(), Phase::Over | Phase::Leaving { .. }) {
            return;
        }
        let plays = self.is_joined() && matches!(self.participant, Participant::Player(_));
        self.timers.moved(now);
        self.outgoing.push_back(if plays { ClientMessage::Key(PROBE_KEY) } else { self.first_message() });
    }

    fn key(&mut self, now: Time, key: u8) {
        if !self.is_joined() {
            return;
        }
        self.note = None;
        if key == b'Q' {
            self.leave(now);
            return;
        }
        self.timers.key(now, self.must_move(key));
        self.outgoing.push_back(ClientMessage::Key(key));
    }

    fn leave(&mut self, now: Time) {
        let end = match self.timers.phase() {
            // Releases a seat if the admission was lost.
            Phase::Joining { .. } => Some(End::LeftEarly),
            Phase::Playing if self.closed_for(now).is_some() => Some(End::Gone),
            Phase::Playing => {
                self.timers.leave(now);
                None
            }
            Phase::Leaving { .. } | Phase::Over => return,
        };
        self.outgoing.push_back(ClientMessage::Key(b'Q'));
        if let Some(end) = end {
            self.finish(end);
        }
    }

    // Whether the last DISPLAY shows that a key moves the player, which makes a response certain. Servers ignore a step
    // into a wall, and some an unassigned key.
    fn must_move(&self, key: u8) -> bool {
        let (Some(way), Some((_, cols)), Some(at)) = (
            Direction::from_key(key.to_ascii_lowercase()),
            self.size,
            self.display.iter().position(|&byte| byte == b'@'),
        ) else {
            return false;
        };
        let target = i32::try_from(at).ok().and_then(|at| usize::try_from(at + way.offset(cols)).ok());
        let there = target.and_then(|target| self.display.get(target));
        there.is_some_and(|&byte| matches!(byte, ROOM | PASSAGE | PILE) || byte.is_ascii_uppercase())
    }

    fn finish(&mut self, end: End) {
        self.timers.end();
        self.end = Some(end);
    }
}

impl netcore::Client for Client {
    type Action = Command;
    type Error = DecodeError;

    /// Handles received bytes. A malformed message sets a note and changes no other state.
    ///
    /// # Errors
    /// [`DecodeError`] if a stream announces a message longer than the limit.
    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), DecodeError> {
        if self.link.framing() == Framing::Whole {
            self.message(now, bytes);
            return Ok(());
        }
        self.incoming.extend_from_slice(bytes);
        while let Some(message) = stream_decoder().decode(&mut self.incoming)? {
            self.message(now, &message);
        }
        Ok(())
    }

    fn act(&mut self, now: Time, command: Command) {
        match command {
            Command::Key(key) => self.key(now, key),
            Command::Leave => self.leave(now),
        }
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.outgoing.pop_front().map(|message| message.to_frame(self.link.framing()))
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        self.timers.deadline(now)
    }

    fn elapsed(&mut self, now: Time) {
        match self.timers.elapsed(now) {
            None => {}
            Some(Due::FirstMessage) => self.outgoing.push_back(self.first_message()),
            Some(Due::HalfWelcome) => self.guess_size(),
            Some(Due::Probe) => self.outgoing.push_back(ClientMessage::Key(PROBE_KEY)),
            Some(Due::Quit) => self.outgoing.push_back(ClientMessage::Key(b'Q')),
            Some(Due::End(end)) => self.finish(end),
        }
    }

    /// Over datagrams, the server's port is closed, but may open again.
    fn disconnected(&mut self, now: Time, why: DisconnectReason) {
        match (self.timers.phase(), self.link) {
            (Phase::Over, _) => {}
            (_, Link::Datagram) => self.timers.refused(now),
            (_, Link::Stream | Link::Message) => {
                self.outgoing.clear();
                self.finish(End::Disconnected(why));
            }
        }
    }

    fn is_over(&self) -> bool {
        self.timers.phase() == Phase::Over && self.outgoing.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec, vec::Vec};

    use netcore::Client as _;

    use super::*;

    const START: Time = Time::ZERO;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    fn sent(client: &mut Client) -> Vec<Bytes> {
        core::iter::from_fn(|| client.take_outgoing()).collect()
    }

    fn receive_all(client: &mut Client, datagrams: &[&[u8]]) {
        for datagram in datagrams {
            client.receive(START, datagram).unwrap();
        }
    }

    fn player() -> Client {
        Client::new(Participant::Player(Name::new(b"Ann").unwrap()), START)
    }

    fn joined() -> Client {
        let mut client = player();
        sent(&mut client);
        receive_all(&mut client, &[b"OK A", b"GRID 2 3", b"GOLD 0 0 250", b"DISPLAY\n.@.\n  #\n"]);
        assert!(client.is_joined());
        client
    }

    #[test]
    fn status_lines_have_the_required_wording() {
        let mut client = joined();
        client.receive(START, b"GOLD 0 39 211").unwrap();
        assert_eq!(client.status(START), "Player A has 39 nuggets (211 nuggets unclaimed).");
        client.receive(START, b"GOLD 39 39 211").unwrap();
        assert_eq!(client.status(START), "Player A has 39 nuggets (211 nuggets unclaimed).  GOLD received: 39");
        client.receive(START, b"ERROR unknown keystroke").unwrap();
        assert_eq!(client.status(START), "Player A has 39 nuggets (211 nuggets unclaimed).  unknown keystroke");

        let mut spectator = Client::new(Participant::Spectator, START);
        receive_all(&mut spectator, &[b"GRID 2 3", b"GOLD 0 0 211", b"DISPLAY\n...\n  #\n"]);
        assert_eq!(spectator.status(START), "Spectator: 211 nuggets unclaimed.");
    }

    #[test]
    fn a_note_is_shown_before_the_welcome_too() {
        let mut client = player();
        client.receive(START, b"ERROR no room for Ann").unwrap();
        assert_eq!(client.status(START), "Waiting for the server to answer (attempt 1).  no room for Ann");
        client.disconnected(START, DisconnectReason::Broken);
        assert_eq!(client.status(START), "Waiting for the server to answer (attempt 1).  Its port is closed.");
        let named = "Waiting for localhost port 65535 to answer (attempt 1).";
        assert_eq!(client.status_at("localhost port 65535", START, 80), format!("{named}  Its port is closed."));
        assert_eq!(client.status_at(&"x".repeat(80), START, 80), client.status(START), "a long name is left out");
        client.receive(START, b"HELLO").unwrap();
        assert_eq!(client.status(START), "Waiting for the server to answer (attempt 1).  malformed: 'HELLO'");
    }

    #[test]
    fn next_key_or_gold_clears_the_note() {
        let mut client = joined();
        let plain = client.status(START);
        client.receive(START, b"ERROR unknown keystroke").unwrap();
        client.act(START, Command::Key(b'h'));
        assert_eq!(client.status(START), plain);
        receive_all(&mut client, &[b"ERROR unknown keystroke", b"GOLD 0 0 250"]);
        assert_eq!(client.status(START), plain);
    }

    #[test]
    fn first_message_is_resent_after_1_2_and_4_seconds_for_15_seconds() {
        let mut client = player();
        assert_eq!(sent(&mut client), ["PLAY Ann"]);
        let (mut moments, mut now) = (vec![], START);
        while client.end().is_none() {
            let deadline = client.deadline(now).unwrap();
            client.elapsed(deadline);
            now = deadline;
            moments.push((deadline, sent(&mut client).len()));
        }
        assert_eq!(moments, [(at(1), 1), (at(3), 1), (at(7), 1), (at(15), 0)]);
        assert_eq!(client.end(), Some(&End::NoAnswer));
        assert_eq!(client.deadline(now), None);
    }

    #[test]
    fn visible_map_accepts_keys_without_ok_and_gold() {
        let mut client = player();
        sent(&mut client);
        receive_all(&mut client, &[b"GRID 2 3", b"DISPLAY\n.@.\n  #\n"]);
        client.act(START, Command::Key(b'h'));
        assert_eq!(sent(&mut client), ["KEY h"]);
    }

    #[test]
    fn lost_welcome_is_requested_again() {
        let mut client = player();
        receive_all(&mut client, &[b"GRID 2 3", b"GOLD 0 0 250"]);
        assert!(!client.is_joined());
        sent(&mut client);
        client.elapsed(at(1));
        assert_eq!(sent(&mut client), ["PLAY Ann"]);
        receive_all(&mut client, &[b"DISPLAY\n.@.\n  #\n"]);
        assert!(client.is_joined());
        assert_eq!(client.deadline(at(1)), None);
    }

    #[test]
    fn joining_messages_may_arrive_in_any_order() {
        let mut client = player();
        receive_all(&mut client, &[b"DISPLAY\n.@.\n  #\n", b"GOLD 0 0 250", b"GRID 2 3", b"OK A"]);
        assert!(client.is_joined());
        assert_eq!(client.display(), b".@.\n  #\n");
        assert_eq!(client.position(), Some(Position::new(0, 1)));
    }

    #[test]
    fn display_determines_the_size_without_a_grid() {
        let mut client = player();
        receive_all(&mut client, &[b"OK A", b"GOLD 0 0 250", b"DISPLAY\n.@.\n  #\n"]);
        while !client.is_joined() {
            let deadline = client.deadline(START).unwrap();
            client.elapsed(deadline);
        }
        assert_eq!(client.size(), Some((2, 3)));
        assert_eq!(client.position(), Some(Position::new(0, 1)));
        client.receive(at(20), b"GRID 1 2").unwrap();
        assert_eq!(client.size(), Some((1, 2)), "a GRID that comes after all knows better");
    }

    #[test]
    fn quit_ends_the_client_with_the_text_of_the_server() {
        let mut client = joined();
        client.receive(START, b"QUIT GAME OVER:\nA          4 Alice\x1b[0m").unwrap();
        assert_eq!(client.end(), Some(&End::Quit("GAME OVER:\nA          4 Alice\\x1b[0m".into())));
    }

    #[test]
    fn leaving_sends_q_twice_and_waits_a_bounded_time() {
        let mut client = joined();
        client.act(at(1), Command::Key(b'Q'));
        assert_eq!(sent(&mut client), ["KEY Q"]);
        client.elapsed(at(2));
        assert_eq!(sent(&mut client), ["KEY Q"]);
        client.elapsed(client.deadline(at(2)).unwrap());
        assert_eq!(client.end(), Some(&End::NoGoodbye));

        let mut client = joined();
        client.act(at(1), Command::Leave);
        client.receive(at(1), b"QUIT Thanks for playing!").unwrap();
        assert_eq!(client.end(), Some(&End::Quit("Thanks for playing!".into())));
    }

    #[test]
    fn silence_counts_from_the_last_unanswered_key() {
        let mut client = joined();
        assert_eq!(client.timers.silent_for(at(100)), None, "nothing happens, nothing is amiss");
        client.act(at(100), Command::Key(b'h'));
        assert_eq!(client.timers.silent_for(at(102)), None);
        assert_eq!(client.deadline(at(100)), Some(at(103)));
        assert_eq!(client.deadline(at(103)), Some(at(104)));
        assert_eq!(client.status(at(105)), "Player A has 0 nuggets (250 nuggets unclaimed).  No answer for 5 s");
        client.disconnected(START, DisconnectReason::Broken);
        assert_eq!(client.status(at(105)), "Player A has 0 nuggets (250 nuggets unclaimed).  Server gone: port closed");
        client.receive(at(106), b"DISPLAY\n@..\n  #\n").unwrap();
        assert_eq!(client.timers.silent_for(at(200)), None);
        // Servers need not respond to a wall, the edge of the map, or an unassigned key.
        for key in [b'j', b'h', b'k', b'J', b'?', b' '] {
            client.act(at(200), Command::Key(key));
        }
        assert_eq!(client.timers.silent_for(at(300)), None);
        client.act(at(300), Command::Key(b'L'));
        assert!(client.timers.silent_for(at(304)).is_some());
    }

    #[test]
    fn malformed_message_only_leaves_a_note() {
        let mut client = joined();
        let before = client.display().to_vec();
        for datagram in [
            &b"HELLO"[..],
            b"DISPLAY\n......\n......\n",
            b"DISPLAY\n.\n.\n.\n.\n.\n",
            b"DISPLAY\n",
            b"GRID x",
            b"OK",
            b"",
        ] {
            client.receive(START, datagram).unwrap();
            assert!(client.status(START).contains("malformed"), "{datagram:?}");
            assert_eq!((client.display(), client.size()), (&before[..], Some((2, 3))));
        }
    }

    #[test]
    fn malformed_text_is_shown_escaped_and_cut() {
        let mut client = joined();
        client.receive(START, b"OK\x1b[2J").unwrap();
        assert!(client.status(START).ends_with("  malformed: 'OK\\x1b[2J'"), "{}", client.status(START));
        client.receive(START, &vec![b'x'; 60_000]).unwrap();
        let status = client.status(START);
        assert!(status.ends_with("xxx...'") && status.len() <= 80, "{status}");
    }

    // Some servers assign a seat for each PLAY.
    #[test]
    fn no_retry_after_ok() {
        let mut client = player();
        sent(&mut client);
        client.receive(START, b"OK A").unwrap();
        let mut now = START;
        while !client.is_joined() {
            now = client.deadline(now).unwrap();
            client.elapsed(now);
            assert!(sent(&mut client).is_empty(), "{now:?}");
        }
        assert_eq!(now, at(2), "what has come by then has to do");
    }

    #[test]
    fn malformed_displays_of_other_servers_are_accepted() {
        let mut client = joined();
        for text in
            [&b"DISPLAY\n@..\n  #"[..], b"DISPLAY\n@..\n  #\n\0", b"DISPLAY\n@..\n  #\n\n", b"DISPLAY \n@..\n  #\n"]
        {
            receive_all(&mut client, &[b"DISPLAY\n.@.\n  #\n", text]);
            assert_eq!(client.display(), b"@..\n  #\n", "{text:?}");
        }
        client.receive(START, b"DISPLAY\n@\x1b.\n  #\n").unwrap();
        assert_eq!(client.display(), b"@?.\n  #\n", "control bytes never reach the screen");
    }

    #[test]
    fn displays_of_another_shape_are_padded_or_cut() {
        let mut client = player();
        receive_all(&mut client, &[b"OK A", b"GRID 3 9", b"GOLD 0 0 250", b"DISPLAY\n+------+\n|..@...|\n+------+\n"]);
        assert_eq!(client.display(), b"+------+ \n|..@...| \n+------+ \n");
        assert!(client.is_joined() && client.is_adjusted());
        assert_eq!(client.position(), Some(Position::new(1, 3)));
        let exact = b"+------+ \n|@.....| \n+------+ \n";
        for text in [
            &b"DISPLAY\n+------+\r\n|@.....|\r\n+------+\r\n"[..],
            b"DISPLAY\n+------+ \n|@.....| \n+------+",
            b"DISPLAY\n+------+ \n|@.....| \n+------+ \n\0\0\0",
            b"DISPLAY\n+------+  \n|@.....|  \n+------+  \n",
            b"DISPLAY\n+------+ \n|@.....| \n+------+ \n.........\n",
        ] {
            receive_all(&mut client, &[b"DISPLAY\n+------+ \n|.....@| \n+------+ \n", text]);
            assert_eq!(client.display(), exact, "{text:?}");
        }
        receive_all(&mut client, &[b"DISPLAY\n+------+\n|@.....|\n"]);
        assert_eq!(client.display(), b"+------+ \n|@.....| \n         \n");
    }

    #[test]
    fn final_table_overrides_purses() {
        let mut client = joined();
        receive_all(&mut client, &[b"GOLD 3 3 247", b"QUIT GAME OVER:\nA         10 Ann\nB        240 Bob"]);
        assert_eq!((client.purse(), client.scores().unwrap().rows.len()), (10, 2));
    }

    #[test]
    fn leaving_a_dead_server_is_immediate() {
        let mut client = joined();
        client.disconnected(at(1), DisconnectReason::Broken);
        assert_eq!(client.closed_for(at(4)), Some(Duration::from_secs(3)));
        client.act(at(4), Command::Leave);
        assert_eq!(sent(&mut client), ["KEY Q"]);
        assert_eq!(client.end(), Some(&End::Gone));

        let mut client = joined();
        client.act(at(1), Command::Leave);
        client.disconnected(at(1), DisconnectReason::Broken);
        client.elapsed(at(3));
        assert_eq!(client.end(), Some(&End::Gone));
    }

    #[test]
    fn reopened_port_is_no_longer_reported_closed() {
        let mut client = joined();
        client.act(at(1), Command::Key(b'h'));
        client.disconnected(at(1), DisconnectReason::Broken);
        let plain = "Player A has 0 nuggets (250 nuggets unclaimed).";
        assert_eq!(client.status(at(60)), format!("{plain}  Server gone: port closed"), "nothing was tried since");
        client.act(at(60), Command::Key(b'h'));
        client.disconnected(at(60), DisconnectReason::Broken);
        assert_eq!(client.status(at(70)), format!("{plain}  Server gone: port closed"));
        // The port belongs to another server, which does not know the client.
        client.act(at(70), Command::Key(b'h'));
        assert_eq!(client.deadline(at(70)), Some(at(71)));
        assert_eq!(client.status(at(71)), format!("{plain}  Port open, no answer for 70 s"));
        assert!(client.status(at(100)).len() <= 80);
        client.receive(at(71), b"DISPLAY\n@..\n  #\n").unwrap();
        assert_eq!((client.status(at(71)).as_str(), client.closed_for(at(71))), (plain, None));
    }

    fn spectator() -> Client {
        let mut client = Client::new(Participant::Spectator, START);
        receive_all(&mut client, &[b"GRID 2 3", b"GOLD 0 0 250", b"DISPLAY\nA*.\nB #\n"]);
        sent(&mut client);
        client
    }

    #[test]
    fn spectator_detects_a_closed_port() {
        let mut client = spectator();
        assert_eq!(client.deadline(START), Some(at(10)));
        client.elapsed(at(10));
        assert_eq!(sent(&mut client), ["KEY ?"]);
        client.receive(at(10), b"ERROR unknown keystroke").unwrap();
        assert_eq!(client.status(at(10)), "Spectator: 250 nuggets unclaimed.");
        client.receive(at(10), b"ERROR the game begins in 3 s").unwrap();
        assert_eq!(client.status(at(10)), "Spectator: 250 nuggets unclaimed.  the game begins in 3 s");
        client.elapsed(client.deadline(at(10)).unwrap());
        assert_eq!(sent(&mut client), ["KEY ?"]);
        client.disconnected(at(20), DisconnectReason::Broken);
        assert_eq!(client.status(at(20)), "Spectator: 250 nuggets unclaimed.  Server gone: port closed");
        let stream = Client::with_link(Link::Message, Participant::Spectator, START);
        assert_ne!(stream.deadline(START), Some(at(10)));
    }

    #[test]
    fn spectator_credits_visible_collectors() {
        let mut client = spectator();
        receive_all(&mut client, &[b"GOLD 0 0 243", b"DISPLAY\n.A.\nB #\n"]);
        assert_eq!(client.purses(), (vec![(Letter::from_byte(b'A').unwrap(), 7)], 0));
        assert_eq!(client.status(START), "Spectator: 243 nuggets unclaimed.");
        receive_all(&mut client, &[b"GOLD 0 0 240", b"DISPLAY\n.A.\nB #\n"]);
        assert_eq!(client.purses().1, 3);
    }

    #[test]
    fn narrow_window_abbreviates() {
        let mut client = joined();
        client.receive(START, b"GOLD 0 150 100").unwrap();
        let lines = [
            (80, "Player A has 150 nuggets (100 nuggets unclaimed)."),
            (30, "A 150 gold, 100 left"),
            (20, "A 150 gold, 100 left"),
            (16, "A 150, 100 left"),
            (5, "A 150, 100 left"),
        ];
        for (columns, line) in lines {
            assert_eq!(client.status_at("the server", START, columns), line, "{columns}");
        }
        assert_eq!(spectator().status_at("the server", START, 20), "250 unclaimed");
    }
}
