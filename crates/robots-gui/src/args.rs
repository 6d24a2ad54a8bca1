use std::net::IpAddr;

use clap::{ArgAction, Parser};
use cmdkit::{HostPort, ScreenLogArgs, host_port, ip_address, whole_number};
use netcore::wire::TextTooLong;
use robots::PlayerId;
use robots_gui::Follow;

const EXAMPLES: &str = "\
Examples:
  robots-gui
      receive pictures at port 2024 and send keys to a client on this machine
  robots-gui -c 192.0.2.7:2023 -p 3000 --follow Ann
      send keys to a client on another machine, and mark the row and robot of Ann

F1 or ? shows the keys; Q leaves.

Exit status: 0 when you leave, 1 on failure or for wrong usage.";

/// Show games of robots in the terminal, and send the pressed keys to a client
#[derive(Debug, Clone, Parser)]
#[command(name = "robots-gui", version, after_help = EXAMPLES, disable_help_flag = true,
          override_usage = "robots-gui [-c CLIENT:PORT] [-p PORT] [OPTIONS]")]
pub(crate) struct Args {
    /// Address of the client, as `name:port`, `1.2.3.4:port` or `[::1]:port`
    #[arg(short, long, value_name = "HOST:PORT", default_value = "localhost:2023", value_parser = host_port,
          allow_hyphen_values = true)]
    pub(crate) client_address: HostPort,

    /// UDP port that receives pictures; 0 is any free one
    #[arg(short, long, default_value_t = 2024, value_parser = whole_number(0..=u16::MAX, 2024),
          allow_negative_numbers = true)]
    pub(crate) port: u16,

    /// Your player, by number or name: its row and robot are marked, and it stays in view on a large board
    #[arg(long, value_name = "ID|NAME", value_parser = follow)]
    pub(crate) follow: Option<Follow>,

    /// Address to listen on, may be repeated; the default is all addresses, IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", value_parser = ip_address)]
    pub(crate) bind: Vec<IpAddr>,

    /// Print help
    #[arg(short = 'h', long, action = ArgAction::Help)]
    help: (),

    /// Log level and destination.
    #[command(flatten)]
    pub(crate) logs: ScreenLogArgs,
}

// A number from 0 to 255 selects a player by number, other text by name.
fn follow(typed: &str) -> Result<Follow, TextTooLong> {
    match typed.parse() {
        Ok(id) if typed.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Follow::Id(PlayerId(id))),
        _ => typed.parse().map(Follow::Name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_ports_are_used_without_arguments() {
        let args = Args::try_parse_from(["robots-gui"]).unwrap();
        assert_eq!((args.client_address.to_string(), args.port), ("localhost:2023".into(), 2024));
        assert!(args.follow.is_none() && args.bind.is_empty());
    }

    #[test]
    fn short_and_long_options_are_equivalent() {
        for line in
            ["-c ::1:7 -p 8", "--client-address [::1]:7 --port 8", "--client-address=[::1]:7 --port=8", "-c[::1]:7 -p8"]
        {
            let args = Args::try_parse_from(["robots-gui"].into_iter().chain(line.split(' '))).unwrap();
            assert_eq!((args.client_address.to_string(), args.port), ("[::1]:7".into(), 8), "{line}");
        }
    }

    #[test]
    fn follow_option_takes_a_player_number_or_name() {
        for (typed, followed) in [
            ("0", Follow::Id(PlayerId(0))),
            ("255", Follow::Id(PlayerId(255))),
            ("256", Follow::Name("256".try_into().unwrap())),
            ("+1", Follow::Name("+1".try_into().unwrap())),
            ("Ann", Follow::Name("Ann".try_into().unwrap())),
        ] {
            assert_eq!(format!("{:?}", follow(typed).unwrap()), format!("{followed:?}"));
        }
        assert!(follow(&"x".repeat(256)).unwrap_err().to_string().contains("at most 255 bytes"));
    }
}
