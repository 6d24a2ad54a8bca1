//! Settings of a ladder.

use std::time::Duration;

use netcore::Level;

/// The fixed ratings of the built-in bots, which anchor all other ratings.
pub const FIXED: [(Level, i64); 3] = [(Level::Easy, 800), (Level::Normal, 1_000), (Level::Hard, 1_200)];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The maximum number of concurrent matches.
    pub matches: usize,
    /// The maximum number of programs, waiting or playing.
    pub programs: usize,
    /// The maximum number of programs of one host.
    pub per_host: usize,
    /// The maximum rating difference of programs that are paired immediately, in points.
    pub close: i64,
    /// How much the permitted difference grows per second that the longer waiting program has waited, in points.
    pub widening: i64,
    /// The additional distance of the opponent of the last match, in points.
    pub again: i64,
    /// How long a program waits for another program before it plays a bot.
    pub company: Duration,
    /// Every `anchor`th match of a program is against a bot, which keeps ratings comparable.
    pub anchor: u32,
    /// How long a program may take to answer a request.
    pub patience: Duration,
    /// Whether a program must act all the time, as in games without turns. Otherwise it owes an answer only after a
    /// request.
    pub continuous: bool,
    /// The maximum duration of a match.
    pub limit: Duration,
    /// The delay after a forfeit: first and maximum. Each further forfeit doubles it, until the program completes a
    /// match.
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
            continuous: false,
            limit: Duration::from_secs(120),
            penalty: (Duration::from_secs(2), Duration::from_secs(120)),
        }
    }
}
