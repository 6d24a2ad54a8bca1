//! Pages that look at the lobby: rooms that they look for, and pictures of those in sight.

use serde_json::{Value, json};

use crate::support::{Browser, Hub};

/// The next pictures that a page is sent which are as `wanted`.
fn picture<T>(page: &mut Browser, id: &str, mut wanted: impl FnMut(&Value) -> Option<T>) -> T {
    loop {
        let told: Value = serde_json::from_str(&page.until(r#"{"pictures""#)).unwrap();
        if let Some(found) = wanted(&told["pictures"][id]) {
            return found;
        }
    }
}

/// The picture that a page makes of what it is told, once it has this part. The first one may be empty, before the hub has seen the
/// room itself; the rest comes as changes.
fn picture_with(page: &mut Browser, id: &str, part: &str) -> Value {
    let mut whole = json!({});
    picture(page, id, |told| {
        match told.get("change").and_then(Value::as_object) {
            None => whole = told.get("whole")?.clone(),
            Some(changes) => changes.iter().for_each(|(name, part)| whole[name.as_str()] = part.clone()),
        }
        (!whole[part].is_null()).then(|| whole.clone())
    })
}

/// Whether a letter is on a map, in the rows that are told.
fn has_letter(picture: &Value, letter: char) -> Option<()> {
    let rows = picture.get("whole").or_else(|| picture.get("change"))?.as_object()?;
    rows.values().any(|row| row.as_str().is_some_and(|row| row.contains(letter))).then_some(())
}

#[test]
fn pictures_are_no_watchers_and_show_what_a_watcher_sees() {
    let hub = Hub::start();
    let room = hub.room("nuggets");
    let id = room["id"].as_str().unwrap();
    let path = format!("/rooms/{id}/socket");
    let mut page = hub.live();
    page.say(&json!({ "pictures": [id] }).to_string());
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
    player.say("PLAY Ann");
    player.until("OK A");
    picture(&mut page, id, |picture| has_letter(picture, 'A'));
    // A room that is closed has no picture any more.
    let made = hub.make(&json!({ "game": "robots", "players": 2 }));
    let other = made["id"].as_str().unwrap();
    page.say(&json!({ "pictures": [other, "nuggets-999"] }).to_string());
    assert_eq!(picture_with(&mut page, other, "there")["there"], json!([0, 2]));
}
