//! Rooms that nobody needs.

use super::{super::net::Http, Act, Attacker};

/// What is asked for in turn.
const ROOMS: [&str; 4] = [
    r#"{"game": "nuggets", "map": "main"}"#,
    r#"{"game": "robots", "players": 25, "columns": 100, "rows": 100, "turns": 10000, "turn_duration": 20}"#,
    r#"{"game": "blackjack", "players": 6, "rounds": 10000}"#,
    r#"{"game": "mastermind", "mode": "race", "players": 2}"#,
];

/// Opens a room, and seats a bot in it.
pub(super) async fn open(attacker: &Attacker, http: &mut Http, number: usize) -> Act {
    let answer = http.post("/api/rooms", ROOMS[number % ROOMS.len()]).await?;
    attacker.count(answer.status.to_string());
    let room: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if let Some(id) = room["id"].as_str()
        && let bot = serde_json::json!({ "level": "hard", "owner": room["owner_token"] }).to_string()
        && let Ok(answer) = http.post(&format!("/api/rooms/{id}/bots"), &bot).await
    {
        attacker.count(format!("bot: {}", answer.status));
    }
    Ok(())
}
