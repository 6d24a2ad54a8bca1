//! Anything at all from anybody, in any order; and the same again gives the same again.

use std::time::Duration;

use blackjack::Config;
use netcore::{Engine, Gone};
use proptest::prelude::*;

use crate::room::{Room, config};

const WHO: [&str; 4] = ["Ann", "Bob", "Cyd", "Dee"];

#[derive(Debug, Clone)]
enum Came {
    Bytes(usize, Vec<u8>),
    Time(u64),
    Gone(usize, Gone),
}

fn any_input() -> impl Strategy<Value = Came> {
    let who = 0..WHO.len();
    let words = prop::sample::select(vec![&b"HIT\0"[..], b"STAND\0", b"\0\0\0\x01\x06", b"\0\0\0\x01\x07"]);
    let gone = prop::sample::select(vec![Gone::Left, Gone::Broken, Gone::Lagging]);
    prop_oneof![
        20 => (who.clone(), words).prop_map(|(who, word)| Came::Bytes(who, word.to_vec())),
        1 => (who.clone(), prop::collection::vec(any::<u8>(), 0..9)).prop_map(|(who, bytes)| Came::Bytes(who, bytes)),
        8 => (0..400_u64).prop_map(Came::Time),
        1 => Just(Came::Time(30_000)),
        1 => (who, gone).prop_map(|(who, gone)| Came::Gone(who, gone)),
    ]
}

// All bytes that went out, what was printed, and the fingerprint after each input.
fn play(config: Config, joins: [bool; 4], came: &[Came]) -> (Vec<Vec<u8>>, Vec<String>, Vec<u64>) {
    let mut room = Room::new(config);
    for (who, text) in WHO.iter().zip(joins) {
        room.connect(who);
        room.send(who, if text { b"JOIN x\0" } else { b"\0\0\0\x03\x01\x01x" });
    }
    let mut digests = vec![];
    for came in came {
        match came {
            Came::Bytes(who, bytes) => room.send(WHO[*who], bytes),
            Came::Time(millis) => room.wait(Duration::from_millis(*millis)),
            Came::Gone(who, why) => room.gone(WHO[*who], *why),
        }
        digests.push(room.server().digest());
    }
    room.stop();
    assert!(room.server().outcome().is_some() && WHO.iter().all(|who| room.is_closed(who)));
    (WHO.iter().map(|who| room.bytes(who)).collect(), room.printed().to_vec(), digests)
}

proptest! {
    #[test]
    fn nothing_brings_a_dealer_down_and_the_same_again_gives_the_same(
        players in 1..=3_usize,
        tables in 1..=2_u32,
        forever in any::<bool>(),
        delay in prop::sample::select(vec![0, 50]),
        joins in any::<[bool; 4]>(),
        came in prop::collection::vec(any_input(), 0..80),
    ) {
        let config = Config { players, tables, forever, delay: Duration::from_millis(delay), ..config(3) };
        prop_assert_eq!(play(config, joins, &came), play(config, joins, &came));
    }
}
