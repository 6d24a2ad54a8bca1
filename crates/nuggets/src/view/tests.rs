use super::*;
use crate::{config::Rules, game::Action, grid::Direction, protocol::Name};
use rand::SeedableRng;
use rand_pcg::Pcg64;

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
    // What is still to be sent must not change under the sender.
    let held = views.player(id, Framing::Whole).unwrap();
    let before = held.to_vec();
    let events = game.apply(id, Action::Step(Direction::Right)).unwrap();
    views.update(&game, &events);
    assert_eq!(held, before);
    assert_ne!(views.player(id, Framing::Whole).unwrap(), held);
}
