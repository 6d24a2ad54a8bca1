use serde_json::{Value, json};

use crate::support::{Browser, Hub};

/// Assembles a picture until this part is as wanted. The first one may be empty, if the hub has no data of the room yet.
fn picture_until(page: &mut Browser, id: &str, part: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut whole = json!({});
    loop {
        let message: Value = serde_json::from_str(&page.until(r#"{"pictures""#)).unwrap();
        match &message["pictures"][id] {
            Value::Object(picture) if picture.contains_key("whole") => whole = picture["whole"].clone(),
            picture => {
                let changes = picture["change"].as_object().into_iter().flatten();
                changes.for_each(|(name, part)| whole[name.as_str()] = part.clone());
            }
        }
        if wanted(&whole[part]) {
            return whole;
        }
    }
}

#[test]
fn pictures_equal_the_view_of_a_watcher() {
    let hub = Hub::start();
    let room = hub.room("nuggets");
    let id = room["id"].as_str().unwrap();
    let path = format!("/rooms/{id}/socket");
    let mut page = hub.live();
    page.send(&json!({ "pictures": [id] }).to_string());
    let whole = picture_until(&mut page, id, "size", |size| !size.is_null());
    let mut watcher = hub.socket(&format!("{path}?watch=true"), None).unwrap();
    let display = watcher.until("DISPLAY");
    let rows: Vec<&str> = display.lines().skip(1).map(str::trim_end).collect();
    assert_eq!(whole["size"][0], rows.len());
    for (row, text) in rows.iter().enumerate() {
        assert_eq!(whole[row.to_string()], **text, "row {row}");
    }
    hub.wait("the watcher alone", |_| (hub.room("nuggets")["watchers"] == 1).then_some(()));
    // A page can select other rooms. An unknown one is ignored. Pictures of nuggets follow half a minute late.
    let made = hub.make(&json!({ "game": "blackjack", "players": 1 }));
    let other = made["id"].as_str().unwrap();
    page.send(&json!({ "pictures": [other, "nuggets-999"] }).to_string());
    let (mut player, _) = hub.enter(&made);
    player.send("JOIN Ann");
    player.until("DECISION");
    picture_until(&mut page, other, "table", |table| table.as_str().is_some_and(|table| table.contains("Ann")));
}

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
    hub.await_room(room, |now| now["watchers"] == json!(count));
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
