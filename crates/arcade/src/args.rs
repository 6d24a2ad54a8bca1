use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    ops::RangeInclusive,
    path::PathBuf,
};

use clap::Parser;
use cmdkit::{HostPort, LogArgs, ip_address, retention, whole_number};
use ipnet::IpNet;
use journal_core::Retention;
use mesh::{Durability, Name};

#[cfg(unix)]
use crate::operator::commands::Command;
use crate::{
    fleet,
    games::Game,
    hub::{
        address::{PORT, PublicUrl, host_name, public_url},
        ports::port_range,
        resources::{MAX_ROOMS, MAX_SOCKETS},
    },
    proxied::{Proxies, network},
    web::tls::Files,
};

/// Host classic network games, with a web page to play and to watch
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
#[derive(Debug, Parser)]
#[command(name = "arcade", version)]
pub(crate) struct Args {
    /// TCP port of the page; 0 is any free one
    #[arg(long, short, default_value_t = PORT, value_parser = whole_number(0..=u16::MAX, PORT), allow_negative_numbers = true)]
    pub(crate) port: u16,

    /// Address to listen on, may be repeated; by default only this machine can reach the hub
    #[arg(long, value_name = "ADDRESS", value_parser = ip_address)]
    pub(crate) bind: Vec<IpAddr>,

    /// Address at which rooms listen for native clients, may be repeated; by default those of the page
    #[arg(long, value_name = "ADDRESS", value_parser = ip_address)]
    pub(crate) bind_rooms: Vec<IpAddr>,

    /// UDP and TCP ports of rooms for native clients, as in 2100-2199; by default any free ones
    #[arg(long, value_name = "FIRST-LAST", value_parser = port_range)]
    pub(crate) ports: Option<RangeInclusive<u16>>,

    /// Directory for rooms, journals, results and the secret of the hub
    #[arg(long, value_name = "DIR", default_value = "arcade-data", global = true)]
    pub(crate) data: PathBuf,

    /// Directory with additional maps of nuggets: text files named NAME.txt
    #[arg(long, value_name = "DIR")]
    pub(crate) maps: Option<PathBuf>,

    /// PostgreSQL database for results, as in `postgres://user@host/arcade`; the default is a file in the data
    /// directory. Pass the password in PGPASSWORD
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) database: Option<String>,

    /// NATS servers that connect several hubs to one arcade, as in `nats://10.0.0.1:4222,nats://10.0.0.2:4222`; see
    /// docs/fleet.md. Pass addresses with a password, as in `nats://USER:PASSWORD@HOST:4222`, in `ARCADE_NATS`
    #[arg(
        long,
        env = "ARCADE_NATS",
        hide_env = true,
        value_name = "ADDRESSES",
        value_delimiter = ',',
        hide_short_help = true
    )]
    pub(crate) nats: Vec<String>,

    /// Name of the arcade, if several use the same NATS servers
    #[arg(long, value_name = "NAME", value_parser = node_name, default_value = "arcade", hide_short_help = true)]
    pub(crate) arcade: Name,

    /// Unique name of this hub in the arcade, with --nats
    #[arg(long, value_name = "NAME", value_parser = node_name, hide_short_help = true, requires_all = ["nats", "advertise", "database"])]
    pub(crate) node: Option<Name>,

    /// Host at which native clients and other hubs of the arcade reach this one, with --nats
    #[arg(long, value_name = "HOST", value_parser = host_name, hide_short_help = true, requires = "node")]
    pub(crate) advertise: Option<String>,

    /// Open the ladder for programs in these games. Programs are paired by rating and play continuously. A port may
    /// follow a game, as in robots=2021,nuggets=2022; the default is any free one. See docs/ladder.md
    #[arg(long, value_name = "GAMES", value_delimiter = ',', value_parser = ladder_game)]
    pub(crate) ladder: Vec<(Game, u16)>,
    /// How long a program of the ladder may take to reconnect to its match, once a match; 0 disables it
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = whole_number(0..=60_u64, 10), allow_negative_numbers = true)]
    pub(crate) reconnect: u64,

    /// What survives the loss of this hub's machine, with --nats: `node` keeps the part of a room that was copied to
    /// the NATS servers until then; `cluster` keeps all output that was sent, because output is sent only after it is
    /// stored there
    #[arg(long, value_name = "WHAT", value_parser = durability, default_value = "node", hide_short_help = true)]
    pub(crate) durability: Durability,

    /// Streams of copies of rooms at the NATS servers, with --nats; each has its own leader. The first hub of an arcade
    /// sets the number, by default 16; omit the option for the others
    #[arg(long, value_name = "N", value_parser = whole_number(1..=mesh::MAX_STREAMS, mesh::DEFAULT_STREAMS), hide_short_help = true, allow_negative_numbers = true)]
    pub(crate) journal_streams: Option<u32>,

    /// Do not open the default rooms at startup
    #[arg(long)]
    pub(crate) no_default_rooms: bool,

    /// Also offer the example games of the documentation, such as four in a row
    #[arg(long)]
    pub(crate) examples: bool,

    /// Close user-created rooms after they have been empty for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = whole_number(1..=86_400_u64, 300), allow_negative_numbers = true)]
    pub(crate) empty_rooms: u64,

    /// Transfer a room whose owner has been away for this many seconds to the client that has been present longest
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = whole_number(1..=86_400_u64, 60), allow_negative_numbers = true)]
    pub(crate) owner_away: u64,

    /// Reserve the seat of a player whose page has lost its connection for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = whole_number(0..=86_400_u64, 300), allow_negative_numbers = true)]
    pub(crate) keep_seats: u64,

    /// Delay rated matches by this many seconds for spectators, so that they cannot help the players
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = whole_number(0..=3_600_u64, 30), allow_negative_numbers = true)]
    pub(crate) watch_delay: u64,

    /// Remove journals, and with them the replays of their matches, until the rest is within this limit: an age in
    /// hours, days or weeks, a number of journals, a total size, or several of these, as in 30d,100,10G. Journals
    /// without people or results are removed first, then the oldest; those of open rooms stay. Without this option no
    /// journal is removed
    #[arg(long, value_name = "WHAT", value_parser = retention)]
    pub(crate) journal_keep: Option<Retention>,

    /// Before the hub ends, continue running matches for this many seconds; the next start resumes them
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = whole_number(0..=3_600_u64, 10), allow_negative_numbers = true)]
    pub(crate) drain: u64,

    /// Address of the page for other people, as in `https://play.example.org/games/`, for links and QR codes. May be
    /// repeated with the same path: browsers may use all these addresses, localhost, and addresses of this machine
    #[arg(long, value_name = "URL", value_parser = public_url)]
    pub(crate) public_url: Vec<PublicUrl>,

    /// Rooms that one host may have open at the same time, unless its fair share is smaller
    #[arg(long, value_name = "N", default_value_t = MAX_ROOMS, value_parser = whole_number(0..=MAX_ROOMS, MAX_ROOMS), allow_negative_numbers = true)]
    pub(crate) rooms_per_host: usize,

    /// Browser sockets that one host may have open at the same time, unless its fair share is smaller
    #[arg(long, value_name = "N", default_value_t = MAX_SOCKETS, value_parser = whole_number(1..=MAX_SOCKETS, MAX_SOCKETS), allow_negative_numbers = true)]
    pub(crate) sockets_per_host: usize,

    /// Address or network of reverse proxies whose X-Forwarded-For or Forwarded header is trusted, as in 127.0.0.1 or
    /// 172.18.0.0/16, may be repeated
    #[arg(long, value_name = "ADDRESS", value_parser = network)]
    pub(crate) proxy: Vec<IpNet>,

    /// All TCP connections from the addresses of --proxy begin with a header of the PROXY protocol, version 1 or 2, at
    /// the port of the page and those of rooms
    #[arg(long, requires = "proxy")]
    pub(crate) proxy_protocol: bool,

    /// Serve the page over HTTPS with this certificate and key, both in PEM format. SIGHUP reloads them
    #[arg(long, num_args = 2, value_names = ["CERTIFICATE", "KEY"], action = clap::ArgAction::Set)]
    pub(crate) tls: Option<Vec<PathBuf>>,

    /// Additional address and port that serve /metrics without access control, as in 10.0.0.5:9100; the port of the
    /// page serves it only to programs on this machine
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,

    /// Report readiness, health and the number of rooms to Agones, for hubs in a Kubernetes cluster; see docs/fleet.md
    #[arg(long, hide_short_help = true)]
    pub(crate) agones: bool,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    /// The command to run instead of hosting
    #[cfg(unix)]
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

fn ladder_game(typed: &str) -> Result<(Game, u16), String> {
    let (name, port) = typed.split_once('=').unwrap_or((typed, "0"));
    let game =
        Game::named(name).ok_or_else(|| format!("expected one or more of {}", Game::names(Game::offered(true))))?;
    let port = port.parse().map_err(|_| "expected a port after the game, as in robots=2021".to_owned())?;
    Ok((game, port))
}

fn durability(typed: &str) -> Result<Durability, String> {
    match typed {
        "node" => Ok(Durability::Node),
        "cluster" => Ok(Durability::Cluster),
        _ => Err("expected node or cluster".to_owned()),
    }
}

fn node_name(typed: &str) -> Result<Name, String> {
    typed.parse::<Name>().map_err(|error| error.to_string())
}

impl Args {
    /// `port` is that of the page. Only hosting rejects NATS servers without a node: a command may find `ARCADE_NATS`
    /// in the environment of its hub.
    pub(crate) fn joins(&self, port: u16) -> anyhow::Result<Option<fleet::Settings>> {
        anyhow::ensure!(
            self.nats.is_empty() || self.node.is_some(),
            "NATS servers, from --nats or ARCADE_NATS, require --node, --advertise and --database"
        );
        Ok(self.settings(port))
    }

    fn settings(&self, port: u16) -> Option<fleet::Settings> {
        let (name, host) = (self.node.clone()?, self.advertise.clone()?);
        let address = HostPort { host: host.clone(), port }.to_string();
        let runs = Game::ALL.map(Game::rules).to_vec();
        let (servers, arcade, durability) = (self.nats.clone(), self.arcade.clone(), self.durability);
        let streams = self.journal_streams;
        Some(fleet::Settings { servers, arcade, name, host, address, durability, streams, runs })
    }

    pub(crate) fn page_addresses(&self) -> Vec<IpAddr> {
        if self.bind.is_empty() { vec![IpAddr::V4(Ipv4Addr::LOCALHOST)] } else { self.bind.clone() }
    }

    pub(crate) fn proxies(&self) -> Proxies {
        Proxies::new(&self.proxy, self.proxy_protocol)
    }

    /// The host names that the certificate must have.
    pub(crate) fn tls_names(&self) -> Vec<String> {
        self.public_url.iter().filter(|url| url.is_secure()).map(|url| url.host().to_owned()).collect()
    }

    pub(crate) fn certificate(&self) -> Option<Files> {
        let [certificate, key] = self.tls.as_deref()? else { return None };
        Some(Files { certificate: certificate.clone(), key: key.clone() })
    }

    pub(crate) fn room_addresses(&self) -> Vec<IpAddr> {
        if self.bind_rooms.is_empty() { self.page_addresses() } else { self.bind_rooms.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_needs_brokers_and_commands_ignore_them() {
        let parse = |words: &[&str]| Args::try_parse_from(["arcade", "--nats", "nats://10.0.0.1"].iter().chain(words));
        let names = ["--node", "ann", "--advertise", "10.0.0.2", "--database", "postgres://10.0.0.3"];
        assert!(parse(&names).unwrap().joins(80).unwrap().is_some());
        assert!(parse(&names[..4]).is_err() && parse(&names[2..]).is_err());
        assert!(parse(&[]).unwrap().joins(80).unwrap_err().to_string().contains("--node"));
        // A command in the container of a hub may have `ARCADE_NATS` in its environment.
        #[cfg(unix)]
        assert!(parse(&["status"]).unwrap().command.is_some());
        assert!(Args::try_parse_from(["arcade"].iter().chain(&names)).is_err());
    }
}
