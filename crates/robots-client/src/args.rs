//! The command line, as typed ([`Args`]) and as interpreted ([`Plan`]).

use std::{env, ffi::OsString, net::IpAddr};

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cmdkit::{DirectoryArgs, HostPort, ScreenLogArgs, UsageError, host_port, host_port_or, ip_address, whole_number};
use netcore::{Level, wire::ShortText};

/// More than the players of any game, for load tests of a server.
const MAX_BOTS: u16 = 1_000;
const MAX_GAMES: u32 = 1_000_000_000;
const SERVER_PORT: u16 = 2022;
/// For the GUI's messages.
pub(crate) const PORT: u16 = 2023;
const BOT: &str = "bot";
const PERSON: &str = "player";

const AFTER_HELP: &str = "\
Examples:
  robots-client --demo
      play against three bots in this terminal, without a server of your own
  robots-client -s localhost --gui
      play in this terminal on the server at port 2022
  robots-client -s localhost:2022 -d localhost:2024 -n Ann
      play as Ann with a separate GUI, which receives at port 2024 and sends keys to port 2023
  robots-client -s localhost:2022 --gui --observe
      watch
  robots-client -s localhost:2022 --headless 4 --games 1 --level hard
      four bots play a game: bot1 to bot4
  robots-client --gui --directory http://10.0.0.11:8080/rooms/robots-1 --directory http://10.0.0.12:8080/rooms/robots-1
      play in a room of several hubs, even if it moves

Exit status: 0 after a signal, when you leave the terminal's window or the bots have played their games; 1 when the server \
cannot be reached or closes the connection (unless --retry or --directory), when it sends a malformed message, when the port is in use, and \
for wrong usage.";

/// Take part in games of robots: for a GUI, in this terminal, or as bots
///
/// The client connects to the server immediately, sends the state of the game to the GUI, and sends the actions of the
/// GUI's user to the server. In the lobby, any key joins the coming game.
#[derive(Debug, Clone, Parser)]
#[command(name = "robots-client", version, after_help = AFTER_HELP,
          override_usage = "robots-client -s SERVER[:PORT] -d GUI:PORT [OPTIONS]\n       \
                            robots-client -s SERVER[:PORT] --gui [OPTIONS]\n       \
                            robots-client -s SERVER[:PORT] --bot|--headless COUNT [OPTIONS]\n       \
                            robots-client --directory URL --gui [OPTIONS]\n       \
                            robots-client --demo [OPTIONS]")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Args {
    /// Address of the GUI, over UDP
    #[arg(short = 'd', long, value_name = "HOST:PORT", value_parser = host_port,
          required_unless_present_any = ["gui", "bot", "headless", "demo"], conflicts_with_all = ["gui", "headless"])]
    pub(crate) gui_address: Option<HostPort>,

    /// Address of the server, over TCP; without a port 2022; optional with --directory
    #[arg(short = 's', long, value_name = "HOST[:PORT]", value_parser = host_port_or(SERVER_PORT),
          required_unless_present_any = ["demo", "directory"])]
    pub(crate) server_address: Option<HostPort>,

    /// Your name, at most 255 bytes of UTF-8, may be empty; without it your login name, or 'bot' for bots
    #[arg(short = 'n', long, value_name = "NAME")]
    pub(crate) player_name: Option<ShortText>,

    /// UDP port for messages from the GUI; 0 is any free one [default: 2023]
    #[arg(short, long, value_parser = whole_number(0..=u16::MAX, PORT), allow_negative_numbers = true,
          requires = "gui_address", conflicts_with_all = ["gui", "headless"])]
    pub(crate) port: Option<u16>,

    /// Address for messages from the GUI, may be repeated; without it every address, IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", value_parser = ip_address, requires = "gui_address",
          conflicts_with_all = ["gui", "headless"])]
    pub(crate) bind: Vec<IpAddr>,

    /// Play in this terminal: client and GUI in one
    #[arg(long, conflicts_with = "headless")]
    pub(crate) gui: bool,

    /// Play immediately in this terminal, against three bots on a private server in this program
    #[arg(long, conflicts_with_all = ["server_address", "gui_address", "port", "bind", "gui", "observe", "retry", "directory", "headless", "games"])]
    pub(crate) demo: bool,

    /// Only observe: never join, and send no message to the server
    #[arg(long, conflicts_with_all = ["bot", "headless"])]
    pub(crate) observe: bool,

    /// Reconnect when the server is lost or not available yet: immediately and then every 2 seconds, without limit
    #[arg(long)]
    pub(crate) retry: bool,

    /// The directory for a room of an arcade of several hubs; implies --retry.
    #[command(flatten)]
    pub(crate) directory: DirectoryArgs,

    /// Play automatically; a GUI only shows the game
    #[arg(long, help_heading = "Bots")]
    pub(crate) bot: bool,

    /// Play as this number of bots without a GUI: NAME1, NAME2, ...
    #[arg(long, value_name = "COUNT", help_heading = "Bots",
          value_parser = whole_number(1..=MAX_BOTS, 4), allow_negative_numbers = true)]
    pub(crate) headless: Option<u16>,

    /// Strength of the bots; a person alone with a normal one wins nearly half of the games [default: normal]
    #[arg(long, value_name = "LEVEL", help_heading = "Bots", value_parser = level())]
    pub(crate) level: Option<Level>,

    /// Leave when each bot has completed this number of games; without it they play on
    #[arg(long, value_name = "COUNT", help_heading = "Bots",
          value_parser = whole_number(1..=MAX_GAMES, 1), allow_negative_numbers = true)]
    pub(crate) games: Option<u32>,

    /// The options for logging.
    #[command(flatten)]
    pub(crate) logs: ScreenLogArgs,

    // Parsed so that the error can name the option that they need.
    #[arg(hide = true, value_name = "WORD")]
    words: Vec<String>,
}

fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(["easy", "normal", "hard"]).map(|typed| match &*typed {
        "easy" => Level::Easy,
        "hard" => Level::Hard,
        _ => Level::Normal,
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// `None` for a server in this program, or from the directory.
    pub(crate) server: Option<HostPort>,
    pub(crate) directory: DirectoryArgs,
    pub(crate) retry: bool,
    pub(crate) screen: Screen,
    pub(crate) role: Role,
    pub(crate) level: Level,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Screen {
    None,
    Gui {
        address: HostPort,
        port: u16,
        /// For messages from the GUI. Empty for all addresses.
        bind: Vec<IpAddr>,
    },
    Terminal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
    Player(ShortText),
    Observer,
    Bots {
        /// Each with a separate connection.
        names: Vec<ShortText>,
        games: Option<u32>,
    },
}

impl Plan {
    pub(crate) fn of(args: &Args) -> Result<Self, UsageError> {
        let Args { gui_address, server_address, player_name, port, bind, .. } = args;
        if let Some(word) = args.words.first() {
            return Err(misplaced(word));
        }
        let screen = match gui_address {
            Some(address) => Screen::Gui { address: address.clone(), port: port.unwrap_or(PORT), bind: bind.clone() },
            None if args.gui || args.demo => Screen::Terminal,
            None => Screen::None,
        };
        let bots = args.bot || args.headless.is_some();
        if args.games.is_some() && !bots {
            return Err(UsageError("--games requires --bot or --headless COUNT".to_owned()));
        }
        if args.level.is_some() && !bots && !args.demo {
            return Err(UsageError("--level requires --bot, --headless COUNT or --demo".to_owned()));
        }
        let base = || player_name.clone().unwrap_or_else(|| text(BOT));
        let role = match args.headless {
            Some(count) => {
                let names = (1..=count).map(|number| numbered(&base(), number)).collect();
                Role::Bots { names, games: args.games }
            }
            None if args.bot => Role::Bots { names: vec![base()], games: args.games },
            None if args.observe => Role::Observer,
            None => {
                let login_name = || text(login(env::var_os).as_deref().unwrap_or(PERSON));
                Role::Player(player_name.clone().unwrap_or_else(login_name))
            }
        };
        let level = args.level.unwrap_or_default();
        let directory = args.directory.clone();
        // With a directory, the client follows the room.
        let retry = args.retry || !directory.directory.is_empty();
        Ok(Self { server: server_address.clone(), directory, retry, screen, role, level })
    }
}

fn misplaced(word: &str) -> UsageError {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    UsageError(if digits && !word.is_empty() {
        format!("unexpected '{word}': a port follows its host, as in -s localhost:{word}")
    } else {
        format!("unexpected '{word}': the server follows -s and your name follows -n, as in -s localhost:2022 -n Ann")
    })
}

// Cut to the maximum length.
fn text(long: &str) -> ShortText {
    ShortText::try_from(front(long, usize::from(u8::MAX))).unwrap_or_default()
}

// The longest prefix of at most `most` bytes that ends between characters.
fn front(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or_default()]
}

// Cuts the base instead of the number, so that all names differ.
fn numbered(base: &str, number: u16) -> ShortText {
    let number = number.to_string();
    let kept = front(base, usize::from(u8::MAX) - number.len());
    text(&format!("{kept}{number}"))
}

// From the environment, or else from the password database: the environment may be empty in a service or under
// `env -i`.
fn login(variable: impl Fn(&'static str) -> Option<OsString>) -> Option<String> {
    let mut said = ["LOGNAME", "USER", "USERNAME"].into_iter().filter_map(variable);
    said.find(|name| !name.is_empty()).map(|name| name.to_string_lossy().into_owned()).or_else(account)
}

#[cfg(unix)]
fn account() -> Option<String> {
    use nix::unistd::{User, getuid};
    User::from_uid(getuid()).ok().flatten().map(|user| user.name)
}

#[cfg(not(unix))]
const fn account() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once("robots-client").chain(line.split_whitespace()))
    }

    fn plan(line: &str) -> Plan {
        Plan::of(&parse(line).unwrap()).unwrap()
    }

    fn there(text: &str) -> HostPort {
        text.parse().unwrap()
    }

    fn names(names: &[&str]) -> Vec<ShortText> {
        names.iter().map(|&name| text(name)).collect()
    }

    #[test]
    fn options_have_short_and_long_forms_and_defaults() {
        let screen = Screen::Gui { address: there("gui:7"), port: 9, bind: vec![] };
        let role = Role::Player(text("Ann"));
        let expected = Plan {
            server: Some(there("[::1]:5")),
            directory: DirectoryArgs::default(),
            retry: false,
            screen,
            role,
            level: Level::Normal,
        };
        for line in [
            "-d gui:7 -s ::1:5 -n Ann -p 9",
            "--gui-address gui:7 --server-address [::1]:5 --player-name Ann --port 9",
            "--gui-address=gui:7 --server-address=[::1]:5 --player-name=Ann --port=9",
            "-dgui:7 -s[::1]:5 -nAnn -p9",
        ] {
            assert_eq!(plan(line), expected, "{line}");
        }
        let Plan { screen, role, .. } = plan("-d g:1 -s s:1 --bind 127.0.0.1 --bind ::1");
        let bind = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
        assert_eq!(screen, Screen::Gui { address: there("g:1"), port: 2023, bind });
        let Role::Player(login) = role else { panic!("{role:?}") };
        assert!(!login.is_empty());
    }

    #[test]
    fn login_name_is_from_the_environment_or_the_password_database() {
        let says = |name: &str| login(|variable| (variable == name).then(|| "ann".into()));
        assert!(["LOGNAME", "USER", "USERNAME"].into_iter().all(|name| says(name).as_deref() == Some("ann")));
        let empty = login(|variable| Some(if variable == "LOGNAME" { "" } else { "ann" }.into()));
        assert_eq!(empty.as_deref(), Some("ann"));
        // A user who is not in the database has only a number.
        #[cfg(unix)]
        {
            let id = std::process::Command::new("id").arg("-un").output().unwrap();
            let known = id.status.success().then(|| String::from_utf8(id.stdout).unwrap().trim().to_owned());
            assert_eq!(login(|_| None), known);
        }
    }

    #[test]
    fn a_name_has_0_to_255_bytes() {
        for good in ["", " ", "Żółć!", &"x".repeat(255), &"ó".repeat(127)] {
            let args = Args::try_parse_from(["c", "-s", "h:1", "-d", "h:1", "-n", good]).unwrap();
            assert_eq!(args.player_name, Some(text(good)));
        }
        let error = Args::try_parse_from(["c", "-s", "h:1", "-d", "h:1", "-n", &"ó".repeat(128)]).unwrap_err();
        assert!(error.to_string().contains("at most 255 bytes, and this one has 256"), "{error}");
    }

    #[test]
    fn bots_have_names_and_need_no_gui() {
        let bots = |list: &[&str], games| Role::Bots { names: names(list), games };
        assert_eq!(plan("-s h:1 --bot").role, bots(&["bot"], None));
        assert_eq!(plan("-s h:1 --bot -n Zed --games 3").role, bots(&["Zed"], Some(3)));
        let Plan { server, directory, retry, .. } = plan("--gui --directory http://h:1/rooms/robots-1");
        assert!(server.is_none() && directory.directory.len() == 1 && retry, "the directory tells where the server is");
        assert_eq!(plan("-s h:1 --headless 3 --retry").role, bots(&["bot1", "bot2", "bot3"], None));
        assert_eq!(plan("-s h:1 --bot --headless 1 -n x").role, bots(&["x1"], None));
        assert_eq!(plan("-s h:1 --headless 3").screen, Screen::None);
        assert_eq!(plan("-s h:1 --bot --gui").screen, Screen::Terminal);
        assert!(matches!(plan("-s h:1 --bot -d g:1").screen, Screen::Gui { .. }));
        let long = "ó".repeat(127);
        let Role::Bots { names, .. } = plan(&format!("-s h:1 --headless 12 -n {long}")).role else { panic!() };
        assert_eq!(&*names[11], format!("{}12", "ó".repeat(126)));
    }

    #[test]
    fn server_port_has_a_default_and_demo_needs_no_server() {
        assert_eq!(plan("-s localhost --gui").server, Some(there("localhost:2022")));
        let Plan { server, screen, role, level, .. } = plan("--demo -n Ann");
        assert_eq!((server, screen, role, level), (None, Screen::Terminal, Role::Player(text("Ann")), Level::Normal));
        assert_eq!(plan("--demo --level hard").level, Level::Hard);
        assert_eq!(plan("-s h --headless 3 --level easy").level, Level::Easy);
        for line in ["--demo -s h:1", "--demo -d h:1", "--demo --gui", "--demo --observe", "--demo --headless 2"] {
            assert_eq!(parse(line).unwrap_err().kind(), ErrorKind::ArgumentConflict, "{line}");
        }
    }

    #[test]
    fn words_without_an_option_are_explained() {
        let refused = |line: &str| Plan::of(&parse(line).unwrap()).unwrap_err().0;
        assert!(refused("-s localhost 2023 --gui").contains("-s localhost:2023"));
        assert!(refused("-s localhost --gui Ann").contains("your name follows -n"));
        assert!(refused("-s h:1 --gui --level easy").contains("--level requires"));
    }

    #[test]
    fn missing_and_unknown_options_are_refused() {
        for (line, kind) in [
            ("", ErrorKind::MissingRequiredArgument),
            ("-s h:1", ErrorKind::MissingRequiredArgument),
            ("-d h:1", ErrorKind::MissingRequiredArgument),
            ("--bot", ErrorKind::MissingRequiredArgument),
            ("-s h:1 --observe", ErrorKind::MissingRequiredArgument),
            ("-s h:1 -d h:1 --no-such", ErrorKind::UnknownArgument),
            ("-s h:1 -s h:1 -d h:1", ErrorKind::ArgumentConflict),
            ("-s h:1 -d", ErrorKind::InvalidValue),
            ("-s h:1 --bot --level best", ErrorKind::InvalidValue),
        ] {
            assert_eq!(parse(line).unwrap_err().kind(), kind, "{line}");
        }
    }

    #[test]
    fn conflicting_options_are_refused_by_name() {
        for (line, named) in [
            ("-s h:1 -d h:1 --headless 2", ["--gui-address", "--headless"]),
            ("-s h:1 --bot --observe", ["--bot", "--observe"]),
            ("-s h:1 --headless 2 --observe", ["--headless", "--observe"]),
            ("-s h:1 --gui -d h:1", ["--gui", "--gui-address"]),
            ("-s h:1 --gui --headless 2", ["--gui", "--headless"]),
            ("-s h:1 --gui --gui", ["--gui", "multiple times"]),
            ("-s h:1 --gui -p 5", ["--gui", "--port"]),
            ("-s h:1 --gui --bind ::1", ["--gui", "--bind"]),
            ("-s h:1 --headless 2 --port 5", ["--headless", "--port"]),
            ("-s h:1 --bot -p 5", ["required", "--gui-address"]),
            ("-s h:1 --bot --bind ::1", ["required", "--gui-address"]),
        ] {
            let error = parse(line).unwrap_err().to_string();
            assert!(named.iter().all(|named| error.contains(named)), "{line}: {error}");
        }
        let error = Plan::of(&parse("-s h:1 -d h:1 --games 1").unwrap()).unwrap_err();
        assert!(error.0.contains("--bot or --headless"), "{error}");
    }

    #[test]
    fn invalid_values_are_refused_with_the_expected_form() {
        let bots = "1 to 1000, as in 4";
        for (option, wrong, right) in [
            ("-p", "65536", "0 to 65535, as in 2023"),
            ("-d", "h", "the port is missing"),
            ("-s", "", "the host is missing"),
            ("--headless", "0", bots),
            ("--headless", "1001", bots),
            ("--games", "0", "1 to 1000000000, as in 1"),
            ("--bind", "localhost", "as in 127.0.0.1"),
        ] {
            let error = Args::try_parse_from(["c", option, wrong]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ValueValidation, "{option} {wrong:?}: {error}");
            let error = error.to_string();
            assert!(error.contains(&format!("'{wrong}'")) && error.contains(right), "{option} {wrong:?}: {error}");
        }
    }
}
