//! A client without its socket and its screen: folds what the server says into what the screen shows.
//!
//! The owner drives it as a [`netcore::Client`] over whatever [`Link`] it has: what comes from the server, keys and the
//! time go in, messages, a wake-up and an end come out.

mod display;
mod purses;
mod scores;
mod status;
#[cfg(test)]
mod tests;

use alloc::{collections::VecDeque, format, string::String, vec, vec::Vec};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use netcore::{DecodeError, Framing, Gone, Link, Time};

use self::{
    display::{is_exact, tidy},
    purses::Purses,
};
use crate::{
    game::PILE,
    grid::{Direction, PASSAGE, Position, ROCK, ROOM},
    protocol::{ClientMessage, Letter, Name, ServerMessage, printable, stream_decoder},
};

pub use self::{
    display::map_below,
    scores::{Score, Scores},
};

/// How long after the first PLAY or SPECTATE it is sent again over datagrams, each time counted from the one before.
pub const RETRIES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// How long a client waits for the first answer before it gives up.
pub const GIVE_UP: Duration = Duration::from_secs(15);
/// How long after its letter a player waits for the rest of the welcome over datagrams, before it plays with what is there.
/// Nothing is asked for again by then: some servers give a seat for each PLAY.
pub const WELCOME: Duration = Duration::from_secs(2);
/// How many characters of a message that cannot be read are shown, so that the status line fits 80 columns.
const SHOWN: usize = 14;
/// How long after an unanswered key a client says that the server is silent.
pub const SILENCE: Duration = Duration::from_secs(3);
/// How long a client that wants to leave waits for the server's goodbye; over datagrams its `KEY Q` is sent again half
/// way.
pub const GOODBYE: Duration = Duration::from_secs(2);
/// If no error is reported within this time after a key was sent to a closed port, the port counts as open again.
pub const REOPENED: Duration = Duration::from_secs(1);
/// How often a spectator who hears nothing over datagrams finds out whether the server's port is still open. It sends a
/// KEY without a meaning, because the system reports a closed port only after something was sent to it.
pub const PROBE: Duration = Duration::from_secs(10);
/// The key of a [`PROBE`]: a server ignores it, or answers with an ERROR that is not shown.
const PROBE_KEY: u8 = b'?';

/// As what a client takes part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Plays under this name.
    Player(Name),
    /// Looks on.
    Spectator,
}

/// What a user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// To press a key. It is sent without judging it, but not before the server has let the client in; `Q` leaves.
    Key(u8),
    /// To leave: says Q to the server and waits a little for its goodbye. Before it is let in, it ends at once.
    Leave,
}

/// How a client's part in the game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The server said so; its words, ready to be printed.
    Quit(String),
    /// Nobody answered the first message within [`GIVE_UP`].
    NoAnswer,
    /// The user left before the server had let the client in.
    LeftEarly,
    /// The user left and the server said no goodbye within [`GOODBYE`].
    NoGoodbye,
    /// The user left while the server's port was closed.
    Gone,
    /// The connection ended, and the server had said nothing about it.
    Disconnected(Gone),
}

impl End {
    /// Whether the game was played to its end, as the server's last message says.
    pub fn is_game_over(&self) -> bool {
        matches!(self, Self::Quit(text) if text.trim_start().starts_with("GAME OVER"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    // Sends its first message again at `again` (`attempt` were sent), gives up at `give_up` if nothing ever came.
    Joining { attempt: usize, again: Option<Time>, give_up: Time },
    Playing,
    // Says Q once more at `again`, then leaves at `until`.
    Leaving { again: Option<Time>, until: Time },
    Over,
}

/// A port that the system reported as closed, with nothing heard from it since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Closed {
    since: Time,
    // The first message after the last report. If the port is still closed, the next report comes at once.
    tried: Option<Time>,
}

/// One client's knowledge of the game.
#[derive(Debug, Clone)]
pub struct Client {
    part: Part,
    link: Link,
    phase: Phase,
    // The front of a message on a stream, and what is wrong with it once nothing more can be read.
    incoming: BytesMut,
    unreadable: Option<DecodeError>,
    letter: Option<Letter>,
    size: Option<(u16, u16)>,
    purse: u32,
    remaining: u32,
    gold_known: bool,
    // The rows of the last DISPLAY, each followed by a newline; empty until one came.
    display: Vec<u8>,
    displays: u64,
    note: Option<String>,
    end: Option<End>,
    outgoing: VecDeque<ClientMessage>,
    last_heard: Option<Time>,
    // The first key that was sent after the server was last heard.
    unanswered_since: Option<Time>,
    closed: Option<Closed>,
    purses: Purses,
    // When a spectator last found out whether the port is open, and whether that may still be answered.
    probed: Option<Time>,
    probing: bool,
}

impl Client {
    /// A client over datagrams that has its first message ready to be sent.
    pub fn new(part: Part, now: Time) -> Self {
        Self::over(Link::Datagram, part, now)
    }

    /// A client over any link that has its first message ready to be sent.
    pub fn over(link: Link, part: Part, now: Time) -> Self {
        let mut client = Self {
            part,
            link,
            phase: Phase::Joining { attempt: 1, again: retry(link, now, RETRIES[0]), give_up: now.plus(GIVE_UP) },
            incoming: BytesMut::new(),
            unreadable: None,
            letter: None,
            size: None,
            purse: 0,
            remaining: 0,
            gold_known: false,
            display: vec![],
            displays: 0,
            note: None,
            end: None,
            outgoing: VecDeque::new(),
            last_heard: None,
            unanswered_since: None,
            closed: None,
            purses: Purses::default(),
            probed: None,
            probing: false,
        };
        client.send_first_message();
        client
    }

    /// As what the client takes part.
    pub const fn part(&self) -> &Part {
        &self.part
    }

    /// The player's letter, once the server has given one.
    pub const fn letter(&self) -> Option<Letter> {
        self.letter
    }

    /// Rows and columns of the map, once the server has told.
    pub const fn size(&self) -> Option<(u16, u16)> {
        self.size
    }

    /// Nuggets in the player's purse.
    pub const fn purse(&self) -> u32 {
        self.purse
    }

    /// Nuggets that nobody has found yet, as far as the server has told.
    pub const fn remaining(&self) -> u32 {
        self.remaining
    }

    /// The rows of the last DISPLAY, each followed by a newline: `rows * (columns + 1)` bytes of printable ASCII, or
    /// none before the first came.
    pub fn display(&self) -> &[u8] {
        &self.display
    }

    /// How many DISPLAYs came; a new number is a new picture.
    pub const fn displays(&self) -> u64 {
        self.displays
    }

    /// Where the player stands, by the `@` of the last DISPLAY.
    pub fn position(&self) -> Option<Position> {
        let (_, cols) = self.size?;
        let at = u16::try_from(self.display.iter().position(|&byte| byte == b'@')?).ok()?;
        Some(Position::new(at / (cols + 1), at % (cols + 1)))
    }

    /// Whether the server has let the client in, so that keys have a meaning.
    pub const fn is_joined(&self) -> bool {
        matches!(self.phase, Phase::Playing)
    }

    /// How it ended, once it has.
    pub const fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// How long the server has not answered; `None` while nothing is amiss.
    ///
    /// A server sends nothing when nothing happens, so silence is counted from a key that nothing followed.
    pub fn silent_for(&self, now: Time) -> Option<Duration> {
        let silence = now.since(self.unanswered_since?);
        (self.phase == Phase::Playing && silence >= SILENCE).then_some(silence)
    }

    /// How long the server's port has been closed, as far as the system has told and nothing was heard since.
    pub fn closed_for(&self, now: Time) -> Option<Duration> {
        self.closed.map(|closed| now.since(closed.since))
    }

    /// The table of the server's last words, if they hold one.
    pub fn scores(&self) -> Option<Scores> {
        match &self.end {
            Some(End::Quit(text)) => Scores::read(text),
            _ => None,
        }
    }

    /// The message that asks to be let in, which goes out as often as is needed.
    pub fn first_message(&self) -> ClientMessage {
        match &self.part {
            Part::Player(name) => ClientMessage::Play(Some(name.clone())),
            Part::Spectator => ClientMessage::Spectate,
        }
    }

    fn key(&mut self, now: Time, key: u8) {
        if self.phase != Phase::Playing {
            return;
        }
        self.note = None;
        self.tries(now);
        if key == b'Q' {
            self.leave(now);
            return;
        }
        if self.must_move(key) {
            self.unanswered_since.get_or_insert(now);
        }
        self.outgoing.push_back(ClientMessage::Key(key));
    }

    fn leave(&mut self, now: Time) {
        match self.phase {
            Phase::Joining { .. } => {
                // The server may have let us in while its answer was lost: take the seat back.
                self.outgoing.push_back(ClientMessage::Key(b'Q'));
                self.finish(End::LeftEarly);
            }
            Phase::Playing if self.closed.is_some() => {
                // It may be open again.
                self.outgoing.push_back(ClientMessage::Key(b'Q'));
                self.finish(End::Gone);
            }
            Phase::Playing => {
                self.outgoing.push_back(ClientMessage::Key(b'Q'));
                self.phase = Phase::Leaving { again: retry(self.link, now, GOODBYE / 2), until: now.plus(GOODBYE) };
            }
            Phase::Leaving { .. } | Phase::Over => {}
        }
    }

    // Whether a key leads somewhere by the last DISPLAY, so that an answer is certain. A step into a wall is answered by
    // nothing, and not every server answers a key that means nothing.
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

    // What cannot be read leaves a note and changes nothing.
    fn message(&mut self, now: Time, message: &[u8]) {
        if self.phase == Phase::Over {
            return;
        }
        self.last_heard = Some(now);
        self.unanswered_since = None;
        self.closed = None;
        let probing = core::mem::take(&mut self.probing);
        match ServerMessage::parse(message) {
            Ok(ServerMessage::Ok(letter)) => {
                self.letter = Some(letter);
                if let Phase::Joining { attempt, again: Some(_), give_up } = self.phase {
                    self.phase = Phase::Joining { attempt, again: None, give_up: give_up.min(now.plus(WELCOME)) };
                }
            }
            Ok(ServerMessage::Grid { rows, cols }) => {
                if self.size.replace((rows, cols)) != Some((rows, cols)) {
                    self.fit_display();
                }
            }
            Ok(ServerMessage::Gold { collected, purse, remaining }) => {
                if self.gold_known {
                    self.purses.left(self.remaining, remaining);
                }
                (self.purse, self.remaining, self.gold_known) = (purse, remaining, true);
                self.note = (collected > 0).then(|| format!("GOLD received: {collected}"));
            }
            Ok(ServerMessage::Display(text)) => self.take_display(text),
            Ok(ServerMessage::Quit(text)) => self.quit(printable(text, b"\n\t")),
            // The answer to a key that nobody has pressed.
            Ok(ServerMessage::Error(_)) if probing => {}
            Ok(ServerMessage::Error(text)) => self.note = Some(printable(text, b"")),
            Err(_) => self.note = Some(format!("malformed: '{}'", excerpt(message))),
        }
        if matches!(self.phase, Phase::Joining { .. }) && self.is_welcomed() {
            self.phase = Phase::Playing;
        }
    }

    fn is_welcomed(&self) -> bool {
        let named = self.letter.is_some() || self.part == Part::Spectator;
        named && self.size.is_some() && self.gold_known && !self.display.is_empty()
    }

    fn take_display(&mut self, text: &[u8]) {
        let Some((rows, cols)) = self.size else {
            self.display = tidy(text);
            self.displays += 1;
            if self.phase == Phase::Playing {
                self.guess_size();
            }
            return;
        };
        // Most servers send exactly what they should.
        let exact = is_exact(text, rows, cols);
        let display = if exact { text } else { &tidy(text) };
        if !exact && !is_exact(display, rows, cols) {
            self.note = Some("malformed display from the server".into());
            return;
        }
        if self.part == Part::Spectator {
            self.purses.compare(&self.display, display, usize::from(cols) + 1);
        }
        self.display.clear();
        self.display.extend_from_slice(display);
        self.displays += 1;
    }

    // The table knows better than the last GOLD, which may be lost.
    fn quit(&mut self, text: String) {
        if let Some(own) = self.letter.and_then(|letter| Scores::read(&text)?.of(letter).map(|row| row.purse)) {
            self.purse = own;
        }
        self.finish(End::Quit(text));
    }

    // A message goes out: if the port is still closed, the system will say so.
    fn tries(&mut self, now: Time) {
        if let Some(Closed { tried, .. }) = &mut self.closed {
            tried.get_or_insert(now);
        }
    }

    // When a spectator finds out next whether the port is open.
    fn next_probe(&self) -> Option<Time> {
        let looks_on = self.phase == Phase::Playing && self.part == Part::Spectator && self.link == Link::Datagram;
        let last = self.last_heard.max(self.probed).filter(|_| looks_on)?;
        Some(last.plus(PROBE))
    }

    // Without a GRID, a DISPLAY whose rows are equally long tells the size as well.
    fn guess_size(&mut self) {
        let width = self.display.iter().position(|&byte| byte == b'\n').unwrap_or(0);
        let even = width > 0
            && self.display.chunks(width + 1).all(|row| row.iter().position(|&byte| byte == b'\n') == Some(width));
        if self.size.is_none()
            && even
            && let (Ok(rows), Ok(cols)) = (u16::try_from(self.display.len() / (width + 1)), u16::try_from(width))
        {
            self.size = Some((rows, cols));
        }
    }

    // A DISPLAY that overtook its GRID is kept if it turns out to fit, otherwise there is none yet.
    fn fit_display(&mut self) {
        let Some((rows, cols)) = self.size else { return };
        if is_exact(&self.display, rows, cols) {
            return;
        }
        self.display.clear();
        if self.phase == Phase::Playing {
            let blank = [vec![ROCK; usize::from(cols)], vec![b'\n']].concat();
            self.display = blank.repeat(usize::from(rows));
        }
    }

    fn send_first_message(&mut self) {
        self.outgoing.push_back(self.first_message());
    }

    fn finish(&mut self, end: End) {
        self.phase = Phase::Over;
        self.end = Some(end);
    }
}

// The front of a message that cannot be read, so that it can be shown on any terminal.
fn excerpt(message: &[u8]) -> String {
    // Each byte is a character or more.
    let mut shown = printable(&message[..message.len().min(SHOWN)], b"");
    let cut = message.len() > SHOWN || shown.len() > SHOWN;
    if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
        shown.truncate(end);
    }
    if cut { shown + "..." } else { shown }
}

// When to say something again that may have been lost.
fn retry(link: Link, now: Time, delay: Duration) -> Option<Time> {
    (link == Link::Datagram).then(|| now.plus(delay))
}

impl netcore::Client for Client {
    type Action = Intent;
    type Error = DecodeError;

    /// Takes in what came. A message that makes no sense leaves a note and changes nothing.
    ///
    /// # Errors
    /// [`DecodeError`] when a stream announces a message that is longer than any.
    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), DecodeError> {
        if self.link.framing() == Framing::Whole {
            self.message(now, bytes);
            return Ok(());
        }
        if let Some(why) = &self.unreadable {
            return Err(why.clone());
        }
        self.incoming.extend_from_slice(bytes);
        loop {
            match stream_decoder().decode(&mut self.incoming) {
                Ok(Some(message)) => self.message(now, &message),
                Ok(None) => return Ok(()),
                Err(why) => {
                    self.incoming.clear();
                    self.unreadable = Some(why.clone());
                    return Err(why);
                }
            }
        }
    }

    fn act(&mut self, now: Time, action: Intent) {
        match action {
            Intent::Key(key) => self.key(now, key),
            Intent::Leave => self.leave(now),
        }
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.outgoing.pop_front().map(|message| message.to_frame(self.link.framing()))
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        match self.phase {
            Phase::Joining { again, give_up, .. } => Some(again.map_or(give_up, |again| again.min(give_up))),
            // The status line counts the seconds of silence.
            Phase::Playing => {
                let silence = self.unanswered_since.map(|since| {
                    let next = Duration::from_secs(now.since(since).as_secs() + 1);
                    since.plus(next.max(SILENCE))
                });
                let reopened = self.closed.and_then(|closed| Some(closed.tried?.plus(REOPENED)));
                let reopened = reopened.filter(|&reopened| reopened > now);
                silence.into_iter().chain(reopened).chain(self.next_probe()).min()
            }
            Phase::Leaving { again, until } => Some(again.unwrap_or(until)),
            Phase::Over => None,
        }
    }

    fn elapsed(&mut self, now: Time) {
        match self.phase {
            Phase::Joining { attempt, again, give_up } => {
                if now >= give_up {
                    if self.last_heard.is_some() {
                        // Half of the welcome came and the rest never did: play with what is there.
                        self.phase = Phase::Playing;
                        self.guess_size();
                    } else {
                        self.finish(End::NoAnswer);
                    }
                } else if again.is_some_and(|again| now >= again) {
                    self.closed = None;
                    let next = RETRIES.get(attempt).map(|&delay| now.plus(delay));
                    self.phase = Phase::Joining { attempt: attempt + 1, again: next, give_up };
                    self.send_first_message();
                }
            }
            Phase::Leaving { again, until } => {
                if now >= until {
                    self.finish(if self.closed.is_some() { End::Gone } else { End::NoGoodbye });
                } else if again.is_some_and(|again| now >= again) {
                    self.phase = Phase::Leaving { again: None, until };
                    self.outgoing.push_back(ClientMessage::Key(b'Q'));
                }
            }
            Phase::Playing => {
                if self.next_probe().is_some_and(|next| now >= next) {
                    (self.probed, self.probing) = (Some(now), true);
                    self.tries(now);
                    self.outgoing.push_back(ClientMessage::Key(PROBE_KEY));
                }
            }
            Phase::Over => {}
        }
    }

    /// Takes in that the connection is gone, or over datagrams, that the system reports the server's port as closed: it
    /// may open again.
    fn disconnected(&mut self, now: Time, why: Gone) {
        if self.phase == Phase::Over {
            return;
        }
        if self.link == Link::Datagram {
            let since = self.closed.map_or(now, |closed| closed.since);
            self.closed = Some(Closed { since, tried: None });
        } else {
            self.outgoing.clear();
            self.finish(End::Disconnected(why));
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over && self.outgoing.is_empty()
    }
}
