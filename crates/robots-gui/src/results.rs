use std::collections::{BTreeMap, BTreeSet};

use netcore::Time;
use robots::{GamePicture, Player, PlayerId};
use termkit::Rank;

use crate::roster::{called, label_text};

/// In the win table, mostly players of earlier games.
const MAX_KNOWN: usize = 1_024;
const MAX_WINNERS: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultRow {
    /// From 1. Equal numbers of deaths share a rank.
    pub(crate) rank: usize,
    pub(crate) id: PlayerId,
    pub(crate) name: String,
    pub(crate) deaths: u32,
    /// On this server, including this game.
    pub(crate) wins: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct GameResult {
    pub(crate) game: GamePicture,
    pub(crate) own: Option<PlayerId>,
    pub(crate) places: Vec<ResultRow>,
    pub(crate) since: Time,
    /// Played to their end while the GUI was running, including this one.
    pub(crate) games: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    // Players of different games are the same if name and address match.
    wins: BTreeMap<(String, String), u32>,
    games: u32,
}

pub(crate) const fn is_last(game: &GamePicture) -> bool {
    game.turn >= game.game_length
}

impl Tally {
    /// An aborted game has no winner.
    pub(crate) fn game_over(&mut self, now: Time, game: GamePicture, own: Option<PlayerId>) -> GameResult {
        let mut ranked: Vec<(u32, PlayerId, &Player)> =
            game.players.iter().filter_map(|(id, player)| Some((*game.scores.get(id)?, *id, player))).collect();
        ranked.sort_unstable_by_key(|&(deaths, id, _)| (deaths, id));
        let rank = |deaths: u32| 1 + ranked.iter().take_while(|&&(fewer, ..)| fewer < deaths).count();
        let key = |player: &Player| (player.name.to_string(), player.address.to_string());
        if is_last(&game) {
            self.games += 1;
            let winners = ranked.iter().filter(|&&(deaths, ..)| rank(deaths) == 1).map(|(.., player)| key(player));
            if self.wins.len() >= MAX_KNOWN {
                let present: BTreeSet<(String, String)> = game.players.values().map(key).collect();
                self.wins.retain(|known, _| present.contains(known));
            }
            for winner in winners {
                *self.wins.entry(winner).or_default() += 1;
            }
        }
        let place = |&(deaths, id, player): &(u32, PlayerId, &Player)| ResultRow {
            rank: rank(deaths),
            id,
            name: called(id, &player.name),
            deaths,
            wins: self.wins.get(&key(player)).copied().unwrap_or(0),
        };
        let places = ranked.iter().map(place).collect();
        GameResult { places, own, since: now, games: self.games, game }
    }
}

impl GameResult {
    pub(crate) fn title(&self) -> String {
        let GamePicture { turn, game_length, .. } = self.game;
        if !is_last(&self.game) {
            return format!("The game was cancelled in turn {turn} of {game_length}");
        }
        let winners: Vec<&ResultRow> = self.places.iter().filter(|place| place.rank == 1).collect();
        let own = winners.iter().any(|place| Some(place.id) == self.own);
        match &winners[..] {
            [] => "The game is over".to_owned(),
            [_] if own => "You win".to_owned(),
            [one] => format!("{} wins", one.name),
            all if all.len() > MAX_WINNERS => format!("{} share the first place", all.len()),
            all => {
                let names: Vec<&str> = all.iter().map(|place| &*place.name).collect();
                format!("{} share the first place", names.join(" and "))
            }
        }
    }

    pub(crate) fn ranks(&self) -> Vec<Rank> {
        let digits = |number: fn(&ResultRow) -> u32| {
            self.places.iter().map(|place| number(place).to_string().len()).max().unwrap_or(1)
        };
        let (deaths, wins) = (digits(|place| place.deaths), digits(|place| place.wins));
        let rank = |place: &ResultRow| {
            let word = if place.deaths == 1 { "death " } else { "deaths" };
            let won = match self.games {
                0 | 1 => String::new(),
                games => format!("  {:>wins$}/{games} won", place.wins),
            };
            let score = format!("{:>deaths$} {word}{won}", place.deaths);
            let name = format!("{} {}", label_text(place.id), place.name);
            Rank { rank: place.rank, name, score, value: place.deaths, own: Some(place.id) == self.own }
        };
        self.places.iter().map(rank).collect()
    }

    pub(crate) fn text(&self) -> String {
        let row = |Rank { rank, name, score, own, .. }: Rank| {
            let mark = if own { '>' } else { ' ' };
            format!("\n{mark} {rank:>3}. {score}  {name}")
        };
        self.title() + &self.ranks().into_iter().map(row).collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::game;

    fn over(scores: &[u32]) -> GamePicture {
        let names = ["Ann", "Bob", "Cid", "Dan", "Eve"];
        let robots: Vec<(&str, u16, u16)> = names.iter().take(scores.len()).map(|&name| (name, 0, 0)).collect();
        let mut game = game(3, 3, &robots);
        game.turn = game.game_length;
        game.scores = (0..).map(PlayerId).zip(scores.iter().copied()).collect();
        game
    }

    fn ended(game: GamePicture, own: Option<u8>) -> GameResult {
        Tally::default().game_over(Time::ZERO, game, own.map(PlayerId))
    }

    #[test]
    fn fewest_deaths_come_first_and_equals_share_a_rank() {
        let result = ended(over(&[5, 1, 5, 7]), Some(2));
        let ranks: Vec<_> = result.places.iter().map(|place| (place.rank, &*place.name, place.deaths)).collect();
        assert_eq!(ranks, [(1, "Bob", 1), (2, "Ann", 5), (2, "Cid", 5), (4, "Dan", 7)]);
        assert_eq!(
            result.text(),
            "Bob wins\n    1. 1 death   B Bob\n    2. 5 deaths  A Ann\n>   2. 5 deaths  C Cid\n    4. 7 deaths  D Dan"
        );
    }

    #[test]
    fn the_title_names_who_has_won() {
        assert_eq!(ended(over(&[5, 1]), Some(1)).title(), "You win");
        assert_eq!(ended(over(&[1, 1, 2]), Some(1)).title(), "Ann and Bob share the first place");
        assert_eq!(ended(over(&[1, 1, 1, 1]), None).title(), "4 share the first place");
        assert_eq!(ended(over(&[]), None).title(), "The game is over");
        let mut broken = over(&[1, 2]);
        broken.turn = 12;
        assert_eq!(ended(broken, None).title(), "The game was cancelled in turn 12 of 300");
    }

    #[test]
    fn wins_are_counted_over_complete_games() {
        let mut tally = Tally::default();
        tally.game_over(Time::ZERO, over(&[1, 0]), None);
        let mut broken = over(&[0, 9]);
        broken.turn = 3;
        tally.game_over(Time::ZERO, broken, None);
        tally.game_over(Time::ZERO, over(&[2, 2]), None);
        let last = tally.game_over(Time::ZERO, over(&[2, 10]), None);
        let ranks: Vec<String> = last.ranks().into_iter().map(|rank| rank.score).collect();
        assert_eq!(ranks, [" 2 deaths  2/3 won", "10 deaths  2/3 won"]);
    }

    #[test]
    fn number_of_known_players_is_bounded() {
        let mut tally = Tally::default();
        for number in 0..2_000 {
            let name = number.to_string();
            let mut game = game(3, 3, &[(&name, 0, 0)]);
            game.turn = game.game_length;
            tally.game_over(Time::ZERO, game, None);
            assert!(tally.wins.len() <= MAX_KNOWN);
        }
    }
}
