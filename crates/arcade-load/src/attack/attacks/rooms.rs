//! Rooms that nobody needs.

use std::rc::Rc;

use super::{
    super::net::{Http, word},
    Attacker,
};

/// What is asked for in turn.
const ROOMS: [&str; 4] = [
    r#"{"game": "nuggets", "map": "main"}"#,
    r#"{"game": "robots", "players": 25, "columns": 100, "rows": 100, "turns": 10000, "turn_duration": 20}"#,
    r#"{"game": "blackjack", "players": 6, "rounds": 10000}"#,
    r#"{"game": "mastermind", "mode": "race", "players": 2}"#,
];

/// Opens rooms, and seats a bot in each.
pub(super) async fn open(attacker: Rc<Attacker>) {
    let mut http = Http::new(attacker.from, attacker.target.hub);
    let mut pace = attacker.pace();
    for options in ROOMS.into_iter().cycle() {
        pace.tick().await;
        match http.post("/api/rooms", options).await {
            Ok(answer) => {
                attacker.count(answer.status.to_string());
                let room: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
                if let Some(id) = room["id"].as_str()
                    && let Ok(answer) = http.post(&format!("/api/rooms/{id}/bots"), r#"{"level": "hard"}"#).await
                {
                    attacker.count(format!("bot: {}", answer.status));
                }
            }
            Err(error) => attacker.count(word(&error)),
        }
    }
}
