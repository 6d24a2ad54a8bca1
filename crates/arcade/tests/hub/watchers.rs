use serde_json::{Value, json};

use crate::support::{Browser, Hub};

fn picture<T>(page: &mut Browser, id: &str, mut wanted: impl FnMut(&Value) -> Option<T>) -> T {
    loop {
        let message: Value = serde_json::from_str(&page.until(r#"{"pictures""#)).unwrap();
        if let Some(found) = wanted(&message["pictures"][id]) {
            return found;
        }
    }
}

/// Assembles a picture until it has this part. The first one may be empty, if the hub has no data of the room yet.
fn picture_with(page: &mut Browser, id: &str, part: &str) -> Value {
    let mut whole = json!({});
    picture(page, id, |message| {
        match message.get("change").and_then(Value::as_object) {
            None => whole = message.get("whole")?.clone(),
            Some(changes) => changes.iter().for_each(|(name, part)| whole[name.as_str()] = part.clone()),
        }
        (!whole[part].is_null()).then(|| whole.clone())
    })
}

fn has_letter(picture: &Value, letter: char) -> Option<()> {
    let rows = picture.get("whole").or_else(|| picture.get("change"))?.as_object()?;
    rows.values().any(|row| row.as_str().is_some_and(|row| row.contains(letter))).then_some(())
}

#[test]
fn pictures_equal_the_view_of_a_watcher() {
    let hub = Hub::start();
    let room = hub.room("nuggets");
    let id = room["id"].as_str().unwrap();
    let path = format!("/rooms/{id}/socket");
    let mut page = hub.live();
    page.send(&json!({ "pictures": [id] }).to_string());
    let whole = picture_with(&mut page, id, "size");
    let mut watcher = hub.socket(&format!("{path}?watch=true"), None).unwrap();
    let display = watcher.until("DISPLAY");
    let rows: Vec<&str> = display.lines().skip(1).map(str::trim_end).collect();
    assert_eq!(whole["size"][0], rows.len());
    for (row, text) in rows.iter().enumerate() {
        assert_eq!(whole[row.to_string()], **text, "row {row}");
    }
    hub.wait("the watcher alone", |_| (hub.room("nuggets")["watchers"] == 1).then_some(()));
    let mut player = hub.socket(&path, None).unwrap();
    player.send("PLAY Ann");
    player.until("OK A");
    picture(&mut page, id, |picture| has_letter(picture, 'A'));
    // A page can select other rooms. An unknown one is ignored.
    let made = hub.make(&json!({ "game": "robots", "players": 2 }));
    let other = made["id"].as_str().unwrap();
    page.send(&json!({ "pictures": [other, "nuggets-999"] }).to_string());
    assert_eq!(picture_with(&mut page, other, "there")["there"], json!([0, 2]));
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
