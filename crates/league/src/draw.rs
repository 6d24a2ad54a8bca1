//! Pairings, seats and seeds: a pure function of the setup and the match number.
//!
//! A *deal* is a seed and its players. It is played once in each rotation of the seats, so the luck of the seed and of
//! the seats is the same for all. In solo games a deal is for all players, with one match each.
//!
//! In a *round* all players play equally often. It has a deal for each pair or, with more than two seats, for each run
//! of neighbours in a circle that is shuffled for the round.

use rand::{Rng as _, seq::SliceRandom as _};
use rand_pcg::Pcg64;

use crate::setup::Setup;

/// Separates the random streams: deal seeds start here, above any round number.
const SEEDS: u128 = 1 << 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fixture {
    pub(crate) number: u64,
    pub(crate) round: u32,
    /// From 1, over all rounds.
    pub(crate) deal: u64,
    pub(crate) seed: u64,
    /// Indices in the setup, in seat order.
    pub(crate) seats: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    players: usize,
    seats: usize,
    solo: bool,
    seed: u64,
}

impl Draw {
    pub(crate) const fn new(setup: &Setup) -> Self {
        Self { players: setup.players.len(), seats: setup.seats, solo: setup.game().is_solo(), seed: setup.seed }
    }

    const fn deals_of_round(&self) -> usize {
        match self {
            Self { solo: true, .. } => 1,
            Self { players, seats: 2, .. } => *players * (*players - 1) / 2,
            Self { players, seats, .. } if *players == *seats => 1,
            Self { players, .. } => *players,
        }
    }

    const fn matches_of_deal(&self) -> usize {
        if self.solo { self.players } else { self.seats }
    }

    pub(crate) const fn matches_of_round(&self) -> u64 {
        (self.deals_of_round() * self.matches_of_deal()) as u64
    }

    /// The matches of a round, which counts from 1.
    pub(crate) fn round(&self, round: u32) -> Vec<Fixture> {
        let first = u64::from(round.saturating_sub(1)) * self.matches_of_round();
        let mut number = first;
        let mut fixtures = Vec::new();
        for (index, players) in (0..).zip(self.deals(round)) {
            let deal = u64::from(round.saturating_sub(1)) * self.deals_of_round() as u64 + index + 1;
            let seed = Pcg64::new(self.seed.into(), SEEDS | u128::from(deal)).next_u64();
            for rotation in 0..self.matches_of_deal() {
                number += 1;
                let mut seats = players.clone();
                seats.rotate_left(rotation);
                seats.truncate(self.in_match());
                fixtures.push(Fixture { number, round, deal, seed, seats });
            }
        }
        fixtures
    }

    const fn in_match(&self) -> usize {
        if self.solo { 1 } else { self.seats }
    }

    fn deals(&self, round: u32) -> Vec<Vec<usize>> {
        let mut chance = Pcg64::new(self.seed.into(), round.into());
        let mut order: Vec<usize> = (0..self.players).collect();
        order.shuffle(&mut chance);
        if self.solo {
            return vec![order];
        }
        if self.seats > 2 {
            let circle = |first: usize| order.iter().copied().cycle().skip(first).take(self.seats).collect();
            return (0..self.deals_of_round()).map(circle).collect();
        }
        let mut pairs = Vec::with_capacity(self.deals_of_round());
        for (index, &one) in order.iter().enumerate() {
            pairs.extend(order[index + 1..].iter().map(|&other| vec![one, other]));
        }
        // Without the shuffle, a league that stops within a round would have played some players far more often than
        // others.
        pairs.shuffle(&mut chance);
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn draw(players: usize, seats: usize, solo: bool) -> Draw {
        Draw { players, seats, solo, seed: 5 }
    }

    #[test]
    fn each_pair_plays_each_seed_in_both_seatings() {
        let round = draw(5, 2, false).round(1);
        assert_eq!(round.len(), 20);
        let mut met = BTreeSet::new();
        for pair in round.chunks(2) {
            let [one, other] = pair else { panic!("{pair:?}") };
            assert_eq!((one.seed, one.deal), (other.seed, other.deal));
            assert_eq!(one.seats.iter().rev().collect::<Vec<_>>(), other.seats.iter().collect::<Vec<_>>());
            met.insert(one.seats.iter().copied().collect::<BTreeSet<_>>());
        }
        assert_eq!(met.len(), 10);
        assert_eq!(round.iter().map(|fixture| fixture.seed).collect::<BTreeSet<_>>().len(), 10);
    }

    #[test]
    fn each_player_has_each_seat_equally_often() {
        for (players, seats) in [(7, 4), (4, 4), (6, 3)] {
            let mut sat = BTreeMap::new();
            let draw = draw(players, seats, false);
            for fixture in draw.round(3) {
                assert_eq!(fixture.seats.iter().collect::<BTreeSet<_>>().len(), seats);
                for (seat, player) in fixture.seats.iter().enumerate() {
                    *sat.entry((*player, seat)).or_insert(0) += 1;
                }
            }
            assert_eq!(sat.len(), players * seats);
            let times = if players == seats { 1 } else { seats };
            assert!(sat.values().all(|sat| *sat == times), "{sat:?}");
        }
    }

    #[test]
    fn solo_players_play_the_same_deal() {
        let round = draw(4, 2, true).round(2);
        assert_eq!(round.iter().map(|fixture| fixture.seats[0]).collect::<BTreeSet<_>>().len(), 4);
        assert!(round.iter().all(|fixture| fixture.seats.len() == 1 && fixture.seed == round[0].seed));
    }

    #[test]
    fn rounds_differ_and_are_reproducible() {
        let draw = draw(3, 2, false);
        let (first, second) = (draw.round(1), draw.round(2));
        assert_eq!(second[0].number, draw.matches_of_round() + 1);
        assert_eq!(second[0].deal, 4);
        let seeds = |round: &[Fixture]| round.iter().map(|fixture| fixture.seed).collect::<BTreeSet<_>>();
        assert!(seeds(&first).is_disjoint(&seeds(&second)));
        assert_eq!(draw.round(2), second);
        // Pins version 1, with which existing leagues resume.
        let drawn: Vec<_> = first.iter().map(|fixture| (fixture.seats.clone(), fixture.seed >> 48)).collect();
        assert_eq!(drawn[..2], [(vec![1, 2], 45_720), (vec![2, 1], 45_720)]);
    }
}
