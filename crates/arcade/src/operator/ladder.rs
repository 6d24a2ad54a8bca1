//! Commands for participants of a ladder: HTTP requests to a hub.

use std::{
    fmt::Write as _,
    io::{Read as _, Write as _},
    net::{TcpStream, ToSocketAddrs as _},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, bail};
use clap::Subcommand;
use cmdkit::UsageError;
use serde_json::{Value, json};

use crate::{games::Game, hub::address::PORT, operator::wire::pretty};

const PATIENCE: Duration = Duration::from_secs(10);
/// In bytes.
const MAX_ANSWER: u64 = 4 << 20;

/// Commands for the ladder
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum LadderCommand {
    /// Register a name for a program, and get its key
    Join {
        /// 1 to 24 letters, digits, '.', '_' or '-'
        name: String,
        /// Host and port of the hub's page, as in play.example.org:8080
        #[arg(long, value_name = "HOST[:PORT]", default_value = "localhost")]
        server: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the ranking, running matches and waiting programs
    Show {
        /// nuggets, robots, blackjack or mastermind; the default is a list of the games
        game: Option<String>,
        /// Host and port of the hub's page, as in play.example.org:8080
        #[arg(long, value_name = "HOST[:PORT]", default_value = "localhost")]
        server: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Release a name; its key becomes invalid
    Leave {
        /// The name
        name: String,
        /// Its key, as printed by `arcade ladder join`
        key: String,
        /// Host and port of the hub's page, as in play.example.org:8080
        #[arg(long, value_name = "HOST[:PORT]", default_value = "localhost")]
        server: String,
    },
}

pub(crate) fn run(command: &LadderCommand) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let text = match command {
        LadderCommand::Join { name, server, json } => {
            let answer = send_request(server, "/api/ladder/join", Some(&json!({ "name": name })))?;
            if *json { pretty(&answer) } else { joined(&answer) }
        }
        LadderCommand::Show { game, server, json } => {
            let path = match game {
                None => "/api/ladder".to_owned(),
                Some(game) if Game::named(game).is_some() => format!("/api/ladder/{game}"),
                Some(_) => bail!(UsageError(format!("expected one of {}", Game::names(Game::offered(true))))),
            };
            let answer = send_request(server, &path, None)?;
            match game {
                _ if *json => pretty(&answer),
                None => games(&answer),
                Some(_) => ranking(&answer),
            }
        }
        LadderCommand::Leave { name, key, server } => {
            send_request(server, "/api/ladder/leave", Some(&json!({ "name": name, "key": key })))?;
            format!("{name} is free again.\n")
        }
    };
    // The server is not trusted, and may send text in place of numbers.
    out.write_all(cmdkit::printable_lines(&text).as_bytes())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

// Returns null for an empty response.
fn send_request(server: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
    if server.starts_with("https://") {
        let data = body.map_or_else(String::new, |body| format!(" -H 'content-type: application/json' -d '{body}'"));
        let server = server.trim_end_matches('/');
        bail!(UsageError(format!("this command does not support TLS; query the hub with `curl{data} {server}{path}`")));
    }
    let server = server.strip_prefix("http://").unwrap_or(server).trim_end_matches('/');
    let has_port = server.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let server = if has_port && !server.ends_with(']') { server.to_owned() } else { format!("{server}:{PORT}") };
    let cannot = || format!("no hub responds at {}", server.escape_debug());
    let mut stream = None;
    let mut refused = None;
    for address in server.to_socket_addrs().with_context(cannot)? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(connected) => {
                stream = Some(connected);
                break;
            }
            Err(error) => refused = Some(error),
        }
    }
    let Some(mut stream) = stream else {
        return Err(refused
            .map_or_else(|| anyhow::anyhow!("it has no address"), anyhow::Error::from)
            .context(cannot()));
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let method = if body.is_some() { "POST" } else { "GET" };
    let body = body.map(Value::to_string).unwrap_or_default();
    let length = body.len();
    // With HTTP 1.0, the response is not chunked and ends with the connection.
    let request = format!(
        "{method} {path} HTTP/1.0\r\nHost: {server}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).with_context(cannot)?;
    let mut answer = vec![];
    stream.take(MAX_ANSWER).read_to_end(&mut answer).with_context(cannot)?;
    read(&String::from_utf8_lossy(&answer)).with_context(|| format!("the hub at {}", server.escape_debug()))
}

fn read(answer: &str) -> anyhow::Result<Value> {
    let (head, body) = answer.split_once("\r\n\r\n").context("it does not support HTTP, or it requires TLS")?;
    let status: u16 =
        head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("it does not support HTTP")?;
    let value = if body.trim().is_empty() { Value::Null } else { serde_json::from_str(body).unwrap_or_default() };
    match status {
        200..=299 => Ok(value),
        _ => match value["error"].as_str() {
            Some(why) => bail!("{}", why.escape_debug()),
            None => bail!("it responds with {status}"),
        },
    }
}

// The server is not trusted, and may send unprintable names.
fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().escape_debug().to_string()
}

fn joined(answer: &Value) -> String {
    let (name, login, host) = (word(&answer["name"]), word(&answer["login"]), word(&answer["host"]));
    let mut text = format!(
        "{name} is registered. Your program must send this as its name; store it, since it is not shown \
         again:\n\n    {login}\n\n\
         Programs connect to\n\n"
    );
    for game in answer["games"].as_array().into_iter().flatten() {
        let transport = word(&game["transport"]).to_uppercase();
        let _ = writeln!(text, "    {:<11} {host}:{} ({transport})", word(&game["game"]), game["port"]);
    }
    text += "\nRestart your program whenever it ends, as in `while true; do ./program; sleep 1; done`.\n";
    text
}

fn games(answer: &Value) -> String {
    let mut text = String::new();
    for game in answer["games"].as_array().into_iter().flatten() {
        let _ = writeln!(
            text,
            "{:<11} port {:<5} ({}): {} waiting, {} matches running, {} finished",
            word(&game["game"]),
            game["port"],
            word(&game["transport"]),
            game["waiting"],
            game["playing"],
            game["played"],
        );
    }
    text
}

fn ranking(answer: &Value) -> String {
    let mut text = String::new();
    let list = |name: &str| answer[name].as_array().cloned().unwrap_or_default();
    for (ranked, player) in [("players", true), ("provisional", false)]
        .into_iter()
        .flat_map(|(part, ranked)| list(part).into_iter().map(move |player| (ranked, player)))
    {
        let rank = if ranked { player["rank"].to_string() } else { "-".to_owned() };
        let _ = writeln!(
            text,
            "{rank:>3}  {:<24} {:>5} ± {:<4} {:>6} matches, {} won",
            word(&player["name"]),
            player["rating"].as_i64().unwrap_or_default(),
            player["uncertainty"].as_i64().unwrap_or_default(),
            player["matches"],
            player["wins"],
        );
    }
    for playing in list("playing") {
        let players: Vec<String> = playing["players"].as_array().into_iter().flatten().map(word).collect();
        let _ = writeln!(text, "plays: {}", players.join(" against "));
    }
    for waiting in list("waiting") {
        let _ = writeln!(text, "waits: {}", word(&waiting["name"]));
    }
    if text.is_empty() {
        text += "No matches yet.\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_and_errors_are_parsed() {
        let read = |text: &str| read(text).map_err(|error| error.to_string());
        assert_eq!(read("HTTP/1.0 200 OK\r\nx: y\r\n\r\n{\"a\":1}"), Ok(json!({ "a": 1 })));
        assert_eq!(read("HTTP/1.1 204 No Content\r\n\r\n"), Ok(Value::Null));
        assert_eq!(
            read("HTTP/1.1 409 Conflict\r\n\r\n{\"error\":\"this name\\u001b is taken\"}").unwrap_err(),
            "this name\\u{1b} is taken"
        );
        assert_eq!(read("HTTP/1.1 502 Bad Gateway\r\n\r\n<html>").unwrap_err(), "it responds with 502");
        assert!(read("\u{15}\u{3}").unwrap_err().contains("TLS"));
    }

    #[test]
    fn registration_shows_how_to_connect() {
        let games = json!([{ "game": "robots", "port": 2021, "transport": "tcp" }]);
        let text = joined(&json!({ "name": "Ann", "login": "Ann#key", "host": "example.org", "games": games }));
        assert!(text.contains("    Ann#key\n") && text.contains("robots      example.org:2021 (TCP)"), "{text}");
    }
}
