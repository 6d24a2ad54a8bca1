use super::*;
use crate::{
    config::Rules,
    game::Action,
    grid::Direction,
    protocol::Name,
    visibility::{Sighter, Vision},
};
use alloc::{string::String, vec, vec::Vec};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// A player's picture made from scratch, as the rule says it.
fn composed(game: &Game, player: PlayerId, known: &[bool]) -> Vec<u8> {
    let own = game.player(player).unwrap().cell.unwrap();
    let sight = Sighter::default().sight((&**game.grid()).into(), own, game.rules().vision);
    let cell = |(offset, &byte): (u16, &u8)| match Cell(offset) {
        _ if byte == b'\n' => byte,
        cell if cell == own => SELF,
        cell if sight.contains(cell) => game.content(cell),
        cell if known[cell.index()] => byte,
        _ => ROCK,
    };
    (0..).zip(game.grid().text()).map(cell).collect()
}

const MAP: &str = "+----+ +---+\n|....###...|\n|..+-+ |...|\n|..|   +-#-+\n+--+     #  \n    ######  \n";

/// Most of it is seen from everywhere, and all of it before long.
const HALL: &str = ".........\n....+....\n.........\n.........\n";

proptest! {
    #[test]
    fn patched_pictures_are_those_made_from_scratch(
        map in prop::sample::select(&[MAP, HALL][..]),
        seed in any::<u64>(),
        keys in prop::collection::vec((0..4u8, prop::sample::select(&b"hjklyubnHJKLYUBNQ"[..])), 0..60),
        radius in prop::option::of(1..4u16),
        shared in any::<bool>(),
    ) {
        let grid = Arc::new(Grid::parse(map.as_bytes()).unwrap().0);
        let mut rng = Pcg64::seed_from_u64(seed);
        let rules = Rules { vision: Vision { radius }, min_piles: 3, max_piles: 6, drop_on_quit: true, ..Rules::default() };
        let mut game = Game::new(grid, rules, &mut rng).unwrap();
        let mut views = Views::new(&game);
        let mut known = vec![vec![false; game.grid().text().len()]; 4];
        let mut held = vec![];
        let mut events = vec![];
        for _ in 0..4 {
            let (_, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
            views.update(&game, &[event]);
            events.push(event);
        }
        for (who, key) in core::iter::once((0, b'?')).chain(keys) {
            if let Some(action) = Action::from_key(key) {
                let Ok(done) = game.apply(PlayerId(who), action) else { continue };
                views.update(&game, &done);
                events = done;
            }
            for event in &events {
                if let Event::Joined { player, cell } | Event::Moved { player, to: cell, .. } = *event {
                    let sight = Sighter::default().sight((&**game.grid()).into(), cell, rules.vision);
                    sight.cells().for_each(|cell| known[usize::from(player.0)][cell.index()] = true);
                }
            }
            for (id, _) in game.active() {
                let frame = views.player(id, Framing::Whole).unwrap();
                let expected = composed(&game, id, &known[usize::from(id.0)]);
                prop_assert_eq!(String::from_utf8_lossy(&frame[8..]), String::from_utf8_lossy(&expected));
                // A frame that is still to be sent must not change under the sender.
                if shared {
                    held.push((frame, expected));
                }
            }
            let board: Vec<u8> = (0..).zip(game.grid().text()).map(|(at, &byte)| if byte == b'\n' { byte } else { game.content(Cell(at)) }).collect();
            let spectator = views.spectator(Framing::Whole);
            prop_assert_eq!(&spectator[8..], &board[..]);
        }
        for (frame, expected) in held {
            prop_assert_eq!(&frame[8..], &expected[..]);
        }
    }
}

#[test]
fn gold_stays_in_sight_on_a_run_past_something_new() {
    // From both ends of the room the same is visible, and from the middle the gap below as well.
    let map = "+---------+\n|.........|\n|.........|\n+----.----+\n    |.|    \n    |.|    \n    +-+    \n";
    let grid = Arc::new(Grid::parse(map.as_bytes()).unwrap().0);
    let rules = Rules { min_piles: 12, max_piles: 12, ..Rules::default() };
    for seed in 0..60 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut game = Game::new(Arc::clone(&grid), rules, &mut rng).unwrap();
        let mut views = Views::new(&game);
        let (id, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
        views.update(&game, &[event]);
        let mut known = vec![false; grid.text().len()];
        let mut events = vec![event];
        for key in *b"KHJLH" {
            for event in &events {
                if let Event::Joined { cell, .. } | Event::Moved { to: cell, .. } = *event {
                    let sight = Sighter::default().sight((&*grid).into(), cell, rules.vision);
                    sight.cells().for_each(|cell| known[cell.index()] = true);
                }
            }
            let frame = views.player(id, Framing::Whole).unwrap();
            assert_eq!(String::from_utf8_lossy(&frame[8..]), String::from_utf8_lossy(&composed(&game, id, &known)));
            events = game.apply(id, Action::from_key(key).unwrap()).unwrap();
            views.update(&game, &events);
        }
    }
}

#[test]
fn the_digest_tells_from_where_somebody_has_looked() {
    let grid = Arc::new(Grid::parse(b"..........\n").unwrap().0);
    let mut rng = Pcg64::seed_from_u64(1);
    let rules = Rules { min_piles: 1, max_piles: 1, ..Rules::default() };
    let mut game = Game::new(grid, rules, &mut rng).unwrap();
    let mut views = Views::new(&game);
    let mut met = vec![views.digest()];
    for _ in 0..2 {
        let (_, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
        views.update(&game, &[event]);
        assert!(!met.contains(&views.digest()));
        met.push(views.digest());
    }
    let mut walk = |way| {
        let events = game.apply(PlayerId(0), Action::Run(way)).unwrap();
        views.update(&game, &events);
        views.digest()
    };
    let all = [Direction::Left, Direction::Right].map(&mut walk)[1];
    assert!(!met.contains(&all));
    assert_eq!([Direction::Left, Direction::Right].map(&mut walk), [all; 2], "nothing new is seen");
}

#[test]
fn a_message_is_patched_in_place_once_it_is_sent() {
    let grid = Arc::new(Grid::parse(b"......................................\n").unwrap().0);
    let mut rng = Pcg64::seed_from_u64(5);
    let mut game = Game::new(grid, Rules::default(), &mut rng).unwrap();
    let mut views = Views::new(&game);
    let (id, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
    views.update(&game, &[event]);
    let place = views.player(id, Framing::Whole).unwrap().as_ptr();
    for way in [Direction::Left, Direction::Right, Direction::Left] {
        let events = game.apply(id, Action::Step(way)).unwrap();
        views.update(&game, &events);
        assert_eq!(views.player(id, Framing::Whole).unwrap().as_ptr(), place, "no new memory");
    }
    let held = views.player(id, Framing::Whole).unwrap();
    let events = game.apply(id, Action::Step(Direction::Right)).unwrap();
    views.update(&game, &events);
    assert_ne!(views.player(id, Framing::Whole).unwrap(), held);
}
