//! Requests of all kinds, as many as a host may make and more.

use std::{rc::Rc, time::Duration};

use tokio::{io::AsyncWriteExt as _, time::sleep};

use super::{
    super::{
        net::{Http, connect},
        page,
    },
    Act, Attacker,
};

/// Answers of one host that are not read, and how long.
pub(super) const UNREAD: usize = 16;
const KEPT: Duration = Duration::from_secs(60);
/// What is stored, asked for in turn.
const QUERIES: [&str; 12] = [
    "/api/matches?limit=100",
    "/api/matches?game=nuggets&kind=person&limit=100",
    "/api/matches?before=zzzz",
    "/api/leaders",
    "/api/leaders?game=robots",
    "/api/leaders?game=mastermind",
    "/api/players/NuggetsUdp",
    "/api/players/RobotsTcp/against/RobotsPage",
    "/api/players/Nobody",
    "/api/blackjack/table",
    "/api/games",
    "/api/rooms",
];

async fn get(attacker: &Attacker, http: &mut Http, path: &str, headers: &str) -> Act {
    attacker.count(http.request("GET", path, headers, "").await?.status.to_string());
    Ok(())
}

/// Asks for the matches of a player who may exist.
pub(super) async fn search_players(attacker: &Attacker, http: &mut Http, _: usize) -> Act {
    let name = ["NuggetsUdp".into(), "MastermindTcp".into(), attacker.name()];
    let path = format!("/api/matches?player={}&limit=100", name[attacker.below(name.len())]);
    get(attacker, http, &path, "").await
}

/// Asks for everything that is stored.
pub(super) async fn ask_everything(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    get(attacker, http, QUERIES[number % QUERIES.len()], "").await
}

/// Asks for a replay and reads nothing.
pub(super) async fn ask_for_replay(attacker: Rc<Attacker>) -> Act {
    let hub = attacker.target.hub;
    let list = Http::new(attacker.from, hub).get("/api/matches?limit=20").await;
    let list = list.map_err(|_| "no list of matches".to_owned())?;
    let list: serde_json::Value = serde_json::from_slice(&list.body).unwrap_or_default();
    let matches = list["matches"].as_array().filter(|matches| !matches.is_empty());
    let matches = matches.ok_or_else(|| "no match to replay".to_owned())?;
    let id = matches[attacker.below(matches.len())]["id"].as_str().unwrap_or_default();
    let path = ["timeline", "frames?from=0&to=60000"][attacker.below(2)];
    let mut stream = connect(attacker.from, hub).await?;
    let request = format!("GET /api/matches/{id}/{path} HTTP/1.1\r\nHost: {hub}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    attacker.count("not read");
    sleep(KEPT).await;
    Ok(())
}

pub(super) async fn get_page(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    let path = ["/", "/rooms/nowhere", "/players", "/learn"][attacker.below(4)];
    get(attacker, http, path, &accepting(number)).await
}

/// Gets a page that does not exist.
pub(super) async fn get_missing(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    get(attacker, http, &format!("/{}", attacker.name()), &accepting(number)).await
}

// Headers for a page, compressed or not.
fn accepting(number: usize) -> String {
    let encodings = ["", "Accept-Encoding: br, gzip\r\n", "Accept-Encoding: gzip\r\n"];
    format!("Accept: text/html\r\n{}", encodings[number % encodings.len()])
}

/// Comes under the name of another site, and from the pages of another site.
pub(super) async fn come_from_elsewhere(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    const ORIGIN: &str = "http://evil.example";
    const HOST: &str = "Host: evil.example\r\n";
    let post = format!("{HOST}Origin: {ORIGIN}\r\n");
    let (method, path, headers) = match number % 4 {
        0 => ("GET", "/", HOST),
        1 => ("GET", "/metrics", HOST),
        2 => ("POST", "/api/play/nuggets", &*post),
        _ => {
            let lobby = page::lobby(attacker.from, attacker.target.hub, "", Some(ORIGIN)).await;
            attacker.count(format!("socket: {}", lobby.map_or_else(|why| why, |_| "let in".to_owned())));
            return Ok(());
        }
    };
    let answer = http.request(method, path, headers, "").await?;
    attacker.count(format!("{method} {path}: {}", answer.status));
    Ok(())
}
