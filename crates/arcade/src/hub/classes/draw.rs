//! Pairings of a closed tournament, as pure functions. Players are numbered from 0.

/// Two players, or one with a bye.
pub(crate) type Pair = (usize, Option<usize>);

/// Partners that are tried in a round of the Swiss system before players may meet again.
const MAX_STEPS: u32 = 20_000;

/// The rounds in which all players meet once.
pub(crate) const fn round_robin_rounds(players: usize) -> usize {
    if players.is_multiple_of(2) { players.saturating_sub(1) } else { players }
}

/// Enough rounds for a single winner.
pub(crate) fn swiss_rounds(players: usize) -> usize {
    let rounds = usize::try_from(players.next_power_of_two().ilog2()).unwrap_or_default();
    rounds.clamp(1, round_robin_rounds(players).max(1))
}

/// A round of a tournament in which all players meet once, counted from 0. All but the first player move by one place
/// in each round; an odd player has a bye.
pub(crate) fn round_robin(players: usize, round: usize) -> Vec<Pair> {
    let even = players.next_multiple_of(2);
    if even < 2 {
        return vec![];
    }
    let place = |index: usize| if index == 0 { 0 } else { 1 + (index - 1 + round) % (even - 1) };
    let pairs = (0..even / 2).map(|index| (place(index), place(even - 1 - index)));
    let pair = |(one, other): (usize, usize)| {
        let (first, second) = (one.min(other), one.max(other));
        (first, (second < players).then_some(second))
    };
    pairs.map(pair).collect()
}

/// A round of the Swiss system: players with equal results meet, and no two meet twice while that is possible.
///
/// `order` has the players from first to last. With an odd number of players, the last one without a bye gets one.
pub(crate) fn swiss(
    order: &[usize],
    have_met: impl Fn(usize, usize) -> bool,
    had_bye: impl Fn(usize) -> bool,
) -> Vec<Pair> {
    let mut order = order.to_vec();
    let mut bye = None;
    if !order.len().is_multiple_of(2) {
        let index = order.iter().rposition(|player| !had_bye(*player)).unwrap_or(order.len() - 1);
        bye = Some((order.remove(index), None));
    }
    let mut pairs = vec![];
    let mut steps = MAX_STEPS;
    if !pair(&mut order.clone(), &have_met, &mut pairs, &mut steps) {
        pairs = order.chunks(2).map(|pair| (pair[0], pair.get(1).copied())).collect();
    }
    pairs.extend(bye);
    pairs
}

// Pairs the first player with the nearest possible one, and then the others. Returns `false` if that is impossible.
fn pair(
    rest: &mut Vec<usize>,
    have_met: &impl Fn(usize, usize) -> bool,
    pairs: &mut Vec<Pair>,
    steps: &mut u32,
) -> bool {
    if rest.is_empty() {
        return true;
    }
    let first = rest.remove(0);
    for index in 0..rest.len() {
        if *steps == 0 {
            break;
        }
        *steps -= 1;
        if have_met(first, rest[index]) {
            continue;
        }
        let second = rest.remove(index);
        pairs.push((first, Some(second)));
        if pair(rest, have_met, pairs, steps) {
            return true;
        }
        pairs.pop();
        rest.insert(index, second);
    }
    rest.insert(0, first);
    false
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn all_players_meet_once_in_a_round_robin() {
        for players in 2..=31 {
            let (mut met, mut byes) = (BTreeSet::new(), BTreeMap::new());
            for round in 0..round_robin_rounds(players) {
                let mut seen = BTreeSet::new();
                for (one, other) in round_robin(players, round) {
                    assert!(seen.insert(one) && other.is_none_or(|other| seen.insert(other)));
                    match other {
                        Some(other) => assert!(met.insert((one, other)), "{one} and {other} of {players}"),
                        None => *byes.entry(one).or_insert(0) += 1,
                    }
                }
                assert_eq!(seen.len(), players);
            }
            assert_eq!(met.len(), players * (players - 1) / 2);
            assert!(byes.values().all(|byes| *byes == 1) && byes.len() == if players % 2 == 1 { players } else { 0 });
        }
    }

    #[test]
    fn swiss_rounds_pair_neighbours_without_repetition() {
        for players in 2..=60 {
            let (mut met, mut byes, mut points) = (BTreeSet::new(), BTreeSet::new(), vec![0; players]);
            for round in 0..swiss_rounds(players) {
                let mut order: Vec<usize> = (0..players).collect();
                order.sort_by_key(|player| (usize::MAX - points[*player], *player));
                let pairs = swiss(
                    &order,
                    |one, other| met.contains(&(one.min(other), one.max(other))),
                    |one| byes.contains(&one),
                );
                let all = pairs.iter().flat_map(|(one, other)| [Some(*one), *other]).flatten();
                assert_eq!(all.collect::<BTreeSet<_>>().len(), players, "round {round} of {players}");
                for (one, other) in pairs {
                    if let Some(other) = other {
                        assert!(met.insert((one.min(other), one.max(other))), "{one}, {other} of {players}");
                        points[one.min(other)] += 1;
                    } else {
                        assert!(byes.insert(one), "a second bye of {one}");
                        points[one] += 1;
                    }
                }
            }
            let best = points.iter().max().unwrap();
            let first = points.iter().filter(|points| *points == best).count();
            assert!(first == 1 || players < 4 || !players.is_power_of_two(), "{first} winners of {players}");
        }
    }

    #[test]
    fn players_meet_again_only_if_no_other_pairing_is_left() {
        let met = [(0, 1), (0, 2), (1, 2)];
        let have_met = |one: usize, other: usize| met.contains(&(one.min(other), one.max(other)));
        assert_eq!(swiss(&[0, 1, 2, 3], have_met, |_| false), [(0, Some(1)), (2, Some(3))]);
        let met = [(0, 1)];
        let have_met = |one: usize, other: usize| met.contains(&(one.min(other), one.max(other)));
        assert_eq!(swiss(&[0, 1, 2, 3], have_met, |_| false), [(0, Some(2)), (1, Some(3))]);
    }
}
