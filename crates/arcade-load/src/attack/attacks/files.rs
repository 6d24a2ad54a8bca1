//! Connections until the hub can open no more.

use std::{rc::Rc, time::Duration};

use tokio::{io::AsyncReadExt as _, time::timeout};

use super::{
    super::net::{connect, word},
    Attacker,
};

/// Connections of one host. Ten hosts have more than the hub has files.
const HELD: usize = 480;
/// How long one is kept, unless the hub ends it.
const KEPT: Duration = Duration::from_secs(600);

/// Opens connections and keeps them: to the page, and to all rooms that have connections.
pub(super) async fn use_up(attacker: Rc<Attacker>) {
    attacker
        .repeat(HELD, async |attacker: Rc<Attacker>| {
            let target = &attacker.target;
            let doors = [target.hub, target.robots.address, target.blackjack.address, target.mastermind.address];
            let door = attacker.below(doors.len());
            let what = ["page", "robots", "blackjack", "mastermind"][door];
            let mut stream = match connect(attacker.from, doors[door]).await {
                Ok(stream) => stream,
                Err(error) => return attacker.count(format!("{what}: {}", word(&error))),
            };
            attacker.count(format!("{what}: opened"));
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
            let end = timeout(KEPT, end).await.unwrap_or("kept");
            attacker.count(format!("{what}: {end}"));
        })
        .await;
}
