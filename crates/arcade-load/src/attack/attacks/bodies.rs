//! Requests that are begun and not finished.

use std::{rc::Rc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::{
    super::net::{connect, word},
    Act, Attacker,
};

/// Requests of one host that are not finished.
pub(super) const HELD: usize = 24;
/// How long one is kept, unless the hub ends it.
const KEPT: Duration = Duration::from_secs(300);
/// The length that is announced, and what is sent of it.
const ANNOUNCED: usize = 2_000_000;
const SENT: usize = 1_900_000;

/// Announces a body and keeps its end back. Every second one sends nearly all of it.
pub(super) async fn leave_body(attacker: Rc<Attacker>) -> Act {
    let sent = if attacker.below(2) == 0 { SENT } else { 0 };
    let hub = attacker.target.hub;
    let path = ["/api/rooms", "/api/names"][attacker.below(2)];
    let head = format!("POST {path} HTTP/1.1\r\nHost: {hub}\r\nContent-Type: application/json\r\n");
    let mut request = format!("{head}Content-Length: {ANNOUNCED}\r\n\r\n").into_bytes();
    request.resize(request.len() + sent, b' ');
    leave(&attacker, &request).await
}

/// Sends half a head.
pub(super) async fn leave_head(attacker: Rc<Attacker>) -> Act {
    let head = format!("GET / HTTP/1.1\r\nHost: {}\r\nX-Slow: ", attacker.target.hub);
    leave(&attacker, head.as_bytes()).await
}

// Sends this and waits for the end.
async fn leave(attacker: &Attacker, request: &[u8]) -> Act {
    let mut stream = connect(attacker.from, attacker.target.hub).await?;
    attacker.count("begun");
    // The hub may refuse before it has read everything, and that is read then.
    let _ = timeout(KEPT, stream.write_all(request)).await;
    attacker.count(status(&mut stream).await);
    Ok(())
}

// The status with which the hub answers at last, or how it ends the connection.
async fn status(stream: &mut TcpStream) -> String {
    let mut start = [0; 12];
    match timeout(KEPT, stream.read_exact(&mut start)).await {
        Ok(Ok(_)) => String::from_utf8_lossy(&start[9..]).into_owned(),
        Ok(Err(error)) => word(&error).into(),
        Err(_) => format!("kept for {} s", KEPT.as_secs()),
    }
}
