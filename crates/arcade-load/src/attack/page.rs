//! What a page says to the hub and hears from it besides the messages of games: the one place that knows how tokens and keys travel and
//! what the lobby looks like.

use std::net::{Ipv4Addr, SocketAddr};

use futures_util::{SinkExt as _, Stream, StreamExt as _};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{ClientRequestBuilder, Error, Message, Utf8Bytes, protocol::CloseFrame},
};

use super::net::{PATIENCE, connect, word};

/// The socket of a page.
pub(crate) type Browser = WebSocketStream<TcpStream>;

/// The socket of the lobby.
const LOBBY: &str = "/live";
/// The socket of the learner of blackjack.
pub(crate) const LEARNER: &str = "/learn/socket";
/// The close code by which a player leaves for good.
const LEFT: u16 = 4000;

/// How a page enters a room.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    /// Whether it only looks on.
    pub(crate) watch: bool,
    /// The token of a seat that it had before.
    pub(crate) seat: Option<String>,
    /// The key of its name.
    pub(crate) key: Option<String>,
}

/// Opens a socket at this path, with a header besides the usual ones.
pub(crate) async fn socket(
    from: Ipv4Addr,
    hub: SocketAddr,
    path: &str,
    header: Option<(&str, &str)>,
) -> Result<Browser, String> {
    let stream = connect(from, hub).await.map_err(|error| word(&error).to_owned())?;
    let url = format!("ws://{hub}{path}").parse().map_err(|_| "no address".to_owned())?;
    let mut request = ClientRequestBuilder::new(url);
    if let Some((name, value)) = header {
        request = request.with_header(name, value);
    }
    match timeout(PATIENCE, client_async(request, stream)).await {
        Ok(Ok((browser, _))) => Ok(browser),
        Ok(Err(error)) => Err(failure(&error)),
        Err(_) => Err("no answer".into()),
    }
}

pub(crate) async fn enter(from: Ipv4Addr, hub: SocketAddr, room: &str, entry: &Entry) -> Result<Browser, String> {
    let Entry { watch, seat, key } = entry;
    if seat.is_none() && key.is_none() {
        return socket(from, hub, &format!("/rooms/{room}/socket?watch={watch}"), None).await;
    }
    let mut browser = socket(from, hub, &format!("/rooms/{room}/socket?enter=true"), None).await?;
    let first = json!({ "seat": seat, "key": key, "watch": watch }).to_string();
    browser.send(Message::text(first)).await.map_err(|error| failure(&error))?;
    Ok(browser)
}

/// The token of a seat, if this text of the hub has one.
pub(crate) fn token(text: &str) -> Option<String> {
    let hello: Value = serde_json::from_str(text).ok()?;
    Some(hello["seat"].as_str()?.to_owned())
}

/// Whether this text is from the hub itself and not from the game.
pub(crate) fn is_from_hub(text: &str) -> bool {
    text.starts_with('{')
}

/// Opens a socket of the lobby and looks for rooms with this text, with an `Origin` if there is one.
pub(crate) async fn lobby(
    from: Ipv4Addr,
    hub: SocketAddr,
    text: &str,
    origin: Option<&str>,
) -> Result<Browser, String> {
    let mut browser = socket(from, hub, LOBBY, origin.map(|origin| ("Origin", origin))).await?;
    let look = json!({ "look": { "text": text } }).to_string();
    browser.send(Message::text(look)).await.map_err(|error| failure(&error))?;
    Ok(browser)
}

/// Whether somebody of this name plays in a room, if this text of the lobby tells of the room.
pub(crate) fn has_player(text: &str, room: &str, name: &str) -> Option<bool> {
    let told: Value = serde_json::from_str(text).ok()?;
    let row = told["rooms"].as_array()?.iter().find(|row| row["id"] == room)?;
    Some(row["players"].as_array()?.iter().any(|player| player["name"] == name))
}

/// Leaves a room for good, so that no seat is kept.
pub(crate) async fn leave(mut browser: Browser) {
    // The hub may have closed it before.
    let _ = browser.close(Some(CloseFrame { code: LEFT.into(), reason: Utf8Bytes::default() })).await;
    // As browsers do: a connection that ends with something unread is reset, and the hub may never read how it was left.
    let _ = timeout(PATIENCE, async { while let Some(Ok(_)) = browser.next().await {} }).await;
}

/// How a socket ended, in a word for a table; `None` if it goes on after this.
pub(crate) fn end(message: Option<&Result<Message, Error>>) -> Option<String> {
    match message {
        None => Some("closed".into()),
        Some(Err(error)) => Some(failure(error)),
        Some(Ok(Message::Close(Some(close)))) => Some(format!("close {}", u16::from(close.code))),
        Some(Ok(Message::Close(None))) => Some("close".into()),
        Some(Ok(_)) => None,
    }
}

/// Reads until a socket ends; how.
pub(crate) async fn ended(socket: &mut (impl Stream<Item = Result<Message, Error>> + Unpin)) -> String {
    loop {
        if let Some(end) = end(socket.next().await.as_ref()) {
            return end;
        }
    }
}

/// What went wrong with a socket, in a word for a table.
pub(crate) fn failure(error: &Error) -> String {
    match error {
        Error::Http(answer) => answer.status().as_u16().to_string(),
        Error::Io(error) => word(error).into(),
        Error::ConnectionClosed | Error::AlreadyClosed => "closed".into(),
        Error::Protocol(_) => "reset".into(),
        _ => "other error".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lobby_tells_who_plays_in_a_room() {
        let text =
            r#"{"ids": ["a-1"], "rooms": [{"id": "a-1", "players": []}, {"id": "b-2", "players": [{"name": "Ann"}]}]}"#;
        assert_eq!((has_player(text, "a-1", "Ann"), has_player(text, "b-2", "Ann")), (Some(false), Some(true)));
        for nothing in [r#"{"total": 3}"#, "{}", "[]", "", r#"{"id": "c-3"}"#, text] {
            assert_eq!(has_player(nothing, "c-3", "Ann"), None, "{nothing}");
        }
    }

    #[test]
    fn a_token_is_found_in_the_first_message_alone() {
        assert_eq!(token(r#"{"seat": "abc", "room": {}}"#).as_deref(), Some("abc"));
        assert!(token(r#"{"room": {}}"#).is_none() && token("OK A").is_none());
    }
}
