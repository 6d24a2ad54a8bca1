//! Pages that look at the lobby: rooms that they look for, and pictures of those in sight.

use serde_json::{Value, json};
use testkit::peer::Peer;

use crate::support::{Browser, Hub, native};

/// Pages of one host.
const CLASS: usize = 60;

fn next(page: &mut Browser) -> Value {
    serde_json::from_str(&page.until("{")).unwrap()
}

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
fn a_class_behind_one_address_has_lobbies_with_pictures() {
    // Pages whose turn it is not do not answer pings, so none may have to wait for the first picture.
    let hub = Hub::with(&["--watch-delay", "0"]);
    let room = hub.room("nuggets");
    let id = room["id"].as_str().unwrap();
    let player = Peer::new(native(&room));
    player.play("Ann");
    let mut class: Vec<Browser> = (0..CLASS).map(|_| hub.socket("/live", None).unwrap()).collect();
    for page in &mut class {
        page.say(r#"{"look":{}}"#);
    }
    for page in &mut class {
        let lobby = next(page);
        assert_eq!((lobby["total"].as_u64(), lobby["rooms"].as_array().map(Vec::len)), (Some(5), Some(5)), "{lobby}");
        page.say(&json!({ "pictures": [id] }).to_string());
    }
    for page in &mut class {
        picture(page, id, |picture| has_letter(picture, 'A'));
    }
    // All of them are one watcher, who counts as nobody.
    assert_eq!(hub.room("nuggets")["watchers"], 0);
    // A map of 21 rows is told once, and then the rows that change.
    let other = Peer::new(native(&room));
    other.play("Bob");
    let rows = picture(&mut class[CLASS - 1], id, |picture| Some(picture.get("change")?.as_object()?.len()));
    assert!(rows <= 12, "{rows} rows");
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

#[test]
fn rooms_are_looked_for_on_the_hub_and_changes_are_told_alone() {
    let hub = Hub::with(&["--rooms-per-host", "20"]);
    let made: Vec<Value> = (0..9).map(|_| hub.make(&json!({ "game": "nuggets", "map": "gold" }))).collect();
    let looks = |look: &Value| {
        let mut page = hub.socket("/live", None).unwrap();
        page.say(&json!({ "look": look }).to_string());
        let lobby = next(&mut page);
        let ids: Vec<String> =
            lobby["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
        (page, ids, lobby["total"].as_u64().unwrap())
    };
    hub.wait("all rooms", |_| (looks(&json!({})).2 == 14).then_some(()));
    let (mut page, ids, total) = looks(&json!({ "game": "nuggets", "from": 1, "count": 3 }));
    assert_eq!((ids.len(), total), (3, 10));
    assert_eq!(looks(&json!({ "text": "GOLD" })).2, 9);
    // Somebody comes into one of the three: that room is told, and no other.
    let room = made.iter().find(|room| room["id"] == ids[1].as_str()).unwrap();
    let player = Peer::new(native(room));
    player.play("Zoe");
    let change = loop {
        let told = next(&mut page);
        if !told["rooms"].is_null() {
            break told;
        }
    };
    assert_eq!(change["rooms"].as_array().unwrap().len(), 1, "{change}");
    assert_eq!((&change["rooms"][0]["id"], &change["rooms"][0]["players"][0]["name"]), (&json!(ids[1]), &json!("Zoe")));
    assert!(change["ids"].is_null() && change["recent"].is_null(), "{change}");
    assert_eq!(looks(&json!({ "text": "zoe" })).1, [ids[1].clone()]);
    // The page is made of the first rooms, and is the same for whoever asks.
    let pages = [hub.get("/").1, hub.get("/players").1];
    assert!(pages[0] == pages[1] && pages[0].contains("Zoe"), "{}", pages[0]);
}
