//! Connections to rooms that make no sense, or are not read.

use std::{net::SocketAddr, rc::Rc, time::Duration};

use tokio::{io::AsyncWriteExt as _, time::sleep};

use super::{
    super::net::{connect, heard_out},
    Act, Attacker,
};

/// Connections of one host.
pub(super) const HELD: usize = 8;
/// How long one is kept.
const KEPT: Duration = Duration::from_secs(30);
/// The longest garbage, in bytes.
const MAX_GARBAGE: usize = 512;

fn room(attacker: &Attacker) -> SocketAddr {
    let target = &attacker.target;
    [target.robots.address, target.blackjack.address, target.mastermind.address][attacker.below(3)]
}

pub(super) async fn send_garbage(attacker: Rc<Attacker>) -> Act {
    let mut stream = connect(attacker.from, room(&attacker)).await?;
    let mut garbage = attacker.bytes(attacker.below(MAX_GARBAGE) + 1);
    // The first message of robots with the number 0 is Join, and no stranger shall take the seat of an innocent.
    garbage[0] |= 0x80;
    stream.write_all(&garbage).await?;
    attacker.count(heard_out(&mut stream, KEPT).await);
    Ok(())
}

/// Reads nothing.
pub(super) async fn never_read(attacker: Rc<Attacker>) -> Act {
    let _stream = connect(attacker.from, room(&attacker)).await?;
    attacker.count("connected");
    sleep(KEPT).await;
    Ok(())
}
