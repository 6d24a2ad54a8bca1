//! Requests of all kinds, as many as a host may make and more.

use std::{rc::Rc, time::Duration};

use tokio::{io::AsyncWriteExt as _, time::sleep};

use super::{
    super::{
        net::{Http, connect, word},
        page,
    },
    Attacker,
};

/// Answers of one host that are not read, and how long.
const UNREAD: usize = 16;
const KEPT: Duration = Duration::from_secs(60);
/// What is stored, asked for in turn.
const QUERIES: [&str; 12] = [
    "/api/matches?limit=100",
    "/api/matches?game=nuggets&kind=person&limit=100",
    "/api/matches?before=zzzz",
    "/api/leaderboard/nuggets",
    "/api/leaderboard/robots",
    "/api/leaderboard/mastermind",
    "/api/players/NuggetsUdp",
    "/api/players/RobotsTcp/against/RobotsPage",
    "/api/players/Nobody",
    "/api/blackjack/table",
    "/api/games",
    "/api/rooms",
];

async fn ask(attacker: &Attacker, http: &mut Http, path: &str, headers: &str) {
    match http.request("GET", path, headers, "").await {
        Ok(answer) => attacker.count(answer.status.to_string()),
        Err(error) => attacker.count(word(&error)),
    }
}

/// Asks for the matches of players who may exist.
pub(super) async fn search_players(attacker: Rc<Attacker>) {
    let mut http = Http::new(attacker.from, attacker.target.hub);
    let mut pace = attacker.pace();
    loop {
        pace.tick().await;
        let name = ["NuggetsUdp".into(), "MastermindTcp".into(), attacker.name()];
        let path = format!("/api/matches?player={}&limit=100", name[attacker.below(name.len())]);
        ask(&attacker, &mut http, &path, "").await;
    }
}

/// Asks for everything that is stored.
pub(super) async fn ask_everything(attacker: Rc<Attacker>) {
    let mut http = Http::new(attacker.from, attacker.target.hub);
    let mut pace = attacker.pace();
    for path in QUERIES.into_iter().cycle() {
        pace.tick().await;
        ask(&attacker, &mut http, path, "").await;
    }
}

/// Asks for replays and reads nothing.
pub(super) async fn ask_for_replays(attacker: Rc<Attacker>) {
    attacker
        .repeat(UNREAD, async |attacker: Rc<Attacker>| {
            let hub = attacker.target.hub;
            let Ok(list) = Http::new(attacker.from, hub).get("/api/matches?limit=20").await else {
                return attacker.count("no list of matches");
            };
            let list: serde_json::Value = serde_json::from_slice(&list.body).unwrap_or_default();
            let Some(matches) = list["matches"].as_array().filter(|matches| !matches.is_empty()) else {
                return attacker.count("no match to replay");
            };
            let id = matches[attacker.below(matches.len())]["id"].as_str().unwrap_or_default();
            let path = ["timeline", "frames?from=0&to=60000"][attacker.below(2)];
            match connect(attacker.from, hub).await {
                Ok(mut stream) => {
                    let request = format!("GET /api/matches/{id}/{path} HTTP/1.1\r\nHost: {hub}\r\n\r\n");
                    if let Err(error) = stream.write_all(request.as_bytes()).await {
                        return attacker.count(word(&error));
                    }
                    attacker.count("not read");
                    sleep(KEPT).await;
                }
                Err(error) => attacker.count(word(&error)),
            }
        })
        .await;
}

/// Gets the page.
pub(super) async fn get_pages(attacker: Rc<Attacker>) {
    get(&attacker, || ["/", "/rooms/nowhere", "/players", "/learn"][attacker.below(4)].to_owned()).await;
}

/// Gets pages that do not exist.
pub(super) async fn get_missing(attacker: Rc<Attacker>) {
    get(&attacker, || format!("/{}", attacker.name())).await;
}

async fn get(attacker: &Attacker, path: impl Fn() -> String) {
    const ACCEPTED: [&str; 3] = ["", "Accept-Encoding: br, gzip\r\n", "Accept-Encoding: gzip\r\n"];
    let mut http = Http::new(attacker.from, attacker.target.hub);
    let mut pace = attacker.pace();
    for accepted in ACCEPTED.into_iter().cycle() {
        pace.tick().await;
        ask(attacker, &mut http, &path(), &format!("Accept: text/html\r\n{accepted}")).await;
    }
}

/// Comes under the name of another site, and from the pages of another site.
pub(super) async fn come_from_elsewhere(attacker: Rc<Attacker>) {
    const ORIGIN: &str = "http://evil.example";
    const HOST: &str = "Host: evil.example\r\n";
    let hub = attacker.target.hub;
    let mut http = Http::new(attacker.from, hub);
    let mut pace = attacker.pace();
    loop {
        let post = format!("{HOST}Origin: {ORIGIN}\r\n");
        for (method, path, headers) in
            [("GET", "/", HOST), ("GET", "/metrics", HOST), ("POST", "/api/play/nuggets", &post)]
        {
            pace.tick().await;
            match http.request(method, path, headers, "").await {
                Ok(answer) => attacker.count(format!("{method} {path}: {}", answer.status)),
                Err(error) => attacker.count(word(&error)),
            }
        }
        pace.tick().await;
        let answer = match page::lobby(attacker.from, hub, "", Some(ORIGIN)).await {
            Ok(_) => "let in".to_owned(),
            Err(why) => why,
        };
        attacker.count(format!("socket: {answer}"));
    }
}
