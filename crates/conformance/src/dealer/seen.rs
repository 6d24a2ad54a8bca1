//! The kinds of hands that were dealt so far.

use blackjack::Verdict;

/// What chance brings to some hands and not to others. Dealers that are right for most hands are often wrong for one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The first two cards make 21.
    Dealt21,
    /// A card that was asked for makes 21.
    Drawn21,
    Ended(Verdict),
}

/// The [`Event`]s that came in the rounds played so far.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<Event>);

impl Seen {
    const ALL: [Event; 6] = [
        Event::Dealt21,
        Event::Drawn21,
        Event::Ended(Verdict::Bust),
        Event::Ended(Verdict::Lose),
        Event::Ended(Verdict::Push),
        Event::Ended(Verdict::Win),
    ];

    /// Whether every kind was dealt.
    pub(super) fn all(&self) -> bool {
        Self::ALL.iter().all(|event| self.0.contains(event))
    }

    pub(super) fn note(&mut self, event: Event) {
        if !self.0.contains(&event) {
            self.0.push(event);
        }
    }
}
