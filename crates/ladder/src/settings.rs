use std::time::Duration;

use netcore::Level;

/// Built-in bots have fixed ratings, which anchor all others.
pub const FIXED: [(Level, i64); 3] = [(Level::Easy, 800), (Level::Normal, 1_000), (Level::Hard, 1_200)];

/// See [`Settings::datagrams`].
pub const SILENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub matches: usize,
    pub programs: usize,
    pub per_host: usize,
    /// The rating difference up to which programs are paired immediately, in points.
    pub close: i64,
    /// Growth of the permitted difference per second of the longer wait, in points.
    pub widening: i64,
    /// The additional distance of the last opponent, in points.
    pub again: i64,
    /// How long a program waits for another one before it plays a bot.
    pub company: Duration,
    /// Every `anchor`th match of a program is against a bot, which keeps ratings comparable.
    pub anchor: u32,
    pub patience: Duration,
    /// How long a program may take to reconnect, once a match. Zero disables it.
    pub reconnect: Duration,
    /// Disconnections are not reported, as on datagrams. A program that has been silent for [`SILENCE`] is replaced by
    /// another one of its name.
    pub datagrams: bool,
    /// Programs must act all the time, as in games without turns. Otherwise they answer only requests.
    pub continuous: bool,
    pub limit: Duration,
    /// The first and the maximum delay after a forfeit. It doubles with each, until the program completes a match.
    pub penalty: (Duration, Duration),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            matches: 8,
            programs: 64,
            per_host: 16,
            close: 150,
            widening: 50,
            again: 100,
            company: Duration::from_secs(5),
            anchor: 4,
            patience: Duration::from_secs(10),
            reconnect: Duration::from_secs(10),
            datagrams: false,
            continuous: false,
            limit: Duration::from_secs(120),
            penalty: (Duration::from_secs(2), Duration::from_secs(120)),
        }
    }
}
