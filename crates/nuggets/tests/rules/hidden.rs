use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use netcore::{Engine as _, Framing, Input, Link, Outbox, Output, PeerId, Protocol as _, Role, Time, To};
use nuggets::{
    Config, Grid, Nuggets, Position, Rules, Server,
    visibility::{Sighter, Vision},
};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

/// Cells in sight show their content, cells seen before the bare map, and all others a blank.
#[test]
fn display_hides_what_its_player_does_not_see() {
    const PLAYERS: u64 = 3;
    let (grid, _) = Grid::parse(include_bytes!("../../../../maps/main.txt")).unwrap();
    let vision = Vision { radius: Some(9) };
    let rules = Rules { vision, ..Rules::default() };
    let mut server = Server::new(Arc::new(grid.clone()), Config { rules, seed: 7, ..Config::default() }).unwrap();
    let positions = (0..grid.rows()).flat_map(|row| (0..grid.cols()).map(move |col| Position::new(row, col)));
    let cells: Vec<_> = positions.filter_map(|position| grid.cell(position)).collect();
    let (mut rng, mut sighter, mut now) = (Pcg64::seed_from_u64(1), Sighter::default(), Time::ZERO);
    let mut explored = BTreeMap::<u8, BTreeSet<usize>>::new();
    let mut displays = 0;
    for step in 0..1_000 {
        let peer = PeerId(step % PLAYERS);
        let mut out = Outbox::new();
        now = now.plus(Duration::from_millis(50));
        if step < PLAYERS {
            let address = format!("10.0.0.{step}:1").into();
            server.input(now, Input::Connected { peer, role: Role::Player, link: Link::Stream, address }, &mut out);
        }
        // Single steps test each place from which a player sees cells.
        let key = b"hjklyubn"[rng.random_range(0..8)];
        let message =
            if step < PLAYERS { format!("PLAY Player {step}").into_bytes() } else { vec![b'K', b'E', b'Y', b' ', key] };
        let message = Nuggets::decode(&mut (), &message, Framing::Whole).unwrap();
        server.input(now, Input::Message { peer, message }, &mut out);
        let game = server.game();
        let sights: BTreeMap<u8, BTreeSet<usize>> = game
            .active()
            .filter_map(|(_, player)| {
                let sight = sighter.sight((&grid).into(), player.cell?, vision);
                let visible = cells.iter().filter(|cell| sight.contains(**cell)).map(|cell| cell.index()).collect();
                Some((player.letter.byte(), visible))
            })
            .collect();
        for (letter, visible) in &sights {
            explored.entry(*letter).or_default().extend(visible);
        }
        for output in out.drain() {
            let Output::Send { to: To::Peer(PeerId(number)), frame } = output else { continue };
            let letter = b'A' + u8::try_from(number).unwrap();
            let Some(start) = frame.windows(8).position(|window| window == b"DISPLAY\n") else { continue };
            displays += 1;
            for cell in &cells {
                let is_seen = |cells: &BTreeMap<u8, BTreeSet<usize>>| cells[&letter].contains(&cell.index());
                let expected = match (is_seen(&sights), is_seen(&explored)) {
                    (true, _) if game.content(*cell) == letter => b'@',
                    (true, _) => game.content(*cell),
                    (false, true) => grid.at(*cell),
                    (false, false) => b' ',
                };
                let shown = frame[start + 8 + cell.index()];
                assert_eq!(char::from(shown), char::from(expected), "{} at {cell:?}", char::from(letter));
            }
        }
    }
    assert!(displays > 300, "{displays} displays");
}
