//! Invalid setups of a server.

use netcore::{Link, Role};
use serde_json::{Value, json};

use crate::room::{Came, Hall, MAP, config, link_of};

// A game with all roles over all links, with quitters and a pending deadline.
fn busy() -> Hall {
    let mut hall = Hall::new(MAP, config(11));
    for peer in 1..=5 {
        hall.join(peer, link_of(peer), format!("PLAY P{peer}").as_bytes());
        hall.say(peer, link_of(peer), b"KEY H");
    }
    hall.join(6, link_of(6), b"SPECTATE");
    hall.input(&Came::Connected(7, Role::Watcher, Link::Message));
    hall.connect(8, Link::Message);
    hall.say(2, link_of(2), b"KEY Q");
    hall
}

type Case = (&'static str, fn(&mut Value));

#[test]
fn a_set_up_that_no_server_can_have_is_refused() {
    let hall = busy();
    let [setup, state] = hall.written();
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
        ("invalid number of nuggets 0", |setup| setup["config"]["rules"]["gold"] = json!(0)),
        ("invalid number of nuggets", |setup| setup["config"]["rules"]["gold"] = json!(u32::MAX)),
        ("101", |setup| setup["config"]["rules"]["steal_percent"] = json!(101)),
        ("invalid radius 0", |setup| setup["config"]["rules"]["vision"]["radius"] = json!(0)),
        ("piles", |setup| setup["config"]["rules"]["min_piles"] = json!(0)),
        ("piles", |setup| setup["config"]["rules"]["max_piles"] = json!(1)),
        ("overflow", |setup| {
            setup["config"]["idle_timeout"] = json!({ "secs": u64::MAX, "nanos": u32::MAX });
        }),
    ];
    for (number, (why, edit)) in cases.iter().enumerate() {
        let mut setup = setup.clone();
        edit(&mut setup);
        let refused = hall.restored(&setup.to_string(), &state).map(|_| ());
        assert!(refused.as_ref().is_err_and(|refused| refused.to_string().contains(why)), "case {number}: {refused:?}");
    }
}
