use std::time::Duration;

use blackjack::{Config, Seed, Server};
use netcore::Recorded as _;
use serde_json::json;

use crate::room::Room;

fn config(seed: u64) -> Config {
    let players = usize::try_from(seed % 3).unwrap() + 1;
    let forever = !seed.is_multiple_of(4);
    Config {
        players,
        tables: 2,
        forever,
        trace: seed.is_multiple_of(2),
        accounts: seed.is_multiple_of(5).then_some(Duration::from_secs(1)),
        delay: Duration::from_millis(if seed.is_multiple_of(7) { 0 } else { 50 }),
        ..Config::new(3, Seed::from_number(seed))
    }
}

#[test]
fn setup_restores_the_initial_state_and_is_validated() {
    for seed in 0..20 {
        let server = Server::new(config(seed)).unwrap();
        let setup = serde_json::from_str(&serde_json::to_string(&server.setup()).unwrap()).unwrap();
        let again = Room::of(Server::from_setup(setup).unwrap());
        assert_eq!(again.state(), Room::of(server).state());
    }
    for (field, value) in [("players", json!(7)), ("tables", json!(0)), ("rounds", json!(0)), ("tables", json!(4_097))]
    {
        let mut setup = serde_json::to_value(config(0)).unwrap();
        setup[field] = value;
        assert!(Server::from_setup(serde_json::from_value(setup).unwrap()).is_err(), "{field}");
    }
}
