//! The command line: what was typed, and what is meant by it.

use std::{net::SocketAddr, time::Duration};

use clap::{
    Parser,
    builder::{OsStringValueParser, TypedValueParser},
};
use cmdkit::{ScreenLogArgs, UsageError, is_ipv6, whole_number};
use nuggets::{Name, Part};

/// The name by which a client of the course plays by itself, on a screen.
const BOT: &[u8] = b"bot";
/// The name by which a client of the course plays by itself, without a screen.
const BOT_IN_BACKGROUND: &[u8] = b"botbg";
/// More bots than any game has seats, for those who want to try a server's patience.
const MAX_BOTS: u16 = 1_000;
/// A bot that waits longer than a minute between two keys cannot be told from one that is stuck.
const MAX_DELAY_MS: u64 = 60_000;
/// How long a bot on a screen waits between two keys, so that one can follow it.
const WATCHED_DELAY: Duration = Duration::from_millis(80);

const EXAMPLES: &str = "\
Examples:
  nuggets-client localhost 12345 Ann
      play as Ann
  nuggets-client localhost 12345
      look on
  nuggets-client --bot localhost 12345 Robbie
      watch a bot play
  nuggets-client --bots 5 localhost 12345 bot
      five bots without a screen: bot1 to bot5
  printf 'hhjQ' | nuggets-client localhost 12345 Ann
      type these keys and leave

On the screen, F1 or ? shows the keys. If standard input is not a terminal, each of its bytes is a key and its end \
leaves the game. If standard output is not a terminal, nothing is drawn and only the server's last words are printed.

Exit status: 0 when the game or your part in it is over, 1 when the server cannot be found, does not answer or says \
no goodbye, 2 for wrong usage.";

/// Play nuggets, look on, or let a bot play.
///
/// With a name you play, without one you look on. The name 'bot' plays by itself, 'botbg' does so without a screen.
#[derive(Debug, Clone, Parser)]
#[command(name = "nuggets-client", version, after_help = EXAMPLES)]
pub struct Args {
    /// Name or address of the server
    #[arg(value_parser = parse_host)]
    pub host: String,

    /// UDP port of the server
    #[arg(value_parser = whole_number(1..=u16::MAX, 2000), allow_negative_numbers = true)]
    pub port: u16,

    /// Your name; without one you look on
    #[arg(value_parser = OsStringValueParser::new().try_map(|typed| parse_name(typed.as_encoded_bytes())))]
    pub name: Option<Name>,

    /// Play by itself (a bot's name is 'bot' unless you give one)
    #[arg(long, help_heading = "Bots")]
    pub bot: bool,

    /// Play by itself and draw nothing
    #[arg(long, help_heading = "Bots")]
    pub headless: bool,

    /// Play as so many bots that draw nothing: NAME1, NAME2, ...
    #[arg(long, value_name = "COUNT", help_heading = "Bots",
        value_parser = whole_number(1..=MAX_BOTS, 5), allow_negative_numbers = true)]
    pub bots: Option<u16>,

    /// The least time between two keys of a bot [default: 80 on a screen, 0 without]
    #[arg(long, value_name = "MS", help_heading = "Bots",
        value_parser = whole_number(0..=MAX_DELAY_MS, 80), allow_negative_numbers = true)]
    pub delay_ms: Option<u64>,

    /// What is logged, and where.
    #[command(flatten)]
    pub logs: ScreenLogArgs,
}

// Without the brackets in which an IPv6 address stands where a port follows it.
fn parse_host(typed: &str) -> Result<String, &'static str> {
    let bare = typed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).filter(|inside| is_ipv6(inside));
    let host = bare.unwrap_or(typed);
    if host.trim().is_empty() {
        return Err("give a name or an address, as in localhost, 127.0.0.1 or ::1");
    }
    let has_port = host.parse::<SocketAddr>().is_ok() || host.contains(':') && !is_ipv6(host);
    if has_port {
        Err("give a host without a port; the port stands behind it, as in localhost 12345")
    } else {
        Ok(host.to_owned())
    }
}

fn parse_name(typed: &[u8]) -> Result<Name, &'static str> {
    Name::new(typed).ok_or("a name needs at least one character that is not blank; leave it out to look on")
}

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// One client that is steered by the keyboard or, with a delay between its keys, by a bot.
    Interactive {
        /// As what it takes part.
        part: Part,
        /// The least time between two keys if a bot plays.
        bot: Option<Duration>,
    },
    /// Bots without a screen.
    Headless {
        /// Their names.
        names: Vec<Name>,
        /// The least time between two keys of each.
        delay: Duration,
    },
}

impl Plan {
    /// Reads the plan off the arguments.
    ///
    /// # Errors
    /// [`UsageError`] when the bots' names would be no names.
    pub fn of(args: &Args) -> Result<Self, UsageError> {
        let is_called = |wanted: &[u8]| args.name.as_ref().is_some_and(|name| name.as_str().as_bytes() == wanted);
        let headless = args.headless || args.bots.is_some() || is_called(BOT_IN_BACKGROUND);
        let bot = headless || args.bot || is_called(BOT);
        let delay = args.delay_ms.map(Duration::from_millis);
        if !bot {
            if delay.is_some() {
                return Err(UsageError("--delay-ms is for bots; add --bot, --headless or --bots COUNT".into()));
            }
            let part = args.name.clone().map_or(Part::Spectator, Part::Player);
            return Ok(Self::Interactive { part, bot: None });
        }
        let base = args.name.as_ref().map_or("bot", Name::as_str);
        let name = |suffix: &str| {
            // The number must survive the cut at 50 bytes, or all would have one name.
            let kept = base.len().min(nuggets::protocol::MAX_NAME - suffix.len());
            Name::new(format!("{}{suffix}", &base[..kept]).as_bytes())
                .ok_or_else(|| UsageError(format!("'{base}{suffix}' is no name for a bot")))
        };
        if headless {
            let names = match args.bots {
                Some(count) => (1..=count).map(|number| name(&number.to_string())).collect::<Result<_, _>>()?,
                None => vec![name("")?],
            };
            return Ok(Self::Headless { names, delay: delay.unwrap_or(Duration::ZERO) });
        }
        Ok(Self::Interactive { part: Part::Player(name("")?), bot: Some(delay.unwrap_or(WATCHED_DELAY)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, error::ErrorKind};

    fn plan(line: &str) -> Plan {
        Plan::of(&Args::try_parse_from(line.split(' ')).unwrap()).unwrap()
    }

    fn refused(arguments: &[&str]) -> clap::Error {
        Args::try_parse_from(arguments).unwrap_err()
    }

    fn name(text: &str) -> Name {
        Name::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn two_arguments_look_on_and_three_play() {
        let none = None;
        assert_eq!(plan("client localhost 5000"), Plan::Interactive { part: Part::Spectator, bot: none });
        let part = Part::Player(name("Ann"));
        assert_eq!(plan("client localhost 5000 Ann"), Plan::Interactive { part, bot: none });
    }

    #[test]
    fn the_course_names_of_bots_play_by_themselves() {
        let part = Part::Player(name("bot"));
        assert_eq!(plan("client h 1 bot"), Plan::Interactive { part, bot: Some(WATCHED_DELAY) });
        assert_eq!(plan("client h 1 botbg"), Plan::Headless { names: vec![name("botbg")], delay: Duration::ZERO });
        let part = Part::Player(name("bots"));
        assert_eq!(plan("client h 1 bots"), Plan::Interactive { part, bot: None });
    }

    #[test]
    fn bots_have_names_and_delays() {
        let part = Part::Player(name("bot"));
        let bot = Some(Duration::from_millis(5));
        assert_eq!(plan("client --bot --delay-ms 5 h 1"), Plan::Interactive { part, bot });
        assert_eq!(
            plan("client --bots 2 h 1 Z"),
            Plan::Headless { names: vec![name("Z1"), name("Z2")], delay: Duration::ZERO }
        );
        assert_eq!(plan("client --headless h 1 Z"), Plan::Headless { names: vec![name("Z")], delay: Duration::ZERO });
        let long = "x".repeat(50);
        let Plan::Headless { names, .. } = plan(&format!("client --bots 12 h 1 {long}")) else { panic!() };
        assert_eq!(names[11].as_str(), format!("{}12", &long[..48]));
    }

    #[test]
    fn a_host_is_a_name_or_an_address_and_ipv6_may_stand_in_brackets() {
        for (typed, host) in [
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("::1", "::1"),
            ("[::1]", "::1"),
            ("[fe80::1%eth0]", "fe80::1%eth0"),
            ("[host]", "[host]"),
        ] {
            assert_eq!(Args::try_parse_from(["client", typed, "5000"]).unwrap().host, host);
        }
        for wrong in ["", " ", "localhost:80", "127.0.0.1:80", "[::1]:80", "[::1", "::g"] {
            let error = refused(&["client", wrong, "5000"]).to_string();
            assert!(error.contains(&format!("'{wrong}'")) && error.contains("as in localhost"), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_offending_value() {
        for port in ["0", "65536", "-1", "http", "12x", ""] {
            let error = refused(&["client", "--", "localhost", port, "Ann"]);
            assert_eq!(error.kind(), ErrorKind::ValueValidation, "{port}: {error}");
        }
        for blank in ["", " ", " \t "] {
            let error = refused(&["client", "localhost", "5000", blank]);
            assert!(error.to_string().contains("a name needs at least one character"), "{error}");
        }
        assert_eq!(refused(&["client", "localhost"]).kind(), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused(&["client", "localhost", "1", "a", "b"]).kind(), ErrorKind::UnknownArgument);
        assert_eq!(refused(&["client", "--bots", "0", "h", "1"]).kind(), ErrorKind::ValueValidation);
        let args = Args::try_parse_from(["client", "--delay-ms", "5", "h", "1", "Ann"]).unwrap();
        assert!(Plan::of(&args).unwrap_err().0.contains("--bot"));
    }
}
