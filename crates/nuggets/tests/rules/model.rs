//! Long random games against a second implementation of the rules, which is slow and obvious: it keeps sets of places,
//! sends the full state to all clients after each key, and applies the rule of sight literally. The server's output is
//! compared byte by byte and in order.

use std::collections::{BTreeMap, BTreeSet};

use nuggets::{Config, Rules, visibility::Vision};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::{
    seeing::{rows_of, visible},
    table::{NAMES, Said, Table},
};

/// Row and column.
type Place = (i64, i64);

#[derive(Debug, Clone)]
struct Player {
    name: &'static str,
    at: Option<Place>,
    purse: u32,
    known: BTreeSet<Place>,
}

/// The whole state of a game.
#[derive(Debug, Clone)]
struct Model {
    map: Vec<Vec<u8>>,
    rules: Rules,
    piles: BTreeMap<Place, u32>,
    players: Vec<Player>,
    // The seated clients in order of joining, which is the order of the server's messages; `None` is the spectator.
    present: Vec<Option<usize>>,
    sights: BTreeMap<Place, BTreeSet<Place>>,
}

impl Model {
    fn of(map: &str, table: &Table) -> Self {
        let width = map.find('\n').unwrap() + 1;
        let place = |cell: nuggets::Cell| place_of(cell.index(), width);
        let piles = table.game().piles().iter().map(|(&cell, &nuggets)| (place(cell), nuggets)).collect();
        let (map, rules) = (rows_of(map), *table.game().rules());
        Self { map, rules, piles, players: vec![], present: vec![], sights: BTreeMap::new() }
    }

    fn at(&self, (row, col): Place) -> u8 {
        let cell = usize::try_from(row).ok().zip(usize::try_from(col).ok());
        cell.and_then(|(row, col)| self.map.get(row)?.get(col)).copied().unwrap_or(b' ')
    }

    fn places(&self) -> Vec<Place> {
        let all = self.map.iter().zip(0..).flat_map(|(line, row)| line.iter().zip(0..).map(move |(_, col)| (row, col)));
        all.collect()
    }

    fn sight(&mut self, from: Place) -> BTreeSet<Place> {
        if !self.sights.contains_key(&from) {
            let seen = self.places().into_iter();
            let seen = seen.filter(|&to| visible(&self.map, from, to, self.rules.vision.radius)).collect();
            self.sights.insert(from, seen);
        }
        self.sights[&from].clone()
    }

    fn remaining(&self) -> u32 {
        self.piles.values().sum()
    }

    fn standing(&self, place: Place) -> Option<usize> {
        self.players.iter().position(|player| player.at == Some(place))
    }

    fn go(&mut self, player: usize, place: Place) {
        let seen = self.sight(place);
        self.players[player].at = Some(place);
        self.players[player].known.extend(seen);
    }

    // A viewer's picture of the whole map; `None` is the spectator.
    fn picture(&mut self, viewer: Option<usize>) -> String {
        let seen = match viewer {
            Some(player) => self.players[player].at.map_or_else(BTreeSet::new, |at| self.sight(at)),
            None => self.places().into_iter().collect(),
        };
        let mut picture = "DISPLAY\n".to_owned();
        for (row, line) in (0..).zip(&self.map) {
            for (col, &byte) in (0..).zip(line) {
                let place = (row, col);
                let standing = self.standing(place);
                picture.push(if viewer.is_some() && standing == viewer {
                    '@'
                } else if seen.contains(&place) {
                    let gold = self.piles.contains_key(&place).then_some('*');
                    standing.map(letter).or(gold).unwrap_or(char::from(byte))
                } else if viewer.is_some_and(|player| self.players[player].known.contains(&place)) {
                    char::from(byte)
                } else {
                    ' '
                });
            }
            picture.push('\n');
        }
        picture
    }

    fn name(&self, viewer: Option<usize>) -> &'static str {
        viewer.map_or("Sam", |player| self.players[player].name)
    }

    fn gold(&self, viewer: Option<usize>, collected: u32) -> Said {
        let purse = viewer.map_or(0, |player| self.players[player].purse);
        self.tell(viewer, format!("GOLD {collected} {purse} {}", self.remaining()))
    }

    fn tell(&self, viewer: Option<usize>, text: String) -> Said {
        Said::Told { who: self.name(viewer).to_owned(), frame: text.into() }
    }

    fn displays(&mut self) -> Vec<Said> {
        let mut said = vec![];
        for viewer in self.present.clone() {
            let picture = self.picture(viewer);
            said.push(self.tell(viewer, picture));
        }
        said
    }

    fn welcome(&mut self, viewer: Option<usize>) -> Vec<Said> {
        let ok = viewer.map(|player| self.tell(viewer, format!("OK {}", letter(player))));
        let mut said: Vec<Said> = ok.into_iter().collect();
        said.push(self.tell(viewer, format!("GRID {} {}", self.map.len(), self.map[0].len())));
        said.push(self.gold(viewer, 0));
        let picture = self.picture(viewer);
        said.push(self.tell(viewer, picture));
        said
    }

    // Adds a player. Its place is chosen by the server's random numbers.
    fn join(&mut self, name: &'static str, at: Place) -> Vec<Said> {
        assert!(self.at(at) == b'.' && self.standing(at).is_none() && !self.piles.contains_key(&at));
        self.players.push(Player { name, at: None, purse: 0, known: BTreeSet::new() });
        let player = self.players.len() - 1;
        self.present.push(Some(player));
        self.go(player, at);
        let mut said = self.welcome(Some(player));
        let others = |said: &Said| !matches!(said, Said::Told { who, .. } if who == name);
        said.extend(self.displays().into_iter().filter(others));
        said
    }

    fn spectate(&mut self) -> Vec<Said> {
        self.present.push(None);
        self.welcome(None)
    }

    fn key(&mut self, player: usize, key: u8) -> Vec<Said> {
        let step = match key.to_ascii_lowercase() {
            _ if key == b'Q' => return self.quit(player),
            b'h' => (0, -1),
            b'l' => (0, 1),
            b'j' => (1, 0),
            b'k' => (-1, 0),
            b'y' => (-1, -1),
            b'u' => (-1, 1),
            b'b' => (1, -1),
            b'n' => (1, 1),
            _ => return vec![self.tell(Some(player), "ERROR unknown keystroke".into())],
        };
        let Some(mut at) = self.players[player].at else { return vec![] };
        let (mut moved, mut collected, mut thefts) = (false, 0, vec![]);
        loop {
            let next = (at.0 + step.0, at.1 + step.1);
            if !b".#".contains(&self.at(next)) {
                break;
            }
            let met = self.standing(next);
            self.go(player, next);
            if let Some(other) = met {
                self.go(other, at);
                let stolen = self.players[other].purse * u32::from(self.rules.steal_percent) / 100;
                self.players[other].purse -= stolen;
                self.players[player].purse += stolen;
                if stolen > 0 {
                    thefts.push((other, stolen));
                }
            }
            let gold = self.piles.remove(&next);
            self.players[player].purse += gold.unwrap_or(0);
            collected += gold.unwrap_or(0);
            (at, moved) = (next, true);
            let disturbed = met.is_some() || gold.is_some();
            if key.is_ascii_lowercase() || (self.rules.run_stop && disturbed) {
                break;
            }
        }
        if !moved {
            return vec![];
        }
        let stolen: u32 = thefts.iter().map(|&(_, nuggets)| nuggets).sum();
        let mut said = vec![];
        for &viewer in &self.present {
            let robbed = thefts.iter().any(|&(victim, _)| Some(victim) == viewer);
            if viewer == Some(player) && collected + stolen > 0 {
                said.push(self.gold(viewer, collected + stolen));
            } else if collected > 0 || robbed {
                said.push(self.gold(viewer, 0));
            }
        }
        said.extend(self.displays());
        for (victim, nuggets) in thefts {
            let (thief_has, victim_has) = (self.players[player].purse, self.players[victim].purse);
            let text = format!("ERROR you stole {nuggets} nuggets from {}; you have {thief_has} now", letter(victim));
            said.push(self.tell(Some(player), text));
            let text = format!("ERROR {} stole {nuggets} nuggets from you; you have {victim_has} now", letter(player));
            said.push(self.tell(Some(victim), text));
        }
        if self.remaining() == 0 {
            said.extend(self.finish());
        }
        said
    }

    fn finish(&mut self) -> Vec<Said> {
        let rows = self.players.iter().zip((0..).map(letter));
        let rows = rows.map(|(player, letter)| format!("\n{letter} {:10} {}", player.purse, player.name));
        let table = format!("GAME OVER:{}", rows.collect::<String>());
        let quits = self.present.iter().map(|&viewer| self.tell(viewer, format!("QUIT {table}")));
        let closed = self.present.iter().map(|&viewer| Said::Closed(self.name(viewer).to_owned()));
        quits.chain(closed).chain([Said::Printed(table.clone())]).collect()
    }

    fn quit(&mut self, player: usize) -> Vec<Said> {
        let mut said = vec![
            self.tell(Some(player), "QUIT Thanks for playing!".into()),
            Said::Closed(self.players[player].name.to_owned()),
        ];
        let left = self.players[player].at.take();
        self.present.retain(|&viewer| viewer != Some(player));
        if self.rules.drop_on_quit && self.players[player].purse > 0 {
            let purse = std::mem::take(&mut self.players[player].purse);
            let place = left.and_then(|left| self.nearest(left)).unwrap();
            *self.piles.entry(place).or_insert(0) += purse;
            said.extend(self.present.iter().map(|&viewer| self.gold(viewer, 0)));
        }
        said.extend(self.displays());
        said
    }

    // The nearest room spot without a player. Of several at the same distance, it is the one that a walk in the order
    // of the keys of the rule reaches first.
    fn nearest(&self, from: Place) -> Option<Place> {
        let mut met = vec![from];
        let mut next = 0;
        while let Some(&(row, col)) = met.get(next) {
            if self.at((row, col)) == b'.' && self.standing((row, col)).is_none() {
                return Some((row, col));
            }
            for (rows, cols) in [(0, -1), (0, 1), (1, 0), (-1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)] {
                let place = (row + rows, col + cols);
                if b".#".contains(&self.at(place)) && !met.contains(&place) {
                    met.push(place);
                }
            }
            next += 1;
        }
        None
    }
}

fn letter(player: usize) -> char {
    char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[player])
}

fn place_of(offset: usize, width: usize) -> Place {
    (i64::try_from(offset / width).unwrap(), i64::try_from(offset % width).unwrap())
}

const KEYS: &[u8] = b"hjklyubnHJKLYUBNhjklyubnHJKLYUBNx";

// Plays to the end of the game, or up to `keys` keys, and compares each response.
fn play(map: &str, rules: Rules, seed: u64, keys: usize) -> bool {
    let mut table = Table::new(map, Config { rules, seed: seed.into(), ..Config::default() });
    let mut model = Model::of(map, &table);
    let mut rng = Pcg64::seed_from_u64(seed);
    let width = map.find('\n').unwrap() + 1;
    for turn in 0..keys {
        // Bandwidth is not tested here: see `strangers`.
        table.wait(std::time::Duration::from_secs(10));
        let names = NAMES.iter().filter(|name| model.players.iter().all(|player| player.name != **name));
        let (said, expected, what) = match rng.random_range(0..40) {
            0..2 if model.players.len() < 6 => {
                let name = names.into_iter().next().unwrap();
                let before = table.game().players().len();
                let said = table.send(name, format!("PLAY {name}"));
                if table.game().players().len() == before {
                    continue;
                }
                let at = table.game().players().last().and_then(|player| player.cell).unwrap();
                (said, model.join(name, place_of(at.index(), width)), format!("{name} joins"))
            }
            2 if !model.present.contains(&None) => {
                (table.send("Sam", "SPECTATE"), model.spectate(), "Sam watches".to_owned())
            }
            roll => {
                let active: Vec<usize> = model.present.iter().flatten().copied().collect();
                let Some(&player) = active.get(rng.random_range(0..active.len().max(1))) else { continue };
                let key = if roll == 39 && turn % 4 == 0 { b'Q' } else { KEYS[rng.random_range(0..KEYS.len())] };
                let name = model.players[player].name;
                let said = table.send(name, [b"KEY ", &[key][..]].concat());
                (said, model.key(player, key), format!("{name} types {}", char::from(key)))
            }
        };
        assert!(said == expected, "seed {seed}, turn {turn}, {what}:\n{said:#?}\nexpected\n{expected:#?}\n{rules:?}");
        if model.remaining() == 0 {
            return true;
        }
    }
    false
}

/// Rooms with a bend, a hole, doors, a fork, a dead end, and spots at all four edges.
const MAP: &str = "\
+-------+  #+--+
|.......#####..|
|..+--+.|  ##..|
|..|  |.|  #|..|
|..+--+.|  #+--+
|.......|  #....
+---#---+  #....
    ########....
....#   #  .....
....#   ## .....
";

fn mixes() -> Vec<Rules> {
    let mut mixes = vec![];
    for (steal_percent, run_stop, drop_on_quit, radius) in [
        (0, false, false, None),
        (10, false, false, None),
        (0, true, false, None),
        (0, false, true, None),
        (0, false, false, Some(3)),
        (100, true, true, Some(1)),
        (33, false, true, Some(5)),
        (50, true, false, None),
    ] {
        let vision = Vision { radius };
        mixes.push(Rules { steal_percent, run_stop, drop_on_quit, vision, ..Rules::default() });
        mixes.push(Rules { gold: 40, min_piles: 1, max_piles: 40, ..mixes[mixes.len() - 1] });
    }
    mixes
}

#[test]
fn random_games_are_those_of_the_model() {
    let mut finished = 0;
    for (number, rules) in (0..).zip(mixes()) {
        for seed in 0..2 {
            finished += u32::from(play(MAP, rules, 100 * number + seed, 400));
        }
    }
    assert!(finished > 4, "{finished} games came to their end");
}

#[test]
fn random_games_on_special_maps_are_those_of_the_model() {
    let maps = [
        // Diagonal steps between two walls.
        "..|.\n.-.|\n|.-.\n.|..\n",
        // A single row, so that all players meet and all runs meet gold.
        "..........##......#...\n",
        // Most of it is visible from everywhere, and soon the whole map.
        ".........\n....+....\n.........\n.........\n",
        // The sight is the same from both ends of the room, and from the middle it includes the gap below.
        "+---------+\n|.........|\n|.........|\n+----.----+\n    |.|    \n    |.|    \n    +-+    \n",
    ];
    for (map, (seed, rules)) in maps.into_iter().flat_map(|map| (0..).zip(mixes()).map(move |mix| (map, mix))) {
        play(map, rules, seed, 300);
    }
}
