use netcore::{Link, Role};
use serde_json::{Value, json};

use crate::room::{MAP, RoomInput, TestRoom, config, link_of};

// A room with all roles over all links, with quitters and a pending deadline.
fn busy() -> TestRoom {
    let mut room = TestRoom::new(MAP, config(11));
    for peer in 1..=5 {
        room.join(peer, link_of(peer), format!("PLAY P{peer}").as_bytes());
        room.send(peer, link_of(peer), b"KEY H");
    }
    room.join(6, link_of(6), b"SPECTATE");
    room.input(&RoomInput::Connected(7, Role::Watcher, Link::Message));
    room.connect(8, Link::Message);
    room.send(2, link_of(2), b"KEY Q");
    room
}

type Case = (&'static str, fn(&mut Value));

#[test]
fn invalid_setup_is_rejected() {
    let room = busy();
    let [setup, state] = room.written();
    let setup: Value = serde_json::from_str(&setup).unwrap();
    let cases: &[Case] = &[
        ("is too large", |setup| setup["map"] = json!(" ".repeat(131_015))),
        ("the map is empty", |setup| setup["map"] = json!("")),
        ("is not a map character", |setup| setup["map"] = json!("..x..\n")),
        ("the map is too large", |setup| setup["map"] = json!((".".repeat(372) + "\n").repeat(176))),
        ("no room spot", |setup| setup["map"] = json!("#####\n")),
        ("a single room spot", |setup| setup["map"] = json!(".####\n")),
        ("not written as a server writes it", |setup| setup["map"] = json!(".....\r\n")),
        ("not written as a server writes it", |setup| setup["map"] = json!(".....\n..\n")),
        ("not written as a server writes it", |setup| setup["map"] = json!(".....")),
        // `options` tests the rules as a whole.
        ("invalid number of nuggets", |setup| setup["config"]["rules"]["gold"] = json!(u32::MAX)),
        ("overflow", |setup| {
            setup["config"]["idle_timeout"] = json!({ "secs": u64::MAX, "nanos": u32::MAX });
        }),
    ];
    for (number, (why, edit)) in cases.iter().enumerate() {
        let mut setup = setup.clone();
        edit(&mut setup);
        let refused = room.restored(&setup.to_string(), &state).map(|_| ());
        assert!(refused.as_ref().is_err_and(|refused| refused.to_string().contains(why)), "case {number}: {refused:?}");
    }
}
