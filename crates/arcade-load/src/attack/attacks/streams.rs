//! Connections to rooms that make no sense, or are not read.

use std::{net::SocketAddr, rc::Rc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::{sleep, timeout},
};

use super::{
    super::net::{connect, word},
    Attacker,
};

/// Connections of one host.
const HELD: usize = 8;
/// How long one is kept.
const KEPT: Duration = Duration::from_secs(30);
/// The longest garbage, in bytes.
const MAX_GARBAGE: usize = 512;

fn room(attacker: &Attacker) -> SocketAddr {
    let target = &attacker.target;
    [target.robots.address, target.blackjack.address, target.mastermind.address][attacker.below(3)]
}

/// Sends garbage.
pub(super) async fn send_garbage(attacker: Rc<Attacker>) {
    attacker
        .repeat(HELD, async |attacker: Rc<Attacker>| {
            let mut stream = match connect(attacker.from, room(&attacker)).await {
                Ok(stream) => stream,
                Err(error) => return attacker.count(word(&error)),
            };
            let mut garbage = attacker.bytes(attacker.below(MAX_GARBAGE) + 1);
            // The first message of robots with the number 0 is Join, and no stranger shall take the seat of an innocent.
            garbage[0] |= 0x80;
            if let Err(error) = stream.write_all(&garbage).await {
                return attacker.count(word(&error));
            }
            let mut heard = [0; 1024];
            let end = async {
                loop {
                    match stream.read(&mut heard).await {
                        Ok(0) => return "closed",
                        Ok(_) => {}
                        Err(error) => return word(&error),
                    }
                }
            };
            attacker.count(timeout(KEPT, end).await.unwrap_or("kept"));
        })
        .await;
}

/// Reads nothing.
pub(super) async fn never_read(attacker: Rc<Attacker>) {
    attacker
        .repeat(HELD, async |attacker: Rc<Attacker>| match connect(attacker.from, room(&attacker)).await {
            Ok(stream) => {
                attacker.count("connected");
                sleep(KEPT).await;
                drop(stream);
            }
            Err(error) => attacker.count(word(&error)),
        })
        .await;
}
