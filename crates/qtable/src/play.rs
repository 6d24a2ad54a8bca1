//! Playing rounds by a policy, by the rules of the dealer.

use blackjack::{Deck, Policy, Round, Score, game::RoundError, hand::Hand};
use rand::Rng;

/// Plays rounds by a policy, alone at the table.
///
/// # Errors
/// Never in practice: one player is one seat, and no round takes 52 cards.
pub(crate) fn rounds<R: Rng>(policy: &Policy, rounds: u64, rng: &mut R) -> Result<Score, RoundError> {
    let mut score = Score::default();
    let mut deck = Deck::new();
    for _ in 0..rounds {
        deck.shuffle(rng);
        let mut round = Round::deal(deck.clone(), &[true])?;
        while let Some(view) = round.view(0).filter(|view| view.asked) {
            let mut hand = Hand::new();
            for &card in view.cards {
                hand.push(card);
            }
            let action = policy.decide(hand.points(), view.upcard.value());
            round.apply(0, action)?;
        }
        if let Some(verdict) = round.view(0).and_then(|view| view.verdict) {
            score.add(verdict);
        }
    }
    Ok(score)
}
