//! The dealer is killed and goes on: whose seat is held, what counts, and which cards come.

use std::{collections::BTreeMap, time::Duration};

use blackjack::{
    Card, Config, DealerMessage, Deck, Dialect, Name, PlayerMessage, Score, Seed, Verdict, game::MAX_SEATS,
};
use netcore::{Departure, Engine, GameEvent, Gone, Outcome, Phase, Role};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::room::{Room, config};

fn paced(players: usize, rounds: u32) -> Config {
    Config { players, delay: Duration::from_millis(50), ..config(rounds) }
}

// The columns behind the name: rounds, wins, pushes, losses, busts, forfeits.
fn row(room: &Room, who: &str) -> [u64; 6] {
    let standings = room.printed().last().unwrap();
    let line = standings.lines().find(|line| line.split_whitespace().nth(2) == Some(who)).unwrap();
    let columns: Vec<u64> = line.split_whitespace().skip(3).take(6).map(|column| column.parse().unwrap()).collect();
    columns.try_into().unwrap()
}

#[test]
fn in_the_middle_of_a_hand_the_next_round_is_dealt_to_whoever_comes_back() {
    let mut room = Room::new(config(2));
    // The cards are those of the first, second and third round of the same dealer when nobody kills it.
    room.check(
        "Ann > JOIN Ann
         Ann < BEGIN, CARD Two of Diamonds, CARD Three of Diamonds, DEALER Eight of Diamonds, DECISION
         Ann > HIT
         Ann < CARD Ten of Hearts, DECISION
         kill
         wait 29999 ms
         Ann > JOIN Ann
         Ann < BEGIN, CARD Ace of Hearts, CARD Ten of Clubs, DEALER Jack of Clubs, DECISION",
    );
}

#[test]
fn whoever_comes_back_may_speak_the_other_dialect() {
    let ann = || PlayerMessage::Join(Name::new(b"Ann").unwrap());
    for (first, second) in [(Dialect::Text, Dialect::Binary), (Dialect::Binary, Dialect::Text)] {
        let mut room = Room::new(config(1));
        room.connect("Ann");
        room.say("Ann", first, &ann());
        assert_eq!(room.heard("Ann").len(), 5);
        room.kill();
        room.connect("Ann");
        room.say("Ann", second, &ann());
        let named = |name: &str| Card::from_name(name.as_bytes()).unwrap();
        assert_eq!(
            room.heard("Ann"),
            [
                DealerMessage::Begin,
                DealerMessage::Card(named("Ace of Hearts")),
                DealerMessage::Card(named("Ten of Clubs")),
                DealerMessage::Upcard(named("Jack of Clubs")),
                DealerMessage::Decision
            ]
        );
        room.say("Ann", second, &PlayerMessage::Stand);
        assert_eq!(room.heard("Ann"), [DealerMessage::Result(Verdict::Win), DealerMessage::Quit]);
        assert_eq!(row(&room, "Ann"), [1, 1, 0, 0, 0, 0]);
    }
}

#[test]
fn a_bust_whose_result_was_told_counts() {
    let mut room = Room::new(paced(1, 2));
    room.check(
        "Ann > JOIN Ann
         Ann < BEGIN
         wait 200 ms
         Ann < CARD Two of Diamonds, CARD Three of Diamonds, DEALER Eight of Diamonds, DECISION
         Ann > HIT
         Ann < CARD Ten of Hearts
         wait 50 ms
         Ann < DECISION
         Ann > HIT
         Ann < CARD Eight of Clubs
         wait 50 ms
         Ann < RESULT BUST
         kill
         Ann > JOIN Ann
         Ann < BEGIN
         wait 200 ms
         Ann < CARD Ten of Hearts, CARD Ten of Clubs, DEALER Ten of Diamonds, DECISION
         Ann > STAND
         Ann < RESULT WIN
         wait 250 ms
         Ann < QUIT
         Ann closed",
    );
    assert_eq!(row(&room, "Ann"), [2, 1, 0, 0, 1, 0]);
}

#[test]
fn a_bust_whose_result_was_on_its_way_does_not_count() {
    let mut room = Room::new(paced(1, 2));
    room.check(
        "Ann > JOIN Ann
         Ann < BEGIN
         wait 200 ms
         Ann < CARD Two of Diamonds, CARD Three of Diamonds, DEALER Eight of Diamonds, DECISION
         Ann > HIT
         Ann < CARD Ten of Hearts
         wait 50 ms
         Ann < DECISION
         Ann > HIT
         Ann < CARD Eight of Clubs
         kill
         Ann > JOIN Ann
         Ann < BEGIN
         wait 200 ms
         Ann < CARD Ten of Hearts, CARD Ten of Clubs, DEALER Ten of Diamonds, DECISION
         Ann > STAND
         Ann < RESULT WIN
         wait 250 ms
         Ann < BEGIN, CARD Four of Hearts, CARD Six of Spades, DEALER Eight of Spades, DECISION
         Ann > STAND
         Ann < RESULT LOOSE
         wait 250 ms
         Ann < QUIT
         Ann closed",
    );
    assert_eq!(row(&room, "Ann"), [2, 1, 0, 1, 0, 0]);
}

#[test]
fn between_rounds_the_last_one_counts_and_the_next_one_is_another() {
    let mut room = Room::new(paced(1, 2));
    room.check(
        "Ann > JOIN Ann
         Ann < BEGIN
         wait 200 ms
         Ann < CARD Two of Diamonds, CARD Three of Diamonds, DEALER Eight of Diamonds, DECISION
         Ann > STAND
         Ann < RESULT LOOSE
         wait 100 ms
         Ann < BEGIN, CARD Ace of Hearts
         kill
         Ann > JOIN Ann
         Ann < BEGIN
         wait 200 ms
         Ann < CARD Ten of Hearts, CARD Ten of Clubs, DEALER Ten of Diamonds, DECISION
         Ann > STAND
         Ann < RESULT WIN
         wait 50 ms
         Ann < QUIT
         Ann closed",
    );
    assert_eq!(row(&room, "Ann")[0], 2);
}

#[test]
fn the_next_round_waits_for_everybody_who_has_a_seat() {
    let mut room = Room::new(Config { players: 3, ..config(1) });
    room.check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Cyd > JOIN Cyd
         Ann < BEGIN, CARD Two of Diamonds, CARD Ten of Hearts, DEALER Queen of Clubs, DECISION
         Bob < BEGIN, CARD Nine of Diamonds, CARD Eight of Clubs, DEALER Queen of Clubs
         Cyd < BEGIN, CARD Three of Diamonds, CARD Five of Diamonds, DEALER Queen of Clubs
         Ann > STAND
         Bob < DECISION
         kill
         Cyd > JOIN Cyd
         Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN, CARD Ace of Hearts, CARD Queen of Spades, DEALER Six of Spades, DECISION
         Bob < BEGIN, CARD Two of Clubs, CARD Nine of Diamonds, DEALER Six of Spades
         Cyd < BEGIN, CARD Ten of Clubs, CARD Seven of Clubs, DEALER Six of Spades",
    );
}

#[test]
fn whoever_does_not_come_back_in_time_is_given_up() {
    let mut room = Room::new(Config { players: 2, ..config(1) });
    room.check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN, CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
         Bob < BEGIN, CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs
         kill
         Bob > JOIN Bob
         wait 29999 ms
         wait 1 ms
         Bob < BEGIN, CARD Ace of Hearts, CARD Ten of Clubs, DEALER Jack of Clubs, DECISION
         Bob > STAND
         Bob < RESULT WIN, QUIT
         Bob closed
         Ann > JOIN Ann",
    );
}

#[test]
fn a_seat_is_held_for_its_host_and_not_only_for_its_name() {
    let mut room = Room::new(Config { forever: true, ..config(2) });
    room.connect("Ann");
    room.send("Ann", b"JOIN Ann\0");
    room.kill();
    for (who, host) in [("Eve", "192.0.2.0"), ("Mal", "192.0.2.7")] {
        room.connect_from(host, Role::Player, who);
        room.send(who, b"JOIN Ann\0");
        assert_eq!(room.heard(who), []);
        assert!(room.log().last().unwrap().starts_with("Ann waits behind "));
    }
    room.connect("Bob");
    room.send("Bob", b"JOIN Bob\0");
    assert_eq!(room.heard("Bob"), []);
    room.connect("Ann");
    room.send("Ann", b"JOIN Ann\0");
    assert_eq!(room.heard("Ann").len(), 5);
    assert_eq!([room.heard("Eve"), room.heard("Mal")], [vec![], vec![]]);
}

#[test]
fn whoever_is_still_connected_waits_for_the_others() {
    // A host may bring some connections over the time that it was away.
    let mut room = Room::new(paced(2, 1));
    room.check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN
         Bob < BEGIN
         wait 200 ms
         Ann < CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
         Bob < CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs
         Ann > STAND
         Bob < DECISION
         Ann was interrupted
         wait 1000 ms
         Ann > JOIN Ann
         Ann < BEGIN
         Bob < BEGIN
         wait 200 ms
         Ann < CARD Ace of Hearts, CARD Jack of Clubs, DEALER Nine of Diamonds, DECISION
         Bob < CARD Two of Clubs, CARD Queen of Spades, DEALER Nine of Diamonds",
    );
    let mut room = Room::new(paced(2, 2));
    room.check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN
         Bob < BEGIN
         wait 200 ms
         Ann < CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
         Bob < CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs
         Ann > STAND
         Bob < DECISION
         wait 50 ms
         Bob > HIT
         Ann < RESULT LOOSE
         Bob < CARD Five of Diamonds
         Ann was interrupted
         wait 1000 ms
         Bob < RESULT BUST
         Ann > JOIN Ann
         Ann < BEGIN
         Bob < BEGIN
         wait 200 ms
         Ann < CARD Ten of Hearts, CARD Ten of Diamonds, DEALER King of Hearts, DECISION
         Bob < CARD Eight of Diamonds, CARD Queen of Diamonds, DEALER King of Hearts",
    );
}

#[test]
fn of_two_seats_with_one_name_the_first_comer_gets_the_first() {
    let mut room = Room::new(Config { players: 2, tables: 2, ..config(1) });
    for who in ["A", "B", "C", "D"] {
        room.connect(who);
        room.send(who, b"JOIN Ann\0");
    }
    room.kill();
    for who in ["A", "B", "C", "D", "E"] {
        room.connect(who);
        room.send(who, b"JOIN Ann\0");
    }
    let seats: Vec<&str> = room.log().iter().filter_map(|line| line.strip_prefix("Ann sits at ")).collect();
    assert_eq!(seats[4..], ["table 1, seat 1", "table 1, seat 2", "table 2, seat 1", "table 2, seat 2"]);
    assert_eq!(room.log().last().unwrap(), "Ann waits behind 0");
}

#[test]
fn a_result_that_one_was_told_and_another_not_counts_for_the_one() {
    let mut room = Room::new(paced(2, 2));
    // Ann is told the result at once and Bob after a pause. So at the end Bob plays a round more than she does.
    room.check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN
         Bob < BEGIN
         wait 200 ms
         Ann < CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
         Bob < CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs
         Ann > STAND
         Bob < DECISION
         wait 50 ms
         Bob > HIT
         Ann < RESULT LOOSE
         Bob < CARD Five of Diamonds
         kill
         Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN
         Bob < BEGIN
         wait 200 ms
         Ann < CARD Ten of Hearts, CARD Ten of Diamonds, DEALER King of Hearts, DECISION
         Bob < CARD Eight of Diamonds, CARD Queen of Diamonds, DEALER King of Hearts
         Ann > STAND
         Bob < DECISION
         wait 50 ms
         Bob > STAND
         Ann < RESULT PUSH
         Bob < RESULT LOOSE
         wait 250 ms
         Ann < QUIT
         Bob < BEGIN, CARD Four of Hearts, CARD Six of Spades, DEALER Eight of Spades, DECISION
         Ann closed
         Bob > STAND
         Bob < RESULT LOOSE
         wait 50 ms
         Bob < QUIT
         Bob closed",
    );
    assert_eq!([row(&room, "Ann")[0], row(&room, "Bob")[0]], [2, 2]);
}

#[test]
fn a_hand_that_was_forfeited_stays_lost() {
    let mut room = Room::new(Config { players: 2, ..config(1) });
    room.check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN, CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
         Bob < BEGIN, CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs
         Bob > HIT
         Bob < QUIT
         Bob closed
         kill
         Ann > JOIN Ann
         Ann < BEGIN, CARD Ace of Hearts, CARD Ten of Clubs, DEALER Jack of Clubs, DECISION
         Ann > STAND
         Ann < RESULT WIN, QUIT
         Ann closed",
    );
    assert_eq!(row(&room, "Bob"), [1, 0, 0, 1, 0, 1]);
    assert_eq!((row(&room, "Ann")[0], row(&room, "Ann")[5]), (1, 0));
}

#[test]
fn whoever_has_closed_its_sending_half_is_not_waited_for() {
    let mut room = Room::new(Config { players: 2, ..config(1) });
    room.check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN, CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
         Bob < BEGIN, CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs
         Ann > STAND
         Bob < DECISION
         Ann left
         kill
         Bob > JOIN Bob
         Bob < BEGIN, CARD Ace of Hearts, CARD Ten of Clubs, DEALER Jack of Clubs, DECISION",
    );
    assert!(room.log().contains(&"Ann left table 1, seat 1: closed the connection".to_owned()), "{:?}", room.log());
}

#[test]
fn a_dealer_that_is_killed_again_holds_seats_again() {
    let mut room = Room::new(Config { players: 2, ..config(1) });
    room.check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN, CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
         Bob < BEGIN, CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs
         kill
         wait 20000 ms
         Ann > JOIN Ann
         kill
         wait 9999 ms
         Bob > JOIN Bob
         kill
         wait 20000 ms
         Bob > JOIN Bob
         Ann > JOIN Ann
         Ann < BEGIN, CARD Ace of Hearts, CARD Jack of Clubs, DEALER Nine of Diamonds, DECISION
         Bob < BEGIN, CARD Two of Clubs, CARD Queen of Spades, DEALER Nine of Diamonds",
    );
}

#[test]
fn a_table_that_is_over_is_over() {
    let mut room = Room::new(paced(1, 1));
    room.check(
        "Ann > JOIN Ann
         Ann < BEGIN
         wait 200 ms
         Ann < CARD Two of Diamonds, CARD Three of Diamonds, DEALER Eight of Diamonds, DECISION
         Ann > STAND
         Ann < RESULT LOOSE
         kill",
    );
    assert_eq!(room.server().outcome(), Some(Outcome::Finished));
    assert_eq!(row(&room, "Ann")[0], 1);
}

#[test]
fn a_dealer_to_whom_nobody_comes_back_is_deserted() {
    let mut room = Room::new(Config { players: 2, ..config(3) });
    room.check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN, CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
         Bob < BEGIN, CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs
         kill",
    );
    let status = room.server().status();
    assert_eq!((status.phase, status.taken, status.seats), (Phase::Playing, 2, 2));
    room.wait(Duration::from_secs(30));
    assert_eq!(room.server().outcome(), Some(Outcome::Deserted));
    assert_eq!(row(&room, "Ann"), [0; 6]);
    let gone = room
        .events()
        .iter()
        .filter(|event| matches!(event, GameEvent::Left { why: Departure::Disconnected(Gone::Interrupted), .. }));
    assert_eq!(gone.count(), 2);
}

#[test]
fn a_dealer_that_is_stopped_while_it_holds_seats_prints_how_it_stands() {
    let mut room = Room::new(config(3));
    room.connect("Ann");
    room.send("Ann", b"JOIN Ann\0");
    room.send("Ann", b"STAND\0");
    room.kill();
    room.stop();
    assert_eq!(room.server().outcome(), Some(Outcome::Stopped));
    assert_eq!(row(&room, "Ann")[0], 1);
    assert_eq!(
        room.log()[room.log().len() - 2..],
        ["table 1 was not played to its end", "Ann left table 1, seat 1: did not come back after the server was away"]
    );
}

#[test]
fn those_who_had_no_seat_are_forgotten() {
    let mut room = Room::new(config(1));
    for (who, bytes) in [("Ann", &b"JOIN Ann\0"[..]), ("Bob", b"JOIN Bob\0"), ("Cyd", b"JO")] {
        room.connect(who);
        room.send(who, bytes);
    }
    room.watch("Wes");
    room.kill();
    for who in ["Bob", "Cyd"] {
        room.connect(who);
        room.send(who, format!("JOIN {who}\0").as_bytes());
    }
    let log: Vec<&String> = room.log().iter().filter(|line| line.contains(" waits behind ")).collect();
    assert_eq!(log[log.len() - 2..], ["Bob waits behind 0", "Cyd waits behind 1"]);
    room.connect("Ann");
    room.send("Ann", b"JOIN Ann\0");
    room.send("Ann", b"STAND\0");
    assert_eq!(room.heard("Bob"), [DealerMessage::Quit]);
    assert_eq!(room.server().outcome(), Some(Outcome::Finished));
}

// A player who is known by its name, over however many connections.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what may have become of it, in any combination")]
struct Player {
    text: bool,
    here: bool,
    asked: bool,
    // The results that it was told.
    score: Score,
    // It does not come back any more.
    lost: bool,
    // It was let go when a result was still on its way.
    unsure: bool,
    done: bool,
}

// The cards of one table, round by round, as long as nobody is killed.
struct Reference {
    deck: Deck,
    rng: rand::rngs::ChaCha12Rng,
    seen: Vec<Option<Vec<Card>>>,
}

struct Game {
    room: Room,
    players: BTreeMap<String, Player>,
    references: BTreeMap<u32, Reference>,
    seed: Seed,
    rng: Pcg64Mcg,
}

impl Game {
    fn new(seed: u64) -> (Self, Config) {
        let players = usize::try_from(seed % 3).unwrap() + 1;
        let tables = 1 + u32::from(seed.is_multiple_of(2));
        let delay = Duration::from_millis(if seed.is_multiple_of(5) { 0 } else { 50 });
        let config = Config { players, tables, delay, seed: Seed::from_number(seed), ..config(4) };
        let names = (0..players * usize::try_from(tables).unwrap()).map(|number| format!("p{number}"));
        let game = Self {
            room: Room::new(config),
            players: names.map(|name| (name, Player::default())).collect(),
            references: BTreeMap::new(),
            seed: config.seed,
            rng: Pcg64Mcg::seed_from_u64(seed),
        };
        (game, config)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn pick(&mut self, which: impl Fn(&Player) -> bool) -> Option<String> {
        let names: Vec<&String> =
            self.players.iter().filter(|(_, player)| which(player)).map(|(name, _)| name).collect();
        (!names.is_empty()).then(|| names[self.rng.random_range(0..names.len())].clone())
    }

    fn step(&mut self) {
        if self.chance(4) {
            return self.kill();
        }
        if self.chance(4) {
            self.room.read_again();
        }
        let coming = self.pick(|player| !player.here && !player.lost && !player.done);
        let asked = self.pick(|player| player.asked);
        match (coming, asked) {
            (Some(who), _) if self.chance(40) => self.join(&who),
            (_, Some(who)) if self.chance(60) => {
                let message = if self.chance(40) { PlayerMessage::Hit } else { PlayerMessage::Stand };
                self.players.get_mut(&who).unwrap().asked = false;
                self.say(&who, &message);
            }
            (None, None) => {
                // Nobody has anything to do but the dealer; if it has not either, it waits for somebody who does not come.
                self.room.wait(Duration::from_secs(1));
                self.listen();
                if self.pick(|player| player.asked).is_none() && self.room.server().outcome().is_none() {
                    self.room.wait(Duration::from_secs(30));
                }
            }
            _ => {
                let pause = self.rng.random_range(0..80);
                self.room.wait(Duration::from_millis(pause));
            }
        }
        self.listen();
    }

    fn join(&mut self, who: &str) {
        let text = self.chance(50);
        let player = self.players.get_mut(who).unwrap();
        (player.here, player.text) = (true, text);
        // The host is that of the name.
        let host = format!("192.0.2.{}", who.len() + usize::from(who.ends_with('1')));
        self.room.connect_from(&host, Role::Player, who);
        self.say(who, &PlayerMessage::Join(Name::new(who.as_bytes()).unwrap()));
    }

    fn say(&mut self, who: &str, message: &PlayerMessage) {
        let dialect = if self.players[who].text { Dialect::Text } else { Dialect::Binary };
        self.room.say(who, dialect, message);
    }

    fn kill(&mut self) {
        let goodbyes: Vec<String> = self
            .room
            .events()
            .iter()
            .filter_map(|event| match event {
                GameEvent::Left { name, why: Departure::Quit | Departure::GameOver, .. } => Some(name.clone()),
                _ => None,
            })
            .collect();
        self.room.kill();
        let seated = self.room.server().status().taken > 0;
        for (name, player) in &mut self.players {
            let was_here = std::mem::take(&mut player.here);
            player.asked = false;
            if goodbyes.contains(name) {
                player.unsure |= !player.done;
                player.done = true;
            }
            // Now and then somebody stays away, once the tables have begun.
            player.lost |= was_here && seated && self.rng.random_range(0..20) == 0;
        }
    }

    // What everybody was told since the last look, and which cards lie on the tables.
    fn listen(&mut self) {
        for (name, player) in self.players.iter_mut().filter(|(_, player)| player.here) {
            for message in self.room.heard(name) {
                match message {
                    DealerMessage::Result(verdict) => player.score.add(verdict),
                    DealerMessage::Quit => player.done = true,
                    message => player.asked = message == DealerMessage::Decision,
                }
            }
            player.here = !self.room.is_closed(name);
        }
        let tables: Vec<_> = self.room.server().tables().map(|table| (table.number(), table.game().unwrap())).collect();
        for (number, game) in tables {
            let Some(round) = game.round() else { continue };
            let dealt = |seat| Some(round.shown(seat)?.0.cards()[..2].to_vec());
            let mut seen: Vec<Option<Vec<Card>>> = (0..MAX_SEATS).map(dealt).collect();
            seen.push(Some(vec![round.upcard()]));
            let reference = self.references.entry(number).or_insert_with(|| Reference {
                deck: Deck::new(),
                rng: self.seed.generator(number),
                seen: vec![],
            });
            if seen != reference.seen {
                assert!((0..3).any(|_| reference.next(&seen)), "table {number} has cards that were dealt before");
                reference.seen = seen;
            }
        }
    }
}

impl Reference {
    // Whether these are the cards of its next round.
    fn next(&mut self, seen: &[Option<Vec<Card>>]) -> bool {
        self.deck.shuffle(&mut self.rng);
        let mut deck = self.deck.clone();
        let mut dealt: Vec<Option<Vec<Card>>> = seen.iter().map(|cards| cards.as_ref().map(|_| vec![])).collect();
        for lap in 0..2 {
            dealt[..MAX_SEATS].iter_mut().flatten().for_each(|cards| cards.push(deck.deal().unwrap()));
            let dealers = deck.deal().unwrap();
            if lap == 1 {
                dealt[MAX_SEATS] = Some(vec![dealers]);
            }
        }
        dealt == seen
    }
}

#[test]
fn what_counts_is_what_was_told_however_often_the_dealer_is_killed() {
    let mut counts = [0; 4];
    for seed in 0..200 {
        let (mut game, config) = Game::new(seed);
        let mut steps = 0;
        while game.room.server().outcome().is_none() {
            game.step();
            steps += 1;
            assert!(steps < 20_000, "seed {seed}: it never ends");
        }
        let printed = game.room.printed().join("\n");
        let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.split_whitespace().collect()).collect();
        for (name, player) in &game.players {
            let row = lines.iter().find(|line| line.get(2) == Some(&name.as_str()));
            let row: Vec<u64> = row.unwrap()[3..9].iter().map(|number| number.parse().unwrap()).collect();
            let Score { wins, pushes, losses, busts } = player.score;
            assert_eq!(row[0], row[1..5].iter().sum::<u64>());
            if !player.unsure {
                let told = [wins + pushes + losses + busts, wins, pushes, losses, busts, 0];
                assert_eq!(row, told, "seed {seed}: {name} {player:?}\n{printed}");
            }
            if !player.lost {
                assert_eq!(row[0], u64::from(config.rounds), "seed {seed}: {name} {player:?}\n{printed}");
            }
            counts[usize::from(player.lost)] += 1;
            counts[2] += usize::from(player.unsure);
        }
        counts[3] += usize::from(game.room.server().outcome() == Some(Outcome::Finished));
    }
    assert!(counts.iter().all(|&count| count > 5), "all cases occur: {counts:?}");
}
