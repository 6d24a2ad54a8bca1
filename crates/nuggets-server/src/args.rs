use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::Parser;
use cmdkit::{LogArgs, UsageError, ip_address, whole_number};
use nuggets::{Config, MAX_GOLD, Rules, game::MAX_PLAYERS, visibility::Vision};
use rand::{TryRng, rngs::SysRng};
use servekit::JournalArgs;

const EXTRAS: &str = "Extras (all off by default)";

/// An hour, in seconds.
const LONGEST_COUNTDOWN: u64 = 60 * 60;

/// A year, in seconds.
const LONGEST_IDLE: u64 = 365 * 24 * 60 * 60;

/// Each change sends a picture to each spectator.
const MAX_SPECTATORS: u32 = 100;

const AFTER_HELP: &str = "\
Examples:
  nuggets-server
      play on the built-in map at any free port
  nuggets-server maps/brawl.txt 7
      play on this map with this seed
  nuggets-server --port 2000 --rematch
      play one game after the other at a fixed port
  nuggets-server --wait-for 4 --countdown 10
      start the game when four players have joined
  nuggets-server --journal games --port 2000
      record games, to resume them after a crash: nuggets-server --resume games
  nuggets-server --check-map maps/brawl.txt
      check a map

Exit status: 0 after a finished game or a signal, 1 on failure, 2 for wrong usage.";

/// Host a game of nuggets: up to 26 players explore a map by line of sight and gather 250 nuggets
#[derive(Debug, Parser)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option that is on or off")]
#[command(name = "nuggets-server", version, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The map to play on; without one a built-in map
    #[arg(conflicts_with = "resume")]
    pub(crate) map: Option<PathBuf>,

    /// Same map and same seed: same piles and, for the same messages, the same game
    #[arg(value_name = "SEED", value_parser = positive, conflicts_with_all = ["check_map", "resume"], allow_negative_numbers = true)]
    seed_argument: Option<u64>,

    /// UDP port to listen on; 0 is any free one [default: 0, or the port of the match that is resumed]
    #[arg(long, value_parser = whole_number(0..=u16::MAX, 2000), allow_negative_numbers = true)]
    pub(crate) port: Option<u16>,

    /// The seed, as an option
    #[arg(long, value_parser = positive, conflicts_with_all = ["seed_argument", "resume"], allow_negative_numbers = true)]
    seed: Option<u64>,

    /// Address to listen on, may be repeated; without it every address, IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", value_parser = ip_address)]
    pub(crate) bind: Vec<IpAddr>,

    /// Begin a new game at the same port when one is over, until stopped
    #[arg(long, conflicts_with = "resume")]
    rematch: bool,

    /// Begin the game when this many players have joined; until then they look around and cannot move
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = whole_number(1..=most_players(), 4),
          allow_negative_numbers = true)]
    wait_for: Option<u32>,

    /// Begin the game this many seconds after its first player has joined, or after the last player of --wait-for
    #[arg(long, value_name = "SECONDS", conflicts_with = "resume", value_parser = whole_number(1..=LONGEST_COUNTDOWN, 10),
          allow_negative_numbers = true)]
    countdown: Option<u64>,

    /// Report every breach of the rules for maps in MAP, with row and column, and exit
    #[arg(long, conflicts_with_all = ["resume", "directory"])]
    pub(crate) check_map: bool,

    /// Share of the purse that is stolen by stepping on a player
    #[arg(long, value_name = "PERCENT", default_value_t = 0, help_heading = EXTRAS, conflicts_with = "resume",
          value_parser = whole_number(0..=100_u8, 25), allow_negative_numbers = true)]
    steal_percent: u8,

    /// A run stops on gold and after a swap
    #[arg(long, help_heading = EXTRAS, conflicts_with = "resume")]
    run_stop: bool,

    /// Nuggets in the game
    #[arg(long, value_name = "N", default_value_t = Rules::default().gold, help_heading = EXTRAS, conflicts_with = "resume",
          value_parser = whole_number(1..=MAX_GOLD, Rules::default().gold), allow_negative_numbers = true)]
    gold: u32,

    /// Minimum number of piles
    #[arg(long, value_name = "N", default_value_t = Rules::default().min_piles, help_heading = EXTRAS, conflicts_with = "resume",
          value_parser = whole_number(1..=MAX_GOLD, Rules::default().min_piles), allow_negative_numbers = true)]
    minpiles: u32,

    /// Maximum number of piles
    #[arg(long, value_name = "N", default_value_t = Rules::default().max_piles, help_heading = EXTRAS, conflicts_with = "resume",
          value_parser = whole_number(1..=MAX_GOLD, Rules::default().max_piles), allow_negative_numbers = true)]
    maxpiles: u32,

    /// Maximum distance at which players see, in spots
    #[arg(long, value_name = "RADIUS", help_heading = EXTRAS, conflicts_with = "resume", value_parser = whole_number(1..=u16::MAX, 7),
          allow_negative_numbers = true)]
    vision: Option<u16>,

    /// A quitter's gold becomes a pile again, where the player stood or on the nearest free room spot
    #[arg(long, help_heading = EXTRAS, conflicts_with = "resume")]
    drop_on_quit: bool,

    /// A player who sends no key for this many seconds loses its seat
    #[arg(long, value_name = "SECONDS", help_heading = EXTRAS, conflicts_with = "resume", value_parser = whole_number(1..=LONGEST_IDLE, 60),
          allow_negative_numbers = true)]
    idle_timeout: Option<u64>,

    /// Clients that may watch at the same time; one more replaces the oldest of them
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = EXTRAS, conflicts_with = "resume",
          value_parser = whole_number(1..=MAX_SPECTATORS, 5), allow_negative_numbers = true)]
    spectators: u32,

    /// The game of the course: all extras off, regardless of other options
    #[arg(long, help_heading = EXTRAS, conflicts_with = "resume")]
    plain: bool,

    // For users who look for bots here.
    #[arg(long = "bots", hide = true, num_args = 0..=1, default_missing_value = "", value_parser = no_bots)]
    _bots: Option<String>,

    #[command(flatten)]
    pub(crate) journal: JournalArgs,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl Args {
    /// # Errors
    /// [`UsageError`] if the options contradict each other.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let rules = Rules {
            gold: self.gold,
            min_piles: self.minpiles,
            max_piles: self.maxpiles,
            vision: Vision { radius: self.vision },
            steal_percent: self.steal_percent,
            run_stop: self.run_stop,
            drop_on_quit: self.drop_on_quit,
        };
        let (rules, idle_timeout) =
            if self.plain { (Rules::default(), None) } else { (rules, self.idle_timeout.map(Duration::from_secs)) };
        check_together(&rules)?;
        rules.check().map_err(|error| UsageError(error.to_string()))?;
        let seed = match self.seed_argument.or(self.seed) {
            Some(seed) => seed.into(),
            // Short enough for a user to type, and never the 0 that the option refuses.
            None => u128::from(SysRng.try_next_u32()?).max(1),
        };
        let (wait_for, countdown) = (self.wait_for.unwrap_or(1), self.countdown.map(Duration::from_secs));
        let spectators = if self.plain { 1 } else { self.spectators };
        Ok(Config { rules, idle_timeout, rematch: self.rematch, wait_for, countdown, seed, spectators })
    }
}

fn most_players() -> u32 {
    u32::try_from(MAX_PLAYERS).unwrap_or(u32::MAX)
}

// Options that are valid alone may contradict each other or a default.
fn check_together(rules: &Rules) -> Result<(), UsageError> {
    let plain = Rules::default();
    let told = |option: &str, number: u32, default: u32| {
        format!("{option} {number}{}", if number == default { " (the default)" } else { "" })
    };
    let Rules { gold, min_piles: min, max_piles: max, .. } = *rules;
    let least = told("--minpiles", min, plain.min_piles);
    if min > max {
        let most = told("--maxpiles", max, plain.max_piles);
        let right = if min == plain.min_piles {
            format!("add --minpiles with 1 to {max}")
        } else if max == plain.max_piles {
            format!("add --maxpiles with {min} or more")
        } else {
            "the minimum must not exceed the maximum".to_owned()
        };
        return Err(UsageError(format!("{least} is more than {most}; {right}")));
    }
    if min > gold {
        let gold_told = told("--gold", gold, plain.gold);
        return Err(UsageError(format!(
            "{gold_told} is too little for {least}, since each pile holds at least one nugget; \
             add --minpiles with 1 to {gold}"
        )));
    }
    Ok(())
}

fn no_bots(_: &str) -> Result<String, &'static str> {
    Err("bots are clients: nuggets-client localhost PORT --bots 5")
}

fn positive(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(seed @ 1..) if digits => Ok(seed),
        Err(_) if digits => Err(format!("a seed is at most {}", u64::MAX)),
        _ => Err("a seed is a whole number above 0, as in 17".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(line: &str) -> Config {
        Args::try_parse_from(line.split_whitespace()).unwrap().config().unwrap()
    }

    #[test]
    fn default_options_are_those_of_the_course() {
        let config = config("nuggets-server");
        assert_eq!((config.rules, config.idle_timeout, config.rematch), (Rules::default(), None, false));
        assert_eq!((config.wait_for, config.countdown, config.spectators), (1, None, 1));
        assert_ne!(config.seed, 0);
    }

    #[test]
    fn plain_disables_all_extras_despite_other_options() {
        let all = "nuggets-server --steal-percent 10 --run-stop --gold 99 --minpiles 1 --maxpiles 2 --vision 5 \
                   --drop-on-quit --idle-timeout 60 --spectators 3 --seed 7";
        let config_all = config(all);
        assert_ne!((config_all.rules, config_all.spectators), (Rules::default(), 1));
        let plain = config(&format!("{all} --plain"));
        assert_eq!((plain.rules, plain.idle_timeout, plain.spectators), (Rules::default(), None, 1));
        assert_eq!(plain.seed, 7);
    }
}
