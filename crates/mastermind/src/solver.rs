//! The codebreaker.
//!
//! | what | for |
//! |------|-----|
//! | [`Hint`] | the next guess at any point of any game, soon enough for a person who waits |
//! | [`Branch`] | playing all codes of a game by hints |
//! | [`Codebreaker`] | playing all codes of a game by one of four [strategies](Strategy) that look one step ahead, by all guesses or, in large games, [few](Limits) |
//! | [`Search`] | the least number of turns over all codes, by search |
//!
//! Nothing here has a clock or starts a thread. Long work tells a function that it is lent how far it is, and stops when
//! that asks for it; [`Codebreaker::divide`] and [`Search::from_opening`] cut the work into pieces for several threads.
//!
//! Sources: D. E. Knuth, The computer as Master Mind (1977); R. W. Irving, Towards an optimum Mastermind strategy (1979);
//! E. Neuwirth, Some strategies for Mastermind (1982); K. Koyama and T. W. Lai, An optimal Mastermind strategy (1993);
//! B. Kooi, Yet another Mastermind strategy (2005); G. Ville, An optimal Mastermind (4,7) strategy (2013).

mod bench;
mod hint;
mod knowledge;
mod search;
mod shortlist;
mod space;
mod strategy;
mod symmetry;
mod tally;
mod tree;

pub use hint::{Branch, Hint, JUDGED, LISTED};
pub use knowledge::Knowledge;
pub use search::{Found, Progress, Search};
pub use shortlist::Limits;
pub use strategy::{ParseStrategyError, Strategy};
pub use tally::Tally;
pub use tree::{Codebreaker, Job, Stopped};
