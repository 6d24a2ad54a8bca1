use std::{net::IpAddr, time::Duration};

use blackjack::{
    Config, Seed,
    game::{MAX_ROUNDS, MAX_SEATS},
};
use clap::Parser;
use cmdkit::{LogArgs, count, ip_address, whole_number};
use netcore::Rate;
use rand::rngs::SysRng;
use servekit::JournalArgs;

/// Bytes per second from one connection: more than a player needs for a hundred thousand answers per second. One that
/// does not wait for questions is disconnected at its second message.
pub(crate) const READ_RATE: Rate = Rate { per_second: 1 << 20, burst: 64 << 10 };

/// A day.
const MAX_MS: u64 = 86_400_000;
/// A day.
const MAX_STATS: u64 = 86_400;

const AFTER_HELP: &str = "\
Examples:
  dealer 2021 1000
      deal a thousand rounds to the first player
  dealer 2021 100000 --delay-ms 0
      deal as fast as the player answers
  dealer 2021 100 --players 6 --tables 4 --forever
      deal at four tables of six at a time, without an end
  dealer 2021 1000 --journal games
      record tables, to resume them after a crash: dealer --resume games

Text players receive one message at a time with a pause in between, because many text clients treat each read as \
one message. Binary players receive messages immediately. Both may sit at one table.

Exit status: 0 when a table was played to its end or after a signal, 1 on failure or when all players left early, 2 \
for wrong usage.";

/// Deal the game of 21 to players who connect over TCP
#[derive(Debug, Parser)]
#[command(name = "dealer", version, after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Args {
    /// TCP port to listen on; 0 is any free one; optional with --resume, which uses the port of the match
    #[arg(required_unless_present = "resume", value_parser = whole_number(0..=u16::MAX, 2021),
          allow_negative_numbers = true)]
    pub(crate) port: Option<u16>,

    /// Rounds at each table
    #[arg(required_unless_present = "resume", conflicts_with = "resume", value_parser = count(1..=MAX_ROUNDS, 1000),
          allow_negative_numbers = true)]
    rounds: Option<u32>,

    /// Seats at a table; a table begins when all seats are taken
    #[arg(long, conflicts_with = "resume", value_name = "SEATS", default_value_t = 1, value_parser = whole_number(1..=6_u8, 6),
          allow_negative_numbers = true)]
    players: u8,

    /// Tables played at the same time, and in total unless --forever is given; further players wait for the next table
    #[arg(long, conflicts_with = "resume", value_name = "COUNT", default_value_t = 1, value_parser = whole_number(1..=4_096_u32, 4),
          allow_negative_numbers = true)]
    tables: u32,

    /// Open another table when one is over, until stopped
    #[arg(long, conflicts_with = "resume")]
    forever: bool,

    /// The pause between two messages to a text player
    #[arg(long, conflicts_with = "resume", value_name = "MS", default_value_t = 50, value_parser = whole_number(0..=MAX_MS, 50),
          allow_negative_numbers = true)]
    delay_ms: u64,

    /// How long a player has to join and to answer; a player who takes longer loses the hand and the seat
    #[arg(long, conflicts_with = "resume", value_name = "MS", default_value_t = 30_000, value_parser = whole_number(1..=MAX_MS, 30_000),
          allow_negative_numbers = true)]
    timeout_ms: u64,

    /// Deal the cards of this seed; for tests, since a player who knows the seed knows the cards [default: the system's
    /// entropy]
    #[arg(long, conflicts_with = "resume", value_name = "NUMBER", value_parser = whole_number(0..=u64::MAX, 17), allow_negative_numbers = true)]
    seed: Option<u64>,

    /// Address to listen on, may be repeated; without it every address, IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", value_parser = ip_address)]
    pub(crate) bind: Vec<IpAddr>,

    /// Log the standings so far and the rounds per second at this interval
    #[arg(long, conflicts_with = "resume", value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "10",
          value_parser = whole_number(1..=MAX_STATS, 10))]
    stats: Option<u64>,

    /// Print only errors on standard error
    #[arg(long, conflicts_with_all = ["trace", "stats"])]
    pub(crate) quiet: bool,

    /// Log every message, and the dealer's hand after each round
    #[arg(long, conflicts_with = "resume")]
    trace: bool,

    /// Print the standings as a line of JSON for each table
    #[arg(long, conflicts_with = "resume")]
    json: bool,

    #[command(flatten)]
    pub(crate) journal: JournalArgs,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl Args {
    /// Fails without entropy for the cards.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        Ok(Config {
            players: usize::from(self.players),
            tables: self.tables,
            forever: self.forever,
            // The parser requires it, except for a resumed match, which does not use it.
            rounds: self.rounds.unwrap_or_default(),
            delay: Duration::from_millis(self.delay_ms),
            timeout: Duration::from_millis(self.timeout_ms),
            seed: Seed::from_number_or(self.seed, &mut SysRng)?,
            json: self.json,
            trace: self.trace,
            accounts: self.stats.map(Duration::from_secs),
        })
    }
}

const _: () = assert!(MAX_SEATS == 6, "the range of --players");

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
        let args = Args::try_parse_from("dealer 0 9 --players 2 --tables 3 --stats --seed 4".split(' ')).unwrap();
        let config = args.config().unwrap();
        assert_eq!(
            (config.players, config.tables, config.rounds, config.accounts),
            (2, 3, 9, Some(Duration::from_secs(10)))
        );
        assert_eq!((config.delay, config.timeout), (blackjack::config::DELAY, blackjack::config::TIMEOUT));
        assert_eq!(config.seed, Seed::from_number(4));
    }

    #[test]
    fn default_seed_is_random() {
        let args = Args::try_parse_from(["dealer", "0", "9"]).unwrap();
        assert_ne!(args.config().unwrap().seed, args.config().unwrap().seed);
    }
}
