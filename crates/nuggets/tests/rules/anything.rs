//! Any datagrams in any order: no panic, nobody is moved by another's rubbish, and every rule that always holds holds.

use nuggets::{ClientMessage, Config, Rules, game::Action, visibility::Vision};
use proptest::prelude::*;

use crate::{
    journal::MAP,
    table::{Said, Table},
};

fn datagram() -> impl Strategy<Value = Vec<u8>> {
    let key = prop::sample::select(&b"hjklyubnHJKLYUBN"[..]);
    let word = prop::sample::select(&["KEY", "PLAY", "SPECTATE", "key ", "QUIT ", "OK "][..]);
    let tail = prop::collection::vec(any::<u8>(), 0..4);
    prop_oneof![
        12 => key.prop_map(|key| [b"KEY ", &[key][..]].concat()),
        2 => any::<u8>().prop_map(|key| [b"KEY ", &[key][..]].concat()),
        1 => Just(b"KEY Q".to_vec()),
        4 => prop::collection::vec(any::<u8>(), 0..60).prop_map(|name| [b"PLAY ", &name[..]].concat()),
        2 => Just(b"SPECTATE".to_vec()),
        3 => prop::collection::vec(any::<u8>(), 0..30),
        3 => (word, tail).prop_map(|(word, tail)| [word.as_bytes(), &tail].concat()),
        1 => (1..3usize).prop_map(|length| vec![0; length * 32_000]),
    ]
}

fn rules() -> impl Strategy<Value = Rules> {
    let share = prop::sample::select(&[0, 0, 10, 100][..]);
    (share, any::<bool>(), any::<bool>(), prop::option::of(1..4u16), 1..6u32, 1..20u32).prop_map(
        |(steal_percent, run_stop, drop_on_quit, radius, min_piles, more)| Rules {
            gold: min_piles * more,
            min_piles,
            max_piles: min_piles + more,
            vision: Vision { radius },
            steal_percent,
            run_stop,
            drop_on_quit,
        },
    )
}

// Where everybody stands, by letter.
fn places(table: &Table) -> Vec<(u8, Option<nuggets::Cell>)> {
    table.game().players().iter().map(|player| (player.letter.byte(), player.cell)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_datagrams_in_any_order(
        rules in rules(),
        seed in any::<u64>(),
        rematch in any::<bool>(),
        idle in prop::option::of(1..20u64),
        came in prop::collection::vec((0..7usize, datagram(), 0..2_000u64), 0..80),
    ) {
        let idle_timeout = idle.map(std::time::Duration::from_secs);
        let mut table = Table::new(MAP, Config { rules, seed: seed.into(), rematch, idle_timeout, ..Config::default() });
        for (who, datagram, millis) in came {
            let who = ["Alice", "Bob", "Carol", "Dave", "Sam", "Mallory", "Trudy"][who];
            table.wait(std::time::Duration::from_millis(millis));
            let known = table.known().any(|known| known == who);
            let (before, digest) = (places(&table), table.game().digest());
            let said = table.send(who, &datagram);
            let rematched = said.iter().any(|said| matches!(said, Said::Printed(_)));
            let moves = match ClientMessage::parse(&datagram) {
                Ok(ClientMessage::Key(key)) => known && Action::from_key(key).is_some(),
                Ok(ClientMessage::Play(Some(_))) => !known,
                _ => false,
            };
            if !moves {
                prop_assert_eq!(table.game().digest(), digest, "{:?} from {}", datagram, who);
                prop_assert_eq!(places(&table), before);
            } else if matches!(ClientMessage::parse(&datagram), Ok(ClientMessage::Play(_))) {
                prop_assert_eq!(&places(&table)[..before.len()], &before[..], "a newcomer moves nobody");
            } else if !rematched {
                // By a step or a run one goes, and others only take its places: nobody else goes further than one spot.
                let width = 13_i32;
                let far = before.iter().zip(places(&table)).filter(|(before, after)| {
                    let (Some(from), Some(to)) = (before.1, after.1) else { return before.1 != after.1 };
                    let ((row, col), (to_row, to_col)) = (place(from, width), place(to, width));
                    (row - to_row).abs() > 1 || (col - to_col).abs() > 1
                });
                prop_assert!(far.count() <= 1);
            }
            let heard = said.iter().any(|said| matches!(said, Said::Told { who: other, .. } if other != who));
            prop_assert!(moves || !heard || datagram == b"SPECTATE" || datagram == b"KEY Q");
        }
    }
}

fn place(cell: nuggets::Cell, width: i32) -> (i32, i32) {
    (i32::from(cell.0) / width, i32::from(cell.0) % width)
}
