//! A pure function of the setup and the completed matches.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    certainty::{Order, Tally},
    draw::Draw,
    protection::Protection,
    rating::{Rating, rate},
    record::Record,
    setup::Setup,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// From 1. Shared by neighbours without a significant difference.
    pub place: usize,
    pub name: String,
    /// After each round, in points, with the uncertainty in each direction. Starts with a new player's rating.
    pub curve: Vec<(f64, f64)>,
    pub matches: u32,
    /// Matches won alone. In solo games, all matches of a deal count as one.
    pub won: u32,
    pub drawn: u32,
    pub lost: u32,
    /// Matches lost by a crash, a timeout or a breach of the protocol.
    pub forfeits: u32,
    /// The mean score without forfeits; `None` if there are only forfeits.
    pub mean: Option<f64>,
    /// Comparisons with the next player, and the resulting order.
    pub next: Option<(Tally, Order)>,
}

impl Row {
    pub fn rating(&self) -> (f64, f64) {
        self.curve.last().copied().unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    /// By rating, best first.
    pub rows: Vec<Row>,
    /// Only complete ones.
    pub rounds: u32,
    /// The weakest of these matches.
    pub protection: Option<Protection>,
}

/// A forfeit is less than any score.
type Merit = Option<i64>;

/// A player's result in a deal. The order of the fields is that of the comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Share {
    /// Contests won minus contests lost.
    points: i64,
    /// A contest lost by a forfeit is worse than any other.
    forfeits: Reverse<u32>,
    /// The difference of the scores, without forfeits.
    distance: i64,
}

type Deal = BTreeMap<usize, Share>;

impl Standings {
    /// Counts the complete rounds among these matches.
    pub(crate) fn new(setup: &Setup, records: &BTreeMap<u64, Record>, certainty: f64) -> Self {
        let draw = Draw::new(setup);
        let mut played: BTreeMap<u32, Vec<&Record>> = BTreeMap::new();
        for record in records.values() {
            played.entry(record.round).or_default().push(record);
        }
        let mut rounds = 0;
        let mut tallies = Tallies::new(setup);
        for (round, records) in played {
            if round != rounds + 1 || records.len() as u64 != draw.matches_of_round() {
                break;
            }
            rounds = round;
            tallies.add_round(&records);
        }
        let counted = records.values().filter(|record| record.round <= rounds);
        let protection = counted.map(|record| record.protection).min();
        Self { rows: tallies.rows(certainty), rounds, protection }
    }

    pub fn is_certain(&self) -> bool {
        self.rounds > 0 && self.rows.iter().filter_map(|row| row.next).all(|(_, order)| order == Order::Better)
    }

    pub fn sentences(&self) -> Vec<String> {
        let pairs = self.rows.iter().zip(self.rows.iter().skip(1));
        let neighbours = pairs.filter_map(|(one, other)| sentence(one, other));
        neighbours.chain(self.protection.map(|protection| protection.to_string())).collect()
    }
}

fn sentence(one: &Row, other: &Row) -> Option<String> {
    let (tally, order) = one.next?;
    let (Row { name: better, matches, .. }, worse) = (one, &other.name);
    // Rounded down, so that a lower certainty is not shown as 100 %.
    let percent = (tally.certainty() * 1000.0).floor() / 10.0;
    let Tally { ahead, behind } = tally;
    let after = if *matches == 1 { "1 match".to_owned() } else { format!("{matches} matches each") };
    Some(match order {
        Order::Better => format!("{better} is better than {worse} ({ahead} to {behind}, {percent} % certain)"),
        Order::Equal => format!("{better} and {worse} are equal after {after} ({ahead} to {behind})"),
        Order::Uncertain if ahead > behind => {
            format!("{better} leads {worse} {ahead} to {behind} after {after}; not yet certain")
        }
        Order::Uncertain => format!("{worse} leads {better} {behind} to {ahead} after {after}; not yet certain"),
        Order::Contrary => {
            format!("{better} is rated above {worse}, which did better on even terms ({behind} to {ahead})")
        }
    })
}

struct Tallies<'a> {
    setup: &'a Setup,
    index: BTreeMap<&'a str, usize>,
    ratings: Vec<Rating>,
    rows: Vec<Row>,
    scores: Vec<(i64, u32)>,
    rounds: Vec<Vec<Deal>>,
}

impl<'a> Tallies<'a> {
    fn new(setup: &'a Setup) -> Self {
        let new = Rating::new();
        let row = |name: &str| Row {
            place: 0,
            name: name.to_owned(),
            curve: vec![(new.points(), new.uncertainty())],
            matches: 0,
            won: 0,
            drawn: 0,
            lost: 0,
            forfeits: 0,
            mean: None,
            next: None,
        };
        let players = &setup.players;
        Self {
            setup,
            index: players.iter().enumerate().map(|(at, player)| (&*player.name, at)).collect(),
            ratings: vec![new; players.len()],
            rows: players.iter().map(|player| row(&player.name)).collect(),
            scores: vec![(0, 0); players.len()],
            rounds: Vec::new(),
        }
    }

    fn add_round(&mut self, records: &[&Record]) {
        // Keyed by deal, then by contest.
        let mut contests: BTreeMap<(u64, u64), Vec<(usize, Merit)>> = BTreeMap::new();
        for record in records {
            let contest = if self.setup.game().is_solo() { 0 } else { record.number };
            for seat in &record.seats {
                let Some(&player) = self.index.get(&*seat.player) else { continue };
                self.rows[player].matches += 1;
                self.rows[player].forfeits += u32::from(seat.forfeit.is_some());
                let score = seat.score.filter(|_| seat.forfeit.is_none());
                if let Some(score) = score {
                    self.scores[player].0 += score;
                    self.scores[player].1 += 1;
                }
                // Without scores, all players are equal.
                let merit = seat.forfeit.is_none().then(|| score.map_or(0, |score| self.setup.game().merit(score)));
                contests.entry((record.deal, contest)).or_default().push((player, merit));
            }
        }
        let mut deals: BTreeMap<u64, Deal> = BTreeMap::new();
        for ((deal, _), contest) in contests {
            self.add_contest(&contest, deals.entry(deal).or_default());
        }
        self.rounds.push(deals.into_values().collect());
        for (row, rating) in self.rows.iter_mut().zip(&self.ratings) {
            row.curve.push((rating.points(), rating.uncertainty()));
        }
    }

    fn add_contest(&mut self, contest: &[(usize, Merit)], deal: &mut Deal) {
        let whole = contest.iter().all(|(_, merit)| merit.is_some());
        let mut met = Vec::with_capacity(contest.len());
        for &(player, merit) in contest {
            let above = contest.iter().filter(|(_, other)| *other > merit).count();
            let below = contest.iter().filter(|(_, other)| *other < merit).count();
            met.push((player, above + 1));
            let row = &mut self.rows[player];
            match (above, contest.len() - above - below) {
                (0, 1) => row.won += 1,
                (0, _) if merit.is_some() => row.drawn += 1,
                _ => row.lost += 1,
            }
            let share = deal.entry(player).or_default();
            share.points += signed(below) - signed(above);
            share.forfeits.0 += u32::from(merit.is_none());
            if whole {
                let distance = contest.iter().filter_map(|(_, other)| Some(merit? - (*other)?)).sum::<i64>();
                share.distance += distance;
            }
        }
        rate(&mut self.ratings, &met);
    }

    // Compares two players in each deal that both have played, else by their results against the same opponent in the
    // same round.
    fn compared(&self, one: usize, other: usize) -> Tally {
        let mut tally = Tally::default();
        for deals in &self.rounds {
            let mut against: BTreeMap<usize, [Option<Share>; 2]> = BTreeMap::new();
            for deal in deals {
                match (deal.get(&one), deal.get(&other)) {
                    (Some(one), Some(other)) => tally.add(one.cmp(other)),
                    (None, None) => {}
                    (first, second) if deal.len() == 2 => {
                        let opponent = deal.keys().find(|player| **player != one && **player != other);
                        let Some(&opponent) = opponent else { continue };
                        let both = against.entry(opponent).or_default();
                        both[0] = both[0].or(first.copied());
                        both[1] = both[1].or(second.copied());
                    }
                    // With more seats, their opponents differed.
                    _ => {}
                }
            }
            for both in against.into_values() {
                if let [Some(one), Some(other)] = both {
                    tally.add(one.cmp(&other));
                }
            }
        }
        tally
    }

    fn rows(mut self, certainty: f64) -> Vec<Row> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        // Ratings are never NaN, and never far below zero.
        order.sort_by(|one, other| {
            let points = |player: usize| self.ratings[player].points();
            points(*other).total_cmp(&points(*one)).then_with(|| Reverse(*other).cmp(&Reverse(*one)))
        });
        let next: Vec<_> = order
            .windows(2)
            .map(|pair| {
                let tally = self.compared(pair[0], pair[1]);
                (tally, tally.order(certainty))
            })
            .collect();
        let mut rows = Vec::with_capacity(order.len());
        for (at, &player) in order.iter().enumerate() {
            let mut row = self.rows[player].clone();
            let (sum, count) = self.scores[player];
            #[expect(clippy::cast_precision_loss, reason = "a mean for people to read")]
            let mean = (count > 0).then(|| sum as f64 / f64::from(count));
            row.mean = mean;
            row.next = next.get(at).copied();
            row.place = match at.checked_sub(1).map(|above| next[above].1) {
                Some(Order::Equal | Order::Uncertain) => rows.last().map_or(1, |above: &Row| above.place),
                _ => at + 1,
            };
            rows.push(row);
        }
        self.rows.clear();
        rows
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        record::tests::record,
        setup::{Entrant, Plan},
    };

    fn setup(game: &str, names: &[&str]) -> Setup {
        let player = |name: &&str| Entrant { name: (*name).to_owned(), command: "bot:easy".into() };
        let plan: Plan = toml::from_str(&format!("game = \"{game}\"")).unwrap();
        Plan { players: names.iter().map(player).collect(), ..plan }.setup(1).unwrap()
    }

    // Each player has this score in each match.
    fn played(setup: &Setup, rounds: u32, score: impl Fn(&str) -> Option<i64>) -> BTreeMap<u64, Record> {
        let draw = Draw::new(setup);
        let fixtures = (1..=rounds).flat_map(|round| draw.round(round));
        fixtures
            .map(|fixture| {
                let names = fixture.seats.iter().map(|player| &*setup.players[*player].name);
                let seats: Vec<_> = names.map(|name| (name, score(name))).collect();
                (fixture.number, record(fixture.number, fixture.round, fixture.deal, &seats))
            })
            .collect()
    }

    #[test]
    fn fewer_deaths_are_better_and_a_forfeit_is_last() {
        let setup = setup("robots", &["Crash", "Slow", "Fast"]);
        let score = |name: &str| match name {
            "Fast" => Some(0),
            "Slow" => Some(3),
            _ => None,
        };
        let standings = Standings::new(&setup, &played(&setup, 8, score), 0.95);
        let names: Vec<_> = standings.rows.iter().map(|row| (&*row.name, row.place)).collect();
        assert_eq!(names, [("Fast", 1), ("Slow", 2), ("Crash", 3)]);
        assert!(standings.is_certain(), "{:?}", standings.sentences());
        let [fast, slow, crash] = &standings.rows[..] else { panic!("{:?}", standings.rows) };
        assert_eq!((fast.matches, fast.won, fast.drawn, fast.lost, fast.forfeits), (32, 32, 0, 0, 0));
        assert_eq!((slow.won, slow.lost, crash.lost, crash.forfeits), (16, 16, 32, 32));
        assert_eq!((slow.mean, crash.mean), (Some(3.0), None));
        // Two comparisons a round: with each other, and against the third player. Both win against Crash, which
        // distinguishes nothing.
        assert_eq!(fast.next, Some((Tally { ahead: 8, behind: 0 }, Order::Better)));
        assert_eq!(slow.next, Some((Tally { ahead: 16, behind: 0 }, Order::Better)));
        assert_eq!(fast.curve.len(), 9);
        assert!(fast.rating().0 > 1000.0 && fast.rating().1 < fast.curve[0].1);
    }

    #[test]
    fn equal_players_share_a_place() {
        let setup = setup("mastermind", &["A", "B", "C"]);
        let score = |name: &str| Some(if name == "C" { 9 } else { 5 });
        let standings = Standings::new(&setup, &played(&setup, 9, score), 0.95);
        assert!(!standings.is_certain());
        assert_eq!(standings.rows.iter().map(|row| row.place).collect::<Vec<_>>(), [1, 1, 3]);
        assert_eq!(
            standings.sentences()[..2],
            ["A and B are equal after 9 matches each (0 to 0)", "B is better than C (9 to 0, 98 % certain)"]
        );
        let a = &standings.rows[0];
        assert_eq!((a.matches, a.won, a.drawn, a.lost), (9, 0, 9, 0));
    }

    #[test]
    fn lead_without_enough_matches_is_not_yet_certain() {
        let setup = setup("mastermind", &["A", "B"]);
        // Fewer turns are better.
        let score = |name: &str| Some(if name == "B" { 4 } else { 5 });
        let after = |rounds| Standings::new(&setup, &played(&setup, rounds, score), 0.95);
        assert_eq!(after(1).sentences()[0], "B leads A 1 to 0 after 1 match; not yet certain");
        let standings = after(7);
        assert_eq!(standings.sentences()[0], "B leads A 7 to 0 after 7 matches each; not yet certain");
        assert_eq!(standings.rows.iter().map(|row| row.place).collect::<Vec<_>>(), [1, 1]);
        assert!(!standings.is_certain());
        let json = crate::table::json(&setup, &standings, "running");
        assert_eq!(json["table"][0]["next"]["order"], "uncertain");
        assert_eq!(after(8).sentences()[0], "B is better than A (8 to 0, 96.4 % certain)");
    }

    #[test]
    fn lead_of_the_lower_rated_player_names_that_player() {
        let setup = setup("mastermind", &["A", "B"]);
        let standings = Standings::new(&setup, &played(&setup, 1, |_| Some(5)), 0.95);
        let [mut one, other] = standings.rows.try_into().unwrap();
        let tally = Tally { ahead: 2, behind: 3 };
        one.next = Some((tally, tally.order(0.95)));
        assert_eq!(sentence(&one, &other).unwrap(), "B leads A 3 to 2 after 1 match; not yet certain");
    }

    #[test]
    fn table_names_the_weakest_protection_of_its_matches() {
        let setup = setup("blackjack", &["A", "B"]);
        let mut records = played(&setup, 2, |_| Some(1));
        let told = |records: &BTreeMap<u64, Record>| {
            let standings = Standings::new(&setup, records, 0.95);
            (standings.protection, standings.sentences().pop(), crate::table::csv(&standings))
        };
        for record in records.values_mut() {
            record.protection = Protection::Network;
        }
        let (protection, sentence, csv) = told(&records);
        assert_eq!((protection, sentence), (Some(Protection::Network), Some(Protection::Network.to_string())));
        assert!(csv.lines().skip(1).all(|row| row.ends_with(",network")), "{csv}");
        records.values_mut().next().unwrap().protection = Protection::Sockets;
        let (protection, sentence, csv) = told(&records);
        assert_eq!((protection, sentence), (Some(Protection::Sockets), Some(Protection::Sockets.to_string())));
        assert!(csv.lines().skip(1).all(|row| row.ends_with(",sockets")), "{csv}");
        assert_eq!(told(&BTreeMap::new()).0, None);
    }

    #[test]
    fn only_whole_rounds_count() {
        let setup = setup("blackjack", &["A", "B"]);
        let mut records = played(&setup, 3, |name| Some(i64::from(name == "B")));
        assert_eq!(Standings::new(&setup, &records, 0.95).rounds, 3);
        records.pop_last();
        let standings = Standings::new(&setup, &records, 0.95);
        assert_eq!((standings.rounds, &*standings.rows[0].name), (2, "B"));
        records.clear();
        let standings = Standings::new(&setup, &records, 0.95);
        assert!(!standings.is_certain() && standings.rounds == 0);
    }

    #[test]
    fn distance_decides_between_players_with_equal_wins() {
        let setup = setup("nuggets", &["A", "B", "C"]);
        let score = |name: &str| {
            Some(match name {
                "A" => 200,
                "B" => 150,
                _ => 10,
            })
        };
        let standings = Standings::new(&setup, &played(&setup, 1, score), 0.95);
        assert_eq!(standings.rows[0].next.unwrap().0, Tally { ahead: 2, behind: 0 });
    }
}
