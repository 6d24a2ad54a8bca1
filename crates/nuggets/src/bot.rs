//! Bots: automatic players with the skill and pace of a level.

pub(crate) mod typist;

use core::time::Duration;
use netcore::Level;
use rand::{Rng, RngExt};

use crate::{
    client::Client,
    explorer::{Explorer, Habits},
    grid::Direction,
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
