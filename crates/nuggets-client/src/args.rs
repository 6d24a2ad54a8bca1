//! The command line, as typed and as interpreted.

use std::{borrow::Cow, time::Duration};

use clap::{
    Parser, ValueEnum,
    builder::{OsStringValueParser, TypedValueParser},
};
use cmdkit::{Directory, DirectoryArgs, HostPort, ScreenLogArgs, UsageError, whole_number};
use netcore::Level;
use nuggets::{Name, Participant};

use crate::headless::Style;

/// With this name, the course's clients play automatically, on a screen.
const BOT: &[u8] = b"bot";
/// Plays like [`BOT`], without a screen.
const BOT_IN_BACKGROUND: &[u8] = b"botbg";
/// The seats of a game.
const MAX_BOTS: u16 = 26;
/// With more than a minute between two keys, a bot looks stuck.
const MAX_DELAY_MS: u64 = 60_000;
/// Of a bot on a screen, so that a user can follow it.
const WATCHED_DELAY: Duration = Duration::from_millis(80);
/// Without a screen: the course's servers show the effect of each key to all clients.
const UNWATCHED_DELAY: Duration = Duration::from_millis(20);
const DEMO_BOTS: u16 = 3;
/// One seat is the player's.
const MAX_DEMO_BOTS: u16 = 25;

/// For arguments in the wrong order.
const ORDER: &str = "the order is host, port, name, as in localhost 2000 Ann";

const USAGE: &str = "\
nuggets-client [OPTIONS] <HOST> <PORT> [NAME]
       nuggets-client [OPTIONS] --directory <URL> [NAME]
       nuggets-client [OPTIONS] --demo";

const EXAMPLES: &str = "\
Examples:
  nuggets-client --demo
      play against bots, without a server
  nuggets-client localhost 12345 Ann
      play as Ann
  nuggets-client localhost 12345
      watch
  nuggets-client --bot localhost 12345 Robbie
      watch a bot play
  nuggets-client --bots 5 localhost 12345 bot
      five opponents without a screen: bot1 to bot5
  nuggets-client --directory http://10.0.0.11:8080/rooms/nuggets-1 Ann
      play in a room of several hubs, even if it moves
  printf 'hhjQ' | nuggets-client localhost 12345 Ann
      send these keys and leave

On the screen, F1 or ? shows the keys. After a game, its result stays until you press Enter for the next game or Q \
to leave. If standard input is not a terminal, each byte is a key, and the end of the input leaves the game. If \
standard output is not a terminal, nothing is drawn, and only the last message of the server is printed.

Exit status: 0 when the game is over or you have left it, 1 when the server cannot be found, does not answer, \
closes its port or does not confirm that you leave, 2 for wrong usage.";

/// Play nuggets, watch, or let a bot play.
///
/// With a name you play, without one you watch. The name 'bot' plays automatically, 'botbg' does so without a screen.
#[derive(Debug, Clone, Parser)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option that is on or off")]
#[command(name = "nuggets-client", version, override_usage = USAGE, after_help = EXAMPLES)]
pub struct Args {
    /// Name or address of the server; with --directory it may be omitted together with the port
    #[arg(value_parser = parse_host, required_unless_present_any = ["demo", "directory"], conflicts_with = "demo")]
    pub(crate) host: Option<String>,

    /// UDP port of the server
    #[arg(value_parser = parse_port, required_unless_present_any = ["demo", "directory"], allow_negative_numbers = true)]
    pub(crate) port: Option<u16>,

    /// Your name; without one you watch
    #[arg(value_parser = OsStringValueParser::new().try_map(|typed| parse_name(typed.as_encoded_bytes())))]
    pub(crate) name: Option<Name>,

    /// Host a game with bots in this program and play it; needs no server
    #[arg(long, conflicts_with_all = ["bot", "headless", "directory"])]
    pub(crate) demo: bool,

    /// The directory for the room of an arcade of several hubs.
    #[command(flatten)]
    pub(crate) directory: DirectoryArgs,

    /// Join the next game automatically, if the server has --rematch; only on a screen, or with --headless or --bots
    #[arg(long)]
    pub(crate) rematch: bool,

    /// Ring the terminal's bell when you find gold and when the game is over
    #[arg(long)]
    pub(crate) bell: bool,

    /// Play automatically, on a screen: at level hard, which leaves little gold to other players (named 'bot' without a
    /// NAME)
    #[arg(long, help_heading = "Bots")]
    pub(crate) bot: bool,

    /// Play automatically, without a screen
    #[arg(long, help_heading = "Bots")]
    pub(crate) headless: bool,

    /// Play as this number of bots without a screen: NAME1, NAME2, ...; with --demo, the number of opponents
    #[arg(long, value_name = "COUNT", help_heading = "Bots",
        value_parser = whole_number(1..=MAX_BOTS, 5), allow_negative_numbers = true)]
    pub(crate) bots: Option<u16>,

    /// How well bots play, and how fast [default: normal for --bots and --demo, else hard]
    #[arg(long, value_name = "LEVEL", help_heading = "Bots")]
    pub(crate) level: Option<LevelArg>,

    /// Minimum time between two keys of a bot [default: that of --level; for one bot without it 80 on a screen, 20
    /// without]
    #[arg(long, value_name = "MS", help_heading = "Bots",
        value_parser = whole_number(0..=MAX_DELAY_MS, 80), allow_negative_numbers = true)]
    pub(crate) delay_ms: Option<u64>,

    /// The options for logging.
    #[command(flatten)]
    pub(crate) logs: ScreenLogArgs,
}

/// A [`Level`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelArg {
    /// Slow, does not run, makes mistakes
    Easy,
    /// A person wins half of the games against one of them, about a quarter against three
    Normal,
    /// Faster than a person, makes no mistakes
    Hard,
}

impl From<LevelArg> for Level {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::Easy => Self::Easy,
            LevelArg::Normal => Self::Normal,
            LevelArg::Hard => Self::Hard,
        }
    }
}

// If the order is mixed up, the port is most likely a name or a host.
fn parse_port(typed: &str) -> Result<u16, String> {
    whole_number(1..=u16::MAX, 2000)(typed).map_err(|error| {
        let is_number = typed.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        if is_number { error } else { format!("{error}; {ORDER}") }
    })
}

fn parse_host(typed: &str) -> Result<String, String> {
    if !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("expected a host, not a port; {ORDER}"));
    }
    cmdkit::host(12_345)(typed)
}

fn parse_name(typed: &[u8]) -> Result<Name, &'static str> {
    Name::new(typed).map_err(|_| "a name needs at least one character that is not blank; omit it to watch")
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    Interactive { part: Participant, bot: Option<Style> },
    Headless { names: Vec<Name>, style: Style },
    Demo { names: Vec<Name>, style: Style },
}

impl Plan {
    /// Fails if the arguments contradict each other, or if a bot's name is invalid.
    pub(crate) fn of(args: &Args) -> Result<Self, UsageError> {
        let called = args.called()?;
        let is_called = |wanted: &[u8]| called.as_ref().is_some_and(|name| name.as_str().as_bytes() == wanted);
        let headless = args.headless || args.bots.is_some() || is_called(BOT_IN_BACKGROUND);
        let bot = headless || args.bot || args.demo || is_called(BOT);
        let delay = args.delay_ms.map(Duration::from_millis);
        if !bot {
            if delay.is_some() || args.level.is_some() {
                let option = if delay.is_some() { "--delay-ms" } else { "--level" };
                return Err(UsageError(format!("{option} requires --bot, --headless or --bots COUNT")));
            }
            let part = called.map_or(Participant::Spectator, |name| Participant::Player(name.into_owned()));
            return Ok(Self::Interactive { part, bot: None });
        }
        let base = called.as_deref().map_or("bot", Name::as_str);
        let name = |suffix: &str| {
            // The number must survive the cut at 50 bytes, or all bots would have the same name.
            let kept = base.len().min(nuggets::protocol::MAX_NAME - suffix.len());
            Name::new(format!("{}{suffix}", &base[..kept]).as_bytes())
                .map_err(|_| UsageError(format!("invalid name of a bot '{base}{suffix}'")))
        };
        let names = |count: u16| (1..=count).map(|number| name(&number.to_string())).collect::<Result<Vec<_>, _>>();
        if args.demo {
            let count = args.bots.unwrap_or(DEMO_BOTS);
            if count > MAX_DEMO_BOTS {
                return Err(UsageError(format!("--demo has seats for at most {MAX_DEMO_BOTS} bots")));
            }
            return Ok(Self::Demo { names: names(count)?, style: args.opponents() });
        }
        if let Some(count) = args.bots {
            return Ok(Self::Headless { names: names(count)?, style: args.opponents() });
        }
        if headless {
            return Ok(Self::Headless { names: vec![name("")?], style: args.one_bot(UNWATCHED_DELAY) });
        }
        Ok(Self::Interactive { part: Participant::Player(name("")?), bot: Some(args.one_bot(WATCHED_DELAY)) })
    }
}

impl Args {
    /// Queries the directory without an address on the command line. The demonstration has its own server.
    pub(crate) fn server(&self, directory: Option<&Directory>) -> anyhow::Result<HostPort> {
        match (&self.host, self.port, directory) {
            (Some(host), Some(port), _) => Ok(HostPort { host: host.clone(), port }),
            (_, _, Some(directory)) => directory.find_first("nuggets-client"),
            // The parser requires both if a server is needed.
            (_, _, None) => Ok(HostPort { host: String::new(), port: 0 }),
        }
    }

    // Without a port, the one word beside --directory is the name.
    fn called(&self) -> Result<Option<Cow<'_, Name>>, UsageError> {
        match (&self.name, &self.host, self.port) {
            (None, Some(word), None) => {
                parse_name(word.as_bytes()).map(|name| Some(Cow::Owned(name))).map_err(|why| UsageError(why.to_owned()))
            }
            (name, ..) => Ok(name.as_ref().map(Cow::Borrowed)),
        }
    }

    fn opponents(&self) -> Style {
        let level = self.level.map_or(Level::default(), Level::from);
        Style { level, delay: self.delay_ms.map(Duration::from_millis) }
    }

    // A single bot plays as well as it can unless a level is given.
    fn one_bot(&self, pace: Duration) -> Style {
        let level = self.level.map_or(Level::Hard, Level::from);
        let delay = self.delay_ms.map(Duration::from_millis);
        Style { level, delay: if self.level.is_some() { delay } else { Some(delay.unwrap_or(pace)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(line: &str) -> Plan {
        Plan::of(&Args::try_parse_from(line.split(' ')).unwrap()).unwrap()
    }

    fn refused(arguments: &[&str]) -> clap::Error {
        Args::try_parse_from(arguments).unwrap_err()
    }

    fn style(level: Level, millis: impl Into<Option<u64>>) -> Style {
        Style { level, delay: millis.into().map(Duration::from_millis) }
    }

    fn name(text: &str) -> Name {
        Name::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn two_arguments_watch_and_three_play() {
        let none = None;
        assert_eq!(plan("client localhost 5000"), Plan::Interactive { part: Participant::Spectator, bot: none });
        let part = Participant::Player(name("Ann"));
        assert_eq!(plan("client localhost 5000 Ann"), Plan::Interactive { part, bot: none });
    }

    #[test]
    fn directory_replaces_host_and_port() {
        let part = |name: &str| Participant::Player(self::name(name));
        let bot = None;
        let url = "--directory http://h:1/rooms/nuggets-1";
        assert_eq!(plan(&format!("client {url} Ann")), Plan::Interactive { part: part("Ann"), bot });
        assert_eq!(plan(&format!("client {url}")), Plan::Interactive { part: Participant::Spectator, bot });
        assert_eq!(plan(&format!("client {url} h 1 Ann")), Plan::Interactive { part: part("Ann"), bot });
        let args = Args::try_parse_from(format!("client {url} {url} h 1").split(' ')).unwrap();
        let directory = args.directory.of("nuggets").unwrap();
        assert_eq!(args.server(Some(&directory)).unwrap(), HostPort { host: "h".into(), port: 1 });
        assert!(refused(&["client", "--demo", "--directory", "http://h:1/rooms/a"]).to_string().contains("--demo"));
        let error = refused(&["client", "--directory", "https://h/rooms/a"]).to_string();
        assert!(error.contains("TLS is not supported"), "{error}");
    }

    #[test]
    fn course_names_select_bots() {
        let part = Participant::Player(name("bot"));
        assert_eq!(plan("client h 1 bot"), Plan::Interactive { part, bot: Some(style(Level::Hard, 80)) });
        assert_eq!(
            plan("client h 1 botbg"),
            Plan::Headless { names: vec![name("botbg")], style: style(Level::Hard, 20) }
        );
        let part = Participant::Player(name("bots"));
        assert_eq!(plan("client h 1 bots"), Plan::Interactive { part, bot: None });
    }

    #[test]
    fn bots_have_names_and_delays() {
        let part = Participant::Player(name("bot"));
        let bot = Some(style(Level::Hard, 5));
        assert_eq!(plan("client --bot --delay-ms 5 h 1"), Plan::Interactive { part, bot });
        assert_eq!(
            plan("client --bots 2 h 1 Z"),
            Plan::Headless { names: vec![name("Z1"), name("Z2")], style: style(Level::Normal, None) }
        );
        let one = |style| Plan::Headless { names: vec![name("Z")], style };
        assert_eq!(plan("client --headless h 1 Z"), one(style(Level::Hard, 20)));
        assert_eq!(plan("client --headless --level easy h 1 Z"), one(style(Level::Easy, None)));
        assert_eq!(plan("client --headless --level easy --delay-ms 0 h 1 Z"), one(style(Level::Easy, 0)));
        let demo =
            |count: u16, style| Plan::Demo { names: (1..=count).map(|at| name(&format!("bot{at}"))).collect(), style };
        assert_eq!(plan("client --demo"), demo(3, style(Level::Normal, None)));
        assert_eq!(plan("client --demo --bots 1 --level hard"), demo(1, style(Level::Hard, None)));
        let args = Args::try_parse_from(["client", "--demo", "--bots", "26"]).unwrap();
        assert!(Plan::of(&args).unwrap_err().0.contains("25"));
        let long = "x".repeat(50);
        let Plan::Headless { names, .. } = plan(&format!("client --bots 12 h 1 {long}")) else { panic!() };
        assert_eq!(names[11].as_str(), format!("{}12", &long[..48]));
    }

    #[test]
    fn host_is_a_name_or_an_address_with_optional_brackets() {
        for (typed, host) in [
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("::1", "::1"),
            ("[::1]", "::1"),
            ("[fe80::1%eth0]", "fe80::1%eth0"),
            ("[host]", "[host]"),
        ] {
            assert_eq!(Args::try_parse_from(["client", typed, "5000"]).unwrap().host.as_deref(), Some(host));
        }
        for wrong in ["", " ", "localhost:80", "127.0.0.1:80", "[::1]:80", "[::1", "::g"] {
            let error = refused(&["client", wrong, "5000"]).to_string();
            assert!(error.contains(&format!("'{wrong}'")) && error.contains("as in localhost"), "{error}");
        }
    }
}
