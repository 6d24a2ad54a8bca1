//! All hands that are not bust, the probabilities of their next cards, and the dealer's results.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use super::Odds;
use crate::{
    hand::{BEST, DEALER_STANDS, Points},
    policy::MIN_UPCARD,
};

pub(super) const VALUES: usize = 10;
pub(super) const BUST: f64 = -1.0;

/// The number of cards of each value from 2 to 11.
type Counts = [u8; VALUES];

pub(super) const fn index_of(value: u8) -> usize {
    (value - MIN_UPCARD) as usize
}

#[expect(clippy::cast_possible_truncation, reason = "there are ten values")]
pub(super) const fn card_value(index: usize) -> u8 {
    index as u8 + MIN_UPCARD
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Deal {
    counts: Counts,
    cards: u8,
    // A hand took more cards of a value than there are.
    pub(super) short: bool,
}

impl Deal {
    pub(super) const FULL: Self = Self::of([4, 4, 4, 4, 4, 4, 4, 4, 16, 4]);

    pub(super) const fn of(counts: Counts) -> Self {
        let (mut cards, mut index) = (0, 0);
        while index < VALUES {
            cards += counts[index];
            index += 1;
        }
        Self { counts, cards, short: false }
    }

    pub(super) fn upcard(&self, upcard: usize) -> f64 {
        f64::from(self.counts[upcard]) / f64::from(self.cards)
    }

    pub(super) fn without(&self, hand: &Node, upcard: usize) -> Self {
        let mut left = *self;
        for (index, taken) in hand.counts.iter().enumerate() {
            left.take(index, *taken);
        }
        left.take(upcard, 1);
        left
    }

    fn take(&mut self, index: usize, count: u8) {
        self.short |= self.counts[index] < count;
        self.counts[index] = self.counts[index].saturating_sub(count);
        self.cards = self.cards.saturating_sub(count);
    }

    pub(super) fn all_chances(&self) -> [f64; VALUES] {
        let all = f64::from(self.cards.max(1));
        self.counts.map(|count| f64::from(count) / all)
    }

    pub(super) fn chances(&self) -> impl Iterator<Item = (usize, f64)> + use<> {
        self.all_chances().into_iter().enumerate().filter(|&(_, chance)| chance > 0.0)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) counts: Counts,
    pub(super) cards: u8,
    pub(super) points: Points,
    pub(super) next: [Option<u16>; VALUES],
}

impl Node {
    pub(super) fn after(&self, values: &[f64], card: usize) -> f64 {
        self.next[card].map_or(BUST, |next| values[usize::from(next)])
    }
}

// The dealer's cards besides the upcard, while the dealer draws.
#[derive(Debug, Clone)]
struct Drawing {
    counts: Counts,
    cards: u8,
    // By value of the next card, the index that receives its probability: an end, or `ENDS` + a drawing.
    then: [u16; VALUES],
}

/// The dealer's results: 17 to 21, or bust.
const ENDS: usize = (BEST + 2 - DEALER_STANDS) as usize;

fn end_of(total: u8) -> usize {
    usize::from(total.min(BEST + 1).saturating_sub(DEALER_STANDS))
}

/// Hands with fewer cards come first.
#[derive(Debug, Clone)]
pub(super) struct Hands {
    pub(super) nodes: Vec<Node>,
    dealers: Vec<Vec<Drawing>>,
}

impl Hands {
    pub(super) fn new(deal: &Deal) -> Self {
        Self { nodes: nodes(deal), dealers: (0..VALUES).map(|upcard| drawings(deal, upcard)).collect() }
    }

    pub(super) fn nothing(&self) -> &Node {
        &self.nodes[0]
    }

    pub(super) fn find(&self, values: &[u8]) -> Option<&Node> {
        values.iter().try_fold(self.nothing(), |hand, &value| {
            let card = value.checked_sub(MIN_UPCARD).map(usize::from).filter(|&card| card < VALUES)?;
            self.next(hand, card)
        })
    }

    pub(super) fn next(&self, hand: &Node, card: usize) -> Option<&Node> {
        hand.next[card].map(|next| &self.nodes[usize::from(next)])
    }

    pub(super) fn stand(&self, deal: &Deal, hand: &Node, upcard: usize) -> Odds {
        let left = deal.without(hand, upcard);
        let ways = &self.dealers[upcard];
        let mut chances = vec![0.0; ENDS + ways.len()];
        chances[ENDS] = 1.0;
        for (at, way) in ways.iter().enumerate() {
            let chance = chances[ENDS + at] / f64::from(left.cards.saturating_sub(way.cards).max(1));
            if chance == 0.0 {
                continue;
            }
            for (card, &then) in way.then.iter().enumerate() {
                let count = left.counts[card].saturating_sub(way.counts[card]);
                chances[usize::from(then)] += chance * f64::from(count);
            }
        }
        let total = hand.points.total();
        let mut odds = Odds::default();
        for (dealer, chance) in (DEALER_STANDS..=BEST + 1).zip(chances) {
            if dealer > BEST || dealer < total {
                odds.win += chance;
            } else if dealer == total {
                odds.push += chance;
            } else {
                odds.lose += chance;
            }
        }
        odds
    }
}

fn nodes(deal: &Deal) -> Vec<Node> {
    let mut nodes = vec![Node { counts: [0; VALUES], cards: 0, points: Points::EMPTY, next: [None; VALUES] }];
    let mut places = BTreeMap::new();
    let mut at = 0;
    while let Some(node) = nodes.get(at).cloned() {
        for card in 0..VALUES {
            let points = node.points.with(card_value(card));
            if points.is_bust() || node.counts[card] == deal.counts[card] {
                continue;
            }
            let mut counts = node.counts;
            counts[card] += 1;
            let place = *places.entry(counts).or_insert_with(|| {
                nodes.push(Node { counts, cards: node.cards + 1, points, next: [None; VALUES] });
                nodes.len() - 1
            });
            nodes[at].next[card] = u16::try_from(place).ok();
        }
        at += 1;
    }
    nodes
}

fn drawings(deal: &Deal, upcard: usize) -> Vec<Drawing> {
    let start = Points::EMPTY.with(card_value(upcard));
    let open = |counts, cards| Drawing { counts, cards, then: [0; VALUES] };
    let mut ways = vec![open([0; VALUES], 0)];
    let mut places = BTreeMap::new();
    let mut points = vec![start];
    let mut at = 0;
    while let Some(way) = ways.get(at).cloned() {
        for card in 0..VALUES {
            let after = points[at].with(card_value(card));
            let mut counts = way.counts;
            counts[card] += 1;
            // The deck cannot provide this draw, so its probability is 0. Ending it here bounds the list.
            let then = if !after.dealer_hits() || counts[card] > deal.counts[card] {
                end_of(after.total())
            } else {
                ENDS + *places.entry(counts).or_insert_with(|| {
                    ways.push(open(counts, way.cards + 1));
                    points.push(after);
                    ways.len() - 1
                })
            };
            ways[at].then[card] = u16::try_from(then).unwrap_or_default();
        }
        at += 1;
    }
    ways
}
