//! Datagrams to the room of nuggets.

use std::{io, rc::Rc, time::Duration};

use tokio::{net::UdpSocket, time::timeout};

use super::{super::net::word, Act, Attacker};

/// How long an answer is waited for.
const ANSWER: Duration = Duration::from_secs(1);
/// Ports of one host that wait for an answer.
pub(super) const PENDING: usize = 64;
/// The longest datagram.
const MAX_DATAGRAM: usize = 1_400;

async fn socket(attacker: &Attacker) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((attacker.from, 0)).await?;
    socket.connect(attacker.target.nuggets.address).await?;
    Ok(socket)
}

// The first word of the answer to this.
async fn ask(socket: &UdpSocket, message: &str) -> String {
    let mut buffer = [0; 256];
    let answer = async {
        socket.send(message.as_bytes()).await?;
        socket.recv(&mut buffer).await
    };
    match timeout(ANSWER, answer).await {
        Ok(Ok(count)) => {
            String::from_utf8_lossy(&buffer[..count]).split([' ', '\n']).next().unwrap_or_default().to_owned()
        }
        Ok(Err(error)) => word(&error).into(),
        Err(_) => "no answer".into(),
    }
}

pub(super) async fn join_and_quit(attacker: Rc<Attacker>) -> Act {
    let socket = socket(&attacker).await?;
    attacker.count(ask(&socket, &format!("PLAY {}", attacker.name())).await);
    // It does not matter whether that arrives.
    let _ = socket.send(b"KEY Q").await;
    Ok(())
}

/// Asks for a place from a new port: to look on, or without a name, which no server grants.
pub(super) async fn ask_for_seat(attacker: Rc<Attacker>) -> Act {
    let socket = socket(&attacker).await?;
    attacker.count(ask(&socket, ["SPECTATE", "PLAY "][attacker.below(2)]).await);
    Ok(())
}

/// Sends what is no message.
pub(super) async fn send_malformed(attacker: Rc<Attacker>) {
    let mut pace = attacker.pace(1);
    loop {
        let socket = match socket(&attacker).await {
            Ok(socket) => socket,
            Err(error) => {
                attacker.count(word(&error));
                pace.tick().await;
                continue;
            }
        };
        for _ in 0..attacker.per_second {
            pace.tick().await;
            let garbage = attacker.bytes(attacker.below(MAX_DATAGRAM));
            attacker.count(socket.send(&garbage).await.map_or_else(|error| word(&error), |_| "sent"));
        }
    }
}
