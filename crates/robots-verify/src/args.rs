use std::{net::IpAddr, path::PathBuf};

use clap::{
    ArgAction, Parser,
    builder::{PossibleValuesParser, TypedValueParser},
};
use cmdkit::{ip_address, whole_number};

use crate::kind::Kind;

const AFTER_HELP: &str = "\
Examples:
  robots-verify -p 2022 -m client
      act as a server, and explain what clients send to TCP port 2022
  robots-verify -p 2024 -m display -u
      act as a GUI, and explain the pictures that arrive at UDP port 2024
  robots-verify -p 2023 -m input -u
      act as a client, and explain what a GUI sends to UDP port 2023
  nc localhost 2022 | robots-verify -m server --file -
      explain what the server at port 2022 sends, as it arrives

Exit status: 0 after a signal or when every message of a file is valid, 1 when one is invalid or incomplete, on \
failure, or for wrong usage.";

/// Explain every received robots message, byte by byte, up to the first wrong one
#[derive(Debug, Parser)]
#[command(name = "robots-verify", version, after_help = AFTER_HELP, disable_help_flag = true,
          override_usage = "robots-verify -p PORT -m KIND [-u] [OPTIONS]\n       robots-verify --file FILE -m KIND [-u] [OPTIONS]")]
pub(crate) struct Args {
    /// Port to listen on; 0 is any free one
    #[arg(short, long, value_parser = whole_number(0..=u16::MAX, 2022), allow_negative_numbers = true,
          required_unless_present = "file", conflicts_with = "file")]
    pub(crate) port: Option<u16>,

    /// Direction of the messages: from a client to its server, from a server to its client, from a client to its GUI
    /// (display), or from a GUI to its client (input)
    #[arg(short, long, value_name = "KIND", value_parser = kind())]
    pub(crate) messages: Kind,

    /// Receive datagrams over UDP, one message each, instead of connections over TCP
    #[arg(short, long)]
    pub(crate) udp: bool,

    /// Explain this file instead, or standard input if it is -; with -u the whole input is one datagram
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Write a line of JSON for each message
    #[arg(long)]
    pub(crate) json: bool,

    /// Address to listen on, may be repeated; without it every address, IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", value_parser = ip_address, conflicts_with = "file")]
    pub(crate) bind: Vec<IpAddr>,

    /// Print help
    #[arg(short = 'h', long, action = ArgAction::Help)]
    help: (),
}

fn kind() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::name))
        .map(|typed| Kind::ALL.into_iter().find(|kind| kind.name() == typed).unwrap_or(Kind::Client))
}
