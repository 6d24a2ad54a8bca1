//! Connections until the hub can open no more.

use std::{rc::Rc, time::Duration};

use super::{
    super::net::{connect, heard_out, word},
    Act, Attacker,
};

/// Connections of one host. Ten hosts have more than the hub has files.
pub(super) const HELD: usize = 480;
/// How long one is kept, unless the hub ends it.
const KEPT: Duration = Duration::from_secs(600);

/// Opens a connection and keeps it: to the page, or to a room that has connections.
pub(super) async fn use_up(attacker: Rc<Attacker>) -> Act {
    let target = &attacker.target;
    let doors = [target.hub, target.robots.address, target.blackjack.address, target.mastermind.address];
    let door = attacker.below(doors.len());
    let what = ["page", "robots", "blackjack", "mastermind"][door];
    let opened = connect(attacker.from, doors[door]).await;
    let mut stream = opened.map_err(|error| format!("{what}: {}", word(&error)))?;
    attacker.count(format!("{what}: opened"));
    attacker.count(format!("{what}: {}", heard_out(&mut stream, KEPT).await));
    Ok(())
}
