//! The codebreaker.
//!
//! It uses no clock and no threads. Long computations report their progress to a callback that can stop them;
//! [`Codebreaker::divide`] splits the work for several threads.
//!
//! Sources: D. E. Knuth, The computer as Master Mind (1977); R. W. Irving, Towards an optimum Mastermind strategy
//! (1979); E. Neuwirth, Some strategies for Mastermind (1982); K. Koyama and T. W. Lai, An optimal Mastermind strategy
//! (1993); B. Kooi, Yet another Mastermind strategy (2005); G. Ville, An optimal Mastermind (4,7) strategy (2013).

mod bench;
mod hint;
mod search;
mod shortlist;
mod slices;
mod space;
mod strategy;
mod symmetry;
mod tally;
mod tree;

pub use hint::{Hint, JUDGED, LISTED};
pub use search::{Progress, Search, SearchResult};
pub use shortlist::Limits;
pub use strategy::Strategy;
pub use tally::Tally;
pub use tree::{Codebreaker, Job};

/// The progress callback stopped the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the search was stopped")]
pub struct Stopped;
