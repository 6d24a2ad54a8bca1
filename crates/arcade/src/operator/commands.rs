//! The operator's commands: requests to the running hub over the socket in its data directory.

use std::{
    env,
    fmt::Write as _,
    io::{self, BufRead as _, BufReader, ErrorKind, Write as _},
    os::unix::{net::UnixStream, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{self, Child, ExitCode, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};
use clap::Subcommand;
use cmdkit::{EXIT_FAILURE, Named, NewFile, Owner, UsageError, become_owner, isolated, whole_number};
use netcore::HostId;
use serde_json::{Map, Value};

use crate::{
    games::{Game, Options},
    hub::classes::MAX_CLASS_PLAYERS,
    operator::{
        drain,
        ladder::LadderCommand,
        reports::{self, ReportCommand},
        transfer::receive,
        wire::{self, Reply, Request, pretty},
    },
    room::bans::host,
};

/// A backup may be large.
const PATIENCE: Duration = Duration::from_mins(10);

/// The command to run instead of hosting
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// Show the status of the running hub
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List, open and close rooms
    #[command(subcommand)]
    Room(RoomCommand),
    /// Remove a player from a room
    Kick {
        /// The room, as in nuggets-1
        room: String,
        /// The player's seat or name
        seat: String,
    },
    /// Ban a host from the page and all rooms, list the banned hosts, or lift a ban
    #[command(arg_required_else_help = true)]
    Ban {
        /// The address of the host; an IPv6 address bans its 64-bit network
        #[arg(value_name = "HOST", value_parser = host, conflicts_with_all = ["list", "remove"])]
        host: Option<HostId>,
        /// List the banned hosts
        #[arg(long, conflicts_with = "remove")]
        list: bool,
        /// Lift the ban of this host
        #[arg(long, value_name = "HOST", value_parser = host)]
        remove: Option<HostId>,
    },
    /// End the hub: reject new rooms, and continue running matches for some time; the next start resumes them
    Drain {
        /// How long matches continue
        #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = whole_number(0..=86_400_u64, 60), allow_negative_numbers = true)]
        seconds: u64,
        /// First hand the rooms over to other hubs of the arcade, which continue the matches
        #[arg(long = "move")]
        moving: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write all data of the hub into one file while it runs
    Backup {
        /// The file, which must not exist
        file: PathBuf,
    },
    /// Write the backup to standard output as the hub sends it; used by `arcade backup`
    #[command(hide = true)]
    RelayBackup,
    /// Check a backup and unpack it into the data directory, which no hub may be using
    Restore {
        /// The file that `arcade backup` has written
        file: PathBuf,
        /// Move existing data of the directory aside; without this option the directory must be empty
        #[arg(long)]
        replace: bool,
    },
    /// Move results between databases
    #[command(subcommand)]
    Results(ResultsCommand),
    /// Show the matches of a journal on a page of this machine, until Ctrl-C; works without a hub
    Replay {
        /// The journal of a hub or a server
        file: PathBuf,
        /// TCP port of the page; 0 is any free one
        #[arg(long, short, default_value_t = 0, value_parser = whole_number(0..=u16::MAX, 0_u16), allow_negative_numbers = true)]
        port: u16,
    },
    /// Open a class: a private space with its own join code, in which pupils behind one address play. Prints the link
    /// for its teacher; see docs/teachers.md
    Class {
        /// The name of the class, as in "Networks, group 2"
        name: String,
        /// How many pupils may join, each with a browser of their own
        #[arg(long, value_name = "N", value_parser = whole_number(1..=MAX_CLASS_PLAYERS, 60), allow_negative_numbers = true)]
        players: u32,
    },
    /// End a class whose teacher has lost the link, and remove its data. An unknown code prints the open classes
    EndClass {
        /// The code of its join link
        code: String,
    },
    /// Join the ladder of a hub with a program, show the ladder, or leave it
    #[command(subcommand)]
    Ladder(LadderCommand),
    /// List and clear the reports of players about other players
    #[command(subcommand)]
    Report(ReportCommand),
    /// Find problems that keep a hub from working on this machine; use the same options as for the hub
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Commands for results
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ResultsCommand {
    /// Copy all results, ratings and names to another database. No hub may use either of them. Existing rows are
    /// skipped
    Copy {
        /// The source: the address of a PostgreSQL database or the path of a SQLite file; the default is the database
        /// of the hub
        #[arg(long, value_name = "DATABASE")]
        from: Option<String>,
        /// The target: `postgres://user@host/arcade`, or the path of a SQLite file. Pass the password in PGPASSWORD
        #[arg(long, value_name = "DATABASE")]
        to: String,
    },
}

/// Commands for rooms
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum RoomCommand {
    /// List the open rooms
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Open a room
    New {
        /// nuggets, robots, blackjack or mastermind
        #[arg(value_parser = game)]
        game: Game,
        /// Its options, as in map=donuts, players=2 or repeats=false
        #[arg(value_name = "NAME=VALUE")]
        options: Vec<String>,
        /// Keep it open while it is empty
        #[arg(long)]
        permanent: bool,
    },
    /// Close a room permanently
    Close {
        /// The room, as in nuggets-1
        room: String,
        /// The reason, for clients in the room
        #[arg(long, default_value = "the host of this hub has closed the room")]
        reason: String,
    },
    /// Restart a room with a new journal
    Restart {
        /// The room, as in nuggets-1
        room: String,
    },
}

fn game(typed: &str) -> Result<Game, String> {
    Game::named(typed).ok_or_else(|| format!("expected one of {}", Game::names(Game::offered(true))))
}

pub(crate) fn run(data: &Path, command: Command) -> anyhow::Result<ExitCode> {
    if let Command::Backup { file } = command {
        return back_up(data, &file);
    }
    become_owner(data)?;
    let mut out = io::stdout().lock();
    match command {
        Command::Status { json } => {
            let status = send(data, &Request::Status)?;
            let text = if json { pretty(&status) } else { status_text(&status) };
            write!(out, "{text}")?;
        }
        Command::Room(RoomCommand::List { json }) => {
            let rooms = send(data, &Request::Rooms)?;
            let text = if json { pretty(&rooms) } else { rooms_text(&rooms) };
            write!(out, "{text}")?;
        }
        Command::Room(RoomCommand::New { game, options, permanent }) => {
            let options = options_of(game, &options)?;
            let room = send(data, &Request::Open { options, permanent })?;
            writeln!(out, "{} is open at port {}.", word(&room, "id"), room["port"])?;
        }
        Command::Room(RoomCommand::Close { room, reason }) => {
            send(data, &Request::Close { room: room.clone(), reason })?;
            writeln!(out, "{room} is closed.")?;
        }
        Command::Room(RoomCommand::Restart { room }) => {
            send(data, &Request::Restart { room: room.clone() })?;
            writeln!(out, "{room} is restarted.")?;
        }
        Command::Kick { room, seat } => {
            let player = send(data, &Request::Kick { room: room.clone(), seat })?;
            writeln!(
                out,
                "{} (seat {}) is removed from {room}.",
                isolated(&word(&player, "name")),
                word(&player, "seat")
            )?;
        }
        Command::Ban { host: Some(host), .. } => {
            let changed = send(data, &Request::Ban { host })?;
            let already = if changed == Value::Bool(false) { " already" } else { "" };
            writeln!(out, "{} is banned{already}.", crate::room::bans::host_text(host))?;
        }
        Command::Ban { remove: Some(host), .. } => {
            send(data, &Request::Unban { host })?;
            writeln!(out, "The ban of {} is lifted.", crate::room::bans::host_text(host))?;
        }
        Command::Ban { .. } => {
            for host in send(data, &Request::Bans)?.as_array().into_iter().flatten() {
                writeln!(out, "{}", cmdkit::printable(host.as_str().unwrap_or_default()))?;
            }
        }
        Command::Drain { seconds, moving, json } => {
            let drained = send(data, &Request::Drain { seconds, moving })?;
            write!(out, "{}", if json { pretty(&drained) } else { drain::text(&drained, seconds)? })?;
        }
        Command::Class { name, players } => {
            let class = send(data, &Request::Class { name: name.clone(), players })?;
            writeln!(out, "{name} is open for up to {players} players.")?;
            writeln!(out, "Teacher:   {}", word(&class, "teacher"))?;
            writeln!(out, "Players:   {}", word(&class, "join"))?;
            writeln!(
                out,
                "Give the first link to the teacher only: it opens rooms, shows results and ends the class."
            )?;
        }
        Command::EndClass { code } => drop(send(data, &Request::EndClass { code })?),
        Command::RelayBackup => {
            let (_, mut stream) = converse(data, &Request::Backup)?;
            io::copy(&mut stream, &mut out)?;
        }
        Command::Report(ReportCommand::List { json }) => {
            let reports = send(data, &Request::Reports)?;
            let page = send(data, &Request::Status)?;
            write!(out, "{}", if json { pretty(&reports) } else { reports::text(&reports, &word(&page, "address")) })?;
        }
        Command::Report(ReportCommand::Clear { id }) => {
            send(data, &Request::ClearReport { id })?;
            writeln!(out, "Report {id} is cleared.")?;
        }
        Command::Backup { .. }
        | Command::Restore { .. }
        | Command::Results(_)
        | Command::Replay { .. }
        | Command::Doctor { .. }
        | Command::Ladder(_) => {
            bail!("this command does not use a hub")
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Fails if no hub uses this data directory, or if the hub rejects the request.
pub(crate) fn send(data: &Path, request: &Request) -> anyhow::Result<Value> {
    converse(data, request).map(|(reply, _)| reply)
}

// The stream contains the data after the reply.
fn converse(data: &Path, request: &Request) -> anyhow::Result<(Value, BufReader<UnixStream>)> {
    let path = wire::path(data);
    let stream = wire::connect(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            anyhow::anyhow!(
                "no hub runs with the data in '{}'; give the directory of the running hub with --data",
                data.display()
            )
        }
        ErrorKind::PermissionDenied => anyhow::anyhow!(
            "only the user of the hub and root can control it at '{}'; retry with `sudo`",
            path.display()
        ),
        _ => anyhow::Error::from(error).context(format!("cannot reach the hub at '{}'", path.display())),
    })?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    (&stream).write_all(line.as_bytes()).context("cannot send the command to the hub")?;
    let mut answer = String::new();
    let mut stream = BufReader::new(stream);
    stream.read_line(&mut answer).context("the hub does not respond")?;
    match serde_json::from_str(&answer).context("the hub ended before it responded")? {
        Reply::Done(value) => Ok((value, stream)),
        Reply::Error(why) => bail!(why),
    }
}

// The file gets its name when it is complete. The hub's user may not write there, so root keeps its privileges, and a
// child process connects to the socket as that user.
fn back_up(data: &Path, path: &Path) -> anyhow::Result<ExitCode> {
    let cannot = || format!("cannot write the backup '{}'", path.display());
    if path.symlink_metadata().is_ok() {
        bail!("'{}' already exists; choose another name for the backup", path.display());
    }
    let named = Named::new(path).with_context(cannot)?;
    let mut file = NewFile::create(named.path()).with_context(cannot)?;
    let about = match Owner::to_become(data)? {
        None => receive(converse(data, &Request::Backup)?.1, &mut file).with_context(cannot)?,
        Some(owner) => {
            let mut relay = relay(data, owner).context("cannot start a process of the hub's user")?;
            let stream = relay.stdout.take().context("the process has no standard output")?;
            let received = receive(BufReader::new(stream), &mut file).with_context(cannot);
            if !relay.wait()?.success() {
                // The child has printed the reason.
                return Ok(ExitCode::from(EXIT_FAILURE));
            }
            received?
        }
    };
    file.flush().and_then(|()| file.finish()).with_context(cannot)?;
    let mut out = io::stdout().lock();
    let account = &about["account"];
    writeln!(out, "'{}' has {} files, {} bytes.", path.display(), account["files"], account["bytes"])?;
    if about["database"] == Value::Bool(false) {
        writeln!(out, "It does not contain the results, which are in PostgreSQL: copy them with pg_dump.")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

// Starts this program as a user without other groups.
fn relay(data: &Path, owner: Owner) -> io::Result<Child> {
    // The user may not be able to reach the program by its path.
    let program = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { env::current_exe()? };
    let mut command = process::Command::new(program);
    command.arg("--data").arg(data).arg("relay-backup").uid(owner.uid).gid(owner.gid).stdout(Stdio::piped()).spawn()
}

fn options_of(game: Game, typed: &[String]) -> anyhow::Result<Options> {
    let mut options = Map::from_iter([("game".to_owned(), game.name().into())]);
    for option in typed {
        let (name, value) = option.split_once('=').ok_or_else(|| {
            UsageError(format!(
                "invalid option '{}': expected a name and a value, as in map=donuts",
                option.escape_debug()
            ))
        })?;
        let number = value.parse::<u64>().map(Value::from).ok();
        let choice = value.parse::<bool>().map(Value::from).ok();
        options.insert(name.to_owned(), number.or(choice).unwrap_or_else(|| value.into()));
    }
    serde_json::from_value(Value::Object(options)).map_err(|error| UsageError(error.to_string()).into())
}

fn word<'a>(value: &'a Value, name: &str) -> std::borrow::Cow<'a, str> {
    // Names come from players.
    cmdkit::printable(value[name].as_str().unwrap_or_default())
}

fn status_text(status: &Value) -> String {
    let rooms = status["rooms"].as_object().into_iter().flatten();
    let rooms: Vec<String> = rooms.map(|(game, count)| format!("{count} of {game}")).collect();
    let rooms = if rooms.is_empty() { "none".to_owned() } else { rooms.join(", ") };
    format!(
        "arcade {}, {}, {}\nRooms:    {rooms}; {} matches are running\nPeople:   {}\nBots:     {}\nSockets:  {}\nBans:     {}\n",
        word(status, "version"),
        word(status, "status"),
        word(status, "address"),
        status["running"],
        status["people"],
        status["bots"],
        status["sockets"],
        status["bans"],
    ) + &fleet_text(&status["fleet"])
}

fn fleet_text(fleet: &Value) -> String {
    let mut text = String::new();
    if fleet.is_null() {
        return text;
    }
    let is = |fact: &str| fleet[fact] == Value::Bool(true);
    let state = match (is("silent"), is("present")) {
        (true, _) => "does not respond, and the rooms of this hub are suspended",
        (false, false) => "does not respond",
        (false, true) => "responds",
    };
    let _ = writeln!(
        text,
        "Arcade:   this is '{}'; the directory {state}, {} ms late",
        word(fleet, "node"),
        fleet["lag_ms"]
    );
    let _ = writeln!(
        text,
        "    events of rooms are replicated {} ms later; {} rooms of other hubs resumed here, {} of this one there, \
         {} ended here",
        fleet["journal_lag_ms"], fleet["moved"], fleet["handed_over"], fleet["fenced"]
    );
    for node in fleet["nodes"].as_array().into_iter().flatten() {
        let ends = if node["draining"] == Value::Bool(true) { ", shutting down" } else { "" };
        let (name, address) = (word(node, "name"), word(node, "address"));
        let _ = writeln!(text, "    {name} at {address}: {} rooms, {} people{ends}", node["rooms"], node["people"]);
    }
    text
}

fn rooms_text(rooms: &Value) -> String {
    let mut text = String::new();
    for room in rooms["rooms"].as_array().into_iter().flatten() {
        let players = room["players"].as_array().map_or(0, Vec::len);
        let _ = writeln!(
            text,
            "{:<14} {}port {:<5} {:<8} {players} of {} seats, {} watching: {}",
            word(room, "id"),
            if word(room, "host").is_empty() { String::new() } else { format!("{} ", word(room, "host")) },
            room["port"].as_u64().unwrap_or_default(),
            word(room, "phase"),
            room["seats"],
            room["watchers"],
            word(room, "title"),
        );
        for player in room["players"].as_array().into_iter().flatten() {
            let seat = if word(player, "seat").is_empty() { "waits".into() } else { word(player, "seat") };
            let bot = if player["bot"] == Value::Bool(true) { ", a bot" } else { "" };
            let address = word(player, "address");
            let from = if address.is_empty() { String::new() } else { format!(", from {address}") };
            let _ = writeln!(text, "    {seat}: {}{bot}{from}", isolated(&word(player, "name")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_players_do_not_change_the_terminal() {
        let name = "Eve\u{1b}[2J\u{9b}1m\u{7f}\u{202e}";
        let player = json!({ "seat": "A", "name": name, "bot": false, "address": "192.0.2.7" });
        let room = json!({
            "id": "robots-1", "host": name, "port": 2021, "phase": "lobby", "seats": 2, "watchers": 0, "title": name,
            "players": [player],
        });
        let rooms = json!({ "rooms": [room] });
        let text = rooms_text(&rooms);
        assert!(text.contains("    A: Eve\\u{1b}[2J\\u{9b}1m\\u{7f}\\u{202e}, from 192.0.2.7\n"), "{text}");
        let json = pretty(&rooms);
        for shown in [&text, &json] {
            assert!(!shown.chars().any(|letter| letter != '\n' && cmdkit::is_steering(letter)), "{shown}");
        }
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), rooms);
    }
}
