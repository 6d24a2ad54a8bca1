//! The dealer is killed at random, any number of times. Only results that were sent count, and no cards are dealt
//! twice.

use std::{collections::BTreeMap, time::Duration};

use blackjack::{Card, Config, DealerMessage, Deck, Dialect, Name, PlayerMessage, Score, Seed, game::MAX_SEATS};
use netcore::{Departure, Engine, GameEvent, Outcome, Role};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::room::{Room, config};

// A player identified by its name, over any number of connections.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what may have become of it, in any combination")]
struct Player {
    text: bool,
    here: bool,
    asked: bool,
    // The results that it received.
    score: Score,
    // It does not reconnect.
    lost: bool,
    // It was disconnected while a result was still queued.
    unsure: bool,
    done: bool,
}

// The cards of one table, round by round, if the dealer is not killed.
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
                // Only the dealer can act now. If it does not, it is waiting for a player who does not reconnect.
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
        // The host is derived from the name.
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
            .events
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
            // Once the tables have begun, some players do not reconnect.
            player.lost |= was_here && seated && self.rng.random_range(0..20) == 0;
        }
    }

    // Reads the messages that each player received since the last call, and the cards on the tables.
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
        let tables: Vec<_> = self.room.server().tables().map(|table| (table.number(), table.game())).collect();
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
    // Whether these are the cards of the next round.
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
        let printed = game.room.printed.join("\n");
        for (name, player) in &game.players {
            let row = game.room.row(name);
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
