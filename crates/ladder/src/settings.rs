//! How a ladder works.

use std::time::Duration;

use netcore::Level;

/// The ratings of our own bots, which never move. All other ratings are measured against them.
pub const FIXED: [(Level, i64); 3] = [(Level::Easy, 800), (Level::Normal, 1_000), (Level::Hard, 1_200)];

/// How a ladder works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Matches at the same time.
    pub matches: usize,
    /// Programs at the same time, waiting or playing.
    pub programs: usize,
    /// Those of one host.
    pub per_host: usize,
    /// Points by which the ratings of two may differ that play at once.
    pub close: i64,
    /// Points by which they may differ more for each second that the one who has waited longer has waited.
    pub widening: i64,
    /// Points that a match against the opponent of the last match counts like.
    pub again: i64,
    /// How long a program waits for another one before it plays a bot.
    pub company: Duration,
    /// Each so-manieth match of a program is against a bot, so that ratings stay comparable with theirs.
    pub anchor: u32,
    /// How long a program may leave a question unanswered.
    pub patience: Duration,
    /// Whether a program is asked all the time, in games without turns. Otherwise it owes an answer only when it is asked.
    pub continuous: bool,
    /// How long a match lasts at most.
    pub limit: Duration,
    /// How long a program waits that has lost by what it did: the first time, and at most. It doubles each time, until a match is played to
    /// its end.
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
