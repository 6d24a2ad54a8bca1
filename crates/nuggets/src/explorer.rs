//! A player that plays by itself: finds its way through a map that it does not know and fetches the gold.

mod memory;
mod search;
#[cfg(test)]
mod tests;

use alloc::{collections::BTreeMap, vec::Vec};

pub(crate) use self::search::Habits;
use self::{
    memory::Memory,
    search::{Move, Search},
};
use crate::{client::Client, grid::Direction};

// How often a key may do something else than expected, in one place, before another way is tried.
const TRIES: u8 = 3;
// How many ways are tried before another goal is.
const WAYS: u8 = 3;

/// Chooses the keys of a player that plays by itself.
///
/// It goes for the gold that it sees or has seen, and otherwise to where the known map ends, always by the way with the
/// fewest keys; a run counts as one. When nothing is left to explore and the game goes on, it looks everywhere again.
///
/// The same pictures lead to the same keys. It needs nothing but what a client is told, so it stands up to lost
/// datagrams, to other players and to servers that move it otherwise than the rule says.
///
/// ```
/// use netcore::{Client as _, Time};
/// use nuggets::{Client, Explorer, Name, Participant};
///
/// let mut client = Client::new(Participant::Player(Name::new(b"Ann").unwrap()), Time::ZERO);
/// let mut explorer = Explorer::new();
/// assert_eq!(explorer.next_key(&client), None, "the server has not answered yet");
/// for datagram in ["OK A", "GRID 3 6", "GOLD 0 0 250", "DISPLAY\n+----+\n|@..*|\n+----+\n"] {
///     client.receive(Time::ZERO, datagram.as_bytes()).unwrap();
/// }
/// assert_eq!(explorer.next_key(&client), Some(b'L'));
/// ```
#[derive(Debug, Default)]
pub struct Explorer {
    habits: Habits,
    size: Option<(u16, u16)>,
    memory: Memory,
    search: Search,
    // What is still to be pressed, last first, and what for.
    way: Vec<Move>,
    goal: usize,
    sent: Option<Move>,
    // The spots that the last key led over; kept so that nothing is allocated anew.
    walked: Vec<usize>,
    // DISPLAYs that had come when the last key was sent, and how many keys were sent since one came.
    displays: u64,
    silence: usize,
    // All since a goal was reached: how often a key did something else than expected, by where it was pressed; the keys
    // that did so too often; and how many of these there were on the way to each goal.
    failures: BTreeMap<(usize, u8), u8>,
    banned: Vec<(usize, u8)>,
    vain: BTreeMap<usize, u8>,
    // How often everything was explored without an end of the game.
    rounds: usize,
}

impl Explorer {
    /// One that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that thinks ahead as `habits` say.
    pub(crate) fn with_habits(habits: Habits) -> Self {
        Self { habits, ..Self::default() }
    }

    /// Discards the planned way, because another key was pressed than the one [`Explorer::next_key`] returned.
    pub(crate) fn slip(&mut self) {
        self.sent = None;
        self.way.clear();
    }

    /// The key to send next, given what the client has been told so far. `None` while it is not in the game, or if it
    /// is walled in.
    pub fn next_key(&mut self, client: &Client) -> Option<u8> {
        let (rows, cols) = client.size().filter(|_| client.is_joined())?;
        let position = client.position()?;
        if self.size != Some((rows, cols)) {
            let (size, memory) = (Some((rows, cols)), Memory::new((rows, cols)));
            *self = Self { size, memory, ..Self::with_habits(self.habits) };
        }
        if client.display().len() != self.memory.picture_len() {
            return None;
        }
        let here = self.memory.cell(usize::from(position.row) * (usize::from(cols) + 1) + usize::from(position.col));
        self.judge_last_key(here);
        let news = self.memory.learn(client.display(), here, &self.walked);
        if self.memory.lure(self.goal).is_none() {
            self.failures.clear();
            self.banned.clear();
            self.vain.clear();
            self.way.clear();
        }
        if news || self.way.last().is_none_or(|next| next.from != here) {
            self.choose_way(here);
        }
        self.silence = if client.displays() == self.displays { self.silence + 1 } else { 0 };
        self.displays = client.displays();
        if self.silence > 1 {
            return Some(self.probe());
        }
        // Players who move in step could hinder each other for ever, so each one begins to wander another way.
        let letter = client.letter().map_or(0, |letter| usize::from(letter.byte()));
        let next = self.way.pop().or_else(|| self.wander(here, letter))?;
        self.sent = Some(next);
        Some(next.key)
    }

    // Finds out what the last key led over, and bans it from where it was pressed if it failed too often: a datagram
    // may be lost now and then, but nothing may be tried for ever.
    fn judge_last_key(&mut self, here: usize) {
        self.walked.clear();
        let Some(sent) = self.sent.take() else { return };
        let mut at = sent.from;
        while at != here && self.memory.is_inside(at) {
            at = at.wrapping_add(sent.step);
            self.walked.push(at);
        }
        if at != here {
            // Swapped away, or a picture was lost on the way.
            self.walked.clear();
        }
        if here != sent.from && sent.lands.is_none_or(|lands| lands == here) {
            return;
        }
        let place = (sent.from, sent.key);
        let failures = self.failures.entry(place).or_default();
        *failures += 1;
        if *failures < TRIES {
            return;
        }
        self.failures.remove(&place);
        self.banned.push(place);
        self.way.clear();
        let ways = self.vain.entry(self.goal).or_default();
        *ways += 1;
        if *ways >= WAYS {
            self.memory.give_up(self.goal);
        }
    }

    // Nothing was heard for two keys. Perhaps the first did lead somewhere and its picture was lost; then the second was
    // chosen for the wrong place, where it may be impossible, and what is impossible is not answered. One of all eight
    // steps is possible anywhere.
    fn probe(&mut self) -> u8 {
        self.way.clear();
        Direction::ALL[self.silence % Direction::ALL.len()].key()
    }

    fn choose_way(&mut self, here: usize) {
        let mut is_found = self.find_way(here);
        if !is_found && !self.banned.is_empty() {
            self.banned.clear();
            is_found = self.find_way(here);
        }
        // Everything is explored. In every second round not even the sight that the rules grant is relied on.
        for _ in 0..2 {
            if !is_found {
                self.rounds += 1;
                self.memory.doubt_everything(here, self.rounds.is_multiple_of(2));
                is_found = self.find_way(here);
            }
        }
    }

    fn find_way(&mut self, here: usize) -> bool {
        let goal = self.search.find_way(&self.memory, here, (self.habits, &self.banned), &mut self.way);
        self.goal = goal.unwrap_or(here);
        goal.is_some()
    }

    // All there is can be seen from here. Moving about makes the server say again what may have been lost.
    fn wander(&self, from: usize, first: usize) -> Option<Move> {
        (first..first + Direction::ALL.len()).find_map(|turn| {
            let direction = Direction::ALL[turn % Direction::ALL.len()];
            let step = self.memory.step(direction);
            let next = from.wrapping_add(step);
            self.memory.is_spot(next).then_some(Move { from, step, key: direction.key(), lands: Some(next) })
        })
    }
}
