//! Names and keys by thousands.

use std::rc::Rc;

use futures_util::StreamExt as _;
use serde_json::json;
use tokio::time::timeout;

use super::{
    super::{
        net::{Http, PATIENCE},
        page::{self, Entry},
    },
    Act, Attacker,
};

/// Attempts of one host that wait for an answer.
pub(super) const PENDING: usize = 16;
/// Characters that cannot be seen, turn the line around or look like others.
const TRICKS: [&str; 6] = ["", "\u{200b}", "\u{202e}", "\u{430}", "\u{2060}", "\u{feff}"];

/// A key that nobody has: 32 bytes in base64url.
pub(super) fn key(attacker: &Attacker) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    // The last of 43 digits has two bits that say nothing.
    let digits = (0..43).map(|place| if place < 42 { attacker.below(64) } else { attacker.below(16) * 4 });
    digits.map(|digit| char::from(DIGITS[digit])).collect()
}

/// Claims a name.
pub(super) async fn claim(attacker: &Attacker, http: &mut Http, _: usize) -> Act {
    let trick = TRICKS[attacker.below(TRICKS.len())];
    let body = json!({ "name": format!("{}{trick}", attacker.name()), "key": key(attacker) }).to_string();
    let what = if trick.is_empty() { "plain" } else { "trick" };
    let answer = http.post("/api/names", &body).await?;
    attacker.count(format!("{what}: {}", answer.status));
    Ok(())
}

/// Takes a seat with a key that owns no name.
pub(super) async fn prove_nothing(attacker: Rc<Attacker>) -> Act {
    let entry = Entry { key: Some(key(&attacker)), ..Entry::default() };
    let mut browser = page::enter(attacker.from, attacker.target.hub, &attacker.target.robots.id, &entry).await?;
    let message = timeout(PATIENCE, browser.next()).await;
    let end = message.map_or_else(|_| Some("no answer".into()), |message| page::end(message.as_ref()));
    attacker.count(end.unwrap_or_else(|| "let in".into()));
    Ok(())
}
