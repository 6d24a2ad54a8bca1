//! The number of connected watchers.

use serde_json::{Value, json};
use tungstenite::protocol::CloseFrame;

use crate::support::{Browser, Hub};

/// The close code of a page that leaves permanently.
const LEFT: u16 = 4000;

fn watch(hub: &Hub, room: &Value, count: usize) -> Vec<Browser> {
    let path = format!("/rooms/{}/socket?watch=true", room["id"].as_str().unwrap());
    let mut watchers: Vec<Browser> = (0..count).map(|_| hub.socket(&path, None).unwrap()).collect();
    for watcher in &mut watchers {
        watcher.until(r#"{"room""#);
    }
    await_watchers(hub, room, count);
    watchers
}

fn await_watchers(hub: &Hub, room: &Value, count: usize) {
    hub.wait(&format!("{} with {count} watchers", room["id"]), |rooms| {
        let now = rooms.iter().find(|now| now["id"] == room["id"])?;
        (now["watchers"] == json!(count)).then_some(())
    });
}

#[test]
fn watchers_that_disconnect_are_not_counted() {
    let hub = Hub::start();
    for room in hub.rooms() {
        let mut watchers = watch(&hub, &room, 3);
        watchers[0].0.close(Some(CloseFrame { code: LEFT.into(), reason: "".into() })).unwrap();
        watchers[0].0.flush().unwrap();
        watchers[1].0.close(None).unwrap();
        watchers[1].0.flush().unwrap();
        drop(watchers.pop());
        await_watchers(&hub, &room, 0);
    }
}

#[test]
fn watchers_are_not_counted_after_a_restart() {
    let hub = Hub::start();
    let rooms = hub.rooms();
    let watchers: Vec<_> = rooms.iter().map(|room| watch(&hub, room, 2)).collect();
    let hub = Hub::again(hub.kill(), &[]);
    drop(watchers);
    for room in &rooms {
        await_watchers(&hub, room, 0);
        watch(&hub, room, 1);
    }
}
