//! A client without its socket and its screen: folds what the server says into what the screen shows.
//!
//! The owner feeds in datagrams from the server, keys and the time, and carries out what comes back: datagrams from
//! [`Client::take_outgoing`], a wake-up at [`Client::deadline`], and an end by [`Client::end`].

use alloc::{collections::VecDeque, format, string::String, vec, vec::Vec};
use bytes::Bytes;
use core::{fmt::Write, time::Duration};
use netcore::Time;

use crate::{
    game::PILE,
    grid::{Direction, PASSAGE, Position, ROCK, ROOM},
    protocol::{ClientMessage, Letter, Name, ServerMessage, printable},
    view::SELF,
};

/// How long after the first PLAY or SPECTATE it is sent again, each time counted from the one before.
pub const RETRIES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// How long a client waits for the first answer before it gives up.
pub const GIVE_UP: Duration = Duration::from_secs(15);
/// How long after an unanswered key a client says that the server is silent.
pub const SILENCE: Duration = Duration::from_secs(3);
/// How long a client that wants to leave waits for the server's goodbye; its `KEY Q` is sent again half way.
pub const GOODBYE: Duration = Duration::from_secs(2);

/// As what a client takes part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seat {
    /// Plays under this name.
    Player(Name),
    /// Looks on.
    Spectator,
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

/// One client's knowledge of the game.
#[derive(Debug, Clone)]
pub struct Client {
    seat: Seat,
    phase: Phase,
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
    refused: bool,
}

impl Client {
    /// A client that has its first message ready to be sent.
    pub fn new(seat: Seat, now: Time) -> Self {
        let mut client = Self {
            seat,
            phase: Phase::Joining { attempt: 1, again: Some(now.plus(RETRIES[0])), give_up: now.plus(GIVE_UP) },
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
            refused: false,
        };
        client.send_first_message();
        client
    }

    /// As what the client takes part.
    pub const fn seat(&self) -> &Seat {
        &self.seat
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

    /// The status line, to the letter of the rule, with its note behind it.
    pub fn status(&self, now: Time) -> String {
        let Self { purse, remaining, .. } = self;
        let mut line = match (&self.phase, &self.seat, self.letter) {
            (Phase::Joining { attempt, .. }, ..) => {
                let note = if self.refused { Some("The port is closed so far.") } else { self.note.as_deref() };
                let (gap, note) = note.map_or(("", ""), |note| ("  ", note));
                return format!("Waiting for the server to answer (attempt {attempt}).{gap}{note}");
            }
            (Phase::Leaving { .. }, ..) => return "Leaving: waiting for the server's goodbye.".into(),
            (_, Seat::Spectator, _) => format!("Spectator: {remaining} nuggets unclaimed."),
            (_, Seat::Player(_), letter) => {
                let letter = letter.map_or('?', |letter| char::from(letter.byte()));
                format!("Player {letter} has {purse} nuggets ({remaining} nuggets unclaimed).")
            }
        };
        // Short enough for a terminal of 80 columns.
        if self.refused && self.phase == Phase::Playing {
            line += "  Server gone: port closed";
        } else if let Some(silence) = self.silent_for(now) {
            // Writing to a string cannot fail.
            let _ = write!(line, "  No answer for {} s", silence.as_secs());
        } else if let Some(note) = &self.note {
            line += "  ";
            line += note;
        }
        line
    }

    /// The message that asks to be let in, which goes out as often as is needed.
    pub fn first_message(&self) -> ClientMessage {
        match &self.seat {
            Seat::Player(name) => ClientMessage::Play(Some(name.clone())),
            Seat::Spectator => ClientMessage::Spectate,
        }
    }

    /// The next message for the server.
    pub fn take_message(&mut self) -> Option<ClientMessage> {
        self.outgoing.pop_front()
    }

    /// The next message for the server, as the datagram that it is.
    pub fn take_outgoing(&mut self) -> Option<Bytes> {
        self.take_message().map(|message| message.to_bytes())
    }

    /// When [`Client::elapsed`] is wanted and the screen is to be looked at again.
    pub fn deadline(&self, now: Time) -> Option<Time> {
        match self.phase {
            Phase::Joining { again, give_up, .. } => Some(again.map_or(give_up, |again| again.min(give_up))),
            // The status line counts the seconds of silence.
            Phase::Playing => self.unanswered_since.map(|since| {
                let next = Duration::from_secs(now.since(since).as_secs() + 1);
                since.plus(next.max(SILENCE))
            }),
            Phase::Leaving { again, until } => Some(again.unwrap_or(until)),
            Phase::Over => None,
        }
    }

    /// Takes in that a deadline has come.
    pub fn elapsed(&mut self, now: Time) {
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
                    self.refused = false;
                    let next = RETRIES.get(attempt).map(|&delay| now.plus(delay));
                    self.phase = Phase::Joining { attempt: attempt + 1, again: next, give_up };
                    self.send_first_message();
                }
            }
            Phase::Leaving { again, until } => {
                if now >= until {
                    self.finish(End::NoGoodbye);
                } else if again.is_some_and(|again| now >= again) {
                    self.phase = Phase::Leaving { again: None, until };
                    self.outgoing.push_back(ClientMessage::Key(b'Q'));
                }
            }
            Phase::Playing | Phase::Over => {}
        }
    }

    /// Takes in a typed key. It is sent without judging it, but not before the server has let the client in.
    pub fn key(&mut self, now: Time, key: u8) {
        if self.phase != Phase::Playing {
            return;
        }
        self.note = None;
        if key == b'Q' {
            self.leave(now);
            return;
        }
        if self.must_move(key) {
            self.unanswered_since.get_or_insert(now);
        }
        self.outgoing.push_back(ClientMessage::Key(key));
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

    /// Leaves the game: says Q to the server and waits a little for its goodbye. Before it is let in, it ends at once.
    pub fn leave(&mut self, now: Time) {
        match self.phase {
            Phase::Joining { .. } => {
                // The server may have let us in while its answer was lost: take the seat back.
                self.outgoing.push_back(ClientMessage::Key(b'Q'));
                self.finish(End::LeftEarly);
            }
            Phase::Playing => {
                self.outgoing.push_back(ClientMessage::Key(b'Q'));
                self.phase = Phase::Leaving { again: Some(now.plus(GOODBYE / 2)), until: now.plus(GOODBYE) };
            }
            Phase::Leaving { .. } | Phase::Over => {}
        }
    }

    /// Takes in that the system reports the server's port as closed.
    pub const fn refused(&mut self) {
        self.refused = true;
    }

    /// Takes in a datagram from the server. What cannot be read leaves a note and changes nothing.
    pub fn datagram(&mut self, now: Time, datagram: &[u8]) {
        if self.phase == Phase::Over {
            return;
        }
        self.last_heard = Some(now);
        self.unanswered_since = None;
        self.refused = false;
        match ServerMessage::parse(datagram) {
            Ok(ServerMessage::Ok(letter)) => self.letter = Some(letter),
            Ok(ServerMessage::Grid { rows, cols }) => {
                if self.size.replace((rows, cols)) != Some((rows, cols)) {
                    self.fit_display();
                }
            }
            Ok(ServerMessage::Gold { collected, purse, remaining }) => {
                (self.purse, self.remaining, self.gold_known) = (purse, remaining, true);
                self.note = (collected > 0).then(|| format!("GOLD received: {collected}"));
            }
            Ok(ServerMessage::Display(text)) => self.take_display(text),
            Ok(ServerMessage::Quit(text)) => self.finish(End::Quit(printable(text, b"\n\t"))),
            Ok(ServerMessage::Error(text)) => self.note = Some(printable(text, b"")),
            Err(_) => self.note = Some("malformed message from the server".into()),
        }
        if matches!(self.phase, Phase::Joining { .. }) && self.is_welcomed() {
            self.phase = Phase::Playing;
        }
    }

    fn is_welcomed(&self) -> bool {
        let named = self.letter.is_some() || self.seat == Seat::Spectator;
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
        self.display.clear();
        self.display.extend_from_slice(display);
        self.displays += 1;
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

/// What a DISPLAY tells of the map itself: what is known to stand below `shown`, where `known` stood before and
/// [`ROCK`] stands for what was never seen. `None` if somebody stands where nothing is known, who may hide a room spot or a
/// passage spot.
pub const fn map_below(known: u8, shown: u8) -> Option<u8> {
    match shown {
        // Gold lies in rooms only.
        PILE => Some(ROOM),
        SELF | b'A'..=b'Z' => match known {
            ROOM | PASSAGE => Some(known),
            _ => None,
        },
        // Rock, or out of sight; some servers take back what they have shown.
        ROCK => Some(known),
        _ => Some(shown),
    }
}

fn is_shown(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

// Whether a text is `rows` rows of `cols` printable characters, each followed by a newline.
fn is_exact(text: &[u8], rows: u16, cols: u16) -> bool {
    let width = usize::from(cols) + 1;
    let row = |row: &[u8]| row.ends_with(b"\n") && row[..width - 1].iter().all(|&byte| is_shown(byte));
    text.len() == usize::from(rows) * width && text.chunks_exact(width).all(row)
}

// A display without the slips of some servers: a NUL or an empty line at its end, no newline there, bytes that no screen
// should be sent.
fn tidy(text: &[u8]) -> Vec<u8> {
    let text = text.strip_suffix(b"\0").unwrap_or(text);
    let end = text.iter().rposition(|&byte| byte != b'\n').map_or(0, |last| last + 1);
    let shown = |&byte: &u8| if byte == b'\n' || is_shown(byte) { byte } else { b'?' };
    let mut display: Vec<u8> = text[..end].iter().map(shown).collect();
    if !display.is_empty() {
        display.push(b'\n');
    }
    display
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::ZERO;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    fn sent(client: &mut Client) -> Vec<Bytes> {
        core::iter::from_fn(|| client.take_outgoing()).collect()
    }

    fn player() -> Client {
        Client::new(Seat::Player(Name::new(b"Ann").unwrap()), START)
    }

    fn joined() -> Client {
        let mut client = player();
        sent(&mut client);
        for datagram in [&b"OK A"[..], b"GRID 2 3", b"GOLD 0 0 250", b"DISPLAY\n.@.\n  #\n"] {
            client.datagram(START, datagram);
        }
        assert!(client.is_joined());
        client
    }

    #[test]
    fn the_status_lines_are_those_of_the_rule() {
        let mut client = joined();
        client.datagram(START, b"GOLD 0 39 211");
        assert_eq!(client.status(START), "Player A has 39 nuggets (211 nuggets unclaimed).");
        client.datagram(START, b"GOLD 39 39 211");
        assert_eq!(client.status(START), "Player A has 39 nuggets (211 nuggets unclaimed).  GOLD received: 39");
        client.datagram(START, b"ERROR unknown keystroke");
        assert_eq!(client.status(START), "Player A has 39 nuggets (211 nuggets unclaimed).  unknown keystroke");

        let mut spectator = Client::new(Seat::Spectator, START);
        for datagram in [&b"GRID 2 3"[..], b"GOLD 0 0 211", b"DISPLAY\n...\n  #\n"] {
            spectator.datagram(START, datagram);
        }
        assert_eq!(spectator.status(START), "Spectator: 211 nuggets unclaimed.");
    }

    #[test]
    fn a_note_is_shown_before_the_welcome_too() {
        let mut client = player();
        client.datagram(START, b"ERROR no room for Ann");
        assert_eq!(client.status(START), "Waiting for the server to answer (attempt 1).  no room for Ann");
        client.refused();
        assert_eq!(client.status(START), "Waiting for the server to answer (attempt 1).  The port is closed so far.");
        client.datagram(START, b"HELLO");
        assert_eq!(
            client.status(START),
            "Waiting for the server to answer (attempt 1).  malformed message from the server"
        );
    }

    #[test]
    fn a_note_goes_with_the_next_key_or_the_next_gold() {
        let mut client = joined();
        let plain = client.status(START);
        client.datagram(START, b"ERROR unknown keystroke");
        client.key(START, b'h');
        assert_eq!(client.status(START), plain);
        client.datagram(START, b"ERROR unknown keystroke");
        client.datagram(START, b"GOLD 0 0 250");
        assert_eq!(client.status(START), plain);
    }

    #[test]
    fn the_first_message_is_sent_again_after_1_2_and_4_seconds_and_given_up_after_15() {
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
    fn a_lost_ok_is_asked_for_again() {
        let mut client = player();
        for datagram in [&b"GRID 2 3"[..], b"GOLD 0 0 250", b"DISPLAY\n.@.\n  #\n"] {
            client.datagram(START, datagram);
        }
        assert!(!client.is_joined());
        sent(&mut client);
        client.elapsed(at(1));
        assert_eq!(sent(&mut client), ["PLAY Ann"]);
        client.datagram(at(1), b"OK C");
        assert!(client.is_joined());
        assert_eq!(client.deadline(at(1)), None);
    }

    #[test]
    fn a_welcome_that_arrives_in_any_order_is_a_welcome() {
        let mut client = player();
        for datagram in [&b"DISPLAY\n.@.\n  #\n"[..], b"GOLD 0 0 250", b"GRID 2 3", b"OK A"] {
            client.datagram(START, datagram);
        }
        assert!(client.is_joined());
        assert_eq!(client.display(), b".@.\n  #\n");
        assert_eq!(client.position(), Some(Position::new(0, 1)));
    }

    #[test]
    fn without_a_grid_the_display_tells_the_size() {
        let mut client = player();
        for datagram in [&b"OK A"[..], b"GOLD 0 0 250", b"DISPLAY\n.@.\n  #\n"] {
            client.datagram(START, datagram);
        }
        while !client.is_joined() {
            let deadline = client.deadline(START).unwrap();
            client.elapsed(deadline);
        }
        assert_eq!(client.size(), Some((2, 3)));
        assert_eq!(client.position(), Some(Position::new(0, 1)));
        client.datagram(at(20), b"GRID 1 2");
        assert_eq!(client.size(), Some((1, 2)), "a GRID that comes after all knows better");
    }

    #[test]
    fn keys_are_sent_raw_but_not_before_the_welcome() {
        let mut client = player();
        sent(&mut client);
        client.key(START, b'h');
        assert!(sent(&mut client).is_empty());
        let mut client = joined();
        for key in [b'h', b'x', b' ', 0x1b] {
            client.key(START, key);
            assert_eq!(sent(&mut client), [[b"KEY ", &[key][..]].concat()]);
        }
    }

    #[test]
    fn quit_ends_it_with_the_words_of_the_server() {
        let mut client = joined();
        client.datagram(START, b"QUIT GAME OVER:\nA          4 Alice\x1b[0m");
        assert_eq!(client.end(), Some(&End::Quit("GAME OVER:\nA          4 Alice\\x1b[0m".into())));
    }

    #[test]
    fn leaving_says_q_twice_and_waits_for_the_goodbye_only_so_long() {
        let mut client = joined();
        client.key(at(1), b'Q');
        assert_eq!(sent(&mut client), ["KEY Q"]);
        client.elapsed(at(2));
        assert_eq!(sent(&mut client), ["KEY Q"]);
        client.elapsed(client.deadline(at(2)).unwrap());
        assert_eq!(client.end(), Some(&End::NoGoodbye));

        let mut client = joined();
        client.leave(at(1));
        client.datagram(at(1), b"QUIT Thanks for playing!");
        assert_eq!(client.end(), Some(&End::Quit("Thanks for playing!".into())));
    }

    #[test]
    fn silence_is_counted_from_a_key_that_nothing_followed() {
        let mut client = joined();
        assert_eq!(client.silent_for(at(100)), None, "nothing happens, nothing is amiss");
        client.key(at(100), b'h');
        assert_eq!(client.silent_for(at(102)), None);
        assert_eq!(client.deadline(at(100)), Some(at(103)));
        assert_eq!(client.deadline(at(103)), Some(at(104)));
        assert_eq!(client.status(at(105)), "Player A has 0 nuggets (250 nuggets unclaimed).  No answer for 5 s");
        client.refused();
        assert_eq!(client.status(at(105)), "Player A has 0 nuggets (250 nuggets unclaimed).  Server gone: port closed");
        client.datagram(at(106), b"DISPLAY\n@..\n  #\n");
        assert_eq!(client.silent_for(at(200)), None);
        // A wall, the edge of the map, and a key that means nothing: none of them need be answered.
        for key in [b'j', b'h', b'k', b'J', b'?', b' '] {
            client.key(at(200), key);
        }
        assert_eq!(client.silent_for(at(300)), None);
        client.key(at(300), b'L');
        assert!(client.silent_for(at(304)).is_some());
    }

    #[test]
    fn what_is_malformed_leaves_a_note_and_changes_nothing() {
        let mut client = joined();
        let before = client.display().to_vec();
        for datagram in [&b"HELLO"[..], b"DISPLAY\n....\n....\n", b"DISPLAY\n.@.\n", b"GRID x", b"OK", b""] {
            client.datagram(START, datagram);
            assert!(client.status(START).contains("malformed"), "{datagram:?}");
            assert_eq!((client.display(), client.size()), (&before[..], Some((2, 3))));
        }
    }

    #[test]
    fn the_map_below_gold_and_players_is_known_as_far_as_it_was_seen() {
        let cases = [
            (b' ', b'*', Some(b'.')),
            (b' ', b'#', Some(b'#')),
            (b'#', b' ', Some(b'#')),
            (b'#', b'A', Some(b'#')),
            (b'.', b'@', Some(b'.')),
            (b' ', b'A', None),
            (b' ', b'@', None),
            (b'|', b'Z', None),
        ];
        for (known, shown, below) in cases {
            assert_eq!(map_below(known, shown), below, "{:?} after {:?}", char::from(shown), char::from(known));
        }
    }

    #[test]
    fn displays_with_the_slips_of_other_servers_are_taken() {
        let mut client = joined();
        for text in [&b"DISPLAY\n@..\n  #"[..], b"DISPLAY\n@..\n  #\n\0", b"DISPLAY\n@..\n  #\n\n"] {
            client.datagram(START, b"DISPLAY\n.@.\n  #\n");
            client.datagram(START, text);
            assert_eq!(client.display(), b"@..\n  #\n", "{text:?}");
        }
        client.datagram(START, b"DISPLAY\n@\x1b.\n  #\n");
        assert_eq!(client.display(), b"@?.\n  #\n", "control bytes never reach the screen");
    }
}
