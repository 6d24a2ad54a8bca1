//! Bots: automatic players with the skill and pace of a level.

use core::time::Duration;

use netcore::{Level, Time};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::{
    client::Client,
    explorer::{Explorer, Habits},
    grid::{Direction, Position},
};

#[derive(Debug)]
struct Style {
    // In milliseconds.
    pause: (u64, u64),
    // One key in this many is wrong; 0 for none.
    slips: u32,
    habits: Habits,
}

const fn style(level: Level) -> Style {
    match level {
        Level::Easy => Style { pause: (300, 500), slips: 8, habits: Habits { patience: 0, runs: false } },
        Level::Normal => Style { pause: (500, 780), slips: 12, habits: Habits { patience: 4, runs: true } },
        Level::Hard => Style { pause: (220, 320), slips: 0, habits: Habits::BEST },
    }
}

/// An automatic player: an [`Explorer`] with the habits, pace and mistakes of a [`Level`].
///
/// The caller's generator determines mistakes and pauses. `docs/nuggets.md` compares each level with a human player.
///
/// ```
/// use netcore::{Client as _, Level, Time};
/// use nuggets::{Bot, Client, Name, Participant};
/// use rand::SeedableRng;
///
/// let mut client = Client::new(Participant::Player(Name::new(b"Bob").unwrap()), Time::ZERO);
/// for datagram in ["OK A", "GRID 3 6", "GOLD 0 0 250", "DISPLAY\n+----+\n|@..*|\n+----+\n"] {
///     client.receive(Time::ZERO, datagram.as_bytes()).unwrap();
/// }
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
/// let mut bot = Bot::new(Level::Hard);
/// assert_eq!(bot.next_key(&client, &mut rng), Some(b'L'));
/// assert!(bot.pause(&mut rng).as_millis() < 500);
/// ```
#[derive(Debug)]
pub struct Bot {
    style: Style,
    explorer: Explorer,
}

impl Bot {
    /// A bot that has received no picture yet.
    pub fn new(level: Level) -> Self {
        let style = style(level);
        Self { explorer: Explorer::with_habits(style.habits), style }
    }

    /// The next key to press; `None` while the client is not in the game or the player is walled in.
    pub fn next_key(&mut self, client: &Client, rng: &mut impl Rng) -> Option<u8> {
        let key = self.explorer.next_key(client)?;
        let slips = self.style.slips;
        if slips == 0 || rng.random_range(0..slips) > 0 {
            return Some(key);
        }
        self.explorer.slip();
        Some(Direction::ALL[rng.random_range(0..Direction::ALL.len())].key())
    }

    /// The pause before the next key.
    pub fn pause(&self, rng: &mut impl Rng) -> Duration {
        let (shortest, longest) = self.style.pause;
        Duration::from_millis(rng.random_range(shortest..=longest))
    }
}

// A bot with the timing of its keys.

/// A [`Bot`] paced by its level or a fixed delay, and by the server's responses.
#[derive(Debug)]
pub struct Typist {
    bot: Bot,
    delay: Option<Duration>,
    chance: Pcg64,
    pace: Pace,
    typed_at: Option<Position>,
    displays: u64,
    keys: u64,
}

impl Typist {
    /// Waits at least `delay` between two keys, by default the pause of the level. `seed` determines mistakes and
    /// pauses.
    pub fn new(level: Level, delay: Option<Duration>, seed: u64) -> Self {
        Self {
            bot: Bot::new(level),
            delay,
            chance: Pcg64::seed_from_u64(seed),
            pace: Pace::new(),
            typed_at: None,
            displays: 0,
            keys: 0,
        }
    }

    /// When the next key is due; `None` while the client is not in the game.
    pub fn due(&self, client: &Client) -> Option<Time> {
        client.is_joined().then_some(self.pace.due)
    }

    /// Processes a possible response to the last key.
    ///
    /// DISPLAYs also show the moves of other players, so only a change of the client's own position counts.
    pub fn listen(&mut self, client: &Client, now: Time) {
        let answered = match self.typed_at {
            Some(place) => client.position() != Some(place),
            None => client.displays() != self.displays,
        };
        if answered {
            self.pace.answered(now);
        }
    }

    /// The next key, if one is due.
    pub fn key(&mut self, client: &Client, now: Time) -> Option<u8> {
        if !client.is_joined() || now < self.pace.due {
            return None;
        }
        let delay = self.delay.unwrap_or_else(|| self.bot.pause(&mut self.chance));
        self.pace.typed(now, delay);
        self.displays = client.displays();
        let key = self.bot.next_key(client, &mut self.chance);
        self.typed_at = client.position().filter(|_| key.is_some());
        self.keys += u64::from(key.is_some());
        key
    }

    /// Number of keys typed.
    pub const fn keys(&self) -> u64 {
        self.keys
    }
}

/// The shortest wait for a response, which a key without an effect does not have.
const PATIENCE: Duration = Duration::from_millis(250);
/// The longest wait for a response.
const MOST_PATIENCE: Duration = Duration::from_secs(2);
/// The wait, as a multiple of the last response time.
const SLOWER: u32 = 4;

/// A key is due when the previous one is answered or after a timeout: a bot types as fast as the server responds and
/// survives lost datagrams.
#[derive(Debug, Clone, Copy)]
struct Pace {
    delay: Duration,
    patience: Duration,
    typed: Option<Time>,
    answered: bool,
    due: Time,
}

impl Pace {
    const fn new() -> Self {
        Self { delay: Duration::ZERO, patience: PATIENCE, typed: None, answered: true, due: Time::ZERO }
    }

    fn answered(&mut self, now: Time) {
        if let (Some(typed), false) = (self.typed, self.answered) {
            self.answered = true;
            self.patience = (now.since(typed) * SLOWER).clamp(PATIENCE, MOST_PATIENCE);
            self.due = typed.plus(self.delay).max(now).min(self.due.max(now));
        }
    }

    fn typed(&mut self, now: Time, delay: Duration) {
        if !self.answered {
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
        self.answered = false;
        self.typed = Some(now);
        self.delay = delay;
        self.due = now.plus(self.patience.max(delay));
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec};

    use netcore::Client as _;

    use super::*;
    use crate::{Name, Participant};

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn delay_counts_from_the_key_and_not_from_the_response() {
        let mut pace = Pace::new();
        pace.typed(at(100), Duration::from_millis(80));
        pace.answered(at(130));
        assert_eq!(pace.due, at(180));
        pace.answered(at(140));
        assert_eq!(pace.due, at(180));
        let mut slow = Pace::new();
        slow.typed(at(0), Duration::from_secs(5));
        assert_eq!(slow.due, at(5_000));
    }

    #[test]
    fn wait_grows_with_the_response_time() {
        let mut pace = Pace::new();
        pace.typed(at(0), Duration::ZERO);
        pace.answered(at(200));
        pace.typed(at(200), Duration::ZERO);
        assert_eq!(pace.due, at(1_000));
    }

    #[test]
    fn wait_doubles_after_each_unanswered_key() {
        let mut pace = Pace::new();
        let mut waits = vec![];
        for _ in 0..6 {
            let now = pace.due;
            pace.typed(now, Duration::ZERO);
            waits.push(pace.due.since(now).as_millis());
        }
        assert_eq!(waits, [250, 500, 1_000, 2_000, 2_000, 2_000]);
        pace.answered(pace.due);
        pace.typed(at(20_000), Duration::ZERO);
        assert_eq!(pace.due, at(22_000));
    }

    fn show(client: &mut Client, row: &str) {
        client.receive(at(0), format!("DISPLAY\n{row}\n").as_bytes()).unwrap();
    }

    #[test]
    fn only_a_display_with_the_bot_moved_counts_as_response() {
        let mut client = Client::new(Participant::Player(Name::new(b"bot").unwrap()), at(0));
        for datagram in ["OK A", "GRID 1 8", "GOLD 0 0 250", "DISPLAY\n@....B.*\n"] {
            client.receive(at(0), datagram.as_bytes()).unwrap();
        }
        let mut bot = Typist::new(Level::Hard, Some(Duration::ZERO), 1);
        assert_eq!(bot.key(&client, at(0)), Some(b'L'));
        for (now, row) in [(1, "@...B..*"), (2, "@..B...*"), (3, "@.B....*")] {
            show(&mut client, row);
            bot.listen(&client, at(now));
            assert_eq!(bot.key(&client, at(now)), None, "{row}");
        }
        show(&mut client, ".B.....@");
        bot.listen(&client, at(4));
        assert!(bot.key(&client, at(4)).is_some());
        assert_eq!(bot.key(&client, at(200)), None);
        assert!(bot.key(&client, at(300)).is_some());
        assert_eq!(bot.keys(), 3);
    }
}
