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

// Failed keys at one place before another way is tried, and failed ways before another goal is tried.
const TRIES: u8 = 3;
const WAYS: u8 = 3;

/// Chooses the keys of an automatic player.
///
/// It heads for remembered gold, or else for the edge of the known map, by the way with the fewest keys; a run is one
/// key. If a fully explored game continues, it explores everything again.
///
/// It is deterministic. It uses only the state of the client, so it tolerates lost datagrams, other players, and moves
/// outside the rules.
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
    way: Vec<Move>,
    goal: usize,
    sent: Option<Move>,
    walked: Vec<usize>,
    // The number of DISPLAYs at the last key, and of keys since the last DISPLAY.
    displays: u64,
    silence: usize,
    // Since a goal was reached: unexpected results by place and key, banned keys, and the number of bans by goal.
    failures: BTreeMap<(usize, u8), u8>,
    banned: Vec<(usize, u8)>,
    vain: BTreeMap<usize, u8>,
    rounds: usize,
}

impl Explorer {
    /// An explorer that has received no picture yet.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with_habits(habits: Habits) -> Self {
        Self { habits, ..Self::default() }
    }

    /// Discards the planned way, because another key was pressed.
    pub(crate) fn slip(&mut self) {
        self.sent = None;
        self.way.clear();
    }

    /// The next key to send; `None` while the client is not in the game or the player is walled in.
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
        // Players that move in step could block each other forever, so each tries another direction first.
        let letter = client.letter().map_or(0, |letter| usize::from(letter.byte()));
        let next = self.way.pop().or_else(|| self.wander(here, letter))?;
        self.sent = Some(next);
        Some(next.key)
    }

    // Bans the last key at its place if it failed too often, because a single failure may be a lost datagram, but no
    // key may be repeated forever.
    fn judge_last_key(&mut self, here: usize) {
        self.walked.clear();
        let Some(sent) = self.sent.take() else { return };
        let mut at = sent.from;
        while at != here && self.memory.is_inside(at) {
            at = at.wrapping_add(sent.step);
            self.walked.push(at);
        }
        if at != here {
            // The player was swapped away, or a picture was lost.
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

    // Two keys had no response. The first may have moved the player although its picture was lost; the second may have
    // been an impossible step, which servers ignore. At any spot, one of the eight steps is possible.
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
        // Everything is explored. Every second round does not rely on the rules of sight.
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

    // Everything is visible. A move makes the server resend a picture that may have been lost.
    fn wander(&self, from: usize, first: usize) -> Option<Move> {
        (first..first + Direction::ALL.len()).find_map(|turn| {
            let direction = Direction::ALL[turn % Direction::ALL.len()];
            let step = self.memory.step(direction);
            let next = from.wrapping_add(step);
            self.memory.is_spot(next).then_some(Move { from, step, key: direction.key(), lands: Some(next) })
        })
    }
}
