use std::{net::IpAddr, time::Duration};

use clap::{ArgAction, Parser};
use cmdkit::{LogArgs, UsageError, ip_address, whole_number};
use netcore::wire::ShortText;
use rand::{TryRng, rngs::SysRng};
use robots::{Config, MAX_HISTORY, Parameters};
use servekit::JournalArgs;

const AFTER_HELP: &str = "\
Examples:
  robots-server -c 2 -x 10 -y 10
      two players on a board of 10 x 10
  robots-server -c 4 -x 30 -y 20 -d 100 -k 100 -l 600 -p 2022
      four players, ten turns a second, a minute, many blocks
  robots-server -c 2 -x 10 -y 10 --journal games
      record games, to resume them after a crash: robots-server --resume games

Exit status: 0 after a signal, 1 on failure or for wrong usage.";

/// Host games of robots, one after the other: robots walk and place bombs and blocks, all at the same time
#[derive(Debug, Parser)]
#[command(name = "robots-server", version, after_help = AFTER_HELP, disable_help_flag = true,
          override_usage = "robots-server -c PLAYERS -x COLUMNS -y ROWS [OPTIONS]\n       robots-server --resume FILE")]
pub(crate) struct Args {
    /// Players in a game; it starts when that many have joined
    #[arg(short = 'c', long, value_name = "PLAYERS", required_unless_present = "resume", conflicts_with = "resume", value_parser = whole_number(1..=u8::MAX, 2),
          allow_negative_numbers = true)]
    players_count: Option<u8>,

    /// Columns of the board
    #[arg(short = 'x', long, value_name = "COLUMNS", required_unless_present = "resume", conflicts_with = "resume", value_parser = whole_number(1..=u16::MAX, 10),
          allow_negative_numbers = true)]
    size_x: Option<u16>,

    /// Rows of the board
    #[arg(short = 'y', long, value_name = "ROWS", required_unless_present = "resume", conflicts_with = "resume", value_parser = whole_number(1..=u16::MAX, 10),
          allow_negative_numbers = true)]
    size_y: Option<u16>,

    /// Turns from placing a bomb to its explosion
    #[arg(short = 'b', long, conflicts_with = "resume", value_name = "TURNS", default_value_t = 5, value_parser = whole_number(1..=u16::MAX, 5),
          allow_negative_numbers = true)]
    bomb_timer: u16,

    /// Time between two turns
    #[arg(short = 'd', long, conflicts_with = "resume", value_name = "MILLISECONDS", default_value_t = 200,
          value_parser = whole_number(0..=u64::MAX, 200), allow_negative_numbers = true)]
    turn_duration: u64,

    /// Length of the four arms of an explosion, in fields
    #[arg(short = 'e', long, conflicts_with = "resume", value_name = "FIELDS", default_value_t = 4, value_parser = whole_number(0..=u16::MAX, 4),
          allow_negative_numbers = true)]
    explosion_radius: u16,

    /// Blocks drawn at random at the start of a game; two on the same field count as one
    #[arg(short = 'k', long, conflicts_with = "resume", value_name = "BLOCKS", default_value_t = 20,
          value_parser = whole_number(0..=u16::MAX, 20), allow_negative_numbers = true)]
    initial_blocks: u16,

    /// Turns of a game after turn 0
    #[arg(short = 'l', long, conflicts_with = "resume", value_name = "TURNS", default_value_t = 300,
          value_parser = whole_number(0..=u16::MAX, 300), allow_negative_numbers = true)]
    game_length: u16,

    /// Name of the server, at most 255 bytes of UTF-8; without it the name of this machine
    #[arg(short = 'n', long, value_name = "NAME", conflicts_with = "resume")]
    server_name: Option<ShortText>,

    /// TCP port to listen on; 0 is any free one [default: 2022, or the port of the match that is resumed]
    #[arg(short, long, value_parser = whole_number(0..=u16::MAX, 2022), allow_negative_numbers = true)]
    pub(crate) port: Option<u16>,

    /// Seed of all random numbers; without it a new one each time
    #[arg(short, long, conflicts_with = "resume", value_parser = whole_number(0..=u32::MAX, 1234), allow_negative_numbers = true)]
    seed: Option<u32>,

    /// Address to listen on, may be repeated; without it every address, IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", value_parser = ip_address)]
    pub(crate) bind: Vec<IpAddr>,

    /// Print help
    #[arg(short = 'h', long, action = ArgAction::Help)]
    help: (),

    #[command(flatten)]
    pub(crate) journal: JournalArgs,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl Args {
    /// # Errors
    /// [`UsageError`] if the options permit no game.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let this_machine = || ShortText::try_from(&*node_name()).unwrap_or_default();
        let server_name = self.server_name.clone().unwrap_or_else(this_machine);
        let config = Config {
            parameters: Parameters {
                server_name,
                // The parser requires these three, except for a resumed match, which does not use them.
                players_count: self.players_count.unwrap_or_default(),
                size_x: self.size_x.unwrap_or_default(),
                size_y: self.size_y.unwrap_or_default(),
                game_length: self.game_length,
                explosion_radius: self.explosion_radius,
                bomb_timer: self.bomb_timer,
            },
            turn_duration: Duration::from_millis(self.turn_duration),
            initial_blocks: self.initial_blocks,
            seed: match self.seed {
                Some(seed) => seed,
                None => SysRng.try_next_u32()?,
            },
            max_history: MAX_HISTORY,
        };
        config.check().map_err(|error| UsageError(error.to_string()))?;
        Ok(config)
    }
}

#[cfg(unix)]
fn node_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn node_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}
