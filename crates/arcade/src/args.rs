//! The command line.

use std::{net::IpAddr, path::PathBuf};

use clap::Parser;
use cmdkit::{LogArgs, ip_address, whole_number};

/// The port of the page, unless another is chosen.
pub(crate) const PORT: u16 = 8080;

/// Host nuggets, robots and blackjack, with a web page to play and to watch
#[derive(Debug, Parser)]
#[command(name = "arcade", version)]
pub(crate) struct Args {
    /// TCP port of the page; 0 is any free one
    #[arg(long, short, default_value_t = PORT, value_parser = whole_number(0..=u16::MAX, PORT), allow_negative_numbers = true)]
    pub(crate) port: u16,

    /// Address to listen on, may be repeated; by default only this machine can reach the hub
    #[arg(long, value_name = "ADDRESS", value_parser = ip_address)]
    pub(crate) bind: Vec<IpAddr>,

    /// Directory for journals, results and the secret of the hub
    #[arg(long, value_name = "DIR", default_value = "arcade-data")]
    pub(crate) data: PathBuf,

    /// PostgreSQL database for results, such as postgres://user@host/arcade; by default they are in a file in the data directory.
    /// A password is better set in PGPASSWORD
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) database: Option<String>,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}
